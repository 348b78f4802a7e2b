#!/bin/sh
# The environments against the real gymnasium package, bit for bit.
# Usage: gymnasium_test.sh BUILD_DIR. Needs python3-venv and a Python package index.
set -eu

build=${1:?usage: gymnasium_test.sh BUILD_DIR}
here=$(dirname "$0")
venv=$build/venvs/gymnasium
record=$(mktemp)
trap 'rm -f "$record"' EXIT

skip() {
  echo "gymnasium: skipped: $1"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
}

fail() {
  echo "gymnasium: $1"
  echo "0 passed, 1 failed"
  exit 1
}

if ! "$venv/bin/python" -c 'import gymnasium' 2>/dev/null; then
  python3 -m venv --clear "$venv" >/dev/null || skip "python3 -m venv failed (python3-venv missing?)"
  "$venv/bin/pip" install --quiet --disable-pip-version-check 'gymnasium>=1.0' 'numpy>=2' >&2 ||
    skip "the gymnasium package could not be installed"
fi

"$venv/bin/python" "$here/gymnasium_reference.py" "$record" || fail "no trajectory was recorded"
tests=$(find "$build" -type f -name test_environments -perm -u+x | head -n 1)
[ -n "$tests" ] || fail "test_environments is not built in $build"
TROUPE_GYMNASIUM_RECORD=$record "$tests" '[.gymnasium]' || fail "the trajectories differ"
echo "1 passed, 0 failed"
