#!/usr/bin/env bash
# `troupe status` beside a running training job, and beside what is none: status_test.sh BUILD_DIR
set -uo pipefail
source "$(dirname "$0")/common.sh" "$1"
children=()
trap 'kill -KILL "${children[@]}" 2>/dev/null; rm -rf "$folder"' EXIT

says() {  # says WHAT FILE PATTERN
  grep -qE -- "$3" "$2"
  report "$1" $?
}

port=$(free_port)
"$troupe" train -n 1000000000 --metrics-port "$port" >train.log 2>&1 &
children+=($!)
await "http://127.0.0.1:$port/metrics" '^troupe_train_steps_total [1-9]'
report "a job trains" $?

run status --port "$port"
report "status of a running job ends with 0" "$code"
says "it shows a table" out '^  service +state +ready +queued +waiting +calls/s +p50 +p99 +failed +restarts$'
says "it shows services with rates and latencies" out \
  '^  environments +ready +1/1 +[0-9]+ +[0-9]+ +[0-9.]+[kM]? +[0-9.]+ (us|ms|s) +[0-9.]+ (us|ms|s) +0 +0$'
says "it shows how learning goes" out '^  env steps [0-9.]+[kM]?, a second [0-9.]+[kM]?, episodes .*policy version'
run status "localhost:$port" --json
holds "its JSON has the services" \
  "{'policy', 'environments', 'trainer'} <= {v['service'] for v in s['programs'][0]['services']}"
holds "its JSON has the rates" \
  "all(v['calls_per_s'] >= 0 for v in s['programs'][0]['services']) and s['programs'][0]['learning']['env_steps_per_s'] > 0"

# Two jobs that name no port: at least one of them finds port 9464 busy.
for job in second third; do
  "$troupe" train -n 1000000000 >$job.log 2>&1 &
  children+=($!)
  await_line $job.log 'metrics are served'
  sed -n 's|.*metrics are served page=http://localhost:\([0-9]*\)/.*|\1|p' $job.log >>taken
done
run status --json
holds "without an address it finds every program of this machine" \
  "len(set(open('taken').read().split())) == 2 and all(any(p['address'] == '127.0.0.1:' + port and p['services']
    for p in s['programs']) for port in open('taken').read().split())"
if unshare -rn true 2>/dev/null; then  # where nobody can listen
  unshare -rn "$troupe" status >out 2>err
  code=$?
  [[ $code -eq 1 ]]
  report "a machine without a program ends it with 1" $?
  says "it says which addresses were asked, and how another is" err \
    '^http://127.0.0.1:9464/metrics: .*; no program answers at a port up to 9564 either; `troupe status HOST:PORT` asks'
  unshare -rn "$troupe" health >out 2>err
  code=$?
  [[ $code -eq 1 ]]
  report "health of no process ends with 1" $?
  says "it says where it asked, and how another port is named" err \
    '^troupe health: http://127.0.0.1:9464/livez: .*; if the process serves metrics at another port, say --port PORT$'
fi

# Others: a server that has other metrics, one whose texts act on a terminal, one that says nothing, one that is not there.
"$python" - >ports 2>/dev/null <<'PYTHON' &
import http.server, socket, threading
class other(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"go_goroutines 7\n")
    def log_message(self, *_): pass
class evil(other):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        for name in "ready", "desired":
            self.wfile.write(b'troupe_replicas_%s{service="\x1b]0;title\x07\x1b[2J"} 1\n' % name.encode())
        self.wfile.write(b'troupe_build_info{version="\x1b[31m1\xff"} 1\n')
server = http.server.HTTPServer(("127.0.0.1", 0), other)
acting = http.server.HTTPServer(("127.0.0.1", 0), evil)
threading.Thread(target=acting.serve_forever, daemon=True).start()
mute = socket.create_server(("127.0.0.1", 0))
print(server.server_port, mute.getsockname()[1], acting.server_port, flush=True)
server.serve_forever()
PYTHON
children+=($!)
for _ in $(seq 100); do [[ -s ports ]] && break; sleep 0.1; done
read -r other mute acting <ports
run status --port "$acting"
report "a program with texts that act on a terminal is shown" "$code"
! grep -q $'[\x1b\x07]' out
report "none of them reaches the terminal" $?
says "they are escapes" out '^  .u001b]0;title.u0007.u001b\[2J +ready +1/1'
run status --port "$acting" --json
holds "its JSON can be read" "s['programs'][0]['version'].endswith('1\ufffd')"
run status --port "$other"
[[ $code -eq 1 ]]
report "another program ends it with 1" $?
says "it says that this is another program" err "expected a Troupe program's metrics"
run status --port "$mute"
says "it does not wait for ever" err 'timed? ?out|timeout'
run status --port "$(free_port)"
[[ $code -eq 1 ]]
report "nobody there ends it with 1" $?
says "it says that nobody listens" err 'refused'
run status "localhost:$port" "localhost:$other"
[[ $code -eq 1 ]]
report "one of two that does not answer ends it with 1" $?
says "and the other is shown" out '^  environments +ready'
run status localhost:70000
[[ $code -eq 2 ]]
report "a wrong address ends it with 2" $?

{ kill -KILL "${children[@]}" && wait; } 2>/dev/null
finish
