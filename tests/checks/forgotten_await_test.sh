#!/usr/bin/env bash
# A forgotten co_await is a warning that says so: forgotten_await_test.sh BUILD_DIR
set -euo pipefail
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[^=]*=//p' "$1/CMakeCache.txt")

if "$compiler" -std=c++20 -fsyntax-only -Wall -Wextra -I "$folder/../.." -Xclang -verify \
  "$folder/forgotten_await.cpp"; then
  echo "1 passed, 0 failed"
else
  echo "0 passed, 1 failed"
  exit 1
fi
