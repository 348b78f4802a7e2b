#!/bin/sh
# Troupe's client against servers made with the real OpenEnv package, which comes from PyPI.
# Usage: worlds_test.sh BUILD_DIR; with TROUPE_WORLDS set, as `./dev test --worlds` sets it.
set -eu

build=${1:?usage: worlds_test.sh BUILD_DIR}
here=$(dirname "$0")

skip() {
  echo "worlds: skipped: $1"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
}

[ -n "${TROUPE_WORLDS:-}" ] || skip "it needs ./dev test --worlds"
python=$("$here/venv.sh" "$build") || skip "$python"
tests=$(find "$build" -type f -name test_openenv -perm -u+x | head -n 1)
[ -n "$tests" ] || {
  echo "worlds: test_openenv is not built in $build"
  echo "0 passed, 1 failed"
  exit 1
}

port() {
  "$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
echo_port=$(port)
"$python" "$here/echo_server.py" --port "$echo_port" &
server=$!
trap 'kill $server' EXIT
for _ in $(seq 150); do
  "$python" -c "import urllib.request as u; u.urlopen('http://127.0.0.1:$echo_port/health')" 2>/dev/null && break
  sleep 0.2
done
export TROUPE_ECHO_URL="http://127.0.0.1:$echo_port"

if "$tests" '[.worlds]'; then
  echo "1 passed, 0 failed"
else
  echo "0 passed, 1 failed"
  exit 1
fi
