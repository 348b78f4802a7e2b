#!/usr/bin/env bash
# An algorithm whose class is a user's own, in a program of a user's own: algorithm_class_test.sh BUILD_DIR
set -uo pipefail
program=$(realpath "$1")/examples/own_algorithm_class
source "$(dirname "$0")/../deploy/common.sh" "$1"
troupe=$program  # what run() runs

weights() { tail -1 out | "$python" -c 'import json, sys; print(json.load(sys.stdin)["weights_sha256"])'; }

run list
[[ $code -eq 0 ]] && grep -q '^  cem  *the cross-entropy method' out && grep -q '^  ppo ' out
report "list shows it beside Troupe's algorithms" $?
run config cem
[[ $code -eq 0 ]] && grep -q '^  population  *32 ' out && grep -q '^  env.players  *2 ' out
report "config shows its options" $?
run train --algo cem population=1
[[ $code -eq 2 ]] && grep -q '/population: expected an integer >= 4, got 1' err
report "its options are checked" $?
run train --algo cem --env CartPol-v1
[[ $code -eq 2 ]] && grep -q 'unknown environment "CartPol-v1"; did you mean "CartPole-v1"?' err
report "and so is its environment" $?

for mode in sync async; do
  run train --algo cem --mode $mode --runs $mode --json --metrics-port 0 --deterministic
  holds "it learns CartPole in $mode mode" "s['algo'] == 'cem' and s['mode'] == '$mode' and s['steps'] == 30 and
    s['eval_mean'] > 475 and s['rollouts_failed'] == 0"
done
run train --algo cem --runs placed --json --metrics-port 0 -n 3 env.placement=process
holds "its players run in worker processes" "s['steps'] == 3 and s['rollouts_failed'] == 0"

run train --algo cem --runs kept -n 6 --deterministic --json --metrics-port 0 checkpoint.every_updates=2
holds "it trains deterministically" "s['steps'] == 6 and s['run_directory'] == 'kept/cem/CartPole-v1_1'"
expected=$(weights)
rm -rf kept/cem/CartPole-v1_1/checkpoints/ckpt-6 kept/cem/CartPole-v1_1/summary.json
run train --resume kept/cem/CartPole-v1_1 --json --metrics-port 0
holds "it goes on from its checkpoints" "s['resumed_from_step'] == 4"
[[ -n $expected && $(weights) == "$expected" ]]
report "to the same weights" $?
run eval kept/cem/CartPole-v1_1 --episodes 3 --json
holds "its model is evaluated" "s['env'] == 'CartPole-v1' and s['eval_episodes'] == 3"
finish
