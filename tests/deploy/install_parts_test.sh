#!/usr/bin/env bash
# `cmake --install` of a build that has not made everything: it installs what is there, or says what to build, and
# installs nothing by halves: install_parts_test.sh BUILD_DIR
set -uo pipefail
build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
passed=0
failed=0

report() {  # report WHAT CODE
  if [[ $2 -eq 0 ]]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $1"
    tail -30 "$place/log"
  fi
}

install() {
  cmake --install "$place/build" --prefix "$place/installed" "$@" >"$place/log" 2>&1
}

refuses() {  # refuses WHAT SENTENCE [OPTION...]
  ! install "${@:3}" && grep -qF -- "$2" "$place/log" && [[ ! -e $place/installed ]]
  report "$1" $?
}

settings=$(sed -nE 's/^(CMAKE_CXX_COMPILER|CMAKE_BUILD_TYPE|CMAKE_PREFIX_PATH|TROUPE_SANITIZE):[^=]*=(.+)/-D\1=\2/p' "$build/CMakeCache.txt")
mapfile -t settings <<<"$settings"
cmake -S "$root" -B "$place/build" -G Ninja -DTROUPE_TESTS=OFF "${settings[@]}" >"$place/log" 2>&1
report "a build is configured" $?
libraries="The libraries are not built yet: run \`cmake --build $place/build --target installed\`, then install again."
refuses "without the libraries it says what to build" "$libraries"
refuses "without the command it says what to build" \
  "The troupe command is not built yet: run \`cmake --build $place/build --target deploy/troupe/troupe\`, then install again." \
  --component command

# What ./dev run builds.
mkdir -p "$place/build/deploy/troupe"
cp "$build/deploy/troupe/troupe" "$place/build/deploy/troupe" && cp -r "$build/deploy/troupe/printed" "$place/build/deploy/troupe" &&
  cp -r "$build/deploy/libexec" "$place/build/deploy"
report "the command is built" $?
refuses "with the command alone it says that the libraries are missing" "$libraries"
install --component command
report "the command alone is installed" $?
"$place/installed/bin/troupe" list >"$place/log" 2>&1 && grep -q '^  CartPole-v1 ' "$place/log"
report "the installed command runs" $?
[[ ! -e $place/installed/include ]]
report "no header is installed with it" $?

echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
