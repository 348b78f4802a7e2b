#!/usr/bin/env bash
# The sanitizers report what was planted: planted_test.sh BUILD_DIR, of a build with one of them. Without
# this a suppression too many, or a sanitizer that is not there, would pass for a clean run.
set -uo pipefail
here=$(realpath "$(dirname "$0")")
programs=$(realpath "$1")/tests/sanitizers
output=$(mktemp)
trap 'rm -f "$output"' EXIT
symbolizer=$(command -v llvm-symbolizer-19 || command -v llvm-symbolizer)
export TSAN_OPTIONS="suppressions=$here/tsan.supp external_symbolizer_path=$symbolizer"
export ASAN_OPTIONS="external_symbolizer_path=$symbolizer"
passed=0
failed=0

# must_report REPORT PLACE PROGRAM ARGUMENT...: it exits not with 0, and its output has both texts
must_report() {
  local report=$1 place=$2
  shift 2
  if timeout 120 "$programs/$@" >"$output" 2>&1; then
    echo "FAILED $*: exit code 0, expected a report"
    failed=$((failed + 1))
  elif grep -qF "$report" "$output" && grep -qF "$place" "$output"; then
    passed=$((passed + 1))
  else
    echo "FAILED $*: expected '$report' and '$place' in:"
    head -40 "$output"
    failed=$((failed + 1))
  fi
}

if [[ -e $programs/planted_race ]]; then
  must_report 'ThreadSanitizer: data race' 'runtime/coroutine/channel.hpp' planted_race shared
  must_report 'ThreadSanitizer: data race' 'careless::read' planted_race sent
  must_report 'ThreadSanitizer: data race' '~counts_at_its_end' planted_race unread
fi
if [[ -e $programs/planted_use_after_free ]]; then
  must_report 'AddressSanitizer: heap-use-after-free' 'runtime/coroutine/strand.cpp' planted_use_after_free
fi
echo "$passed passed, $failed failed"
[[ $failed -eq 0 && $passed -gt 0 ]]
