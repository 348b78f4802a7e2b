#!/usr/bin/env bash
# Configuration refuses g++ 12, which gets coroutines wrong, and accepts g++ 14: compiler_test.sh BUILD_DIR
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

version=$(g++ -dumpversion 2>/dev/null || true)
if [[ $version == 14 ]]; then
  if cmake -S "$root" -B "$folder" -G Ninja -DCMAKE_CXX_COMPILER=g++ >"$folder/log" 2>&1; then
    echo "1 passed, 0 failed"
    exit 0
  fi
  echo "FAILED g++ 14 was refused:"
  cat "$folder/log"
  echo "0 passed, 1 failed"
  exit 1
fi
if [[ $version != 12 ]]; then
  echo "g++ is neither 12 nor 14: ${version:-not installed}"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
fi
if cmake -S "$root" -B "$folder" -G Ninja -DCMAKE_CXX_COMPILER=g++ >"$folder/log" 2>&1; then
  echo "FAILED g++ 12 was accepted"
elif ! tr -s ' \n' ' ' <"$folder/log" | grep -q "compiles coroutines wrongly.*Install clang-19"; then
  echo "FAILED g++ 12 was refused without saying why and what to install:"
  cat "$folder/log"
else
  echo "1 passed, 0 failed"
  exit 0
fi
echo "0 passed, 1 failed"
exit 1
