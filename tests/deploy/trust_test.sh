#!/usr/bin/env bash
# Code that a run of others names is loaded with --trust alone, and damaged weights are refused: trust_test.sh BUILD_DIR
set -uo pipefail
build=$(realpath "$1")
source "$(dirname "$0")/common.sh" "$1"
cp "$build/docs/code/lamps.so" .
small=(-n 256 --metrics-port 0 rollout.n_steps=64 policy.hidden=[8] trainer.batch_size=32
  evaluation.every_steps=0 evaluation.final_episodes=1 checkpoint.every_updates=1)

asks_for_trust() {  # asks_for_trust WHAT RUN PLACE: eval and --resume of the run are refused without --trust alone
  refuses "$1: eval asks for --trust and names the place" 2 "config.json: $3: " eval "$2" --episodes 1
  refuses "$1: so does --resume" 2 'it lies in the folder of the run; expected --trust' \
    train --resume "$2" --steps 512 --metrics-port 0
  run eval "$2" --episodes 1 --trust --json
  holds "$1: with --trust eval plays it" "$code == 0 and s['eval_episodes'] == 1"
  run train --resume "$2" --steps 512 --trust --metrics-port 0 --json
  holds "$1: and --resume trains on" "$code == 0 and s['steps'] == 512 and s['resumed_from_step'] == 256"
}

# ---- a plug-in in the folder of the run

run train --env ./lamps.so --runs plugged "${small[@]}"
report "a run on a plug-in succeeds" $code
plugged=plugged/ppo/lamps.so_1
run eval $plugged --episodes 1
report "which eval loads from where it was" $code
mv lamps.so $plugged
ln -s $plugged/lamps.so lamps.so  # the same name, but the code is the run's now
asks_for_trust "a plug-in of the run" $plugged /env/id

# ---- a module in Python in the folder of the run

modules=$sources/tests/actors/python/worlds
export PYTHONPATH=$modules
run train --env good:Counter --runs scripted env.python=/usr/bin/python3 "${small[@]}"
report "a run on an environment in Python succeeds" $code
scripted=scripted/ppo/good-Counter_1
run eval $scripted --episodes 1
report "which eval imports from where it was" $code
cp "$modules"/*.py $scripted
export PYTHONPATH=$folder/$scripted
asks_for_trust "a module of the run" $scripted /env/id
(cd $scripted && env -u PYTHONPATH "$troupe" eval . --episodes 1) >out 2>err
[[ $? -eq 2 ]] && grep -q -- 'expected --trust' err
report "also where it is found in the working directory" $?
unset PYTHONPATH

# ---- a reward in Python in the folder of the run

cat >my_rewards.py <<'PYTHON'
def score(completions, answer, **columns):
    return [float(c == a) for c, a in zip(completions, answer)]
PYTHON
run train --algo grpo -n 1 --runs words --metrics-port 0 reward=python:my_rewards:score warm_start.batches=5 \
  warm_start.batch_size=8 rollout.prompts=2 rollout.group=4 rollout.rounds=1 trainer.variant=grpo evaluation.every_updates=0 \
  evaluation.final_problems=2 python.interpreter=/usr/bin/python3
words=words/grpo/sum_digits_1
report "a run with a reward in Python succeeds" $code
mv my_rewards.py $words
export PYTHONPATH=$folder/$words
refuses "a reward of the run: eval asks for --trust" 2 'expected --trust' eval $words --episodes 1
run eval $words --episodes 1 --trust
report "and judges by it with --trust" $code
unset PYTHONPATH

# ---- damaged weights end with 2

refused() {  # refused WHAT TEXT ARGUMENT...: exit code 2, and stderr has one line with TEXT
  local what=$1 text=$2
  shift 2
  run "$@"
  [[ $code -eq 2 && $(grep -c . err) -eq 1 ]] && grep -qF -- "$text" err
  report "$what" $?
}
model=$scripted/last_model
cp $model whole
head -c 500 whole >$model
refused "a cut model of a policy: --init refuses it" "$model: damaged" train --init $model --env CartPole-v1 "${small[@]}"
"$python" - whole $model <<'PYTHON'
# The first numbers become NaN, and the digest is that of the changed file.
import hashlib, sys, zipfile
data = bytearray(open(sys.argv[1], "rb").read())[:-71]
with zipfile.ZipFile(sys.argv[1]) as archive:
    record = next(i for i in archive.infolist() if i.filename.endswith("/data/0"))
begin = record.header_offset + 30
begin += int.from_bytes(data[begin - 4:begin - 2], "little") + int.from_bytes(data[begin - 2:begin], "little")
data[begin:begin + 4] = b"\x00\x00\xc0\x7f"
open(sys.argv[2], "wb").write(data + b"sha256:" + hashlib.sha256(data).hexdigest().encode())
PYTHON
export PYTHONPATH=$modules
refused "a weight that is NaN: eval names its tensor" \
  "$model: actor.0.weight: expected finite numbers, got nan at index 0" eval $scripted --episodes 1
refused "and so does --init" 'actor.0.weight: expected finite numbers' \
  train --init $model --env good:Counter env.python=/usr/bin/python3 "${small[@]}"
unset PYTHONPATH
export PYTHONPATH=$folder/$words

weights=$words/last_model/model.safetensors
cp $weights whole
damaged() {  # damaged WHAT TEXT: eval, chat and training refuse the language model
  refused "$1: eval refuses it" "$2" eval $words --episodes 1 --trust
  refused "$1: chat refuses it" "$2" chat $words/last_model
  refused "$1: training refuses it" "$2" train --algo grpo -n 1 model.path=$words/last_model --metrics-port 0
}
head -c 1000 whole >$weights
damaged "cut weights of a language model" "$weights: "
"$python" - whole $weights <<'PYTHON'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[-4:] = b"\x00\x00\xc0\x7f"
open(sys.argv[2], "wb").write(data)
PYTHON
damaged "weights of a language model that are NaN" "expected finite numbers, got NaN at element"
mkfifo pipe
rm $weights
ln -s "$folder/pipe" $weights
damaged "a pipe in place of the weights" "$weights: "

finish
