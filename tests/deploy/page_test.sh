#!/usr/bin/env bash
# The status page of a running training job, in a browser that is there or else skipped: page_test.sh BUILD_DIR
set -uo pipefail
source "$(dirname "$0")/common.sh" "$1"
if ! command -v chromium >/dev/null; then
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
fi

port=$(free_port)
"$troupe" train -n 1000000000 --metrics-port "$port" evaluation.every_steps=20000 >out 2>err &
training=$!
trap 'kill -KILL $training 2>/dev/null; rm -rf "$folder"' EXIT
await "http://127.0.0.1:$port/boards" '"marks":\[\['
report "a run shows a board with an evaluation" $?
# The page asks once a second; rates are there from the second answer on.
timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$folder/browser" \
  --virtual-time-budget=5000 --dump-dom "http://127.0.0.1:$port/" >dom 2>err
report "a browser opens the page" $?

shows() {  # shows WHAT PATTERN
  grep -qE -- "$2" dom
  report "the page shows $1" $?
}
shows "the run's name" '<h1 id="title">PPO on CartPole-v1</h1>'
shows "that it is live" '"soft live">live for [0-9]'
shows "how far it is" '[0-9.]+[kM]? of 1,000M, [0-9:]+ so far'
shows "the learning curve" '<path d="M[0-9.]+ [0-9.]+L'
shows "its legend" 'mean of the last 100 episodes'
shows "an evaluation" '<title>[0-9.,]+ ± '
shows "the services" '<td class="">environments</td><td class="number">1</td>'
shows "a rate" '<b>[0-9.,]+[kM]?</b><span>steps a second'
shows "every metric" '<td>troupe_train_loss</td>'
{ kill -KILL $training && wait $training; } 2>/dev/null  # bash says nothing of it then
finish
