#!/usr/bin/env bash
# What is done with environments without training: cli_env_test.sh BUILD_DIR
set -uo pipefail
source "$(dirname "$0")/common.sh" "$1"

# ---- pull-env

# A container tool that only notes what it is asked.
mkdir tools
: >pulled
printf '#!/bin/sh\necho "$@" >pulled\n[ "$2" != broken/env:latest ]\n' >tools/docker
chmod +x tools/docker
PATH=$PWD/tools:$PATH run pull-env echo
[[ $code -eq 0 && $(<pulled) == "pull registry.hf.space/openenv-echo-env:latest" ]] &&
  grep -q 'docker run --rm -p 127.0.0.1:8000:8000 registry.hf.space/openenv-echo-env:latest' out
report "an OpenEnv environment is pulled by its short name, and how it is served is said" $?
PATH=$PWD/tools:$PATH run pull-env openenv/Coding_env
[[ $code -eq 0 && $(<pulled) == "pull registry.hf.space/openenv-coding-env:latest" ]]
report "and by the name of its repository" $?
PATH=$PWD/tools:$PATH run pull-env games.example/chess:2
[[ $code -eq 0 && $(<pulled) == "pull games.example/chess:2" ]]
report "and an image by its own name" $?
PATH=$PWD/tools:$PATH refuses "an image that can't be pulled is an error" 1 '`docker pull broken/env:latest` ended with exit code 1' \
  pull-env broken/env:latest
refuses "a container tool that is not there is named" 1 'expected nerdctl on the PATH, got none' pull-env echo --tool nerdctl
refuses "an option is no image" 2 'expected the name of an image, got "-v"' pull-env -- -v

# ---- check-env

run check-env CartPole-v1 --steps 200
[[ $code -eq 0 ]] && grep -q '^CartPole-v1: no fault, 1 warning$' out
report "check-env finds no fault in CartPole" $?
run check-env Pendulum-v1 env.rescale_action=true env.frame_stack=2 --steps 100 --json
[[ $code -eq 0 ]]
report "check-env takes options of the environment" $?
holds "and prints its findings as JSON" \
  's["env"] == "Pendulum-v1" and not s["faults"] and s["warnings"][0]["where"] == "observation space"'
export PYTHONPATH=$sources/tests/actors/python/worlds
run check-env unsound:WrongLevel env.python=/usr/bin/python3 --steps 20 --json
[[ $code -eq 1 ]]
report "check-env of an environment in Python with a fault ends with 1" $?
holds "which names the key, what was expected and what came" \
  '[(f["key"], f["expected"], f["got"]) for f in s["faults"]] == [("level", "an integer from 0 to 3", "4")] * 2'
unset PYTHONPATH
refuses "check-env of an unknown environment is told the nearest" 2 'did you mean "CartPole-v1"?' check-env CartPol-v1
refuses "check-env refuses options of other sections" 2 '/trainer: unknown key "trainer"' \
  check-env CartPole-v1 trainer.lr=1
refuses "check-env refuses a wrapper that does not fit" 2 'expected a Box to rescale actions' \
  check-env CartPole-v1 env.rescale_action=true
refuses "check-env checks one environment" 2 '/env/tasks: expected none' \
  check-env CartPole-v1 'env.tasks=[{"id":"CartPole-v1"}]'

# ---- environments on OpenEnv servers, which the options start

serve() {  # serve ID: the option that starts a server of this environment
  printf 'env.options.command=["%s","serve-env","%s","--port","{port}","--metrics-port","0"]' "$troupe" "$1"
}
run check-env openenv:cart "$(serve CartPole-v1)" --steps 100 --json
[[ $code -eq 0 ]]
report "check-env starts a server and checks its environment" $?
holds "and prints the view that it has found out" \
  'json.loads(s["view"]["option"][17:])["action"] == [{"pointer": "/action", "n": 2}] and
   json.loads(s["view"]["option"][17:])["observation"][0]["shape"] == [4]'
run train --algo ppo --env openenv:cart "$(serve CartPole-v1)" -n 256 rollout.n_steps=64 --seed 1
[[ $code -eq 0 && -d runs/ppo ]]
report "a run trains on a server that it starts" $?
run eval runs/ppo/* --episodes 3 --json
[[ $code -eq 0 ]]
report "and its evaluation starts one again" $?
rm -rf runs
for command in "check-env openenv:cart" "train --algo ppo --env openenv:cart -n 64"; do
  refuses "$command refuses a view by its member" 2 'view/action/n: expected a number of choices > 0' \
    $command "$(serve CartPole-v1)" 'env.options.view={"action":{"n":0}}'
  refuses "$command refuses a value that is not there" 2 '/wind: expected a value of the first observation' \
    $command "$(serve CartPole-v1)" 'env.options.view={"observation":"/wind"}'
done
command="train --algo ppo --env openenv:cart -n 64 env.n_envs=2"
few=$(serve CartPole-v1)
refuses "too few sessions are told before the first step" 2 'expected room for at least 4 sessions' \
  $command "${few%]},\"--sessions\",\"3\"]"
refuses "a server that can't start is told with its last words" 2 'ended before it was healthy' \
  check-env openenv:none 'env.options.command=["false"]'
refuses "an address beside a command is refused" 2 'expected a name without an address' \
  check-env openenv:http://localhost:1 'env.options.command=["false"]'

finish
