#!/usr/bin/env bash
# What `troupe node` says while it has no controller: node_test.sh BUILD_DIR
set -uo pipefail
source "$(dirname "$0")/common.sh" "$1"

has_said() { [[ $(grep -cE -- "$1" node.log) -ge $2 ]]; }
# says PATTERN TIMES: node.log comes to have that many lines with it, within a minute
says() { await_that has_said "$1" "$2"; }

address=127.0.0.1:$(free_port)
"$troupe" node --join "$address" --name one --metrics-port 0 >node.log 2>&1 &
node=$!
trap 'kill $node; wait $node; rm -rf "$folder"' EXIT
nobody='info no controller takes this node; it asks again until one does address=.* reason="Connection refused"$'
says "$nobody" 1
report "a node without a controller says why, and what it does" $?

run train -n 4096 --listen "$address" --wait-for-nodes 1 --metrics-port 0 trainer.n_epochs=1 \
  evaluation.every_steps=0 evaluation.final_episodes=1
[[ $code -eq 0 ]]
report "it joins one that comes" $?
[[ $(grep -c 'the node has joined' node.log) -eq 1 ]] && grep -q "the node has joined the controller .*address=$address" node.log
report "and says so in one line" $?
[[ $(grep -c 'a node has joined' err) -eq 1 ]] && grep -q 'a node has joined node=one slots=[0-9]' err
report "as does the controller" $?
says 'warning the controller is lost; this node waits for it or its successor reason="the other side closed' 1
report "the end of its controller is one sentence" $?
says "$nobody" 2
report "and then there is none, once more" $?
sleep 2  # it asks again several times, of which it says nothing
[[ $(grep -c 'no controller takes this node' node.log) -eq 2 ]]
report "the same is said once" $?

"$troupe" train -n 4096 --listen "$address" --join-secret other --wait-for-nodes 1 --metrics-port 0 >train.log 2>&1 &
training=$!
says "error this node can't join .*troupe/join.secret; is it another user's controller" 1
report "a controller that does not know the node's secret is refused" $?
kill -KILL $training
wait $training 2>/dev/null
[[ $(stat -c %a other) == 600 ]]
report "a secret is for its owner alone" $?
chmod 640 other
run node --join "$address" --name two --metrics-port 0 --join-secret other
[[ $code -eq 1 ]] && grep -q '^troupe node: other: expected the join secret.*got mode 0640$' err
report "a secret that others can read is refused" $?
run node --join "$address" --name two --certs pki --join-secret other
[[ $code -eq 2 ]] && grep -q excludes err
report "with certificates there is none" $?
finish
