#!/usr/bin/env bash
# Environments in plug-ins, as who uses the command meets them: plugin_test.sh BUILD_DIR
set -u
build=$(realpath "$1")
source "$(dirname "$0")/common.sh" "$1"
cp "$build/docs/code/lamps.so" .
plugins=$build/tests/actors/worlds/plugins
few=(rollout.n_steps=64 evaluation.every_steps=0 evaluation.final_episodes=5 --metrics-port 0)

run train --env ./lamps.so -n 16384 env.n_envs=8 rollout.n_steps=64 --runs runs --json --metrics-port 0
holds "PPO learns the environment of the docs" 's["solved"] and s["env"] == "./lamps.so"'
[[ -d runs/ppo/lamps.so_1 ]]
report "the run directory has the name of the file" $?
run eval runs/ppo/lamps.so_1 --episodes 5 --json
holds "eval plays it" 's["eval_mean"] > 19'

run train --env ./lamps.so -n 1024 env.n_envs=2 env.placement=process --runs placed --json -v "${few[@]}"
[[ $code -eq 0 ]] && grep -q 'program=.*/libexec/troupe/env-host' err
report "env-host loads it in a process of its own" $?
here=$(tail -1 out | "$python" -c 'import json, sys; print(json.load(sys.stdin)["weights_sha256"])')
run train --env ./lamps.so -n 1024 env.n_envs=2 --runs placed --json "${few[@]}"
holds "and the run learns the same as without" "s['weights_sha256'] == '$here'"
run train --env ./lamps.so -n 1024 --deterministic --runs strict "${few[@]}"
report "a deterministic run takes one that is marked as deterministic" $code
run train --env "$plugins/several.so:Counter-v1" -n 1024 --deterministic --runs strict "${few[@]}"
[[ $code -eq 2 ]] && grep -q '/deterministic: expected false with the environment .*several.so:Counter-v1' err
report "and refuses one that isn't, by its name" $?
run train --env "$plugins/several.so:Counter-v1" -n 256 'env.options={"first":100}' --runs options "${few[@]}"
report "env.options reach its constructor" $code

: >served  # for tail, which may come before the server
"$troupe" serve-env ./lamps.so --port 0 --metrics-port 0 >served 2>&1 &
server=$!
timeout 60 grep -q -m 1 '^serving ./lamps.so at' <(tail -f -n +1 --pid "$server" served)
report "serve-env serves it" $?
kill "$server"
: >served
"$troupe" serve-env "$plugins/endless.so" --port 0 --metrics-port 0 --drain 0 >served 2>err &
server=$!
timeout 60 grep -q -m 1 '^serving' <(tail -f -n +1 --pid "$server" served)
"$python" - "$(sed -n 's/.*127.0.0.1:\([0-9]*\),.*/\1/p' served)" <<'PYTHON'
import http.client, sys

class Client:
    def __init__(self, limit_s):
        self.connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=limit_s)

    def ask(self, method, path, body=None):
        self.connection.request(method, path, body, {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        text = answer.read().decode()
        assert answer.status == 200, (answer.status, text)
        return text

    def step(self):  # of an environment of its own
        assert '"obs"' in self.ask("POST", "/step", '{"action": {"action": 0}}')

client = Client(limit_s=20)
for _ in range(299):
    client.step()
hanging = Client(limit_s=1)
try:
    hanging.step()
except TimeoutError:
    assert "healthy" in client.ask("GET", "/health")
    client.step()
else:
    sys.exit("expected the 300th step to hang")
PYTHON
report "serve-env: a step that never returns holds up no other client" $?
kill "$server"
await_end "$server"
code=$?
[[ $code -eq 70 ]] && grep -q 'the program did not end in time after a signal' err
report "and the server ends without it" $?

# A step that never returns. The process of the run can't end its thread, so it ends with exit code 70 in time.
for where in shared thread process; do
  run train --env "$plugins/endless.so" -n 1024 env.replicas=2 rollout.batch=2 \
    env.placement=$where env.step_timeout=1 --runs endless-$where --stop-limit 2 \
    rollout.n_steps=150 evaluation.every_steps=0 evaluation.final_episodes=20 --metrics-port 0 --json
  holds "$where: a run goes on without environments whose step never returns" \
    "s['steps'] >= 1024 and s['eval_episodes'] == 20"
  [[ $code -eq 0 || $code -eq 70 ]] && grep -q 'abandoned because its endpoint exceeded max_call_time' err
  report "$where: and says which" $?
done

# ---- networks in plug-ins

cp "$build/docs/code/gate.so" .
gated=(policy.encoder=./gate.so:gated -n 1024 env.n_envs=2 "${few[@]}")
run train --env CartPole-v1 --runs gated --json "${gated[@]}" placement.policy=process
[[ $code -eq 0 ]]
report "a policy in a process of its own acts by a plug-in's network" $?
run eval gated/ppo/CartPole-v1_1 --episodes 2 --json
[[ $code -eq 0 ]]
report "eval plays its model" $?
cp gated/ppo/CartPole-v1_1/last_model alone
run train --env CartPole-v1 --init alone -n 256 --runs refused "${few[@]}"
[[ $code -eq 2 ]] && grep -q 'its encoder \./gate\.so:gated is code of a plug-in' err
report "a model file alone has no code loaded" $?
run train --env CartPole-v1 --init alone --runs gated "${gated[@]}"
report "and begins a run that names the plug-in itself" $code
rm gate.so
run eval gated/ppo/CartPole-v1_1 --episodes 2
[[ $code -eq 2 ]] && grep -q '\./gate\.so:\? expected the path of a plug-in' err
report "eval says that the plug-in is missing" $?

refused() {  # refused WHAT PATTERN ENVIRONMENT
  run train --env "$3" -n 256 --runs refused "${few[@]}"
  [[ $code -eq 2 ]] && grep -qE "$2" err && [[ $(wc -l <err) -le 2 && ! -e refused ]]
  report "$1" $?
}
yes 'no shared object' | head -20 >text.so
refused "a file that isn't there" '\./nowhere\.so: expected the path of a plug-in: No such file' ./nowhere.so
refused "a file that is no shared object" '\./text\.so: expected a plug-in .*invalid ELF header' ./text.so
refused "a shared object that is no plug-in" 'expected a plug-in with TROUPE_PLUGIN' "$plugins/plain.so"
refused "a plug-in of another build" 'got one built with 0\.0\.9-0123456789abcdef; build it again' "$plugins/old.so"
refused "two environments of one id" 'got two of "Counter-v0"' "$plugins/twice.so"
refused "several environments and no choice" 'expected .*several\.so:ID' "$plugins/several.so"
refused "an environment that can't be made" 'several\.so:Never-v0: .*it can.t be made' "$plugins/several.so:Never-v0"
finish
