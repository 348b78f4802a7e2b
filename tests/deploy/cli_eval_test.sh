#!/usr/bin/env bash
# `troupe eval` of a run, and of one that is damaged: cli_eval_test.sh BUILD_DIR
set -uo pipefail
source "$(dirname "$0")/common.sh" "$1"

run train -n 512 --seed 3 --deterministic --metrics-port 0 rollout.n_steps=64 env.n_envs=2 rollout.batch=2 policy.hidden=[8] \
  trainer.n_epochs=2 evaluation.every_steps=256 evaluation.episodes=2 evaluation.final_episodes=2
report "a run of two updates succeeds" $((code != 0))
run_dir=runs/ppo/CartPole-v1_1

run eval $run_dir --episodes 20 --json
report "eval succeeds" $((code != 0))
holds "eval tells of 20 episodes" "s['eval_episodes'] == 20 and s['env'] == 'CartPole-v1' and
  s['version'] == 2 and 8 < s['eval_mean'] <= 500"
cp out first
run eval $run_dir --episodes 20 --json
cmp -s first out
report "eval gives the same again" $?
run eval $run_dir --episodes 5 --model best_model
report "eval takes the best model" $((code != 0))
grep -q '^CartPole-v1, weights of version 2: .* +/- .* over 5 episodes, NOT solved: that takes 475$' out
report "and says as train does whether the environment is solved" $?
run eval $run_dir --env CartPole-v0 --episodes 2 --json
report "eval takes another environment with the same spaces" $((code != 0))
holds "and has the keys of a run's summary" "(s['algo'], s['env'], s['eval_episodes'], s['reward_threshold'], s['solved'],
  s['run_directory']) == ('ppo', 'CartPole-v0', 2, 195, s['eval_mean'] >= 195, '$run_dir')"
run eval $run_dir env.max_episode_steps=7 --episodes 2 --json
holds "eval takes options of the environment" "s['eval_mean'] == 7"
export PYTHONPATH=$sources/tests/actors/python/worlds
run train --env good:Counter -n 64 rollout.n_steps=64 trainer.batch_size=32 policy.hidden=[8] evaluation.final_episodes=1 \
  env.python=/usr/bin/python3 --metrics-port 0
report "a run on an environment in Python succeeds" $((code != 0))
run train --env good:Board policy.kind=cnn -n 64 rollout.n_steps=64 trainer.batch_size=32 policy.cnn.features=8 \
  evaluation.final_episodes=1 env.python=/usr/bin/python3 --metrics-port 0
run eval runs/ppo/good-Board_1 --episodes 2
report "eval takes a board that the run has convolved by its choice" $((code != 0))
run eval runs/ppo/good-Counter_1 --env good:FirstOption --episodes 1 'env.reset_options={"first": 40}' --json
holds "eval passes reset options, here of another environment in Python" "s['env'] == 'good:FirstOption' and s['eval_mean'] == 200"
run eval runs/ppo/good-Counter_1 --episodes 1 'env.options={"length": 3, "truncates": true}'
report "eval takes the arguments of an environment" $((code != 0))
refuses "and refuses those that it does not have" 2 'env.options: good:Counter takes' \
  eval runs/ppo/good-Counter_1 --episodes 1 'env.options={"size": 3}'
unset PYTHONPATH
refuses "an environment with other spaces is refused with both" 2 \
  'Acrobot-v1: expected an environment whose spaces fit the network of '$run_dir'/last_model, which is for obs 4, discrete 2; got one for obs 6' \
  eval $run_dir --env Acrobot-v1
refuses "and so are other actions" 2 'got one for obs 2' eval $run_dir --env MountainCarContinuous-v0
refuses "eval takes no option of another section" 2 'expected an option of the environment, such as env.options={}, got trainer.lr=1' \
  eval $run_dir trainer.lr=1
refuses "reset options that an environment does not take are refused" 2 'CartPole-v1' eval $run_dir 'env.reset_options={"low": 1}'
refuses "an unknown option is told the nearest" 2 'did you mean --episodes?' eval runs --episode 3
refuses "a run directory that isn't there is named" 2 'expected a run directory, got nowhere' eval nowhere

# ---- damaged runs

damage() {  # damage WHAT TEXT: eval of the damaged copy is refused
  run eval damaged --episodes 5
  [[ $code -eq 2 ]] && grep -qF -- "$2" err
  report "$1" $?
  rm -rf damaged
}
cp -r $run_dir damaged
"$python" - <<'PYTHON'
data = bytearray(open("damaged/last_model", "rb").read())
data[len(data) // 2] ^= 1
open("damaged/last_model", "wb").write(data)
PYTHON
damage "a model file with one bit changed is refused by name" 'damaged/last_model'
cp -r $run_dir damaged
head -c 1000 $run_dir/last_model >damaged/last_model
damage "a model file that is cut short is refused by name" 'damaged/last_model'
cp -r $run_dir damaged
rm damaged/last_model
damage "a missing model file is refused by name, and the other named" \
  'damaged/last_model: expected a model, got no file; there is a best_model: --model best_model'
cp -r $run_dir damaged
echo '{' >damaged/config.json
damage "a damaged config.json is refused by name" 'damaged/config.json'
cp -r $run_dir damaged
sed -i 's/CartPole-v1/Gone-v1/' damaged/config.json
damage "a run on an environment that is not known here is refused" 'unknown environment "Gone-v1"'

finish
