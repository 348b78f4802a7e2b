#!/usr/bin/env bash
# A real Prometheus scrapes a running training job: prometheus_test.sh BUILD_DIR
set -euo pipefail
troupe=$(realpath "$1")/deploy/troupe/troupe
python=/usr/bin/python3
folder=$(mktemp -d)
cd "$folder"
passed=0
failed=0
children=()

clean_up() {
  [[ ${#children[@]} -eq 0 ]] || kill -KILL "${children[@]}" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$folder"
}
trap clean_up EXIT

# record WHAT LOG COMMAND...: counts the command as passed or failed; LOG is shown if it failed.
record() {
  local what=$1 log=$2
  shift 2
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $what"
    tail -n 30 "$log"
  fi
}

find_free_ports() {
  "$python" -c '
import socket
sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*(s.getsockname()[1] for s in sockets))'
}

# await URL PATTERN: writes the first answer that holds the pattern to answer.txt, within 60 s.
await() {
  "$python" - "$1" "$2" <<'PYTHON'
import re, sys, time, urllib.request
url, pattern = sys.argv[1:]
deadline, answer = time.monotonic() + 60, "no answer"
while time.monotonic() < deadline:
    try:
        with urllib.request.urlopen(url, timeout=5) as response:
            answer = response.read().decode()
        if re.search(pattern, answer, re.MULTILINE):
            open("answer.txt", "w").write(answer)
            sys.exit(0)
    except OSError as error:
        answer = str(error)
    time.sleep(0.2)
print(f"{url} did not hold {pattern} within 60 s, but:\n{answer}")
sys.exit(1)
PYTHON
}

read -r job_port prometheus_port <<<"$(find_free_ports)"

# More steps than it will get to: it is killed when Prometheus has seen it.
"$troupe" train --algo ppo --env CartPole-v1 -n 1000000000 --metrics-port "$job_port" \
  >job.log 2>&1 &
children+=($!)

cat >prometheus.yml <<YAML
global:
  scrape_interval: 1s
scrape_configs:
  - job_name: troupe
    static_configs:
      - targets: ["localhost:$job_port"]
YAML
prometheus --config.file=prometheus.yml --storage.tsdb.path=data \
  --web.listen-address="127.0.0.1:$prometheus_port" >prometheus.log 2>&1 &
children+=($!)

job=http://127.0.0.1:$job_port
api=http://127.0.0.1:$prometheus_port/api/v1
counts='^troupe_env_steps_total(\{[^}]*\})? [1-9]'
record "the job counts its steps" job.log await "$job/metrics" "$counts"
if [[ $failed -gt 0 ]]; then
  echo "$passed passed, $failed failed"
  exit 1
fi
record "promtool accepts the job's metrics" answer.txt \
  bash -c 'promtool check metrics <answer.txt'
record "the job is live" job.log await "$job/livez" '^ok'
record "the job is ready" job.log await "$job/readyz" '^ok'
record "Prometheus has the job as a target that is up" prometheus.log \
  await "$api/query?query=up" '"value":\[[0-9.]+,"1"\]'
record "a PromQL query finds steps" prometheus.log \
  await "$api/query?query=sum(troupe_env_steps_total)" '"value":\[[0-9.]+,"[1-9]'
record "a PromQL query finds a rate of steps" prometheus.log \
  await "$api/query?query=sum(rate(troupe_env_steps_total%5B30s%5D))" '"value":\[[0-9.]+,"[1-9]'
record "a PromQL query finds routed calls" prometheus.log \
  await "$api/query?query=sum(troupe_requests_total%7Boutcome=%22ok%22%7D)" '"value":\[[0-9.]+,"[1-9]'

echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
