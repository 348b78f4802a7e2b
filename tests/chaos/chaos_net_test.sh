#!/usr/bin/env bash
# Half a minute of faults, with network namespaces where the machine allows them: chaos_net_test.sh BUILD_DIR. Everything
# is judged as in ./dev chaos --net. Recoveries have twice the stated limit, which is seconds.
set -uo pipefail
if timeout 400 "$(dirname "$0")/net/net.py" "$1" --seconds 30 --seed 107 --longest 6; then
  echo "1 passed, 0 failed"
else
  echo "0 passed, 1 failed"
  exit 1
fi
