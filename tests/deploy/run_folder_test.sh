#!/usr/bin/env bash
# Nothing that a run left in its folder is lost to a later command: run_folder_test.sh BUILD_DIR
set -u
source "$(dirname "$0")/common.sh" "$1"

tiny=(-n 1024 --metrics-port 0 rollout.n_steps=64 env.n_envs=2 rollout.batch=2 policy.hidden=[8]
  trainer.n_epochs=2 evaluation.every_steps=256 evaluation.episodes=2 evaluation.final_episodes=2
  checkpoint.every_updates=1)

# contents FOLDER: the hash of each file in it
contents() { (cd "$1" && find . -type f ! -name .lock -exec sha256sum {} + | sort); }

# leaves_alone WHAT TEXT ARGUMENT...: exit code 2, stderr holds TEXT, and the run in $run is as it was
leaves_alone() {
  local what=$1 text=$2
  shift 2
  contents "$run" >before
  run "$@"
  contents "$run" >after
  [[ $code -eq 2 ]] && grep -qF -- "$text" err && cmp before after >>err
  report "$what" $?
}

# ---- checkpoints that can't be gone on from

run train --runs whole --seed 1 "${tiny[@]}"
report "a run with checkpoints succeeds" $((code != 0))
run=damaged/ppo/CartPole-v1_1

# seal CHECKPOINT: its manifest, once it was changed
seal() { (cd "$1" && sha256sum manifest.json >manifest.sha256); }

cp -r whole damaged
for checkpoint in "$run"/checkpoints/ckpt-*; do
  sed -i 's/"format": 3/"format": 2/' "$checkpoint/manifest.json" && seal "$checkpoint"
done
leaves_alone "checkpoints of an older format are refused, and the run is left alone" \
  'ckpt-1024/manifest.json: expected format 3, got 2; another version of this program has written it: go on with that one, or begin a new run' train --resume "$run" --metrics-port 0
rm -r damaged

cp -r whole damaged
for checkpoint in "$run"/checkpoints/ckpt-*; do
  echo damaged >"$checkpoint/run.bin"
done
leaves_alone "where all are damaged the run is not begun anew" 'got damaged ones alone' \
  train --resume "$run" --metrics-port 0
grep -q 'ckpt-1024/run.bin: expected.*ckpt-768/run.bin: expected.*ckpt-512/run.bin: expected' err
report "and each is told with what is wrong with it" $?
rm -r damaged

cp -r whole damaged
echo damaged >"$run/checkpoints/ckpt-1024/run.bin"
run train --resume "$run" --metrics-port 0 --json
holds "where one is damaged the one before is gone on from" "$code == 0 and s['resumed_from_step'] == 768"
! grep -qx damaged "$run/checkpoints/ckpt-1024/run.bin"
report "and the damaged one is written anew" $?
rm -r damaged

# ---- --continue with other options

cp -r whole damaged
again=(train --continue --runs damaged "${tiny[@]}")
leaves_alone "--continue refuses another seed, and tells both" 'seed is 1, asked for 2; go on with it by --resume' \
  "${again[@]}" --seed 2
leaves_alone "and another value of the algorithm's options" 'trainer.lr is 0.0003, asked for 0.001; go on' \
  "${again[@]}" --seed 1 trainer.lr=1e-3
leaves_alone "each of those that differ is named" 'policy.hidden is [8], asked for [9]; trainer.n_epochs is 2, asked for 3; go on' \
  "${again[@]}" --seed 1 policy.hidden=[9] trainer.n_epochs=3
leaves_alone "and fewer steps than the run's" 'total_steps is 1024, asked for 512; go on' "${again[@]}" --seed 1 total_steps=512
run "${again[@]}" --seed 1 --json
holds "with the same options it goes on" "$code == 0 and s['resumed_from_step'] == 1024"
run "${again[@]}" --seed 1 --json total_steps=1280
holds "and with more steps to a later end" "$code == 0 and s['steps'] == 1280 and s['resumed_from_step'] == 1024"
run train --continue --runs damaged --json "${tiny[@]:2}" --seed 1
holds "or where no number of steps is given, to its own" "$code == 0 and s['steps'] == 1280"
rm -r damaged

# ---- two processes in one folder

"$troupe" train --runs held -n 1000000000 "${tiny[@]:2}" >out 2>held_err &
holder=$!
await_line held_err 'a run begins'
for way in "--resume held/ppo/CartPole-v1_1 --metrics-port 0" "--continue --runs held -n 1000000000 ${tiny[*]:2}"; do
  # shellcheck disable=SC2086  # one word an option
  run train $way
  [[ $code -eq 2 ]] && grep -qF "the run directory held/ppo/CartPole-v1_1 is in use: process $holder writes to it" err
  report "a run that goes on elsewhere is refused, with who has it (${way%% *})" $?
done
run train --runs held "${tiny[@]}"
report "another run beside it is none of that" $((code != 0))
await_that test -e held/ppo/CartPole-v1_1/best_model
run eval held/ppo/CartPole-v1_1 --model best_model --episodes 2
report "it can be evaluated meanwhile" $code
kill -KILL "$holder"
wait "$holder" 2>/dev/null
"$troupe" train --resume held/ppo/CartPole-v1_1 --metrics-port 0 >out 2>held_err &
holder=$!
await_line held_err 'a run goes on'
report "and gone on with once its process was killed" $?
kill -INT "$holder"
wait "$holder"
rm -r held

finish
