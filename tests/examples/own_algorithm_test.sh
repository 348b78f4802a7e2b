#!/usr/bin/env bash
# Rules of a user's own, a loss and a target, in a program of a user's own: own_algorithm_test.sh BUILD_DIR
set -uo pipefail
program=$(realpath "$1")/examples/own_algorithm
built_in=$(realpath "$1")/deploy/troupe/troupe
source "$(dirname "$0")/../deploy/common.sh" "$1"
troupe=$program  # what run() runs

weights() { tail -1 out | "$python" -c 'import json, sys; print(json.load(sys.stdin)["weights_sha256"])'; }

few=(--json --metrics-port 0 evaluation.every_steps=0 evaluation.final_episodes=2)
short=(-n 1024 rollout.n_steps=256 trainer.n_epochs=2 'policy.hidden=[16]' "${few[@]}")

for backend in fused libtorch; do
  run train --algo kl_ppo --runs $backend --deterministic policy.backend=$backend checkpoint.every_updates=1 "${short[@]}"
  holds "a loss trains on $backend" "s['algo'] == 'kl_ppo' and s['steps'] == 1024"
  expected=$(weights)
  newest=$(compgen -G "$backend/kl_ppo/CartPole-v1_1/checkpoints/*" | sort -V | tail -1)
  rm -rf "${newest:?}" $backend/kl_ppo/CartPole-v1_1/summary.json
  run train --resume $backend/kl_ppo/CartPole-v1_1 --json --metrics-port 0
  holds "it is resumed on $backend" "s['resumed_from_step'] == 768"
  [[ -n $expected && $(weights) == "$expected" ]]
  report "to the same weights" $?
done

run train --algo kl_ppo --runs placed placement.trainer=process "${short[@]}"
holds "its learner runs in a process" "s['steps'] == 1024 and s['rollouts_failed'] == 0"
run train --algo kl_ppo --runs ranks trainer.replicas=2 env.n_envs=2 "${short[@]}"
holds "it trains with two ranks" "s['steps'] == 1024 and s['rollouts_failed'] == 0"
run eval fused/kl_ppo/CartPole-v1_1 --episodes 2 --json
holds "its model is evaluated" "s['env'] == 'CartPole-v1' and s['eval_episodes'] == 2"
run eval fused/kl_ppo/CartPole-v1_1 --env Acrobot-v1 --episodes 2
[[ $code -eq 2 ]] && grep -q 'Acrobot-v1' err
report "but not on an environment of another shape" $?

run train --algo mixed_td3 --env Pendulum-v1 --runs td3 -n 300 collection.learning_starts=100 'policy.hidden=[16]' \
  "${few[@]}"
holds "a target trains" "s['algo'] == 'mixed_td3' and s['steps'] >= 300"

for rule in kl_ppo mixed_td3; do
  run check-rule --algo $rule 'policy.hidden=[16]'
  [[ $code -eq 0 ]] && grep -q '^policy.backend=fused' out && grep -q '^policy.backend=libtorch' out &&
    grep -q 'right$' out && ! grep -q 'wrong$\|missing$\|rough$' out
  report "check-rule finds $rule's gradient right" $?
done
run train --algo "$(dirname "$program")/awr.so" --runs plugged "${short[@]}"
holds "a program of one's own trains by a rule in a plug-in, too" "s['algo'].endswith('/awr.so') and s['steps'] == 1024"
run check-rule --algo q_learning
[[ $code -eq 2 ]] && grep -q 'q_learning: expected an algorithm whose learner' err
report "check-rule refuses an algorithm without a graph" $?

troupe=$built_in
for arguments in "eval fused/kl_ppo/CartPole-v1_1" "train --resume fused/kl_ppo/CartPole-v1_1"; do
  run $arguments
  [[ $code -eq 2 && $(wc -l <err) -eq 1 ]] && grep -qF 'fused/kl_ppo/CartPole-v1_1/config.json: /algo: unknown algorithm "kl_ppo": expected one of troupe; another program' err
  report "a program without the rule refuses to ${arguments%% *} by its name, and names the run" $?
done
finish
