#!/usr/bin/env bash
# Three seeds of PPO on CartPole-v1, in one mode each, are solved: cartpole_sample.sh BUILD_DIR
exec /usr/bin/python3 "$(dirname "${BASH_SOURCE[0]}")/cartpole.py" sample "$1"
