#!/bin/sh
# The environments against the real gymnasium package, bit for bit.
# Usage: gymnasium_test.sh BUILD_DIR. Needs python3-venv and a Python package index.
set -eu

build=${1:?usage: gymnasium_test.sh BUILD_DIR}
here=$(dirname "$0")
record=$(mktemp)
runs=$(mktemp -d)
trap 'rm -rf "$record" "$runs"' EXIT

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

python=$("$here/gymnasium_venv.py" "$build") || skip "$python"

"$python" "$here/gymnasium_reference.py" "$record" || fail "no trajectory was recorded"
tests=$(find "$build" -type f -name test_environments -perm -u+x | head -n 1)
[ -n "$tests" ] || fail "test_environments is not built in $build"
TROUPE_GYMNASIUM_RECORD=$record "$tests" '[.gymnasium]' || fail "the trajectories differ"
TROUPE_GYMNASIUM_PYTHON=$python "$tests" '[.gymnasium_guest]' || fail "environments in Python differ from the built-in ones, or have a fault"
# A table learns on environments in Python whose states are numbered, and is evaluated on them.
troupe=$build/deploy/troupe/troupe
for env in FrozenLake-v1 Taxi-v4; do
  "$troupe" train --algo q_learning --env "gymnasium:$env" -n 2000 "env.python=$python" evaluation.every_steps=0 \
    evaluation.final_episodes=2 --runs "$runs/$env" --metrics-port 0 || fail "q_learning does not learn on $env"
  run=$(dirname "$(find "$runs/$env" -name config.json)")
  "$troupe" eval "$run" --episodes 2 || fail "the table of $env is not evaluated"
done
echo "4 passed, 0 failed"
