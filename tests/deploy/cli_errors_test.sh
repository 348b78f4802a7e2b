#!/usr/bin/env bash
# What `troupe train` refuses, and what it then tells: cli_errors_test.sh BUILD_DIR
set -uo pipefail
source "$(dirname "$0")/common.sh" "$1"

# ---- names of environments, algorithms and commands

refuses "an unknown environment is told the known ones and the nearest" 2 \
  'unknown environment "CartPol-v1"; did you mean "CartPole-v1"? known: "' \
  train --env CartPol-v1
refuses "an unknown version of an environment is told the nearest there is" 2 \
  'unknown environment "CartPole-v2"; did you mean "CartPole-v1"?' train --env CartPole-v2
refuses "an unknown algorithm is told the known ones and the nearest" 2 \
  'unknown algorithm "poo"; did you mean "ppo"? known: ' train --algo poo
refuses "no command at all prints the help, which names the commands" 2 'Train an agent'
refuses "a misspelt command is told the nearest" 2 'unknown command "tran"; did you mean "train"?' tran
refuses "an environment without --env is told how" 2 'did you mean --env CartPole-v1?' train CartPole-v1

# ---- options

refuses "an override without = is told the form" 2 'expected an override such as trainer.lr=3e-4' \
  train trainer.lr
refuses "an unknown option is told the nearest" 2 'unknown option "--sed"; did you mean --seed?' train --sed 3
refuses "an unknown option with = is told the nearest" 2 'did you mean --env?' train --envs=CartPole-v1
refuses "an option by another library's name is told ours" 2 'unknown option "--total-timesteps"; did you mean --steps?' \
  train --total-timesteps 100
refuses "an option of the algorithm is told how those are given" 2 'given as trainer.lr=3e-4' \
  train --learning-rate 1e-3
grep -qF 'see `troupe config ppo`' err
report "and where they are listed" $?
refuses "those of the algorithm that was named" 2 'see `troupe config grpo`' \
  train --algo grpo --task sum_digits --learning-rate 1e-3
refuses "what other libraries call an option is told its name here" 2 \
  'unknown key "learning_rate"; did you mean "lr"?' train trainer.learning_rate=1
refuses "an option without its section is told where it is" 2 'did you mean "trainer.lr"?' train lr=1

# ---- values

refuses "a wrong value is told path, expectation and value" 2 \
  '/trainer/lr: expected a number > 0, got "fast"' train trainer.lr=fast
refuses "an unknown key is told the nearest" 2 \
  '/trainer/lrr: unknown key "lrr"; did you mean "lr"?' train trainer.lrr=1
refuses "an unknown mode is told the nearest" 2 '/mode: unknown value "asink"; did you mean "async"?' \
  train --mode asink
for steps in -5 0 1e9x 99999999999999999999 1.5 ""; do
  refuses "-n '$steps' is refused" 2 'total_steps: expected' train -n "$steps"
done
for seed in -1 99999999999999999999999 x; do
  refuses "--seed $seed is refused" 2 '/seed: expected an integer' train --seed "$seed"
done
refuses "fewer steps than those before the first update are told their number" 2 \
  '/total_steps: expected more than the 100 environment steps before the first update' \
  train --algo dqn -n 100
refuses "layers that are no list are shown one" 2 \
  '/policy/hidden: expected a list of 0 to 8 values, such as [64,64], got 64' train policy.hidden=64
refuses "a list with spaces is told what the shell does with it" 2 'a list has no spaces' \
  train 'policy.hidden=[64,' '64]'
refuses "--faults without --deterministic is refused" 2 '--faults requires --deterministic' \
  train --faults random
refuses "faults in a configuration that is not deterministic are refused" 2 \
  '/faults: expected "" where deterministic is false' train 'faults="random"'
refuses "faults that are none are named" 2 'crash=2' train --deterministic --faults crash=2
: >file
refuses "a --runs that is a file is named" 2 'cannot create a run directory in file/ppo' \
  train -n 100 --runs file --metrics-port 0

finish
