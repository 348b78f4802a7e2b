#!/usr/bin/env bash
# `troupe train --algo dqn`, and the run that it leaves: cli_dqn_test.sh BUILD_DIR
set -uo pipefail
source "$(dirname "$0")/common.sh" "$1"

run train --algo dqn --env CartPole-v1 -n 1200 --runs off --metrics-port 0 --json trainer.lr=2.3e-3 \
  collection.train_freq=16 collection.learning_starts=200 evaluation.final_episodes=5
[[ $code -eq 0 ]]
report "train --algo dqn ends well" $?
holds "its summary is of dqn" "s['algo'] == 'dqn' and s['steps'] >= 1200 and s['eval_episodes'] == 5"
names=$(head -1 off/dqn/CartPole-v1_1/progress.csv)
[[ $names == *rollout/ep_rew_mean* && $names == *rollout/exploration_rate* && $names == *train/loss* ]]
report "progress.csv has Stable-Baselines3's names" $?
run eval off/dqn/CartPole-v1_1 --episodes 3 --json
[[ $code -eq 0 ]]
report "eval takes a run of dqn" $?
holds "and plays its episodes" "s['eval_episodes'] == 3 and s['env'] == 'CartPole-v1'"
columns_are_explained off/dqn/CartPole-v1_1
refuses "a configuration of another algorithm is refused" 2 '/algo' \
  train --algo ppo --config off/dqn/CartPole-v1_1/config.json
refuses "an environment without discrete actions is refused" 2 'actions of Discrete' \
  train --algo dqn --env Pendulum-v1
refuses "a replay that would take too much is refused" 2 'max_bytes' \
  train --algo dqn replay.capacity=1000000000

finish
