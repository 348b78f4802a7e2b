#!/usr/bin/env bash
# PPO's learning curves with the fused backend and with libtorch's, on five seeds: backends.sh BUILD_DIR
exec /usr/bin/python3 "$(dirname "${BASH_SOURCE[0]}")/backends.py" "$1"
