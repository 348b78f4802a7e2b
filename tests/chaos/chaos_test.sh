#!/usr/bin/env bash
# A few kills under load: chaos_test.sh BUILD_DIR. That every request is answered and none hangs, that lost episodes
# are told so and that no process is left hold as in ./dev chaos; its times are for a machine that does nothing else.
set -uo pipefail
if timeout 120 "$1/tests/chaos/chaos" --seconds 6 --every 1000 --noticed 2000 --back 30000; then
  echo "1 passed, 0 failed"
else
  echo "0 passed, 1 failed"
  exit 1
fi
