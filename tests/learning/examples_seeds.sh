#!/usr/bin/env bash
# The examples that learn do so on seeds 1 to 5: the curriculum reaches its last level and masters it, and
# every one of several tasks reaches its target: examples_seeds.sh BUILD_DIR
set -u
build=$(cd "$1" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place" || exit 1
passed=0
failed=0

expect() {  # expect NAME CONDITION...
  local name=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $name"
    cat output
  fi
}

# column NAME FILE: the last number in that column of progress.csv.
column() {
  awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
                        NR > 1 && $at != "" { last = $at } END { print last }' "$2"
}

# The columns of the last update have the last level's success rate; and each task's mean return at its target.
has_level() { awk -v level="$(column rollout/level "$1")" 'BEGIN { exit level == 4 ? 0 : 1 }'; }
reach_targets() {
  local task target
  for task in left=0.78 right=0.78 middle=0.88; do
    target=${task#*=}
    awk -v mean="$(column "rollout/${task%=*}/ep_rew_mean" "$1")" -v target="$target" \
      'BEGIN { exit mean >= target ? 0 : 1 }' || return 1
  done
}

for seed in 1 2 3 4 5; do
  for example in curriculum multi_task; do
    rm -rf runs
    timeout 300 "$build/examples/$example" --seed "$seed" --log-level warn >output 2>&1
    expect "$example with seed $seed exits with 0" test $? -eq 0
    echo "$example, seed $seed: $(grep -e mastered -e learned output | tail -1)"
    rows=$(echo runs/ppo/*/progress.csv)
    case $example in
      curriculum) expect "seed $seed goes up four levels" has_level "$rows" ;;
      multi_task) expect "seed $seed learns three tasks" reach_targets "$rows" ;;
    esac
  done
done
echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
