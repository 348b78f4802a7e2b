#!/usr/bin/env bash
# Half a minute of faults while `troupe train` trains on three nodes: chaos_train_test.sh BUILD_DIR. Everything is
# judged as in ./dev chaos --net --train, other than growth, for which the time is too short.
set -uo pipefail
if timeout 400 "$(dirname "$0")/net/net.py" "$1" --train --seconds 30 --seed 6 --longest 4; then
  echo "1 passed, 0 failed"
else
  echo "0 passed, 1 failed"
  exit 1
fi
