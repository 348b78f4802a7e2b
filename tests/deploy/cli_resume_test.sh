#!/usr/bin/env bash
# A run is gone on with by --resume and by --continue: cli_resume_test.sh BUILD_DIR
set -uo pipefail
source "$(dirname "$0")/common.sh" "$1"

tiny=(-n 1024 --metrics-port 0 rollout.n_steps=64 env.n_envs=2 rollout.batch=2 policy.hidden=[8]
  trainer.n_epochs=2 evaluation.every_steps=256 evaluation.episodes=2 evaluation.final_episodes=2
  checkpoint.every_updates=2)

run train --runs kept --seed 4 "${tiny[@]}"
report "a run with checkpoints succeeds" $((code != 0))
refuses "a run is not resumed to fewer steps than its own" 2 \
  '/total_steps: expected at least the run'"'"'s own 1024, got 512' \
  train --resume kept/ppo/CartPole-v1_1 --steps 512
run train --resume kept/ppo/CartPole-v1_1 --steps 2048 --metrics-port 0 --json
holds "a run that has ended is resumed to a later end" "$code == 0 and s['steps'] == 2048 and s['resumed_from_step'] == 1024"
grep -q '"total_steps": 2048' kept/ppo/CartPole-v1_1/config.json
report "whose configuration knows it" $?
run train --resume kept/ppo/CartPole-v1_1 --metrics-port 0 --json
holds "so that it is not cut short by the next resume" "s['steps'] == 2048 and s['resumed_from_step'] == 2048"
refuses "overrides of a resumed run are named, and the file that has its options" 2 \
  '--resume: expected no overrides, since a resumed run takes its options from kept/ppo/CartPole-v1_1/config.json, got trainer.lr=1 seed=2' \
  train --resume kept/ppo/CartPole-v1_1 trainer.lr=1 seed=2
goal=kept/ppo/CartPole-v1_2
run train --runs kept --seed 4 --json -v "${tiny[@]}" evaluation.stop_at=1
holds "a run ends at its goal" "$code == 0 and s['stopped'] and s['steps'] == 256"
grep -qF "at its goal, an evaluation of at least 1 (evaluation.stop_at); it goes on past that with: troupe train --resume $goal --steps N, N at least 1024" err
report "and says that, and how it goes on" $?
run train --resume $goal --metrics-port 0 --json
holds "resumed it is still there" "$code == 0 and s['stopped'] and s['steps'] == 256"
run train --continue --runs kept --seed 4 --json "${tiny[@]}" evaluation.stop_at=1
holds "also when started again with the same steps" "$code == 0 and s['stopped'] and s['steps'] == 256"
run train --resume $goal --steps 1024 --metrics-port 0 --json
holds "with --steps it goes on past its goal" "$code == 0 and not s['stopped'] and s['steps'] == 1024 and s['resumed_from_step'] == 256"
grep -q '"stop_at": null' $goal/config.json
report "which is gone from its configuration" $?
cp -r $goal changed
sed -i 's/"stop_at": null/"stop_at": 1000/; s/"total_steps": 1024/"total_steps": 1280/' changed/config.json
run train --resume changed --metrics-port 0 --json
holds "no warning tells of another goal or a later end" "$code == 0 and s['steps'] == 1280"
! grep -q 'the configuration has changed' err
report "as --steps makes them" $?
sed -i 's/"gamma": 0.99/"gamma": 0.9/' changed/config.json
run train --resume changed --metrics-port 0
[[ $code -eq 0 ]] && grep -q 'the configuration has changed since the checkpoint was written' err
report "but one of any other change" $?
rm -rf changed
columns_are_explained kept/ppo/CartPole-v1_1

# ---- schedules of a run that gets a later end

rates() {  # rates RUN: the learning rates of its updates, one after the other
  python3 - "$1/progress.csv" <<'P'
import csv, sys
rows = [row["train/learning_rate"] for row in csv.DictReader(open(sys.argv[1])) if row["train/learning_rate"]]
print(" ".join(f"{float(rate):.6f}" for rate in rows))
P
}
run train --runs falls --seed 4 "${tiny[@]}" trainer.lr_schedule=linear trainer.clip_schedule=linear trainer.lr=0.001
[[ $(rates falls/ppo/CartPole-v1_1) == "0.000750 0.000500 0.000250 0.000000" ]]
report "a linear schedule falls to 0 at the end" $?
cp -r falls stretched
run train --resume falls/ppo/CartPole-v1_1 --steps 1536 --metrics-port 0
[[ $code -eq 0 && $(rates falls/ppo/CartPole-v1_1) == "0.000750 0.000500 0.000250 0.000000 0.000000 0.000000" ]]
report "with a later end it keeps its last value" $?
grep -q 'the learning rate stays 0 after the earlier end.*schedule=trainer.lr_schedule was="0.001 to 0 at step 1024" becomes="0.001 to 0 at step 1024, then 0 to step 1536"' err &&
  grep -q 'a schedule keeps its last value.*schedule=trainer.clip_schedule' err
report "which is told for each schedule" $?
run train --resume falls/ppo/CartPole-v1_1 --metrics-port 0
[[ $code -eq 0 ]] && ! grep -q 'schedule' err
report "a resumption to the same end tells nothing" $?
run train --resume falls/ppo/CartPole-v1_1 --steps 1792 --metrics-port 0
[[ $code -eq 0 && $(rates falls/ppo/CartPole-v1_1) == *"0.000000 0.000000 0.000000 0.000000" ]]
report "a still later end keeps the value, too" $?
run train --resume stretched/ppo/CartPole-v1_1 --steps 2048 --schedules stretch --metrics-port 0
[[ $code -eq 0 && $(rates stretched/ppo/CartPole-v1_1) == *" 0.000375 0.000250 0.000125 0.000000" ]]
report "with --schedules stretch it is planned anew" $?
grep -q 'a schedule is planned anew.*schedule=trainer.lr_schedule was="0.001 to 0 at step 1024" becomes="0.001 to 0 at step 2048" at_step_1024="0 -> 0.0005"' err
report "which is told with both values" $?
refuses "--schedules without a later end is refused" 2 '--schedules: expected it beside --resume RUN --steps N' \
  train --resume falls/ppo/CartPole-v1_1 --schedules keep
refuses "and so is another word" 2 '--schedules: expected keep or stretch, got "keeps"' \
  train --resume falls/ppo/CartPole-v1_1 --steps 4096 --schedules keeps
run train --runs explores --algo dqn --seed 4 -n 400 --metrics-port 0 policy.hidden=[8] collection.learning_starts=100 \
  exploration.fraction=1 exploration.final=0.2 evaluation.final_episodes=1 checkpoint.every_updates=10
run train --resume explores/dqn/CartPole-v1_1 --steps 800 --metrics-port 0
[[ $code -eq 0 ]] && grep -q 'schedule=exploration was="1 to 0.2 at step 400" becomes="1 to 0.2 at step 400, then 0.2 to step 800"' err
report "exploration is a schedule, too" $?
table=table/q_learning/Blackjack-v1_1
run train --algo q_learning --env Blackjack-v1 --runs table --seed 4 -n 1024 --metrics-port 0 trainer.lr_schedule=linear \
  checkpoint.every_updates=16 evaluation.every_steps=0 evaluation.final_episodes=2 log.episodes=20
[[ $code -eq 0 ]]
report "a table is trained by a rate that falls to 0" $?
run train --resume $table --steps 2048 --metrics-port 0
[[ $code -eq 0 && $(rates $table | tr ' ' '\n' | tail -n 20 | sort -u) == 0.000000 ]]
report "which stays 0 after a later end" $?
grep -q 'the learning rate stays 0 after the earlier end.*schedule=trainer.lr_schedule was="0.1 to 0 at step 1024" becomes="0.1 to 0 at step 1024, then 0 to step 2048"' err &&
  grep -q 'schedule=exploration was="1 to 0.05 at step 1024" becomes="1 to 0.05 at step 1024, then 0.05 to step 2048"' err
report "and so is told, with its exploration" $?

# ---- started again

for what in "begins a run where there is none:0" "goes on with it when started again:1024"; do
  run train --continue --runs again --seed 4 --json "${tiny[@]}"
  holds "--continue ${what%:*}" "$code == 0 and (s['resumed_from_step'] or 0) == ${what#*:} and
    s['run_directory'] == 'again/ppo/CartPole-v1_1'"
done

# ---- checkpoints of something else

mismatch() {  # mismatch WHAT FROM TO TEXT: the run is not resumed once FROM in its config.json is TO
  cp -r kept/ppo/CartPole-v1_1 changed
  sed -i "s/$2/$3/" changed/config.json
  run train --resume changed
  [[ $code -eq 2 ]] && grep -qF -- "$4" err
  report "$1" $?
  rm -rf changed
}
of='with a network of obs 4, discrete 2'
mismatch "a checkpoint of another environment is refused with both named" CartPole-v1 CartPole-v0 \
  "expected a checkpoint of ppo on CartPole-v0 $of"
grep -qF "got one of ppo on CartPole-v1 $of" err
report "and the one that it is of" $?
mismatch "a checkpoint of another network is refused with both named" '"activation": "tanh"' \
  '"activation": "relu"' 'relu, got one of'

finish
