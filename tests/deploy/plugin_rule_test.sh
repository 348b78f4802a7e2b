#!/usr/bin/env bash
# An update rule in a plug-in, as who uses the command meets it: plugin_rule_test.sh BUILD_DIR
set -uo pipefail
build=$(realpath "$1")
source "$(dirname "$0")/common.sh" "$1"
cp "$build/examples/awr.so" .
plugins=$build/tests/algorithms/plugins
few=(evaluation.every_steps=0 evaluation.final_episodes=2 --metrics-port 0)
short=(-n 1024 rollout.n_steps=256 trainer.n_epochs=2 'policy.hidden=[16]' --json "${few[@]}")

weights() { tail -1 out | "$python" -c 'import json, sys; print(json.load(sys.stdin)["weights_sha256"])'; }

# goes_on_exactly WHAT RUN: the run, whose summary is in out, goes on from its last checkpoint but one to the same weights
goes_on_exactly() {
  local expected newest
  expected=$(weights)
  newest=$(compgen -G "$2/checkpoints/*" | sort -V | tail -1)
  rm -rf "${newest:?}" "$2/summary.json"
  run train --resume "$2" --json --metrics-port 0
  holds "$1: it is resumed" "$code == 0 and s['resumed_from_step'] == 768"
  [[ -n $expected && $(weights) == "$expected" ]]
  report "$1: to the same weights" $?
}

# ---- what --algo NAME does

run config ./awr.so
[[ $code -eq 0 ]] && grep -q '^ *rule.beta' out && grep -q 'The temperature of the weights' out
report "config lists the options of the rule" $?
run train --algo ./awr.so -n 20480 --runs learned --json trainer.lr=1e-3 "${few[@]}"
holds "a rule learns" "s['algo'] == './awr.so' and s['env'] == 'CartPole-v1' and s['eval_mean'] > 80"

run=kept/awr.so-awr/CartPole-v1_1
for backend in fused libtorch; do
  rm -rf kept
  run train --algo ./awr.so:awr --env CartPole-v1 --runs kept --deterministic policy.backend=$backend \
    checkpoint.every_updates=1 rule.beta=0.5 "${short[@]}"
  holds "a rule trains on $backend" "s['algo'] == './awr.so:awr' and s['steps'] == 1024"
  goes_on_exactly "a rule on $backend" $run
  run train --algo ./awr.so --runs async --mode async policy.backend=$backend "${short[@]}"
  holds "a rule trains in async mode on $backend" "s['mode'] == 'async' and s['rollouts_failed'] == 0"
done
"$python" -c "
import json
config = json.load(open('$run/config.json'))
assert config['algo'] == './awr.so:awr' and config['rule'] == {'beta': 0.5, 'weight_max': 20.0}, config['rule']"
report "config.json has the plug-in's name and all options of the rule" $?
run eval $run --episodes 2 --json
holds "eval plays its model" "s['algo'] == './awr.so:awr' and s['eval_episodes'] == 2"
run train --algo ./awr.so --init $run/last_model --runs begun "${short[@]}"
report "a run begins with its model" $code
run train --algo ppo --init $run/last_model --runs begun "${short[@]}"
report "and so does one of ppo, which loads no code for it" $code
run train --algo ./awr.so:awr --runs kept --continue policy.backend=libtorch rule.beta=0.5 checkpoint.every_updates=1 \
  deterministic=true -n 1280 "${short[@]:2}"
holds "--continue goes on with the newest run" "$code == 0 and s['resumed_from_step'] == 1024 and s['steps'] == 1280"

run train --algo ./awr.so --runs here "${short[@]}"
here=$(weights)
run train --algo ./awr.so --runs placed placement.trainer=process "${short[@]}"
holds "a learner in a process learns the same" "s['rollouts_failed'] == 0 and s['weights_sha256'] == '$here'"
address=127.0.0.1:$(free_port)
"$troupe" node --join "$address" --name one --metrics-port 0 >node.log 2>&1 &
node=$!
run train --algo ./awr.so --runs placed --listen "$address" --wait-for-nodes 1 'placement.trainer=node:*' "${short[@]}"
holds "and so does one on a node" "s['rollouts_failed'] == 0 and s['weights_sha256'] == '$here'"
kill $node
wait $node 2>/dev/null
if ! grep -q '^GLOO_INCLUDE_DIR:PATH=.*-NOTFOUND$' "$build/CMakeCache.txt"; then
  run train --algo ./awr.so --runs ranks trainer.replicas=2 env.n_envs=2 "${short[@]}"
  holds "it trains with two ranks" "s['steps'] == 1024 and s['rollouts_failed'] == 0"
fi
run check-rule --algo ./awr.so 'policy.hidden=[16]'
[[ $code -eq 0 ]] && grep -q '^policy.backend=fused' out && grep -q '^policy.backend=libtorch' out &&
  ! grep -q 'wrong$\|missing$\|rough$' out
report "check-rule finds its gradient right" $?

# ---- a rule with a state

cp "$plugins/rules.so" .
state=state/rules.so-scaled/CartPole-v1_1
run train --algo ./rules.so:scaled --runs state --deterministic checkpoint.every_updates=1 "${short[@]}"
report "a rule with a state trains" $code
goes_on_exactly "a rule with a state" $state
cp "$plugins/other_state.so" new.so
mv new.so rules.so  # the path has another file
run train --resume $state --steps 2048 --metrics-port 0
[[ $code -eq 1 ]] &&
  grep -q 'rule.size: expected 2 numbers, got 1; the state is that of another rule than ./rules.so:scaled$' err
report "a checkpoint of a state with other numbers is refused, by the name of the plug-in" $?
refuses "ranks, which would have other states" 2 '/trainer/replicas: expected 1 with ./rules.so:scaled' \
  train --algo ./rules.so:scaled trainer.replicas=2 env.n_envs=2 "${short[@]}"

# ---- a target for TD3

td3=(-n 300 --env Pendulum-v1 collection.learning_starts=100 'policy.hidden=[16]' --json "${few[@]}")
cp "$plugins/rules.so" targets.so
run train --algo ./targets.so:mixed --runs target --mode async "${td3[@]}"
holds "a target trains in async mode" "s['mode'] == 'async' and s['steps'] >= 300"
run train --algo ./targets.so:seen --runs target --deterministic checkpoint.every_updates=100 "${td3[@]}"
expected=$(weights)
target=target/targets.so-seen/Pendulum-v1_1
newest=$(compgen -G "$target/checkpoints/*" | sort -V | tail -1)
rm -rf "${newest:?}" $target/summary.json
run train --resume $target --json --metrics-port 0
[[ $code -eq 0 && -n $expected && $(weights) == "$expected" ]]
report "a target with a state is resumed to the same weights" $?
run check-rule --algo ./targets.so:mixed --env Pendulum-v1 'policy.hidden=[16]'
[[ $code -eq 0 ]] && ! grep -q 'wrong$\|missing$\|rough$' out
report "check-rule finds the gradients with a target right" $?
run eval $target --episodes 1 --json
holds "eval plays its model" "s['algo'] == './targets.so:seen'"

# ---- what is refused

refused() {  # refused WHAT TEXT NAME: train, config and check-rule refuse an algorithm of that name
  refuses "$1: train" 2 "$2" train --algo "$3" -n 256 --metrics-port 0
  refuses "$1: config" 2 "$2" config "$3"
  refuses "$1: check-rule" 2 "$2" check-rule --algo "$3"
}
yes 'no shared object' | head -20 >text.so
refused "a file that isn't there" './nowhere.so: expected the path of a plug-in: No such file' ./nowhere.so:awr
refused "a file that is no shared object" './text.so: expected a plug-in that troupe_add_plugin has built' ./text.so
refused "an algorithm that isn't in the plug-in" 'expected an algorithm of ./awr.so, which has awr, got awl' ./awr.so:awl
refused "a plug-in of environments" 'expected a plug-in with algorithms, got none' "$build/docs/code/lamps.so"
refused "a plug-in of another build" 'got one built with 0.0.9-0123456789abcdef; build it again' \
  "$build/tests/actors/worlds/plugins/old.so:awr"
refuses "an option that the rule doesn't have" 2 '/rule/betta: unknown key "betta"; did you mean "beta"?' \
  train --algo ./awr.so rule.betta=1
refuses "a value out of range" 2 '/rule/beta: expected a number > 0, got 0' train --algo ./awr.so rule.beta=0

# ---- the plug-in of a run

mv awr.so $run
refuses "a run whose plug-in is missing: eval" 2 "$run/config.json: /algo: ./awr.so: expected the path of a plug-in" \
  eval $run
refuses "a run whose plug-in is missing: --resume" 2 "$run/config.json: /algo: ./awr.so: expected the path of a plug-in" \
  train --resume $run --metrics-port 0
ln -s $run/awr.so awr.so  # the same name, but the code is the run's now
refuses "a plug-in of the run: eval asks for --trust" 2 "$run/config.json: /algo: " eval $run
refuses "a plug-in of the run: --resume asks for --trust" 2 'it lies in the folder of the run; expected --trust' \
  train --resume $run --metrics-port 0
run eval $run --episodes 2 --trust --json
holds "with --trust eval plays it" "$code == 0 and s['eval_episodes'] == 2"
finish
