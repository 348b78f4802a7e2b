#!/usr/bin/env bash
# A network of a user's own, in a program of a user's own: own_network_test.sh BUILD_DIR
set -uo pipefail
program=$(realpath "$1")/examples/own_network
source "$(dirname "$0")/../deploy/common.sh" "$1"
troupe=$program  # what run() runs

weights() { tail -1 out | "$python" -c 'import json, sys; print(json.load(sys.stdin)["weights_sha256"])'; }
few=(evaluation.every_steps=0 evaluation.final_episodes=5 --json --metrics-port 0)

run train -n 256 --runs refused policy.encoder=gatd "${few[@]}"
[[ $code -eq 2 ]] && grep -q 'policy.encoder "gatd": expected the name of a network that this program registers, such as gated' err
report "a name that is not registered is refused, and the known ones are told" $?

for algo in ppo dqn sac; do
  # Checkpoints after each update; the run is as long as two of PPO's updates.
  env=CartPole-v1 options=(policy.encoder=gated 'policy.hidden=[16]' policy.layer_norm=true)
  [[ $algo == ppo ]] && options+=(-n 1024 env.n_envs=2 rollout.n_steps=128 checkpoint.every_updates=2)
  [[ $algo == dqn ]] && options+=(-n 600 collection.learning_starts=200 checkpoint.every_updates=50)
  [[ $algo == sac ]] && env=Pendulum-v1 &&
    options+=(-n 300 collection.learning_starts=100 checkpoint.every_updates=100 'policy.critic_hidden=[8]')
  run train --algo $algo --env $env --runs kept --deterministic checkpoint.keep=100 "${options[@]}" "${few[@]}"
  [[ $code -eq 0 ]]
  report "$algo trains with it" $?
  expected=$(weights)
  newest=$(compgen -G "kept/$algo/${env}_1/checkpoints/*" | sort -V | tail -1)
  rm -rf "${newest:?}" "kept/$algo/${env}_1/summary.json"
  run train --resume "kept/$algo/${env}_1" --json --metrics-port 0
  [[ $code -eq 0 && -n $expected && $(weights) == "$expected" ]]
  report "$algo goes on from a checkpoint to the same weights" $?
  run eval "kept/$algo/${env}_1" --episodes 3 --json
  [[ $code -eq 0 ]]
  report "$algo's model is evaluated" $?
done

run train -n 512 --runs placed placement.policy=process placement.trainer=process env.n_envs=2 rollout.n_steps=128 \
  policy.encoder=gated "${few[@]}"
report "policy and trainer have it in processes of their own" $code
run train -n 512 --runs ranks trainer.replicas=2 env.n_envs=2 rollout.n_steps=128 policy.encoder=gated "${few[@]}"
report "several learners train it together" $code
finish
