#!/usr/bin/env bash
# A checkpoint ends no process, and each role comes to the state that it would be restored to:
# kept_places_test.sh BUILD_DIR
set -uo pipefail
here=$(realpath "$(dirname "$0")")
source "$here/common.sh" "$1"

export PYTHONPATH=$here/../actors/python/worlds
cat >counted.py <<'PYTHON'
"""Environments whose rewards tell how many were made since their module was imported."""
import os

import numpy as np
from spaces import Box, Discrete

print("IMPORTED", os.getpid(), flush=True)  # lines that are equal are logged once


class Counted:
    made = 0

    def __init__(self):
        self.observation_space, self.action_space = Box(-1, 1, (1,)), Discrete(2)
        Counted.made += 1
        self.number = Counted.made

    def reset(self, *, seed=None, options=None):
        if seed is not None:
            self.random = np.random.default_rng(seed)
        self.steps = 0
        return self.observe(), {}

    def step(self, action):
        self.steps += 1
        return self.observe(), self.number * float(action), False, self.steps == 20, {}

    def observe(self):
        return self.random.uniform(-1, 1, 1).astype(np.float32)
PYTHON

# weights ARGUMENT...: the SHA-256 of the weights, into $got
weights() {
  run train --metrics-port 0 --json -v "$@"
  got=$(tail -1 out | "$python" -c 'import json, sys; print(json.load(sys.stdin)["weights_sha256"])')
}

# compare NAME PATTERN COUNT OPTION...: a run that writes a checkpoint after each update makes what PATTERN names COUNT
# times, and gives the weights of one that goes on from the middle in another process, and of one in one process.
compare() {
  local name=$1 pattern=$2 count=$3
  shift 3
  rm -rf runs
  weights --runs runs --algo ppo -n 1024 env.n_envs=2 rollout.n_steps=64 checkpoint.every_updates=1 \
    checkpoint.keep=100 evaluation.every_steps=512 evaluation.episodes=2 evaluation.final_episodes=2 "$@"
  report "$name: it trains" "$code"
  expected=$got
  [[ $(grep -cE "$pattern" err) -eq $count ]]
  report "$name: what a checkpoint need not end is made once" $?
  local directory
  directory=$(echo runs/ppo/*_1)
  [[ $(ls "$directory/checkpoints" | wc -l) -ge 8 ]]
  report "$name: there are checkpoints" $?
  rm -rf "$directory"/checkpoints/ckpt-{640,768,896,1024} "$directory/summary.json"
  weights --resume "$directory"
  holds "$name: it goes on from the middle" "s['resumed_from_step'] == 512"
  [[ -n $expected && $got == "$expected" ]]
  report "$name: to the weights of the run that was not ended" $?
}

started='a process was started for a replica' printed='a Python process printed.*IMPORTED'
python_options=(--env counted:Counted env.python=/usr/bin/python3)
compare "processes" "$started" 1 env.placement=process
# One tells the spaces, one is of the environments, one of the evaluations, and one of the last evaluation.
compare "Python" "$printed" 4 "${python_options[@]}"
compare "Python in processes" "$printed" 4 "${python_options[@]}" env.placement=process
run train --metrics-port 0 --json -v --runs many --mode async -n 2048 rollout.n_steps=64 rollout.workers=4 \
  checkpoint.every_updates=2 env.placement=process env.replicas=4
holds "four processes in async mode: it trains" "s['steps'] >= 2048 and s['rollouts_failed'] == 0"
[[ $(grep -c "$started" err) -eq 4 ]]
report "four processes in async mode: they are started once" $?
finish
