#!/usr/bin/env bash
# A run goes on where its checkpoints can't be written, says so, and keeps the last good one; what it
# could not leave behind is in its exit code: disk_test.sh BUILD_DIR
set -u
source "$(dirname "$0")/common.sh" "$1"
skipped=0

# begins: a run in runs/ that has written a checkpoint; its process is $training, its directory $run, its metrics
# are at $page
begins() {
  local port
  port=$(free_port)
  page=http://127.0.0.1:$port/metrics
  "$troupe" train -n 1000000000 --runs runs --metrics-port "$port" rollout.n_steps=256 \
    policy.hidden=[8] trainer.n_epochs=1 evaluation.every_steps=0 checkpoint.every_updates=1 \
    checkpoint.keep=1 >out 2>err &
  training=$!
  await "$page" '^troupe_checkpoints_total\{outcome="ok"\} [1-9]'
  local code=$?
  run=$(echo runs/ppo/CartPole-v1_*)
  return $code
}

# survives WHAT BREAK MEND: a run in runs/ whose disk is broken and mended by these functions, which
# get the run directory
survives() {
  local what=$1 break=$2 mend=$3 training run page
  begins
  report "$what: there is a checkpoint" $?
  "$break" "$run"
  await "$page" '^troupe_checkpoints_total\{outcome="write_error"\} ([3-9]|[1-9][0-9])'
  report "$what: training goes on, and the metric counts" $?
  grep -q 'a checkpoint was not written; training goes on' err
  report "$what: the log says so" $?
  kill -KILL "$training"
  wait "$training" 2>/dev/null
  "$mend" "$run"
  (cd "$(ls -d "$run"/checkpoints/ckpt-* | grep -v tmp | sort -V | tail -1)" &&
    sha256sum --quiet -c manifest.sha256) >out 2>err
  report "$what: the last good checkpoint is whole" $?
  # timeout passes the signal on twice; a run takes both for one.
  timeout 60 "$troupe" train --resume "$run" --metrics-port 0 >out 2>err &
  training=$!
  await_line err 'a run goes on.*step=[1-9]'
  report "$what: the run goes on from it" $?
  kill -INT "$training"
  wait "$training"
  code=$?
  report "$what: and can be stopped" $code
  rm -rf runs/*
}

# loses WHAT BREAK MEND: as survives, but the run is stopped while its disk is broken
loses() {
  local what=$1 break=$2 mend=$3 training run page saved
  begins
  "$break" "$run"
  await "$page" '^troupe_checkpoints_total\{outcome="write_error"\} [1-9]'
  kill -TERM "$training"
  wait "$training"
  code=$?
  [[ $code -eq 1 ]] && ! grep -q 'go on with' out
  report "$what: a run that is stopped then has failed" $?
  saved=$(sed -n 's/.*of which those after \([0-9]*\) are lost.*/\1/p' err)
  "$mend" "$run"
  [[ -n $saved && -d $run/checkpoints/ckpt-$saved ]]
  report "$what: and tells the newest checkpoint that there is" $?
  rm -rf runs/*
}

# The run is held meanwhile: it makes the folder anew as soon as it misses it.
put_file_in_place() {
  kill -STOP "$training"
  mv "$1/checkpoints" "$1/aside" && : >"$1/checkpoints"
  kill -CONT "$training"
}
put_folder_back() { rm "$1/checkpoints" && mv "$1/aside" "$1/checkpoints"; }
fill_disk() { head -c 64M /dev/zero >runs/filler 2>/dev/null; }
free_disk() { rm runs/filler; }

mkdir runs
# The models fit under this limit, and the checkpoints don't.
(ulimit -f 40 && exec timeout 120 "$troupe" train -n 4096 --runs runs --metrics-port 0 evaluation.every_steps=0 \
  evaluation.final_episodes=2 checkpoint.every_updates=1 env.n_envs=4 rollout.n_steps=256 trainer.n_epochs=1 >out 2>err)
code=$?
[[ $code -eq 1 ]] && grep -q 'a checkpoint was not written; training goes on.*File too large' err &&
  grep -q 'could not write .*checkpoints; the log' err
report "files that may not grow so large are handled like a full disk" $?
[[ -s runs/ppo/CartPole-v1_1/summary.json ]]
report "and the run is finished" $?
rm -rf runs/*
survives "a folder that is gone" put_file_in_place put_folder_back
loses "a folder that is gone" put_file_in_place put_folder_back
if mount -t tmpfs -o size=8m troupe_disk_test runs 2>/dev/null; then
  trap 'umount "$folder/runs"; rm -rf "$folder"' EXIT
  survives "a full disk" fill_disk free_disk
  loses "a full disk" fill_disk free_disk

  small=(rollout.n_steps=256 policy.hidden=[8] trainer.n_epochs=1 evaluation.every_steps=0
    evaluation.final_episodes=2 checkpoint.every_updates=1)
  run train -n 1024 --runs runs --metrics-port 0 "${small[@]}"
  room=$(df --output=avail -B1 runs | tail -1)
  head -c $((room - 24576)) /dev/zero >runs/filler  # less than a checkpoint takes
  run train --resume runs/ppo/CartPole-v1_1 --steps 2048 --metrics-port 0
  [[ $code -eq 0 && -d runs/ppo/CartPole-v1_1/checkpoints/ckpt-2048 ]]
  report "where there is no room for another checkpoint the oldest makes it" $?
  rm -rf runs/*

  # A model of more than 8 MiB.
  run train -n 256 --runs runs --metrics-port 0 rollout.n_steps=256 policy.hidden=[1024,1024] trainer.n_epochs=1 \
    trainer.batch_size=256 evaluation.final_episodes=1
  [[ $code -eq 1 ]] && grep -q 'could not write .*CartPole-v1_1/best_model, .*CartPole-v1_1/last_model; the log' err
  report "a run whose models don't fit on the disk has failed, and names them" $?
  rm -rf runs/*

  head -c 64M /dev/zero >runs/filler 2>/dev/null
  run train -n 256 --runs runs --metrics-port 0
  [[ $code -eq 2 ]] && grep -q 'troupe train: cannot .*runs/ppo.*No space left on device' err &&
    ! compgen -G 'runs/ppo/*' >/dev/null
  report "a disk that is full from the start is told, and no folder is left" $?
  rm runs/filler

  run train -n 1024 --runs runs --metrics-port 0 "${small[@]}"
  mount -o remount,ro runs
  run train --resume runs/ppo/CartPole-v1_1 --metrics-port 0
  [[ $code -eq 2 ]] && grep -q 'cannot write to the run directory runs/ppo/CartPole-v1_1: Read-only file system' err
  report "a run on a disk that is read-only is not gone on with" $?
  run eval runs/ppo/CartPole-v1_1 --episodes 2
  report "but can be evaluated" $code
  mount -o remount,rw runs
  rm -rf runs/*
else
  echo "skipped: a full disk, as no file system may be mounted here"
  skipped=1
fi

echo "$passed passed, $failed failed, $skipped skipped"
[[ $failed -eq 0 ]]
