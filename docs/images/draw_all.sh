#!/usr/bin/env bash
# Draws every picture of this folder from new runs of a built program: docs/images/draw_all.sh BUILD [PICTURE...]
#
# BUILD is a build folder with deploy/troupe/troupe in it, or a prefix with bin/troupe. PICTURE is a picture's name,
# such as weights.svg; without one, all are drawn. Each command is printed before it runs. The runs take about a minute
# and a half of CPU and lie in a folder of their own, which is removed. live_page.png needs Debian's chromium.
# grpo_smollm2.png is not drawn here, because its run takes 20 minutes: README.md has its command.
set -euo pipefail

[[ $# -ge 1 && -d $1 ]] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
build=$(cd "$1" && pwd)
shift
wanted=" $* "
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
troupe=$build/deploy/troupe/troupe
[[ -x $troupe ]] || troupe=$build/bin/troupe
[[ -x $troupe ]] || { echo "draw_all: $build has no troupe" >&2; exit 2; }
work=$(mktemp -d)
pid=
trap '[[ -z $pid ]] || kill "$pid" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work"
export PYTHONDONTWRITEBYTECODE=1

run() {
  echo "+ $*" >&2
  "$@"
}

draws() { [[ $wanted == "  " || $wanted == *" $1 "* ]]; }

train() { run "$troupe" train --seed 1 --metrics-port 0 "$@" >>train.log 2>&1 || { tail train.log >&2; exit 1; }; }

for name in layers one_call weights rollout; do
  if draws "$name.svg"; then run python3 "$here/draw_$name.py" "$here/$name.svg"; fi
done

if draws sync_async.svg; then
  for mode in sync async; do
    train --mode "$mode" -n 40960 --trace "$mode.json" trainer.n_epochs=4 evaluation.every_steps=0
  done
  run python3 "$here/draw_sync_async.py" sync.json async.json "$here/sync_async.svg"
fi

if draws async_trace.svg; then
  train --mode async -n 40000 --trace trace.json evaluation.every_steps=0
  run python3 "$here/draw_trace.py" trace.json "$here/async_trace.svg"
fi

if draws cartpole_ppo.png; then
  train --runs cartpole --algo ppo --env CartPole-v1 -n 100000
  run cp cartpole/ppo/CartPole-v1_1/learning_curve.png "$here/cartpole_ppo.png"
fi

if draws acrobot.gif; then
  train --runs swings --algo ppo --env Acrobot-v1 -n 100000
  run "$troupe" eval swings/ppo/Acrobot-v1_1 --video "$here/acrobot.gif"
fi

if draws learning_curves.svg; then
  poles=(--runs curves --env CartPole-v1 evaluation.every_steps=5000)
  torques=(--runs curves -n 20000 evaluation.every_steps=1000)
  train --algo ppo -n 100000 "${poles[@]}"
  train --algo a2c -n 100000 "${poles[@]}" env.n_envs=8
  train --algo dqn -n 50000 "${poles[@]}" trainer.lr=2.3e-3 trainer.batch_size=64 replay.capacity=100000 \
    collection.learning_starts=1000 trainer.target_update_interval=10 collection.train_freq=256 \
    collection.gradient_steps=128 exploration.fraction=0.16 exploration.final=0.04 'policy.hidden=[256,256]'
  train --config "$here/../../tests/bench/peers/sac_pendulum.json" "${torques[@]}"
  train --config "$here/../../tests/bench/peers/td3_pendulum.json" "${torques[@]}"
  run python3 "$here/draw_learning_curves.py" curves "$here/learning_curves.svg"
fi

if draws status.svg || draws live_page.png; then
  echo "+ $troupe train --mode async -n 5000000 evaluation.every_steps=20000 &" >&2
  "$troupe" train --mode async -n 5000000 --runs live evaluation.every_steps=20000 2>live.log >&2 &
  pid=$!
  rows() { cat live/ppo/CartPole-v1_1/progress.csv 2>/dev/null | wc -l; }
  until [[ $(rows) -gt 70 ]]; do
    kill -0 "$pid" 2>/dev/null || { cat live.log >&2; exit 1; }
    sleep 1
  done
  page=$(grep -o 'http://localhost:[0-9]*/' live.log | head -n 1)
  port=${page//[^0-9]/}
  if draws status.svg; then
    echo "+ $troupe status --port $port > status.txt" >&2
    "$troupe" status --port "$port" >status.txt
    run python3 "$here/draw_status.py" status.txt "$here/status.svg"
  fi
  if draws live_page.png; then run python3 "$here/draw_live_page.py" "$page" "$here/live_page.png"; fi
fi
