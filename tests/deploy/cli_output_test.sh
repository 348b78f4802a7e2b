#!/usr/bin/env bash
# What the command prints, and where its output can go: cli_output_test.sh BUILD_DIR
set -uo pipefail
source "$(dirname "$0")/common.sh" "$1"

short=(evaluation.final_episodes=5 evaluation.episodes=2 evaluation.every_steps=2048)

# ---- an output that can't be written

for words in "list" "train --json -n 512 ${short[*]}"; do
  # shellcheck disable=SC2086
  "$troupe" $words >/dev/full 2>err
  [[ $? -eq 1 ]] && grep -q 'expected to write to the standard output, got an error: No space left' err
  report "output of '${words%% *}' that can't be written is an error" $?
done
# A pipe that nobody reads by the time that something is printed.
"$troupe" train -n 512 -v "${short[@]}" --metrics-port 0 2>err | true
[[ ${PIPESTATUS[0]} -eq 0 ]]
report "a run whose output nobody reads ends as it would" $?
"$troupe" train -n 512 --json "${short[@]}" --metrics-port 0 2>err | true
[[ ${PIPESTATUS[0]} -eq 1 ]] && grep -q 'expected to write to the standard output, got an error: Broken pipe' err
report "unless the output was asked for as JSON" $?

# ---- help and lists

run --version
[[ $code -eq 0 ]] && grep -qx 'troupe [0-9]*\.[0-9]*\.[0-9]*' out
report "--version prints it" $?
run --help
[[ $code -eq 0 ]] && grep -q train out && grep -q eval out && grep -q list out
report "--help names the commands" $?
! ldd "$troupe" | grep -q libtorch
report "the command that prints help loads no libtorch" $?
! ldd "$(dirname "$troupe")/../libexec/troupe/serve-env" "$(dirname "$troupe")/../libexec/troupe/env-host" | grep -q libtorch
report "nor do the programs that serve and host environments" $?
cp "$troupe" alone
code=0
./alone list >out 2>err || code=$?
[[ $code -eq 1 ]] && grep -q 'cannot start .*/libexec/troupe/troupe: No such file' err
report "a command without the program behind it says what is missing" $?
run train --help
[[ $code -eq 0 ]] && grep -q -- --metrics-port out
report "train --help names the options" $?
run list
[[ $code -eq 0 ]] && grep -q '^  ppo ' out && grep -q '^  CartPole-v1 .*Discrete(2)  *475$' out
report "list names algorithms and environments" $?
"$python" -c '
rows = open("out").read().split("environments\n")[1].splitlines()
column = rows[0].index("actions")
rows = [row for row in rows if len(row) > column]  # a long cell goes on in lines of its own
assert len(rows) > 10 and all(row[column - 2:column] == "  " and row[column] != " " for row in rows), rows'
report "in columns" $?
[[ $(wc -L <out) -le 100 ]] && grep -q '^  ConnectFour-v0 .*42 x Discrete(3)' out
report "that fit a terminal, with equal parts of a space counted" $?

# ---- numbers

run train --env Catch-v0 -n 64 --seed 3 --json -v --metrics-port 0 rollout.n_steps=64 evaluation.every_steps=0 evaluation.final_episodes=41
cat out err >trained
run eval runs/ppo/Catch-v0_1 --episodes 41 --json
cat out >>trained
run eval runs/ppo/Catch-v0_1 --episodes 41
cat out err >>trained
"$python" -c '
import json, re
text = open("trained").read()
exact = [json.loads(line)["eval_mean"] for line in text.splitlines() if line.startswith("{")]
shown = [float(mean) for mean in re.findall(r": (-?[0-9.e-]+) \+/- ", text)]
assert len(exact) == len(shown) == 2 and any(0 < abs(mean) < 1 for mean in exact), text
assert all(abs(a - b) <= 0.005 * abs(a) for a, b in zip(exact, shown)), text'
report "train and eval print small returns with three digits" $?

finish
