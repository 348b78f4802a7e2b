#!/usr/bin/env bash
# A few nodes killed under load: chaos_nodes_test.sh BUILD_DIR. That no call hangs, that every idempotent one is answered,
# that no service goes down and that the controller grows by nothing hold as in ./dev chaos --nodes; its times are for a
# machine that does nothing else.
set -uo pipefail
if timeout 240 "$1/tests/chaos/chaos" --nodes --seconds 16 --every 4000 --noticed 10000 --back 60000; then
  echo "1 passed, 0 failed"
else
  echo "0 passed, 1 failed"
  exit 1
fi
