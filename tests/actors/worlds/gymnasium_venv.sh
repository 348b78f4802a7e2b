#!/bin/sh
# Makes a virtual environment with the real gymnasium package, unless it is there, and prints its
# python. Usage: gymnasium_venv.sh BUILD_DIR. Needs python3-venv and a Python package index. Where
# that can't be: exit code 1, and why on the last line.
set -eu

venv=${1:?usage: gymnasium_venv.sh BUILD_DIR}/venvs/gymnasium
needed='import gymnasium, minigrid, pygame'

if ! "$venv/bin/python" -c "$needed" 2>/dev/null; then
  python3 -m venv --clear "$venv" >&2 || {
    echo "python3 -m venv failed (python3-venv missing?)"
    exit 1
  }
  "$venv/bin/pip" install --quiet --disable-pip-version-check \
    'gymnasium[classic-control]>=1.1' 'minigrid>=3' 'numpy>=2' >&2 || {
    echo "the gymnasium package could not be installed"
    exit 1
  }
  # Box2D has no wheel for every Python; what needs it is left out without it.
  "$venv/bin/pip" install --quiet --disable-pip-version-check 'gymnasium[box2d]>=1.1' >&2 || true
fi
echo "$venv/bin/python"
