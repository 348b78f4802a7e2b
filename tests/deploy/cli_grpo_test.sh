#!/usr/bin/env bash
# `troupe train --algo grpo`, and the sandbox of what a model writes: cli_grpo_test.sh BUILD_DIR
set -uo pipefail
source "$(dirname "$0")/common.sh" "$1"

# ---- what is refused

refuses "an unknown task of a language model is told the known ones" 2 \
  '/task/name: unknown task "sum_digit"; did you mean "sum_digits"? known: "' train --algo grpo --task sum_digit
refuses "a task without an algorithm for it is told which" 2 \
  'ppo learns on an environment (--env), not on a task; for a task of a language model say --algo grpo' \
  train --task sum_digits
refuses "an environment for a language model is told --task, and whose it is" 2 \
  'grpo trains a language model on a task, not on an environment: say --task' \
  train --algo grpo --env CartPole-v1
grep -q -- 'for an environment say --algo ppo, --algo a2c' err
report "and the algorithms of environments" $?
refuses "a language model that is no file and has no such name is refused by it" 2 \
  '"smollm": expected a Hugging Face folder, a GGUF file, or one of' train --algo grpo model.path=smollm
# A place without bubblewrap.
env PATH=/nowhere "$troupe" train --algo grpo --task code model.path=. >out 2>err
[[ $? -eq 2 ]] && grep -qF "/task/name: code runs what the model writes, and this machine can't make a sandbox" err
report "code is not run where it can't be put into a sandbox" $?
grep -q -- '--allow-unsandboxed-code' err
report "and how it is allowed is said" $?
env PATH=/nowhere "$troupe" check-sandbox >out 2>err
[[ $? -eq 1 ]] && grep -q 'bubblewrap  *MISSING.*apt-get install bubblewrap' out
report "what is missing is said" $?
refuses "a configuration can't allow code" 2 'unknown key "allow_unsandboxed_code"' \
  train --algo grpo --task code allow_unsandboxed_code=true
refuses "the letters model can't be asked for code" 2 "/model/path: expected a chat model's folder or GGUF file" \
  train --algo grpo --task code --allow-unsandboxed-code
refuses "samples of a run that has none are refused by their file" 2 \
  'nowhere/samples.jsonl: expected the samples of a language model' samples nowhere

# ---- a run

run train --algo grpo -n 2 --runs words --metrics-port 0 --json -v warm_start.batches=20 warm_start.batch_size=16 \
  task.problems.size=1 task.problems.training=4 task.problems.held_out=5 rollout.prompts=2 rollout.group=4 \
  evaluation.every_updates=1 evaluation.problems=2 evaluation.final_problems=3 trainer.clip_low=0.1
report "train --algo grpo ends well" $((code != 0))
grep -q 'info the warm start is over batches=20 loss=' err && grep -q 'info the model was evaluated before the first update right=' err
report "its warm start and its first evaluation are told" $?
grep -q 'warning an option has no effect option=trainer.clip_low value=0.1 why="it has an effect only if trainer.term is clip"' err
report "and so is an option that has no effect with its variant" $?
grep -qE '^sum_digits after 2 updates in .* updates/s\): share right [01]\.[0-9]+ \+/- ' err &&
  grep -qE '^before that: [0-9.]+ s of warm start and first evaluation' err
report "the last lines speak of updates and shares, and of the time before" $?
holds "and so does the summary" "s['start_s'] > 0"
tail -1 out >trained
run eval words/grpo/sum_digits_1 --json
report "eval takes a run of grpo" $((code != 0))
holds "and asks the held-out problems as its end did" "s['eval_mean'] == json.load(open('trained'))['eval_mean'] and
  s['eval_episodes'] == 3 and s['env'] == 'sum_digits'"
run eval words/grpo/sum_digits_1 --model best_model --episodes 2
[[ $code -eq 0 ]] && grep -q '^sum_digits, best_model: .* % right of 2 held-out problems' out
report "and its best model" $?
run eval words/grpo/sum_digits_1 --episodes 4
[[ $code -eq 2 ]] && grep -q 'expected 1 to 3 problems, as many as are held out and not asked during training, got 4' err
report "and refuses more problems than there are" $?
columns_are_explained words/grpo/sum_digits_1

finish
