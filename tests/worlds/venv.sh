#!/bin/sh
# Makes the Python environment in which the real OpenEnv package is, and prints the path of its
# python. Usage: venv.sh BUILD_DIR. Where that can't be: exit code 1, and why on the last line.
set -eu

venv=${1:?usage: venv.sh BUILD_DIR}/worlds/venv
log=$venv.log

if ! "$venv/bin/python" -c 'import openenv, pyspiel' 2>/dev/null; then
  mkdir -p "$(dirname "$venv")"
  python3 -m venv --clear "$venv" >"$log" 2>&1 || {
    echo "python3 -m venv failed (python3-venv missing?): $(tail -n 1 "$log")"
    exit 1
  }
  "$venv/bin/pip" install --quiet --disable-pip-version-check 'openenv>=0.10,<0.11' 'open-spiel>=2,<3' \
    >"$log" 2>&1 || {
    echo "the packages openenv and open-spiel could not be installed: $(tail -n 1 "$log")"
    exit 1
  }
fi
echo "$venv/bin/python"
