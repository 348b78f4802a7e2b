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
grep -q '^speed: 1 environment, hosted: [0-9]* steps a second (200 steps with random actions, ' out && ! grep -q alone out
report "and measures its speed in this program" $?
run check-env Pendulum-v1 env.rescale_action=true env.frame_stack=2 --steps 100 --json
[[ $code -eq 0 ]]
report "check-env takes options of the environment" $?
holds "and prints its findings as JSON" \
  's["env"] == "Pendulum-v1" and not s["faults"] and s["warnings"][0]["where"] == "observation space"'
export PYTHONPATH=$sources/tests/actors/python/worlds
run check-env unsound:Sound env.python=/usr/bin/python3 env.n_envs=2 --steps 100 --json
holds "the speed of an environment in Python is measured alone and hosted, for one and for env.n_envs" \
  '[(m["environments"], m["how"], m["steps"], m["episodes"]) for m in s["speed"]] ==
  [(1, "alone", 100, 10), (2, "alone", 100, 10), (1, "hosted", 100, 10), (2, "hosted", 100, 10)]'
run check-env unsound:WrongLevel env.python=/usr/bin/python3 --steps 20 --json
[[ $code -eq 1 ]]
report "check-env of an environment in Python with a fault ends with 1" $?
holds "which names the key, what was expected and what came" \
  '[(f["key"], f["expected"], f["got"]) for f in s["faults"]] == [("level", "an integer from 0 to 3", "4")] * 2'
holds "and is not measured" 's["speed"] == [] and s["skipped"][-1] == {"check": "speed", "reason": "it has faults"}'

# ---- levels and numbers of episodes of an environment in Python

small=(--metrics-port 0 -n 640 rollout.n_steps=64 policy.hidden=[8] trainer.batch_size=32 trainer.n_epochs=1
  evaluation.final_episodes=2 env.python=/usr/bin/python3)
run train --env good:Levels "${small[@]}" 'env.curriculum={"window":5,"min_episodes":5,"promote_at":0.5}' 'env.info=[level,height]'
report "a curriculum goes through the levels of an environment in Python" $((code != 0))
"$python" - <<'PYTHON'
import csv
rows = list(csv.DictReader(open("runs/ppo/good-Levels_1/progress.csv")))
levels = [float(row["rollout/level"]) for row in rows if row["rollout/level"]]
assert levels[0] < 2 and levels[-1] == 2, levels
PYTHON
report "from the easier ones to the last" $?
[[ $(grep -c 'env.info: no episode has a number "height" so far; the last infos have level' err) -eq 1 ]]
report "a name of env.info that no episode has is told once, with those that there are" $?
refuses "a curriculum for an environment in Python without levels is refused with what it needs" 2 \
  'a method set_level(level)' train --env good:Counter "${small[@]}" 'env.curriculum={}'

# ---- processes that are replaced

run train --env good:Leaks "${small[@]}" env.replace_after_episodes=60 --json -v
holds "a run whose processes are replaced ends" 's["steps"] == 640'
! grep -q 'an episode was dropped' err && grep -q 'a Python process is replaced between episodes.*reason=episodes' err
report "and loses no episode" $?
refuses "a process can't be replaced above its wall" 2 '/env/replace_above_mb: expected a number below memory_limit_mb' \
  train --env good:Leaks "${small[@]}" env.memory_limit_mb=500 env.replace_above_mb=500

# ---- sizes that are told at the start

run train -n 300 --metrics-port 0 policy.hidden=[8] trainer.n_epochs=1 evaluation.final_episodes=1 env.n_envs=2
grep -q 'more steps than total_steps.* total_steps=300 steps=4096 steps_of_an_update=4096 .*rollout.n_steps' err
report "a run that takes whole updates tells how many steps that are" $?
run train -n 4000 --metrics-port 0 policy.hidden=[8] trainer.n_epochs=1 evaluation.final_episodes=1 env.n_envs=2 env.replicas=3
! grep -q 'more steps than total_steps' err
report "but not where these are a few more" $?
grep -q 'more replicas of the environments are asked for than are used at once.*env.replicas=3 at_once=1 see=rollout.batch' err
report "replicas that have nothing to do are told" $?
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
export PYTHONPATH=$sources/tests/actors/python/worlds:$PWD
cat >seedless.py <<'EOF'
import os
import unsound


class Seedless(unsound.Sound):
    def reset(self, *, seed=None, options=None):
        return super().reset(seed=int.from_bytes(os.urandom(4), "little"), options=options)
EOF
run check-env openenv:seedless "$(serve seedless:Seedless)" --steps 100 --json
[[ $code -eq 0 ]]
report "a server that takes no seed has no fault" $?
holds "but a warning" 'any("takes no seed" in each["expected"] for each in s["warnings"]) and s["speed"]'
cat >late.py <<'EOF'
import time
import unsound


class Late(unsound.Sound):
    taken = 0

    def step(self, action):
        Late.taken += 1
        if Late.taken > 60:
            time.sleep(1000)
        return super().step(action)
EOF
run check-env openenv:late "$(serve late:Late)" env.step_timeout=3 --steps 200 --json
[[ $code -eq 1 ]]
report "a server that no longer replies ends the checks" $?
holds "with one fault that names the limit and its option" \
  'len(s["faults"]) == 1 and "no reply within 3000 ms (env.step_timeout)" in s["faults"][0]["got"] and
   any("not replied" in each["reason"] for each in s["skipped"])'
cat >stopped.py <<'EOF'
import os
import pathlib
import signal
import unsound


def server():
    pid = os.getppid()
    while b"serve-env" not in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
        pid = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return pid


class Stopped(unsound.Sound):
    taken = 0

    def step(self, action):
        Stopped.taken += 1
        if Stopped.taken > 60:
            os.kill(server(), signal.SIGSTOP)
        return super().step(action)
EOF
run check-env openenv:stopped "$(serve stopped:Stopped)" env.step_timeout=1 env.options.connect_timeout=1 --steps 200 --json
[[ $code -eq 1 ]]
report "a server that takes no connection after that ends the checks too" $?
holds "with one fault that names both limits, that of the first failure as the cause" \
  'len(s["faults"]) == 1 and "no connection within 1000 ms (env.options.connect_timeout); " in s["faults"][0]["got"] and
   s["faults"][0]["got"].endswith("no reply within 1000 ms (env.step_timeout)") and
   any("not replied" in each["reason"] for each in s["skipped"])'
unset PYTHONPATH
rm -rf runs
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
  refuses "$command refuses a view that is no object" 2 'expected an object such as {"observation"' \
    $command "$(serve CartPole-v1)" 'env.options.view=[]'
  refuses "$command refuses a mask of another size" 2 'n: expected 4, the size of /obs' \
    $command "$(serve CartPole-v1)" \
    'env.options.view={"observation":"/obs","action":{"n":3},"action_mask":"/obs"}'
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
