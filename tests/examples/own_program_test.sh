#!/usr/bin/env bash
# A program of a user's own, as its user meets it: own_program_test.sh BUILD_DIR
set -uo pipefail
program=$(realpath "$1")/examples/own_program
header=$(realpath "$(dirname "$0")/../../algorithms/program/main.hpp")
source "$(dirname "$0")/../deploy/common.sh" "$1"
troupe=$program  # what run() runs

few=(evaluation.every_steps=0 evaluation.final_episodes=5)

# train_in_background ARGUMENT...: its process is $training, its output in the files out and err
train_in_background() {
  "$program" train "$@" >out 2>err &
  training=$!
}

# ---- what it has

run describe --json
"$python" - "$header" <<'PYTHON'
import json, re, sys
comment = open(sys.argv[1]).read().split("#include")[0].replace("\n//", "")
listed = re.search(r"has these commands of `troupe`: ([^.]*)\.", comment).group(1)
commands = {command["name"] for command in json.load(open("out"))["commands"]}
assert commands == set(re.findall(r"[\w-]+", listed)) - {"and"}, (commands, listed)
PYTHON
report "main.hpp lists its commands" $?
run list
[[ $code -eq 0 ]] && grep -q '^  Corridor-v0 .*Box(1).*Discrete(2).*0\.9' out && grep -q '^  CartPole-v1 ' out
report "list shows its own environment beside Troupe's" $?
[[ $(wc -L <out) -le 100 ]]
report "in lines that fit a terminal" $?
grep -q '^  eager_ppo  *PPO on short rollouts' out && grep -q '^  sac ' out && ! grep -q 'grpo\|language models' out
report "and its own algorithm beside Troupe's, and none that it does not link" $?
run config ppo
[[ $code -eq 0 ]] && grep -q '^  env.id  *Corridor-v0 ' out
report "config says that its own environment is the default" $?
run config eager_ppo
[[ $code -eq 0 ]] && grep -q '^  rollout.n_steps  *128 ' out && grep -q '^  algo  *eager_ppo ' out
report "config says its own algorithm's defaults" $?
run --help
[[ $code -eq 0 ]] && grep -q 'Trains agents to leave a corridor' out && grep -qF "$program train --env Corridor-v0" out
report "help says what it does, and how it is called" $?
run train --help
[[ $code -eq 0 ]] && grep -q -- '--resume' out && ! grep -q -- '--task\|unsandboxed' out
report "train has no options of algorithms that it does not link" $?

# ---- what is wrong with what is asked

run train --env Corridr-v0
[[ $code -eq 2 ]] && grep -q 'unknown environment "Corridr-v0"; did you mean "Corridor-v0"?' err && [[ ! -e runs ]]
report "a wrong environment is told the nearest" $?
run train --algo eager_pp
[[ $code -eq 2 ]] && grep -q 'unknown algorithm "eager_pp"; did you mean "eager_ppo"?' err
report "a wrong algorithm is told the nearest" $?
run trian
[[ $code -eq 2 ]] && grep -q 'unknown command "trian"; did you mean "train"?' err
report "a wrong command is told the nearest" $?
run
[[ $code -eq 2 ]] && grep -q 'Train an agent' err
report "no command at all prints the help" $?

# ---- a run that is stopped, and goes on

port=$(free_port)
train_in_background -n 4000000 --runs kept --metrics-port "$port" checkpoint.every_updates=1 "${few[@]}"
await "http://127.0.0.1:$port/metrics" '^troupe_env_steps_total.* [1-9]'
report "its metrics are served while it trains" $?
# Between two checkpoints its services are served anew, so one look may come when there are none.
shows_environments() { "$program" status --json "127.0.0.1:$port" 2>&1 | grep -q '"service":"environments"'; }
await_that shows_environments
report "status shows its services" $?
await_that compgen -G 'kept/ppo/Corridor-v0_1/checkpoints/*' >/dev/null
kill -INT $training
wait $training
code=$?
[[ $code -eq 0 ]] && grep -qF "go on with: $program train --resume kept/ppo/Corridor-v0_1" out
report "Ctrl-C ends a run with checkpoints with 0, and says how it goes on" $?
made=$(sed -n 's/^stopped after \([0-9]*\) steps.*/\1/p' out)
sed -i "s/\"total_steps\": 4000000/\"total_steps\": $((made + 30000))/" kept/ppo/Corridor-v0_1/config.json
run train --resume kept/ppo/Corridor-v0_1 --json --metrics-port 0
holds "--resume goes on from there" "s['resumed_from_step'] == $made > 0 and s['steps'] >= $made + 30000 and
  s['env'] == 'Corridor-v0' and s['algo'] == 'ppo'"
run train -n 20480 --runs learned --json --metrics-port 0
run eval learned/ppo/Corridor-v0_1 --episodes 20 --json
holds "eval plays its own environment with the model" "s['env'] == 'Corridor-v0' and s['eval_episodes'] == 20 and
  s['eval_mean'] > 0.85"
train_in_background -n 4000000 --runs lost --metrics-port 0 "${few[@]}"
await_line err 'a run begins'
kill -INT $training
wait $training
code=$?
[[ $code -eq 130 ]] && grep -q "it can't go on" out
report "Ctrl-C ends a run without checkpoints with 130" $?
run train -n 4000 --runs short --continue --json --metrics-port 0 "${few[@]}" checkpoint.every_updates=1
[[ $code -eq 0 ]]
report "--continue begins a run where there is none" $?
run train -n 6000 --runs short --continue --json --metrics-port 0 "${few[@]}" checkpoint.every_updates=1
holds "and goes on with it where there is one" "s['resumed_from_step'] > 0"

# ---- in other processes

run train -n 4096 --runs placed --json --metrics-port 0 env.placement=process "${few[@]}"
holds "worker processes host its environment" "s['env'] == 'Corridor-v0' and s['rollouts_failed'] == 0"
address=127.0.0.1:$(free_port)
"$program" node --join "$address" --name one --metrics-port 0 >node.log 2>&1 &
node=$!
trap 'kill $node 2>/dev/null; wait $node; rm -rf "$folder"' EXIT
run train -n 4096 --runs placed --json --listen "$address" --wait-for-nodes 1 --metrics-port 0 'env.placement=node:one' \
  "${few[@]}"
holds "a node hosts its environment" "s['env'] == 'Corridor-v0' and s['rollouts_failed'] == 0"
kill -TERM $node
wait $node
code=$?
[[ $code -eq 0 ]]
report "a node that is told to end ends with 0" $?

# ---- an algorithm of its own

weights() { tail -1 out | "$python" -c 'import json, sys; print(json.load(sys.stdin)["weights_sha256"])'; }
eager=(train --algo eager_ppo --env CartPole-v1 -n 8192 --deterministic --json --metrics-port 0 "${few[@]}")
run "${eager[@]}" --runs first checkpoint.every_updates=2 checkpoint.keep=100
holds "its own algorithm trains on an environment of Troupe's" "s['algo'] == 'eager_ppo' and
  s['env'] == 'CartPole-v1' and s['run_directory'] == 'first/eager_ppo/CartPole-v1_1'"
expected=$(weights)
newest=$(compgen -G 'first/eager_ppo/CartPole-v1_1/checkpoints/*' | sort -V | tail -1)
rm -rf "${newest:?}" first/eager_ppo/CartPole-v1_1/summary.json
run train --resume first/eager_ppo/CartPole-v1_1 --json --metrics-port 0
[[ $code -eq 0 && $(weights) == "$expected" ]]
report "and goes on from its checkpoints to the same weights" $?
run eval first/eager_ppo/CartPole-v1_1 --episodes 3 --json
holds "and its model is evaluated" "s['env'] == 'CartPole-v1' and s['eval_episodes'] == 3"
finish
