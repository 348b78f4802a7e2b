#!/bin/sh
# Troupe's client against servers made with the real OpenEnv package, which comes from PyPI; in a
# container of podman, too, and against OpenEnv's own environments where OPENENV_DIR names a
# checkout. Usage: worlds_test.sh BUILD_DIR; with TROUPE_WORLDS set, as `./dev test --worlds` sets it.
set -eu

build=${1:?usage: worlds_test.sh BUILD_DIR}
here=$(cd "$(dirname "$0")" && pwd)
passed=0 failed=0 skipped=0

skip() {
  echo "worlds: skipped: $1"
  skipped=$((skipped + 1))
}

finish() {
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" -eq 0 ]
  exit
}

# run TAG: the test cases of that tag.
run() {
  if "$tests" "$1"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
  fi
}

# The machine's own files are the container's: no image is needed, and the package is there.
run_container() {
  tool=podman
  command -v crun >/dev/null || tool="podman --runtime runc"
  options="--ulimit nofile=1024:1024 --ulimit nproc=1024:1024"
  for folder in "$(cd "$build" && pwd)" "$here" "$("$python" -c 'import sys; print(sys.base_prefix)')"; do
    [ "$folder" = /usr ] || options="$options -v $folder:$folder:ro"
  done
  options="$options --rootfs"
  if ! $tool run --rm $options /:O true >/dev/null 2>"$build/worlds/podman.log"; then
    skip "podman runs no container here: $(tail -n 1 "$build/worlds/podman.log")"
    return
  fi
  export TROUPE_WORLDS_TOOL="$tool" TROUPE_WORLDS_IMAGE=/:O TROUPE_WORLDS_RUN_OPTIONS="$options"
  run '[.container]'

  # The program is killed while its container serves.
  TROUPE_WORLDS_HOLD=1 "$tests" '[.container]' >"$build/worlds/held.log" 2>&1 &
  holder=$!
  until grep -q '^held' "$build/worlds/held.log"; do
    kill -0 $holder 2>/dev/null || break
    sleep 0.2
  done
  kill -KILL $holder || true
  wait $holder 2>/dev/null || true
  deadline=$(($(date +%s) + 5))
  while
    left=$($tool ps --all --quiet --filter label=org.troupe.server=1)
    [ -n "$left" ] && [ "$(date +%s)" -lt "$deadline" ]
  do
    sleep 0.2
  done
  if grep -q '^held' "$build/worlds/held.log" && [ -z "$left" ]; then
    echo "worlds: within 5 s of SIGKILL no container is left"
    passed=$((passed + 1))
  else
    echo "worlds: after SIGKILL these containers are left: $left"
    tail "$build/worlds/held.log"
    failed=$((failed + 1))
  fi
}

if [ -z "${TROUPE_WORLDS:-}" ]; then
  skip "it needs ./dev test --worlds"
  finish
fi
python=$("$here/openenv_venv.py" "$build") || {
  skip "$python"
  finish
}
tests=$(find "$build" -type f -name test_openenv -perm -u+x | head -n 1)
if [ -z "$tests" ]; then
  echo "worlds: test_openenv is not built in $build"
  failed=1
  finish
fi
TROUPE_WORLDS_PYTHON=$python
export TROUPE_WORLDS_PYTHON TROUPE_WORLDS_DIR="$here"
mkdir -p "$build/worlds"

run '[.worlds]'

if command -v podman >/dev/null; then
  run_container
else
  skip "there is no podman"
fi

if [ -n "${OPENENV_DIR:-}" ]; then
  run '[.own]'
else
  skip "OPENENV_DIR names no checkout of OpenEnv, whose own environments are not published as packages"
fi
finish
