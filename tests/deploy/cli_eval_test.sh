#!/usr/bin/env bash
# `troupe eval` of a run, and of one that is damaged: cli_eval_test.sh BUILD_DIR
set -uo pipefail
source "$(dirname "$0")/common.sh" "$1"

run train -n 512 --seed 3 --metrics-port 0 rollout.n_steps=64 env.n_envs=2 rollout.batch=2 policy.hidden=[8] \
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
