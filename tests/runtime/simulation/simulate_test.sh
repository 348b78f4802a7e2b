#!/usr/bin/env bash
# What ./dev simulate --keep has played is not played again: simulate_test.sh BUILD_DIR
set -uo pipefail
simulate=$(realpath "$1")/tests/runtime/simulation/simulate
source "$(dirname "$0")/../../deploy/common.sh" "$1"

play() {  # play ARGUMENT...
  timeout 120 "$simulate" --workload services "$@" >out 2>err
  code=$?
}
ends_of() { grep '^calls by their end' out; }

play --seeds 6 --from 5
whole=$(ends_of)
[[ $code -eq 0 && -n $whole ]]
report "six seeds break no invariant" $?

play --seeds 2 --from 5 --keep kept.json
[[ $code -eq 0 && $(ends_of) != "$whole" ]] && ! grep -q 'have been played' out
report "a first command plays two of them" $?
play --seeds 6 --from 5 --keep kept.json
[[ $code -eq 0 ]] && grep -q '^2 seeds from 5 have been played, by kept.json$' out
report "the next one goes on behind them" $?
[[ $(ends_of) == "$whole" ]] && grep -q '^6 seeds from 5: no invariant broken$' out
report "and counts what one command would have counted" $?
[[ $(grep -o 'seed [0-9]*' out | sort -u | wc -l) -eq 4 ]]
report "having played four" $?

# A run that another build, other faults or another first seed has kept says nothing about this one.
for other in "--from 6" "--from 5 --faults drop=0.01"; do
  cp kept.json other.json
  # shellcheck disable=SC2086  # one word an option
  play --seeds 1 $other --keep other.json
  [[ $code -eq 0 ]] && ! grep -q 'have been played' out
  report "$other begins anew" $?
done
sed 's/"build":"/"build":"another/' kept.json >other.json
play --seeds 1 --from 5 --keep other.json
[[ $code -eq 0 ]] && ! grep -q 'have been played' out
report "and so does another build" $?

echo '{"game": 1' >wrong.json
play --seeds 1 --keep wrong.json
[[ $code -eq 2 ]] && grep -q '^simulate: wrong.json: expected a file that simulate --keep has written' err
report "another file is refused by name" $?
play --seeds 1 --keep missing/kept.json
[[ $code -eq 2 ]] && grep -q 'cannot write missing/kept.json.new' err
report "and one that can't be written" $?
mkdir folder
play --seeds 1 --keep folder
[[ $code -eq 2 ]] && grep -q '^simulate: .*folder' err
report "and a folder" $?
finish
