#!/usr/bin/env bash
# Three agents with policies of their own learn the same wherever these run: agents_test.sh BUILD_DIR
set -uo pipefail
source "$(dirname "$0")/common.sh" "$1"

few=(--algo mappo --env simple_spread_v3 --seed 3 --json -v --metrics-port 0 agents.share=false env.n_envs=8
  rollout.n_steps=50 trainer.batch_size=200 trainer.n_epochs=2 evaluation.every_steps=0 evaluation.final_episodes=8)

field() {  # field NAME: of the summary in out's last line
  tail -n 1 out | "$python" -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"
}

# learns_as_here WHAT OPTION...: with these options the weights are those in $expected
learns_as_here() {
  local what=$1
  shift
  run train "${few[@]}" -n 4000 --runs runs "$@"
  [[ $code -eq 0 && $(field weights_sha256) == "$expected" ]]
  report "$what" $?
}

run train "${few[@]}" -n 4000 --runs runs
expected=$(field weights_sha256)
[[ $code -eq 0 && ${#expected} -eq 64 ]]
report "three agents with policies of their own learn" $?
learns_as_here "their policies in processes" placement.policy=process
learns_as_here "everything in processes" placement.policy=process placement.trainer=process env.placement=process

address=127.0.0.1:$(free_port)
nodes=()
for name in one two; do
  "$troupe" node --join "$address" --name "$name" --slots 3 --metrics-port 0 >"$name.log" 2>&1 &
  nodes+=($!)
done
trap 'kill "${nodes[@]}"; wait "${nodes[@]}"; rm -rf "$folder"' EXIT
learns_as_here "their policies on two nodes" --listen "$address" --wait-for-nodes 2 'placement.policy=node:*'
grep -q 'a replica is placed on a node service=policy_agent_.* node=one' err &&
  grep -q 'a replica is placed on a node service=policy_agent_.* node=two' err
report "policies ran on both nodes" $?

# Policies are killed under way, some of them each time that all are there; every step of every episode is trained on all the same.
is_whole() {  # whether others have taken the places of those that were killed, or the run has ended
  local process
  kill -0 $training 2>/dev/null || return 0
  for process in "${dead[@]}"; do
    ! kill -0 "$process" 2>/dev/null || return 1
  done
  [[ $(pgrep -c -P $training) -ge 3 ]]
}
"$troupe" train "${few[@]}" -n 100000 --runs killed placement.policy=process >out 2>err &
training=$!
dead=()
while await_that is_whole && kill -0 $training 2>/dev/null; do
  for process in $(pgrep -P $training); do
    [[ $((RANDOM % 3)) -eq 0 ]] && kill -KILL "$process" 2>/dev/null && dead+=("$process")
  done
  [[ ${#dead[@]} -ge 6 ]] && break
done
wait $training
code=$?
[[ $code -eq 0 && ${#dead[@]} -ge 6 ]]
report "a run whose policies are killed ${#dead[@]} times comes to its end" $?
holds "and has trained on every step, with no rollout lost" "s['steps'] >= 100000 and s['rollouts_failed'] == 0"
grep -q 'a replica is restarted service=policy_agent_' err
report "the policies were started again" $?
finish
