#!/usr/bin/env bash
# Trains CartPole-v1 on three simulated machines, which are network namespaces: two_nodes.sh BUILD_DIR [TRAIN_OPTION...]
#
#   network namespace  address                 processes
#   its own            10.77.1.1, 10.77.2.1    the controller: policy, trainer, replay; `troupe status`
#   one                10.77.1.2               a node with two replicas of the environments, a process each
#   two                10.77.2.2               the same
#
# The processes authenticate each other by certificates of an authority that this script makes. All processes,
# interfaces and certificates are in namespaces of this script, and the kernel removes them when it ends. Only the run
# directory stays, in runs/. The exit code is 77 if this machine allows no such namespaces.
set -euo pipefail

say() { printf '\n== %s\n' "$*"; }

fail() {
  echo "two_nodes: $*" >&2
  exit 1
}

# ---- outside: namespaces to work in

enter() {
  local flags=(--net --mount --pid --fork --kill-child)
  command -v ip >/dev/null || fail "expected the command ip: apt-get install iproute2"
  [[ -x $build/deploy/troupe/troupe ]] || fail "expected a build's directory, got $build"
  [[ $EUID -eq 0 ]] || flags+=(--user --map-root-user)
  if ! unshare "${flags[@]}" true; then
    echo "two_nodes: this machine allows no network namespaces to $(id -un): expected root with CAP_SYS_ADMIN, or user" \
      "namespaces (sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces)" >&2
    exit 77
  fi
  TWO_NODES_INSIDE=1 exec unshare "${flags[@]}" "$0" "$build" "$@"
}

# ---- inside: process 1, whose end ends all other processes

in_machine() { nsenter --net="/run/netns/$1" "${@:2}"; }

add_machine() {  # add_machine NAME NUMBER
  ip netns add "$1"
  ip link add "to-$1" type veth peer name eth0 netns "$1"
  ip address add "10.77.$2.1/24" dev "to-$1"
  ip link set "to-$1" up
  in_machine "$1" ip address add "10.77.$2.2/24" dev eth0
  in_machine "$1" ip link set eth0 up
  in_machine "$1" ip link set lo up
}

start_node() {  # start_node NAME NUMBER
  in_machine "$1" "$troupe" node --join "10.77.$2.1:7700" --name "$1" --certs "pki/$1" --isolate --slots 2 \
    --metrics-port 0 >"$1.log" 2>&1 &
}

# Prints `troupe status` once four processes work for the run. Fails after a minute.
show_status() {
  local text until=$((SECONDS + 60))
  while ((SECONDS < until)); do
    kill -0 "$training" 2>/dev/null || return 1
    text=$("$troupe" status 2>/dev/null) || true
    if [[ $(grep -cE '^  (one|two) +environments-[0-3] +1 +[1-9]' <<<"$text") -eq 4 ]]; then
      say "troupe status"
      echo "$text"
      return 0
    fi
    sleep 0.1
  done
  return 1
}

work() {
  local runs=$PWD/runs
  mount -t tmpfs tmpfs /run  # where ip keeps the names of namespaces
  cd /run
  ip link set lo up
  add_machine one 1
  add_machine two 2

  say "certificates"
  "$troupe" certs init pki >/dev/null
  "$troupe" certs add pki --name controller --role controller --host 10.77.1.1 --host 10.77.2.1 >/dev/null
  "$troupe" certs add pki --name one >/dev/null
  "$troupe" certs add pki --name two >/dev/null
  "$troupe" certs show pki

  start_node one 1
  start_node two 2
  "$troupe" train --listen 0.0.0.0:7700 --certs pki/controller --wait-for-nodes 2 'env.placement=node:*' \
    rollout.groups=4 env.n_envs=8 rollout.n_steps=256 -n 100000 --seed 1 --runs "$runs" "$@" >train.out 2>train.log &
  training=$!
  if ! show_status; then
    tail -n 20 train.log one.log two.log >&2
    fail "the nodes' processes did not work within a minute, or the run ended before"
  fi
  wait "$training" || { tail -n 20 train.log >&2 && fail "training failed"; }
  say "troupe train"
  cat train.out
}

[[ $# -gt 0 ]] || fail "expected the directory of a build"
build=$(realpath "$1")
shift
troupe=$build/deploy/troupe/troupe
if [[ -z ${TWO_NODES_INSIDE:-} ]]; then enter "$@"; else work "$@"; fi
