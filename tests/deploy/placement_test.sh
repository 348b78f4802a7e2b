#!/usr/bin/env bash
# A run learns the same, to the last digit, wherever its roles are: placement_test.sh BUILD_DIR
set -u
source "$(dirname "$0")/common.sh" "$1"

# numbers_of OPTION...: what two updates of PPO report but for times, and the run's score
numbers_of() {
  run train -n 1024 --runs runs --json -v rollout.n_steps=256 env.n_envs=2 trainer.n_epochs=2 \
    evaluation.every_steps=0 evaluation.final_episodes=5 "$@"
  "$python" - <<'PYTHON'
import csv, glob, json
[path] = glob.glob("runs/ppo/*/progress.csv")
for row in csv.DictReader(open(path)):
    print({name: value for name, value in row.items() if not name.startswith("time/")})
print(json.loads(open("out").read().splitlines()[-1])["eval_mean"])
PYTHON
  rm -rf runs
}

same_as_here() {  # same_as_here WHAT OPTION...: as what is in the file `here`
  local what=$1
  shift
  numbers_of "$@" >there
  [[ $code -eq 0 && -s there ]] && diff -q here there >/dev/null
  report "$what" $?
}

numbers_of >here
[[ $(wc -l <here) -ge 3 ]]
report "a run reports its updates" $?
same_as_here "environments in a process" env.placement=process
grep -q 'a process was started for a replica service=environments .*program=.*/libexec/troupe/env-host' err
report "the process of environments executes env-host" $?
same_as_here "the policy in a process" placement.policy=process
same_as_here "the trainer in a process" placement.trainer=process
same_as_here "each in a process of its own" \
  env.placement=process placement.policy=process placement.trainer=process

if grep -q '^GLOO_INCLUDE_DIR:PATH=.*-NOTFOUND$' "${troupe%/deploy/*}/CMakeCache.txt"; then
  run train -n 1024 env.n_envs=2 trainer.replicas=2
  [[ $code -ne 0 ]] && grep -q 'a libtorch that has no Gloo headers beside its own' err
  report "two ranks are refused without Gloo" $?
else
  numbers_of trainer.replicas=2 >here
  same_as_here "two ranks, on threads and in processes" trainer.replicas=2 placement.trainer=process
fi
run train -n 1024 env.n_envs=2 trainer.replicas=2 placement.trainer=shared
[[ $code -eq 2 ]] && grep -q '/placement/trainer: expected auto, thread or process' err
report "ranks that would wait on the pool are refused" $?
run train -n 1024 placement.policy=elsewhere
[[ $code -eq 2 ]] && grep -q '/placement/policy: expected shared, thread, process or node:PATTERN' err
report "a placement that there isn't is refused" $?
finish
