#!/usr/bin/env bash
# The generated parts of docs/ are those of the program, and everything has its place there: docs_test.sh BUILD_DIR
set -euo pipefail
exec /usr/bin/python3 "$(dirname "${BASH_SOURCE[0]}")/../../docs/generate.py" "$1" --check
