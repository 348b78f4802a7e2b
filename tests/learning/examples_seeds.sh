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

# The line of the last evaluation, "left 0.84 of 0.78, right ...", has three returns at their targets.
reach_targets() {
  grep ' of ' output | tail -1 | tr ',' '\n' |
    awk '$2 >= $4 { reached++ } END { exit reached == 3 ? 0 : 1 }'
}

for seed in 1 2 3 4 5; do
  for example in curriculum multi_task; do
    timeout 300 "$build/examples/$example" --seed "$seed" --log-level warn >output 2>&1
    expect "$example with seed $seed exits with 0" test $? -eq 0
    echo "$example, seed $seed: $(grep -e mastered -e ' of ' output | tail -1)"
    case $example in
      curriculum) expect "seed $seed goes up four levels" test "$(grep -c '^level' output)" -eq 4 ;;
      multi_task) expect "seed $seed learns three tasks" reach_targets ;;
    esac
  done
done
echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
