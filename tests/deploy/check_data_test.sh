#!/usr/bin/env bash
# `troupe check-data` refuses what `troupe train` refuses, in the same words: check_data_test.sh BUILD_DIR
set -uo pipefail
source "$(dirname "$0")/common.sh" "$1"

datasets=$sources/tests/fixtures/llm/datasets
small=(model.layers=1 model.hidden_size=32 model.max_positions=4096 --metrics-port 0 --runs words)

# agree WHAT ALGO FILE OPTION...: check-data and train take the file, or both refuse its lines in the same words
agree() {
  local what=$1 algo=$2 file=$3
  shift 3
  run check-data "$file" --algo "$algo"
  local checked=$code
  grep -F "$(basename "$file"):" out >told
  # train lists twenty lines at most, the first of them after the option
  run train --algo "$algo" task.data="$file" "$@" "${small[@]}"
  local missing=0 line
  while IFS= read -r line; do
    grep -qF -- "$line" err || missing=1
  done < <(head -20 told)
  if [[ $checked -eq 0 ]]; then
    [[ $code -eq 0 && ! -s told ]]
  else
    [[ $checked -eq 1 && $code -eq 2 && -s told && $missing -eq 0 ]]
  fi
  report "$what: check-data said $checked" $?
}

for name in calls calls_of_objects tools_column calls_beside_text; do
  agree "sft takes $name as check-data says" sft "$datasets/$name.jsonl" task.held_out=0 -n 1
done

cat >bad.jsonl <<'END'
{"prompt": "a", "answer": "b"}
{"prompt": "a", "answer": "b", "tools": "weather"}
{"prompt": [{"role": "user", "content": [{"type": "image"}]}], "answer": "b"}
{"prompt": [{"role": "user", "content": null}], "answer": "b"}
{"prompt": "a", "chosen": "b", "rejected": "c"}
not JSON
END
agree "sft refuses the lines that check-data refuses" sft "$PWD/bad.jsonl"
[[ $(wc -l <told) -eq 5 ]]
report "which are all that are bad" $?
agree "and so does grpo" grpo "$PWD/bad.jsonl"
[[ $(wc -l <told) -eq 5 ]]
report "which are the same ones" $?

for number in {1..50}; do
  echo "{\"prompt\": [{\"role\": \"system\", \"content\": \"$number\"}, {\"role\": \"user\", \"content\": \"Which?\"}], \"answer\": $number}"
done >fifty.jsonl
run check-data fifty.jsonl --json
holds "conversations that end alike are different prompts" "s['different_prompts'] == 50 and s['held_out'] == 5"
run check-data fifty.jsonl --algo sft --json
holds "for fine-tuning, too" "s['different_prompts'] == 50 and s['held_out'] == 5 and s['examples'] == 50"
run check-data fifty.jsonl
grep -qF '5 of 50 prompts are held out for evaluations by default: a tenth' out
report "how many are held out is said, and why" $?
head -3 fifty.jsonl >three.jsonl
run check-data three.jsonl
grep -qF 'no prompt is held out, as 3 are too few to divide' out
report "and that none of three are" $?

echo '{"text": "A story."}' >story.jsonl
run check-data story.jsonl --algo sft
report "a document is for fine-tuning" $((code != 0))
run check-data story.jsonl
[[ $code -eq 1 ]] && grep -qF 'story.jsonl:1: expected the field "prompt", got the fields text; --algo sft learns texts' out
report "and not for rewards, which is said" $?

echo 'prompt,answer' >table.csv
run check-data table.csv
[[ $code -eq 1 ]] && grep -qF 'table.csv: expected JSON Lines or Parquet, got CSV; ' out
report "a table is refused as a whole" $?
refuses "by training, too" 2 '/task/data: table.csv: expected JSON Lines or Parquet, got CSV; ' \
  train --algo sft task.data=table.csv
echo 'no table' >wrong.parquet
run check-data wrong.parquet --python "$python"
[[ $code -eq 2 ]] && grep -qE "wrong.parquet: expected (the package pyarrow.*pip install 'pyarrow'|a Parquet file)" err
report "Parquet is read in Python, and what is missing there is named" $?
refuses "by training, too" 2 '/task/data: wrong.parquet: expected ' \
  train --algo sft task.data=wrong.parquet python.interpreter="$python"

finish
