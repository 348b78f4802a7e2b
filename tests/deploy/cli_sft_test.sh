#!/usr/bin/env bash
# `troupe train --algo sft`, and the run that it leaves: cli_sft_test.sh BUILD_DIR
set -uo pipefail
source "$(dirname "$0")/common.sh" "$1"

for number in {1..20}; do
  echo "{\"question\": \"$number\", \"completion\": \"$((number + 1))\"}"
done >numbers.jsonl
echo '{"question": "1"}' >wrong.jsonl
refuses "lines that can't be learned from are told with their file and number" 2 \
  'wrong.jsonl:1: expected the field "completion", got the fields question' \
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
run eval words/sft/numbers_1
cat out err | grep -q '^numbers, last_model: a loss of [0-9.]* (mean cross-entropy in nats) on 4 held-out examples'
report "with a verdict in words" $?
run chat words/sft/numbers_1/best_model --max-tokens 4 <<<"3"
report "chat reads its model" $((code != 0))
columns_are_explained words/sft/numbers_1
model=words/sft/numbers_1/last_model
grep -q '"eos_token_id": 256' $model/config.json && grep -q '"eos_token_id": 256' $model/generation_config.json
report "the written model stops where it was trained to stop" $?

# A base model has no chat template. Everything works with plain prompts.
cp -r $model base && rm base/chat_template.jinja
run chat base --max-tokens 4 --temperature 0 <<<"3"
[[ $code -eq 0 ]] && grep -q 'a base model: it has no chat template and is asked with plain prompts' err
report "chat continues the text of a base model, and says that it is one" $?
run train --algo sft --runs plain --metrics-port 0 --json -v task.data=numbers.jsonl task.prompt=question \
  task.answer=completion model.path=base -n 2
[[ $code -eq 0 && $(grep -c 'a base model' err) -eq 1 && ! -e plain/sft/numbers_1/last_model/chat_template.jinja ]]
report "a base model learns from plain prompts, which is told once" $?
run eval plain/sft/numbers_1 --json
report "eval takes its run" $((code != 0))
run train --algo sft --runs plain --metrics-port 0 --json -v task.data=numbers.jsonl task.prompt=question \
  task.answer=completion model.path=$model model.chat_template=none -n 1
[[ $code -eq 0 && ! -e plain/sft/numbers_2/last_model/chat_template.jinja ]] &&
  grep -q 'asked with plain prompts, without its chat template' err
report "model.chat_template=none asks a chat model with plain prompts" $?
run train --algo grpo --runs plain --metrics-port 0 --json model.path=base -n 1 warm_start.batches=0 \
  rollout.prompts=2 rollout.group=2 rollout.max_completion_tokens=4 evaluation.every_updates=0 \
  evaluation.final_problems=2 task.problems.training=4 task.problems.held_out=4
report "a base model learns from rewards" $((code != 0))
refuses "another template is refused" 2 'expected one of the chat templates default, got other' \
  train --algo sft task.data=numbers.jsonl model.path=$model model.chat_template=other

# Adapters without their model.
mkdir adapters && echo '{"peft_type": "LORA", "base_model_name_or_path": "somebody/model", "r": 8}' >adapters/adapter_config.json
run chat adapters <<<"3"
[[ $code -eq 2 ]] && grep -q 'these are LoRA adapters of somebody/model' err
report "adapters without their model say whose they are" $?

finish
