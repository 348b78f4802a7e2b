#!/usr/bin/env bash
# Files of configuration, `troupe config`, and the defaults of each algorithm: cli_config_test.sh BUILD_DIR
set -uo pipefail
source "$(dirname "$0")/common.sh" "$1"

# ---- files and overrides that are refused

refuses "a missing configuration file is refused by name" 2 'nowhere.json' train --config nowhere.json

echo '{"trainer": {"lr": 1e-3,}}' >broken.json
refuses "a configuration that is no JSON is refused with its place" 2 'broken.json' \
  train --config broken.json
echo '[1, 2]' >list.json
refuses "a configuration that is no object is refused" 2 'expected an object' train --config list.json
echo '{"trainer": {"lr": 0}}' >zero.json
refuses "a configuration file is checked like an override" 2 '/trainer/lr: expected a number > 0, got 0' \
  train --config zero.json
printf 'trainer:\n  lr: 1e-3\n  lr: 2e-3\n' >twice.yaml
refuses "a YAML file that is none is refused with its line" 2 'twice.yaml:3: expected each key once, got "lr" twice' \
  train --config twice.yaml
printf 'trainer:\n  lr: 0\n' >zero.yaml
refuses "and one that is checked like JSON" 2 '/trainer/lr: expected a number > 0, got 0' train --config zero.yaml
refuses "a configuration of another algorithm is refused" 2 '/algo: ' train --algo a2c algo=ppo

# ---- config

refuses "an unknown algorithm has no configuration" 2 'did you mean "ppo"?' config ppoo
run config ppo
[[ $code -eq 0 ]] && grep -qE '^  option +default +range +meaning$' out &&
  grep -qE "^  trainer.lr +0.0003 +> 0 +\S" out && grep -qE '^  mode +sync +sync\|async +\S' out &&
  [[ $(wc -l <out) -lt 100 ]]
report "config prints a line for each option" $?
run config ppo --json
[[ $code -eq 0 ]] && "$python" -c '
import json
schema = json.load(open("out"))
assert schema["properties"]["trainer"]["properties"]["lr"]["default"] == 3e-4
assert all("description" in p or "properties" in p for p in schema["properties"].values())'
report "config --json prints a JSON schema" $?

# ---- the defaults of each algorithm

describes_every_option() {  # describes_every_option ALGO: so does the schema of ALGO, which config has just printed
  [[ $code -eq 0 ]] && "$python" -c '
import json
schema = json.load(open("schema"))
for section in schema["properties"].values():
    for p in section.get("properties", {}).values():
        assert p["description"] and "default" in p, p'
  report "config $1 describes every option" $?
}

for algo in ppo a2c reinforce dqn sac td3 ddpg grpo; do
  run config "$algo"
  mv out table
  run config "$algo" --json
  mv out schema
  case $algo in dqn | sac | td3 | ddpg) describes_every_option "$algo" ;; esac
  if [[ $algo == grpo ]]; then  # its warm start takes a minute of CPU time, and config.json is there before
    "$troupe" train --algo grpo --runs defaults --metrics-port 0 -n 1 >out 2>err &
    training=$!
    await_that test -e defaults/grpo/sum_digits_1/config.json
    kill -KILL $training
    wait $training 2>/dev/null
  else
    run train --algo "$algo" --runs defaults --metrics-port 0 -n 200
    report "a run of $algo with its defaults succeeds" $((code != 0))
  fi
  "$python" - "$algo" defaults/"$algo"/*_1/config.json <<'PYTHON'
import json, sys
algo, path = sys.argv[1:]
schema, run, table = json.load(open("schema")), json.load(open(path)), open("table").read()
rows = {line.split()[0]: line.split()[1:] for line in table.splitlines() if line.strip()}
given = {"total_steps"}  # on the command line

def compare(schema, run, section=""):
    assert schema["properties"].keys() == run.keys(), section
    for name, option in schema["properties"].items():
        if "properties" in option:
            compare(option, run[name], section + name + ".")
        elif section + name not in given and not (algo == "grpo" and option["default"] is None):
            assert option["default"] == run[name], (section + name, option["default"], run[name])
            if isinstance(run[name], (bool, list)) and len(json.dumps(run[name])) < 30:
                assert rows[section + name][0] == json.dumps(run[name], separators=(",", ":")), section + name
            elif isinstance(run[name], (int, float)):
                assert float(rows[section + name][0]) == run[name], section + name

compare(schema, run)
PYTHON
  report "config $algo has the defaults of a run" $?
done

finish
