#!/usr/bin/env bash
# `troupe train --algo sft`, and the run that it leaves: cli_sft_test.sh BUILD_DIR
set -uo pipefail
source "$(dirname "$0")/common.sh" "$1"

for number in {1..20}; do
  echo "{\"question\": \"$number\", \"completion\": \"$((number + 1))\"}"
done >numbers.jsonl
echo '{"question": "1"}' >wrong.jsonl
refuses "lines that can't be learned from are told with their file and number" 2 \
  'wrong.jsonl:1: completion: expected a text, got none' \
  train --algo sft task.data=wrong.jsonl task.prompt=question task.answer=completion
refuses "a run of sft needs examples" 2 '/task/data: expected a file of examples' train --algo sft
refuses "and no environment" 2 'sft trains a language model on examples (task.data=FILE)' \
  train --algo sft --env CartPole-v1
run train --algo sft --runs words --metrics-port 0 --json -v task.data=numbers.jsonl task.prompt=question \
  task.answer=completion task.held_out=0.2 trainer.batch_size=8 model.layers=2 model.hidden_size=32
report "train --algo sft ends well" $((code != 0))
grep -qE '^numbers after 6 updates in .* updates/s\): minus loss -[0-9.]+ \+/- [0-9.]+ over 4 held-out examples$' err
report "its last line says what is measured" $?
tail -1 out >trained
run eval words/sft/numbers_1 --json
report "eval takes a run of sft" $((code != 0))
holds "and takes the held-out examples as its end did" "abs(s['eval_mean'] - json.load(open('trained'))['eval_mean']) < 1e-6 and
  s['eval_episodes'] == 4 and s['env'] == 'numbers'"
grep -q '^numbers, last_model: a loss of [0-9.]* (mean cross-entropy in nats) on 4 held-out examples' err
report "with a verdict in words" $?
run chat words/sft/numbers_1/best_model --max-tokens 4 <<<"3"
report "chat reads its model" $((code != 0))
columns_are_explained words/sft/numbers_1

finish
