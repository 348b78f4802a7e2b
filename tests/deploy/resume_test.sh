#!/usr/bin/env bash
# A process that is killed and resumed comes to the weights of one that is not: resume_test.sh BUILD_DIR [KILLS [ALGO...]]
# KILLS: of each algorithm and mode, half of them while a checkpoint is written; then the same seed must give the same
# weights, too, and another seed others. Unless said it is 2 for PPO, DQN and GRPO, each of which has loops of its own, and
# one in a single mode for the others. That a seed decides the weights of every algorithm in both modes, and that its
# saved state is whole, is what tests/algorithms/contract tests in the process.
# ALGO: only these of the algorithms below, which are all unless said.
set -euo pipefail
source "$(dirname "$0")/common.sh" "$1"
kills=${2:-}
killed_twice=" ppo dqn grpo "  # where KILLS is not said
only=" ${*:3} "

options() {  # options ALGO MODE SEED: what a short run with 12 checkpoints is asked for
  echo --algo "$1" --deterministic --seed "$3" --metrics-port 0 --json
  [[ $1 == sft ]] || echo --mode "$2"
  [[ $1 == grpo || $1 == sft ]] || echo --steps 6000 env.n_envs=2 evaluation.every_steps=2000 evaluation.episodes=2 evaluation.final_episodes=3
  case $1 in
    ppo)
      echo rollout.n_steps=128 rollout.workers=3 rollout.batch=2 trainer.batch_size=32 \
        trainer.n_epochs=4 checkpoint.every_updates=1
      ;;
    mappo | coma)  # a policy for each agent
      echo --env simple_spread_v3 agents.share=false rollout.n_steps=125 rollout.workers=3 rollout.batch=2 \
        trainer.batch_size=125 checkpoint.every_updates=1
      [[ $1 != mappo ]] || echo trainer.n_epochs=4
      [[ $1 != coma ]] || echo trainer.target_interval=10
      ;;
    vdn | qmix | maddpg)
      echo --env simple_spread_v3 agents.share=false collection.train_freq=5 collection.workers=3 \
        collection.max_staleness=2 collection.learning_starts=500 trainer.batch_size=64 replay.capacity=3000 \
        checkpoint.every_updates=48
      [[ $1 != maddpg ]] || echo 'env.options={"continuous_actions":true}'
      ;;
    dqn)
      echo collection.train_freq=8 collection.workers=3 collection.max_staleness=2 \
        collection.learning_starts=500 trainer.target_update_interval=100 replay.capacity=3000 \
        checkpoint.every_updates=30
      ;;
    sac | td3)
      echo collection.train_freq=8 collection.workers=3 collection.max_staleness=2 collection.learning_starts=500 \
        trainer.batch_size=64 policy.hidden=[32] replay.capacity=3000 checkpoint.every_updates=30
      ;;
    grpo)  # an epoch is ten updates
      echo --steps 24 task.problems.size=2 task.problems.training=30 task.problems.held_out=10 \
        warm_start.batches=2 warm_start.batch_size=8 rollout.prompts=3 rollout.group=3 rollout.max_completion_tokens=4 \
        rollout.workers=5 rollout.max_staleness=2 trainer.minibatches=3 evaluation.every_updates=8 \
        evaluation.problems=2 evaluation.final_problems=2 checkpoint.every_updates=2
      ;;
    sft)  # an epoch is five updates
      echo --steps 24 task.data=numbers.jsonl trainer.batch_size=4 model.layers=2 model.hidden_size=32 \
        evaluation.every_updates=8 checkpoint.every_updates=2
      ;;
  esac
}

field() {  # field NAME: of the summary in out's last line
  tail -n 1 out | "$python" -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"
}

# same_answers RUNS: what GRPO keeps of its answers there is what it kept in `first`: the same problems in the same
# order, the same groups, equally stale.
same_answers() {
  [[ $algo != grpo ]] || cmp first/*/*/samples.jsonl "$1"/*/*/samples.jsonl >&2
}

train() {  # train ARGUMENT...: prints weights_sha256
  "$troupe" train "$@" >out 2>err && field weights_sha256
}

# check_seeds OPTION...: the same seed gives the weights of the run in `first`, and another one gives others
check_seeds() {
  local again other status
  again=$(train "$@" --runs second) || true
  [[ -n $expected && $again == "$expected" ]] && same_answers second && status=0 || status=1
  report "$what: the same seed gives the same weights ($expected, then $again)" $status
  # shellcheck disable=SC2046  # one word an option
  other=$(train $(options "$algo" "$mode" 8) --runs other) || true
  [[ -n $other && $other != "$expected" ]] && status=0 || status=1
  report "$what: another seed gives others" $status
}

# kill_once RUNS MOMENT OPTION...: starts a run in RUNS and kills it, at a random moment of its time
# or as soon as the MOMENT-th checkpoint or a later one is seen being written; again where the run was
# quicker.
kill_once() {
  "$python" - "$troupe" "$@" <<'PYTHON'
import glob, os, random, shutil, signal, subprocess, sys, time
troupe, runs, moment, *options = sys.argv[1:]
limit = float(os.environ["SECONDS_OF_A_RUN"])
while True:
    shutil.rmtree(runs, ignore_errors=True)
    process = subprocess.Popen([troupe, "train", "--runs", runs, *options],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and not glob.glob(f"{runs}/*/*/config.json"):
        time.sleep(0.001)
    if moment == "random":
        until = time.monotonic() + random.uniform(0, 1) * limit
        while process.poll() is None and time.monotonic() < until:
            time.sleep(0.001)
    else:
        total, steps = int(options[options.index("--steps") + 1]), 0
        while process.poll() is None and steps < int(moment) * total // 12:
            for path in glob.glob(f"{runs}/*/*/checkpoints/*.tmp"):
                steps = int(path.rsplit("-", 1)[1].removesuffix(".tmp"))
    process.kill()
    if process.wait() == -signal.SIGKILL:
        sys.exit(0)
PYTHON
}

for number in {1..20}; do
  echo "{\"prompt\": \"$number\", \"answer\": \"$((number + 1))\"}"
done >numbers.jsonl

for what in "ppo sync" "ppo async" "mappo sync" "mappo async" "coma sync" "coma async" "qmix async" "vdn sync" "vdn async" \
  "maddpg async" "dqn sync" "dqn async" "sac sync" "sac async" "td3 sync" "td3 async" "grpo sync" "grpo async" "sft sync"; do
  read -r algo mode <<<"$what"
  [[ $only =~ ^\ *$ || $only == *" $algo "* ]] || continue
  times=${kills:-2}
  if [[ -z $kills && $killed_twice != *" $algo "* ]]; then
    [[ $mode == async || $algo == sft ]] || continue
    times=1
  fi
  rm -rf first second other
  # shellcheck disable=SC2046  # one word an option
  set -- $(options "$algo" "$mode" 7)
  expected=$(train "$@" --runs first) || true
  SECONDS_OF_A_RUN=$("$python" -c '
import os, sys
print(os.path.getmtime(sys.argv[1] + "/summary.json") - os.path.getmtime(sys.argv[1] + "/config.json"))
' "$(field run_directory)")
  export SECONDS_OF_A_RUN
  [[ -z $kills ]] || check_seeds "$@"

  from_a_checkpoint=0
  for ((i = 1; i <= times; i++)); do
    moment=random
    [[ $((i % 2)) -eq 0 ]] && moment=$((1 + RANDOM % 9))
    [[ -z $kills && $i -eq $times ]] && moment=$((3 + RANDOM % 7))  # there is a checkpoint before it
    kill_once killed "$moment" "$@"
    written=$(basename "$(echo killed/*/*/checkpoints/*.tmp)")
    got=$(train --resume killed/"$algo"/*_1 --metrics-port 0 --json) || true
    step=$(field resumed_from_step || echo none)
    [[ $step =~ ^[1-9] ]] && from_a_checkpoint=$((from_a_checkpoint + 1))
    [[ -n $got && $got == "$expected" ]] && same_answers killed && status=0 || status=1
    report "$what: killed (${moment}) and resumed from step $step: $got, expected $expected" $status
    [[ $written == "*.tmp" ]] && written=nothing
    echo "$what: kill $i while $written was written, resumed from step $step: ${got:-no weights}"
  done
  # Some at random moments come before the first checkpoint.
  [[ $from_a_checkpoint -ge $((times < 8 ? 1 : times * 3 / 4)) ]] && status=0 || status=1
  report "$what: enough go on from a checkpoint ($from_a_checkpoint of $times)" $status
done

finish
