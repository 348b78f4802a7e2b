# What the scripts of this folder begin with: `source common.sh BUILD_DIR`. They run in a folder of
# their own, keep what a command printed in the files out and err and its exit code in $code, and end
# with finish.
troupe=$(realpath "$1")/deploy/troupe/troupe
sources=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
python=/usr/bin/python3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
passed=0
failed=0
code=

report() {  # report WHAT STATUS
  if [[ $2 -eq 0 ]]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $1"
    echo "  exit code ${code:-not kept}"
    sed 's/^/  stdout: /' out 2>/dev/null | tail -5 || true
    sed 's/^/  stderr: /' err 2>/dev/null | tail -5 || true
  fi
}

# run ARGUMENT...: the command, for at most two minutes
run() {
  timeout 120 "$troupe" "$@" >out 2>err
  code=$?
}

# await_end PID: of a child, which has a minute to end; its exit code
await_end() {
  timeout 60 tail -s 0.1 --pid="$1" -f /dev/null || kill -KILL "$1"
  wait "$1"
}

# holds WHAT EXPRESSION: a Python expression about `s`, the JSON object in out's last line
holds() {
  tail -1 out | "$python" -c "import json, sys; s = json.load(sys.stdin); sys.exit(0 if ($2) else 1)"
  report "$1" $?
}

# refuses WHAT EXIT_CODE TEXT ARGUMENT...: the command ends with that code, stderr holds TEXT, and no file or
# directory was made
refuses() {
  local what=$1 expected=$2 text=$3 before
  shift 3
  : >out 2>err
  before=$(find .)
  run "$@"
  [[ $code -eq $expected && $(find .) == "$before" ]] && grep -qF -- "$text" err
  report "$what" $?
}

# columns_are_explained DIRECTORY: docs/metrics.md has every column of the progress.csv of that run
columns_are_explained() {
  "$python" - "$sources/docs/metrics.md" "$1/progress.csv" <<'PYTHON'
import csv, sys
metrics, progress = (open(path) for path in sys.argv[1:])
text, names = metrics.read(), next(csv.reader(progress))
unexplained = [name for name in names if f"`{name}`" not in text]
assert names and not unexplained, unexplained
PYTHON
  report "docs/metrics.md has every column of $1/progress.csv" $?
}

# await URL PATTERN: until the page holds the pattern, for at most 60 s
await() {
  "$python" - "$1" "$2" <<'PYTHON'
import re, sys, time, urllib.request
url, pattern = sys.argv[1:]
deadline = time.monotonic() + 60
while time.monotonic() < deadline:
    try:
        with urllib.request.urlopen(url, timeout=5) as page:
            if re.search(pattern, page.read().decode(), re.MULTILINE):
                sys.exit(0)
    except OSError:
        pass
    time.sleep(0.05)
sys.exit(1)
PYTHON
}

# await_that COMMAND...: until it succeeds, for at most 60 s
await_that() {
  local i
  for ((i = 0; i < 600; i++)); do
    "$@" && return 0
    sleep 0.1
  done
  return 1
}

# await_line FILE PATTERN: for at most 60 s
await_line() { await_that grep -q "$2" "$1"; }

free_port() {
  "$python" -c '
import socket
with socket.create_server(("127.0.0.1", 0)) as s: print(s.getsockname()[1])'
}

finish() {
  echo "$passed passed, $failed failed"
  [[ $failed -eq 0 ]]
}
