#!/usr/bin/env bash
# A run that is stopped by a signal: cli_stop_test.sh BUILD_DIR
set -uo pipefail
source "$(dirname "$0")/common.sh" "$1"

"$troupe" train --listen 127.0.0.1:0 'env.placement=node:*' checkpoint.every_updates=2 --metrics-port 0 >out 2>err &
waiting=$!
await_line err 'waits for a node'
kill -TERM $waiting
await_end $waiting
report "a run with checkpoints that waits for its nodes ends at SIGTERM" $?
grep -q 'the run is asked to stop; a second signal ends the process ends="after the update under way"' err
report "and says that it was asked to" $?

interrupt() {  # interrupt SIGNAL MODE: twice, as timeout and shells do
  rm -rf runs
  "$python" - "$troupe" "$1" "$2" <<'PYTHON'
import signal, subprocess, sys, threading
troupe, name, mode = sys.argv[1:]
command = [troupe, "train", "-v", "-n", "1000000000", "--mode", mode, "--metrics-port", "0"]
with open("err", "wb") as err:
    training = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=err, text=True)
limit = threading.Timer(60, training.kill)
limit.start()
for line in training.stdout:
    if "approx_kl" in line:  # it trains
        break
limit.cancel()
training.send_signal(getattr(signal, name))
training.send_signal(getattr(signal, name))
try:
    open("out", "w").write(training.communicate(timeout=10)[0])
except subprocess.TimeoutExpired:
    training.kill()
    training.wait()
    sys.exit("it goes on")
sys.exit(training.returncode)
PYTHON
  code=$?
  [[ $code -eq 130 ]]
  report "$1 ends a run in $2 mode at once, with exit code 130" $?
  grep -q 'the model of that moment is runs/ppo/CartPole-v1_1/last_model' out
  report "and says that it keeps the model of that moment" $?
  run eval runs/ppo/CartPole-v1_1 --episodes 2
  report "which eval takes" $((code != 0))
}
interrupt SIGINT sync
interrupt SIGINT async
interrupt SIGTERM sync
rm -rf runs
"$troupe" train --json -v -n 1000000000 --metrics-port 0 >out 2>err &
training=$!
await_line err approx_kl
kill -INT $training
await_end $training
code=$?
[[ $code -eq 130 && $(wc -l <out) -eq 1 ]]
report "with --json a run that is stopped prints one line, and its table on stderr" $?
holds "which is what it came to" "s['algo'] == 'ppo' and s['env'] == 'CartPole-v1' and s['steps'] >= 0 and
  s['interrupted'] and s['saved_steps'] == 0 and s['run_directory'] == 'runs/ppo/CartPole-v1_1'"

finish
