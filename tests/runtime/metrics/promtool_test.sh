#!/usr/bin/env bash
# Prometheus's own checker reads a scrape: promtool_test.sh BUILD_DIR
set -euo pipefail
sample=$1/tests/runtime/metrics/metrics_sample
passed=0
failed=0

expect() {
  local what=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $what"
  fi
}

accepts() { promtool check metrics <<<"$1"; }
refuses() { ! accepts "$1" 2>/dev/null; }
holds() { grep -q "$2" <<<"$1"; }

text=$("$sample")
expect "the scrape passes promtool check metrics" accepts "$text"
expect "the scrape holds the odd label" holds "$text" '^troupe_episodes_total{env="quote\\" slash'
expect "promtool notices what the registry keeps out" refuses \
  "$text"$'\ntroupe_train_loss{kind="\xff"} 1'

echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
