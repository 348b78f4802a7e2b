#!/usr/bin/env bash
# Runs every example in a folder of its own, checks its exit code, that it keeps below 150 lines and opens
# with its roles; and that one that prints a result prints it. Those that own_program_test.sh and
# algorithm_class_test.sh train to their ends are trained for a moment here.
set -u
build=$(cd "$1" && pwd)
sources=$(cd "$(dirname "$0")/../../examples" && pwd)
place=$(mktemp -d)
server=
trap 'rm -rf "$place"; [[ -z $server ]] || kill "$server"' EXIT
cd "$place" || exit 1
passed=0
failed=0

check() {  # check NAME CONDITION...
  local name=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $name"
    [[ -f $place/output ]] && tail -5 "$place/output"
  fi
}

# serve_cartpole: serves it to train_on_openenv, and keeps the URL in OPENENV_URL
serve_cartpole() {
  : >"$place/server"  # for tail, which may come before the server
  "$build/deploy/troupe/troupe" serve-env CartPole-v1 --port 0 --metrics-port 0 >"$place/server" 2>&1 &
  server=$!
  timeout 60 grep -q -m 1 "^serving" <(tail -f -n +1 --pid "$server" "$place/server")
  OPENENV_URL=$(sed -n 's/^serving .* at \(http[^,]*\),.*/\1/p' "$place/server")
  export OPENENV_URL
}

serve_cartpole
asked=
for source in "$sources"/*.cpp; do
  name=$(basename "$source" .cpp)
  rm -f "$place/output"
  check "$name keeps below 150 lines" test "$(wc -l <"$source")" -lt 150
  check "$name opens with its roles" grep -qiE "roles|parts" <(head -20 "$source")
  if [[ $name == awr ]]; then  # a plug-in, which the command loads
    timeout 120 "$build/deploy/troupe/troupe" train --algo "$build/examples/awr.so" -n 2048 \
      evaluation.final_episodes=1 --metrics-port 0 >"$place/output" 2>&1
    check "awr trains" test $? -eq 0
    continue
  fi
  arguments=()
  [[ $name != own_program ]] || arguments=(train -n 2048 evaluation.final_episodes=1 --metrics-port 0)
  [[ $name != own_algorithm ]] || arguments=(train --algo kl_ppo -n 4096 --metrics-port 0)
  [[ $name != own_network ]] ||
    arguments=(train -n 4096 policy.encoder=gated evaluation.final_episodes=1 --metrics-port 0)
  [[ $name != own_target ]] ||
    arguments=(train --algo clipped_td3 -n 400 collection.learning_starts=200 'policy.hidden=[16]'
               evaluation.final_episodes=1 --metrics-port 0)
  [[ $name != own_algorithm_class ]] || arguments=(train --algo cem -n 1 --metrics-port 0)
  [[ $name != train_on_openenv ]] ||
    arguments=(train -n 4096 --metrics-port 0 env.placement=thread evaluation.final_episodes=2)
  # Where this machine can't make sandboxes it judges its answers without.
  [[ $name != grpo_code ]] || "$build/deploy/troupe/troupe" check-sandbox >/dev/null ||
    arguments=(--allow-unsandboxed-code)
  [[ $name != grpo_own_world ]] ||
    arguments=(train --algo grpo -n 2 warm_start.batches=2 rollout.prompts=4 evaluation.problems=4
               evaluation.final_problems=4 --metrics-port 0)
  timeout 120 "$build/examples/$name" "${arguments[@]}" >"$place/output" 2>&1
  check "$name exits with 0" test $? -eq 0
  check "$name prints something" test -s "$place/output"
  if [[ $name == own_metrics ]]; then
    check "$name counts in its processes" grep -q '^bandit_pulls_total{lever="right",process="bandits-1"} [1-9]' "$place/output"
    check "$name shows what its loop records" grep -q '^bandit_recorded{column="bandit/right"} 0\.' "$place/output"
  fi
  # One that hands all that it is given to troupe::run or troupe::main has their answers; one of each is asked.
  taken_by=$(grep -oE 'return troupe::(run|main)\(argc, argv' "$source")
  if [[ -n $taken_by && $(grep -o argv "$source" | wc -l) -eq 2 ]]; then
    [[ $asked != *"$taken_by"* ]] || continue
    asked+=$taken_by
  fi
  check "$name takes --help" "$build/examples/$name" --help >/dev/null
  "$build/examples/$name" --no-such-option >/dev/null 2>&1
  check "$name refuses an unknown option with 2" test $? -eq 2
done
echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
