#!/usr/bin/env bash
# A checkpoint ends no process, and each role comes to the state that it would be restored to:
# kept_places_test.sh BUILD_DIR
set -uo pipefail
source "$(dirname "$0")/common.sh" "$1"

PYTHONPATH=$(realpath "$(dirname "$0")/../actors/python/worlds")
export PYTHONPATH
cat >counted.py <<'PYTHON'
"""Environments whose rewards tell how many were made since their module was imported."""
import numpy as np
from spaces import Box, Discrete

print("IMPORTED", flush=True)


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
  run train --metrics-port 0 --json "$@"
  got=$(tail -1 out | "$python" -c 'import json, sys; print(json.load(sys.stdin)["weights_sha256"])')
}

# compare NAME PATTERN COUNT OPTION...: a run that writes a checkpoint after each update makes what PATTERN names COUNT
# times, and gives the weights of one that goes on from the middle in another process, and of one in one process.
compare() {
  local name=$1 pattern=$2 count=$3
  shift 3
  rm -rf runs
  weights --runs runs --algo ppo -n 2048 env.n_envs=2 rollout.n_steps=64 rollout.batch=2 checkpoint.every_updates=1 \
    checkpoint.keep=100 evaluation.every_steps=512 evaluation.episodes=2 evaluation.final_episodes=2 "$@"
  report "$name: it trains" "$code"
  expected=$got
  [[ $(grep -cE "$pattern" err) -eq $count ]]
  report "$name: what a checkpoint need not end is made once" $?
  local directory
  directory=$(echo runs/ppo/*_1)
  [[ $(ls "$directory/checkpoints" | wc -l) -ge 8 ]]
  report "$name: there are checkpoints" $?
  rm -rf "$directory"/checkpoints/ckpt-{1280,1536,1792,2048} "$directory/summary.json"
  weights --resume "$directory"
  holds "$name: it goes on from the middle" "s['resumed_from_step'] == 1024"
  [[ -n $expected && $got == "$expected" ]]
  report "$name: to the weights of the run that was not ended" $?
}

compare "processes" 'a process was started for a replica' 4 env.placement=process env.replicas=4
compare "Python" 'a Python process printed.*IMPORTED' 3 --env counted:Counted env.replicas=2 \
  env.python=/usr/bin/python3
compare "Python in processes" 'a Python process printed.*IMPORTED' 3 --env counted:Counted env.replicas=2 \
  env.python=/usr/bin/python3 env.placement=process
finish
