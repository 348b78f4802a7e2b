#!/usr/bin/env bash
# PPO on CartPole-v1 with seeds 1 to 10 in both modes: cartpole_seeds.sh BUILD_DIR
exec /usr/bin/python3 "$(dirname "${BASH_SOURCE[0]}")/cartpole.py" seeds "$1"
