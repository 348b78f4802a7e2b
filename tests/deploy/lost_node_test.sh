#!/usr/bin/env bash
# A run with checkpoints goes on after one of its nodes is lost for good: lost_node_test.sh BUILD_DIR
set -uo pipefail
source "$(dirname "$0")/common.sh" "$1"

trap 'wait; rm -rf "$folder"' EXIT

start_node() {  # start_node NAME: a node with room for two replicas
  "$troupe" node --join "$address" --name "$1" --slots 2 --metrics-port 0 >"$1.log" 2>&1 &
  nodes+=($!)
}

# The step of the newest checkpoint of $run.
newest() {
  local steps
  steps=$(ls "$run/checkpoints" 2>/dev/null | grep -oE '[0-9]+' | sort -n | tail -n 1)
  echo $((10#${steps:-0}))
}

has_reached() { [[ $(newest) -ge $1 ]]; }

trial() {  # trial ALGO OPTION...
  local algo=$1 run=$1/$1/CartPole-v1_1
  shift
  address=127.0.0.1:$(free_port)
  nodes=()
  trap 'kill -KILL "${nodes[@]}" ${training:-} 2>/dev/null; wait' EXIT
  start_node "$algo-one"
  start_node "$algo-two"
  "$troupe" train --algo "$algo" -n 100000000 --listen "$address" --wait-for-nodes 2 --metrics-port 0 --runs "$algo" \
    --stop-limit 60 'env.placement=node:*' evaluation.every_steps=0 evaluation.final_episodes=1 "$@" >"$algo.out" 2>"$algo.log" &
  training=$!
  await_that has_reached 1
  report "$algo: a run on two nodes writes checkpoints" $?
  kill -KILL "${nodes[1]}"
  await_that has_reached $(($(newest) + 3 * every))
  report "$algo: and three more after one of them is lost" $?
  grep -q 'warning a checkpoint does without replicas that do not serve .*replicas=4 serve=2' "$algo.log"
  report "$algo: the log says that it does without replicas" $?
  kill -TERM $training
  wait $training
  code=$?
  [[ $code -eq 0 && -e $run/last_model ]]
  report "$algo: SIGTERM ends it with a model" $?
  "$troupe" train --resume "$run" --listen "$address" --wait-for-nodes 1 --metrics-port 0 2>"$algo.log" >"$algo.out" &
  training=$!
  await_that has_reached $(($(newest) + 2 * every))
  report "$algo: it is resumed on the node that is left" $?
  kill -TERM $training
  wait $training
  kill -KILL "${nodes[0]}"
  wait "${nodes[@]}" 2>/dev/null
}

# Side by side, as each waits for 20 s: the checkpoint after the loss and the resumed run wait for the replicas that are lost.
begin() {  # begin EVERY ALGO OPTION...: a trial whose checkpoints are EVERY steps apart
  every=$1
  shift
  (
    trial "$@"
    echo "$passed $failed" >"$1.counts"
  ) >"$1.told" 2>&1 &
}

begin 2560 ppo env.replicas=4 rollout.batch=2 env.n_envs=2 rollout.n_steps=64 trainer.n_epochs=1 checkpoint.every_updates=10
begin 2000 dqn env.replicas=4 checkpoint.every_updates=500
wait
for algo in ppo dqn; do
  cat "$algo.told"
  read -r of_trial lost_by_trial <"$algo.counts" || { of_trial=0 lost_by_trial=1; }
  passed=$((passed + of_trial))
  failed=$((failed + lost_by_trial))
done
finish
