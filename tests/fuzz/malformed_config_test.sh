#!/usr/bin/env bash
# Malformed configurations through the command itself: malformed_config_test.sh BUILD_DIR [COUNT]
# Each must end with exit code 2 and name its place, and leave no run behind.
set -uo pipefail
build=$(realpath "$1")
count=${2:-8}  # Half a second each: ./dev fuzz-config takes more.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export LC_ALL=C  # Texts that are no UTF-8 stay bytes.
"$build/tests/fuzz/malformed_configs" "$count" . || exit 1

passed=0
failed=0
for ((i = 0; i < count; ++i)); do
  mapfile -t overrides <"$i.overrides"
  timeout 60 "$build/deploy/troupe/troupe" train --metrics-port 0 --config "$i.json" -- "${overrides[@]}" \
    >out 2>err
  code=$?
  if [[ $code -eq 2 && ! -e runs ]] && grep -qaF -- "$(<"$i.place")" err; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $i: exit code $code, expected 2 and '$(<"$i.place")' in: $(head -c 500 err)"
    head -c 500 "$i.json" "$i.overrides"
  fi
  rm -rf runs
done
echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
