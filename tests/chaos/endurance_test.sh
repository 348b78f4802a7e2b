#!/usr/bin/env bash
# A sample of ./dev endurance: endurance_test.sh BUILD_DIR. Two thousand restarts, because what two hundred would leave
# behind is less than the 5 % by which memory may grow.
set -uo pipefail
if timeout 120 "$1/tests/chaos/endurance" --sessions 20000 --restarts 2000; then
  echo "1 passed, 0 failed"
else
  echo "0 passed, 1 failed"
  exit 1
fi
