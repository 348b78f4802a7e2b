#!/usr/bin/env bash
# What the README shows of the build does run: readme_test.sh BUILD_DIR
set -euo pipefail
exec /usr/bin/python3 "$(dirname "${BASH_SOURCE[0]}")/readme.py" --run "$1"
