#!/usr/bin/env bash
# Wrong arguments of a call, and capturing lambdas that are coroutines, are refused with one sentence each; what
# stands beside them compiles: refused_code_test.sh BUILD_DIR
set -uo pipefail
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[^=]*=//p' "$1/CMakeCache.txt")
check=("$compiler" -std=c++20 -fsyntax-only -Wall -Wextra -Werror -I "$folder/../.." "$folder/refused_code.cpp")
passed=0
failed=0

report() {  # report NAME CODE
  if [[ $2 -eq 0 ]]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $1"
  fi
}

"${check[@]}"
report "arguments in braces, and lambdas that call coroutines, compile without a warning" $?
"${check[@]}" -DREFUSED -Xclang -verify -Xclang -verify-ignore-unexpected=note
report "what is wrong is told by one error each" $?
told=$("${check[@]}" -DREFUSED 2>&1)
grep "error:" <<<"$told" | head -1 | grep -q "these arguments don't fit the endpoint's parameters\|a lambda with a capture"
report "the first line of an error has the sentence" $?
lines=$(wc -l <<<"$told")
[[ $lines -lt 120 ]]
report "seven errors take fewer than 120 lines, not $lines" $?
echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
