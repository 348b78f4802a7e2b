#!/usr/bin/env bash
# The ports at which a run listens, for metrics and for nodes: cli_ports_test.sh BUILD_DIR
set -uo pipefail
source "$(dirname "$0")/common.sh" "$1"

# run_beside PORT ARGUMENT...: run, while another program listens at PORT (0: any free one). @ in an
# argument stands for the port, which is left in $port.
run_beside() {
  "$python" - "$troupe" "$@" >port <<'PYTHON'
import socket, subprocess, sys, time
troupe, port, *arguments = sys.argv[1:]
other = socket.socket()
other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # connections that ended there do not matter
for _ in range(200):  # another test may listen there for a moment
    try:
        other.bind(("", int(port)))
        other.listen()
        port = other.getsockname()[1]
        break
    except OSError:
        time.sleep(0.1)  # after 20 s it is somebody who stays, which is as good
print(port, flush=True)
command = [troupe] + [a.replace("@", str(port)) for a in arguments]
with open("out", "wb") as out, open("err", "wb") as err:
    sys.exit(subprocess.run(command, stdout=out, stderr=err, timeout=120).returncode)
PYTHON
  code=$?
  port=$(cat port)
}

run_beside 0 train -n 100 --metrics-port @
[[ $code -eq 2 ]] && grep -q "$port" err && [[ ! -e runs ]]
report "a busy port that was asked for is refused by number" $?
run train -n 100 'env.placement=node:*'
[[ $code -eq 2 ]] && grep -qF '/env/placement: expected --listen HOST:PORT beside it' err && [[ ! -e runs ]]
report "a placement on nodes where none can join is refused before anything is made" $?
refuses "and one in a deterministic run is told that no node can join it" 2 \
  '/env/placement: expected no node in a deterministic run, which no node can join, got node:*' \
  train -n 100 --deterministic 'env.placement=node:*'
! grep -q -- '--listen' err
report "and not to add an option that it can't have" $?
refuses "a configuration that is deterministic has no address for nodes" 2 \
  '--listen: expected none in a deterministic run, which no node can join, got 127.0.0.1:0' \
  train -n 100 --listen 127.0.0.1:0 deterministic=true
refuses "an address for nodes that is none is refused before anything is made" 2 \
  'troupe train: --listen: expected HOST:PORT to listen at, got "nope"' train -n 100 --listen nope
! grep -q 'metrics are served' err
report "or served" $?
refuses "and so is one beyond this machine without certificates" 2 \
  '--listen: cannot listen at 0.0.0.0:7700 without certificates: expected a loopback address' \
  train -n 100 --listen 0.0.0.0:7700
! grep -q 'metrics are served' err
report "which serves nothing, too" $?
refuses "and one with a folder that has no certificates" 2 'nowhere/' \
  train -n 100 --listen 127.0.0.1:0 --certs nowhere
for command in "train -n 100" "serve-env CartPole-v1 --port 0" \
    "node --join 127.0.0.1:1 --name a"; do
  refuses "$command refuses an address for metrics that is none" 2 'expected an IP address, got "nosuch"' \
    $command --metrics-address nosuch
  refuses "$command refuses a further name that is none" 2 '--metrics-allow-host: expected the name of a host' \
    $command --metrics-allow-host https://proxy.example
done
run train -n 100 --metrics-port 9463 --metrics-address 203.0.113.7
[[ $code -ne 0 ]] && grep -q '203.0.113.7' err && [[ ! -e runs ]]
report "an address that this machine doesn't have is refused by its text" $?
run_beside 9464 train -n 2048 --json -v trainer.n_epochs=1 evaluation.final_episodes=5 evaluation.episodes=2 evaluation.every_steps=2048
[[ $code -eq 0 ]] && grep -q 'port is busy.*9464' err
report "a busy default port gives way, and stderr says so" $?
grep -q 'metrics are served.*http://localhost:9[0-9]*/' err
report "stderr says where the metrics are" $?
holds "the summary has the port that was used" "s['metrics_port'] > 9464"

finish
