#!/usr/bin/env bash
# The troupe command as a user meets it: cli_test.sh BUILD_DIR
set -uo pipefail
docs=$(realpath "$(dirname "$0")/../../docs")
source "$(dirname "$0")/common.sh" "$1"

# refuses WHAT EXIT_CODE TEXT ARGUMENT...: stderr holds TEXT, and no run directory was made
refuses() {
  local what=$1 expected=$2 text=$3
  shift 3
  rm -rf runs
  run "$@"
  [[ $code -eq $expected ]] && grep -qF -- "$text" err && [[ ! -e runs ]]
  report "$what" $?
}

short=(evaluation.final_episodes=5 evaluation.episodes=2 evaluation.every_steps=2048)

# ---- bad input

refuses "an unknown environment is told the known ones and the nearest" 2 \
  'unknown environment "CartPol-v1"; did you mean "CartPole-v1"? known: "' \
  train --env CartPol-v1
refuses "an unknown version of an environment is told the nearest there is" 2 \
  'unknown environment "CartPole-v2"; did you mean "CartPole-v1"?' train --env CartPole-v2
refuses "an unknown task of a language model is told the known ones" 2 \
  '/task/name: unknown task "sum_digit"; did you mean "sum_digits"? known: "' train --algo grpo --task sum_digit
refuses "a task without an algorithm for it is told which" 2 \
  'ppo learns on an environment (--env), not on a task; for a task of a language model say --algo grpo' \
  train --task sum_digits
refuses "an environment for a language model is told --task, and whose it is" 2 \
  'grpo trains a language model on a task, not on an environment: say --task' \
  train --algo grpo --env CartPole-v1
grep -q -- 'for an environment say --algo ppo, --algo a2c' err
report "and the algorithms of environments" $?
refuses "a language model that is no file and has no such name is refused by it" 2 \
  '"smollm": expected a Hugging Face folder, a GGUF file, or one of' train --algo grpo model.path=smollm
# A place without bubblewrap.
env PATH=/nowhere "$troupe" train --algo grpo --task code model.path=. >out 2>err
[[ $? -eq 2 ]] && grep -qF "/task/name: code runs what the model writes, and this machine can't make a sandbox" err
report "code is not run where it can't be put into a sandbox" $?
grep -q -- '--allow-unsandboxed-code' err
report "and how it is allowed is said" $?
env PATH=/nowhere "$troupe" check-sandbox >out 2>err
[[ $? -eq 1 ]] && grep -q 'bubblewrap  *MISSING.*apt-get install bubblewrap' out
report "what is missing is said" $?
refuses "a configuration can't allow code" 2 'unknown key "allow_unsandboxed_code"' \
  train --algo grpo --task code allow_unsandboxed_code=true
refuses "the letters model can't be asked for code" 2 "/model/path: expected a chat model's folder or GGUF file" \
  train --algo grpo --task code --allow-unsandboxed-code
refuses "samples of a run that has none are refused by their file" 2 \
  'nowhere/samples.jsonl: expected the samples of a language model' samples nowhere
# A container tool that only notes what it is asked.
mkdir -p tools
printf '#!/bin/sh\necho "$@" >pulled\n[ "$2" != broken-env:latest ]\n' >tools/docker
chmod +x tools/docker
PATH=$PWD/tools:$PATH run pull-env echo
[[ $code -eq 0 && $(<pulled) == "pull echo-env:latest" ]] && grep -q 'docker run --rm -p 127.0.0.1:8000:8000 echo-env:latest' out
report "an OpenEnv environment is pulled by its short name, and how it is served is said" $?
PATH=$PWD/tools:$PATH run pull-env games.example/chess:2
[[ $code -eq 0 && $(<pulled) == "pull games.example/chess:2" ]]
report "and an image by its own name" $?
PATH=$PWD/tools:$PATH refuses "an image that can't be pulled is an error" 1 '`docker pull broken-env:latest` ended with exit code 1' \
  pull-env broken
refuses "a container tool that is not there is named" 1 'expected nerdctl on the PATH, got none' pull-env echo --tool nerdctl
refuses "an option is no image" 2 'expected the name of an image, got "-v"' pull-env -- -v
for words in "list" "train --json -n 512 ${short[*]}"; do
  # shellcheck disable=SC2086
  "$troupe" $words >/dev/full 2>err
  [[ $? -eq 1 ]] && grep -q 'expected to write to the standard output, got an error: No space left' err
  report "output of '${words%% *}' that can't be written is an error" $?
done
# A pipe that nobody reads by the time that something is printed.
"$troupe" train -n 512 -v "${short[@]}" --metrics-port 0 2>err | true
[[ ${PIPESTATUS[0]} -eq 0 ]]
report "a run whose output nobody reads ends as it would" $?
"$troupe" train -n 512 --json "${short[@]}" --metrics-port 0 2>err | true
[[ ${PIPESTATUS[0]} -eq 1 ]] && grep -q 'expected to write to the standard output, got an error: Broken pipe' err
report "unless the output was asked for as JSON" $?
refuses "an unknown algorithm is told the known ones and the nearest" 2 \
  'unknown algorithm "poo"; did you mean "ppo"? known: ' train --algo poo
refuses "a wrong value is told path, expectation and value" 2 \
  '/trainer/lr: expected a number > 0, got "fast"' train trainer.lr=fast
refuses "an unknown key is told the nearest" 2 \
  '/trainer/lrr: unknown key "lrr"; did you mean "lr"?' train trainer.lrr=1
refuses "an unknown mode is told the nearest" 2 '/mode: unknown value "asink"; did you mean "async"?' \
  train --mode asink
refuses "an override without = is told the form" 2 'expected an override such as trainer.lr=3e-4' \
  train trainer.lr
for steps in -5 0 1e9x 99999999999999999999 1.5 ""; do
  refuses "-n '$steps' is refused" 2 'total_steps: expected' train -n "$steps"
done
for seed in -1 99999999999999999999999 x; do
  refuses "--seed $seed is refused" 2 '/seed: expected an integer' train --seed "$seed"
done
refuses "an unknown option is told the nearest" 2 'unknown option "--sed"; did you mean --seed?' train --sed 3
refuses "an unknown option with = is told the nearest" 2 'did you mean --env?' train --envs=CartPole-v1
refuses "an option by another library's name is told ours" 2 'unknown option "--total-timesteps"; did you mean --steps?' \
  train --total-timesteps 100
refuses "an option of the algorithm is told how those are given" 2 'given as trainer.lr=3e-4' \
  train --learning-rate 1e-3
refuses "and where they are listed" 2 'see `troupe config ppo`' train --learning-rate 1e-3
refuses "those of the algorithm that was named" 2 'see `troupe config grpo`' \
  train --algo grpo --task sum_digits --learning-rate 1e-3
refuses "an unknown option of eval is told the nearest" 2 'did you mean --episodes?' eval runs --episode 3
refuses "fewer steps than those before the first update are told their number" 2 \
  '/total_steps: expected more than the 100 environment steps before the first update' \
  train --algo dqn -n 100
refuses "a missing configuration file is refused by name" 2 'nowhere.json' train --config nowhere.json

echo '{"trainer": {"lr": 1e-3,}}' >broken.json
refuses "a configuration that is no JSON is refused with its place" 2 'broken.json' \
  train --config broken.json
echo '[1, 2]' >list.json
refuses "a configuration that is no object is refused" 2 'expected an object' train --config list.json
echo '{"trainer": {"lr": 0}}' >zero.json
refuses "a configuration file is checked like an override" 2 '/trainer/lr: expected a number > 0, got 0' \
  train --config zero.json
printf 'trainer:\n  lr: 1e-3\n  lr: 2e-3\n' >twice.yaml
refuses "a YAML file that is none is refused with its line" 2 'twice.yaml:3: expected each key once, got "lr" twice' \
  train --config twice.yaml
printf 'trainer:\n  lr: 0\n' >zero.yaml
refuses "and one that is checked like JSON" 2 '/trainer/lr: expected a number > 0, got 0' train --config zero.yaml

: >file
refuses "a --runs that is a file is named" 2 'cannot create a run directory in file/ppo' \
  train -n 100 --runs file --metrics-port 0
refuses "a run directory that isn't there is named" 2 'expected a run directory, got nowhere' \
  eval nowhere
refuses "no command at all prints the help, which names the commands" 2 'Train an agent'
refuses "a misspelt command is told the nearest" 2 'unknown command "tran"; did you mean "train"?' tran
refuses "what other libraries call an option is told its name here" 2 \
  'unknown key "learning_rate"; did you mean "lr"?' train trainer.learning_rate=1
refuses "an option without its section is told where it is" 2 'did you mean "trainer.lr"?' train lr=1
refuses "an environment without --env is told how" 2 'did you mean --env CartPole-v1?' train CartPole-v1
refuses "layers that are no list are shown one" 2 \
  '/policy/hidden: expected a list of 0 to 8 values, such as [64,64], got 64' train policy.hidden=64
refuses "a list with spaces is told what the shell does with it" 2 'a list has no spaces' \
  train 'policy.hidden=[64,' '64]'
refuses "--faults without --deterministic is refused" 2 '--faults requires --deterministic' \
  train --faults random
refuses "faults in a configuration that is not deterministic are refused" 2 \
  '/faults: expected "" where deterministic is false' train 'faults="random"'
refuses "faults that are none are named" 2 'crash=2' train --deterministic --faults crash=2
refuses "an unknown algorithm has no configuration" 2 'did you mean "ppo"?' config ppoo

# ---- a run, and what it leaves

run train -n 4096 --seed 3 --json --metrics-port 0 trainer.n_epochs=2 "${short[@]}"
report "a short run succeeds" $((code != 0))
grep -q 'a run begins algo=ppo .*directory=runs/ppo/CartPole-v1_1' err
report "stderr says which algorithm runs, and where" $?
[[ $(wc -l <out) -eq 1 ]]
report "with --json stdout has the JSON object alone" $?
grep -q 'the newest weights were evaluated steps=2048 mean=.* episodes=2' err
report "and each evaluation is told while it trains" $?
grep -q 'NOT solved: that takes 475' err
report "what is not solved is said to be" $?
holds "the summary has every key" "all(k in s for k in '''algo env mode seed steps start_s wall_s cpu_s
  steps_per_s eval_mean eval_std eval_episodes solved reward_threshold stopped stop_reason rollouts_failed staleness_mean staleness_max overlap_fraction
  metrics_port resumed_from_step weights_sha256 run_directory'''.split())"
holds "the summary tells of this run" "s['algo'] == 'ppo' and s['env'] == 'CartPole-v1' and
  s['mode'] == 'sync' and s['seed'] == 3 and s['steps'] == 4096 and s['metrics_port'] == 0 and
  s['eval_episodes'] == 5 and len(s['weights_sha256']) == 64 and s['staleness_max'] == 0 and
  s['run_directory'] == 'runs/ppo/CartPole-v1_1' and s['steps_per_s'] > 0 and s['cpu_s'] > 0"
run_dir=runs/ppo/CartPole-v1_1

files_are_there() {
  local name
  for name in config.json progress.csv learning_curve.png summary.json best_model last_model; do
    [[ -s $run_dir/$name ]] || return 1
  done
  compgen -G "$run_dir/events*" >/dev/null
}
files_are_there
report "the run directory holds its files" $?

"$python" - "$run_dir" <<'PYTHON'
import csv, json, struct, sys
run = sys.argv[1]
config = json.load(open(run + "/config.json"))
assert config["total_steps"] == 4096 and config["seed"] == 3, config
assert config["trainer"]["n_epochs"] == 2 and config["trainer"]["lr"] == 3e-4, config
assert json.load(open(run + "/summary.json")) == json.loads(open("out").read().splitlines()[-1])
rows = list(csv.DictReader(open(run + "/progress.csv")))
names = """rollout/ep_rew_mean rollout/ep_len_mean time/fps time/iterations time/time_elapsed time/total_timesteps
  train/approx_kl train/clip_fraction train/clip_range train/entropy_loss train/explained_variance
  train/learning_rate train/loss train/n_updates train/policy_gradient_loss train/value_loss
  eval/mean_reward""".split()
assert all(name in rows[0] for name in names), rows[0].keys()
updates = [row for row in rows if row["train/n_updates"]]
assert [float(row["train/n_updates"]) for row in updates] == [2, 4], updates
assert [float(row["time/total_timesteps"]) for row in updates] == [2048, 4096], updates
picture = open(run + "/learning_curve.png", "rb").read()
assert picture[:8] == b"\x89PNG\r\n\x1a\n" and min(struct.unpack(">2I", picture[16:24])) >= 300
PYTHON
report "config, progress, summary and curve hold what they should" $?

run eval $run_dir --episodes 20 --json
report "eval succeeds" $((code != 0))
holds "eval tells of 20 episodes" "s['eval_episodes'] == 20 and s['env'] == 'CartPole-v1' and
  s['version'] == 2 and 8 < s['eval_mean'] <= 500"
cp out first
run eval $run_dir --episodes 20 --json
cmp -s first out
report "eval gives the same again" $?
run eval $run_dir --episodes 5 --model best_model
report "eval takes the best model" $((code != 0))

echo '{"seed": 3, "total_steps": 1, "trainer": {"n_epochs": 5}}' >file.json
run train --config file.json -n 4096 --json --metrics-port 0 trainer.n_epochs=2 "${short[@]}"
holds "file, options and overrides give the same run in another directory" \
  "s['run_directory'] == 'runs/ppo/CartPole-v1_2' and
   s['weights_sha256'] == json.load(open('$run_dir/summary.json'))['weights_sha256']"

printf 'seed: 3\ntotal_steps: 1\ntrainer: {n_epochs: 5}\n' >file.yaml
run train --config file.yaml -n 4096 --json --metrics-port 0 trainer.n_epochs=2 "${short[@]}"
holds "and so does a file in YAML" \
  "s['weights_sha256'] == json.load(open('$run_dir/summary.json'))['weights_sha256']"
run train --config "$docs/../examples/ppo_cartpole.yaml" --json --metrics-port 0 -n 2048 evaluation.final_episodes=1
holds "the example of a configuration in YAML trains" "s['algo'] == 'ppo' and s['steps'] == 2048"

# ---- damaged runs

damage() {  # damage WHAT TEXT: eval of the damaged copy is refused
  run eval damaged --episodes 5
  [[ $code -eq 2 ]] && grep -qF -- "$2" err
  report "$1" $?
  rm -rf damaged
}
cp -r $run_dir damaged
"$python" - <<'PYTHON'
data = bytearray(open("damaged/last_model", "rb").read())
data[len(data) // 2] ^= 1
open("damaged/last_model", "wb").write(data)
PYTHON
damage "a model file with one bit changed is refused by name" 'damaged/last_model'
cp -r $run_dir damaged
head -c 1000 $run_dir/last_model >damaged/last_model
damage "a model file that is cut short is refused by name" 'damaged/last_model'
cp -r $run_dir damaged
rm damaged/last_model
damage "a missing model file is refused by name, and the other named" \
  'damaged/last_model: expected a model, got no file; there is a best_model: --model best_model'
cp -r $run_dir damaged
echo '{' >damaged/config.json
damage "a damaged config.json is refused by name" 'damaged/config.json'
cp -r $run_dir damaged
sed -i 's/CartPole-v1/Gone-v1/' damaged/config.json
damage "a run on an environment that is not known here is refused" 'unknown environment "Gone-v1"'

# ---- faults, and checkpoints of something else

tiny=(-n 1024 --metrics-port 0 rollout.n_steps=64 env.n_envs=2 rollout.batch=2 policy.hidden=[8]
  trainer.n_epochs=2 evaluation.every_steps=256 evaluation.episodes=2 evaluation.final_episodes=2
  checkpoint.every_updates=2)
for mode in sync async; do
  run train --deterministic --seed 2 --mode $mode --faults crash=0.005,delay=0.01 --json "${tiny[@]}"
  holds "a run with faults ends in $mode mode" "$code == 0 and s['steps'] == 1024"
  grep -q 'a replica crashes.*an injected fault' err
  report "faults happen in $mode mode" $?
done

run train --runs kept --seed 4 "${tiny[@]}"
report "a run with checkpoints succeeds" $((code != 0))
refuses "a run is not resumed to fewer steps than its own" 2 \
  '/total_steps: expected at least the run'"'"'s own 1024, got 512' \
  train --resume kept/ppo/CartPole-v1_1 --steps 512
run train --resume kept/ppo/CartPole-v1_1 --steps 2048 --metrics-port 0 --json
holds "a run that has ended is resumed to a later end" "$code == 0 and s['steps'] == 2048 and s['resumed_from_step'] == 1024"
grep -q '"total_steps": 2048' kept/ppo/CartPole-v1_1/config.json
report "whose configuration knows it" $?
run train --resume kept/ppo/CartPole-v1_1 --metrics-port 0 --json
holds "so that it is not cut short by the next resume" "s['steps'] == 2048 and s['resumed_from_step'] == 2048"
refuses "overrides of a resumed run are named, and the file that has its options" 2 \
  '--resume: expected no overrides, since a resumed run takes its options from kept/ppo/CartPole-v1_1/config.json, got trainer.lr=1 seed=2' \
  train --resume kept/ppo/CartPole-v1_1 trainer.lr=1 seed=2
goal=kept/ppo/CartPole-v1_2
run train --runs kept --seed 4 --json "${tiny[@]}" evaluation.stop_at=1
holds "a run ends at its goal" "$code == 0 and s['stopped'] and s['steps'] == 256"
grep -qF "at its goal, an evaluation of at least 1 (evaluation.stop_at); it goes on past that with: troupe train --resume $goal --steps N, N at least 1024" err
report "and says that, and how it goes on" $?
run train --resume $goal --metrics-port 0 --json
holds "resumed it is still there" "$code == 0 and s['stopped'] and s['steps'] == 256"
run train --continue --runs kept --seed 4 --json "${tiny[@]}" evaluation.stop_at=1
holds "also when started again with the same steps" "$code == 0 and s['stopped'] and s['steps'] == 256"
run train --resume $goal --steps 1024 --metrics-port 0 --json
holds "with --steps it goes on past its goal" "$code == 0 and not s['stopped'] and s['steps'] == 1024 and s['resumed_from_step'] == 256"
grep -q '"stop_at": null' $goal/config.json
report "which is gone from its configuration" $?
cp -r $goal changed
sed -i 's/"stop_at": null/"stop_at": 1000/; s/"total_steps": 1024/"total_steps": 1280/' changed/config.json
run train --resume changed --metrics-port 0 --json
holds "no warning tells of another goal or a later end" "$code == 0 and s['steps'] == 1280"
! grep -q 'the configuration has changed' err
report "as --steps makes them" $?
sed -i 's/"gamma": 0.99/"gamma": 0.9/' changed/config.json
run train --resume changed --metrics-port 0
[[ $code -eq 0 ]] && grep -q 'the configuration has changed since the checkpoint was written' err
report "but one of any other change" $?
rm -rf changed
for what in "begins a run where there is none:0" "goes on with it when started again:1024"; do
  run train --continue --runs again --seed 4 --json "${tiny[@]}"
  holds "--continue ${what%:*}" "$code == 0 and (s['resumed_from_step'] or 0) == ${what#*:} and
    s['run_directory'] == 'again/ppo/CartPole-v1_1'"
done
mismatch() {  # mismatch WHAT FROM TO TEXT: the run is not resumed once FROM in its config.json is TO
  cp -r kept/ppo/CartPole-v1_1 changed
  sed -i "s/$2/$3/" changed/config.json
  run train --resume changed
  [[ $code -eq 2 ]] && grep -qF -- "$4" err
  report "$1" $?
  rm -rf changed
}
of='with a network of obs 4, discrete 2'
mismatch "a checkpoint of another environment is refused with both named" CartPole-v1 CartPole-v0 \
  "expected a checkpoint of ppo on CartPole-v0 $of"
grep -qF "got one of ppo on CartPole-v1 $of" err
report "and the one that it is of" $?
mismatch "a checkpoint of another network is refused with both named" '"activation": "tanh"' \
  '"activation": "relu"' 'relu, got one of'

# ---- the metrics port

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

rm -rf runs
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
run train -n 100 --metrics-port 9463 --metrics-address 203.0.113.7
[[ $code -ne 0 ]] && grep -q '203.0.113.7' err && [[ ! -e runs ]]
report "an address that this machine doesn't have is refused by its text" $?
run_beside 9464 train -n 2048 --json trainer.n_epochs=1 "${short[@]}"
[[ $code -eq 0 ]] && grep -q 'port is busy.*9464' err
report "a busy default port gives way, and stderr says so" $?
grep -q 'metrics are served.*http://localhost:9[0-9]*/' err
report "stderr says where the metrics are" $?
holds "the summary has the port that was used" "s['metrics_port'] > 9464"

# ---- signals

rm -rf runs
"$troupe" train --listen 127.0.0.1:0 'env.placement=node:*' checkpoint.every_updates=2 --metrics-port 0 >out 2>err &
waiting=$!
for _ in $(seq 600); do
  grep -q 'waits for a node' err && break
  sleep 0.1
done
kill -TERM $waiting
timeout 60 tail --pid=$waiting -f /dev/null || kill -KILL $waiting
wait $waiting
report "a run with checkpoints that waits for its nodes ends at SIGTERM" $?
grep -q 'the run is asked to stop; a second signal ends the process ends="after the update under way"' err
report "and says that it was asked to" $?

interrupt() {  # interrupt SIGNAL MODE: twice, as timeout and shells do
  rm -rf runs
  "$python" - "$troupe" "$1" "$2" <<'PYTHON'
import signal, subprocess, sys
troupe, name, mode = sys.argv[1:]
command = [troupe, "train", "-v", "-n", "1000000000", "--mode", mode, "--metrics-port", "0"]
with open("err", "wb") as err:
    training = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=err, text=True)
for line in training.stdout:
    if "approx_kl" in line:  # it trains
        break
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
wait $training
code=$?
[[ $code -eq 130 && $(wc -l <out) -eq 1 ]]
report "with --json a run that is stopped prints one line, and its table on stderr" $?
holds "which is what it came to" "s['algo'] == 'ppo' and s['env'] == 'CartPole-v1' and s['steps'] >= 0 and
  s['interrupted'] and s['saved_steps'] == 0 and s['run_directory'] == 'runs/ppo/CartPole-v1_1'"

# ---- the rest

for algo in a2c reinforce; do
  run train --algo $algo -n 4000 --seed 3 --json --metrics-port 0 "${short[@]}"
  holds "a short run of $algo succeeds" \
    "s['algo'] == '$algo' and s['run_directory'] == 'runs/$algo/CartPole-v1_1' and s['steps'] == 4000"
  run eval runs/$algo/CartPole-v1_1 --episodes 5
  report "eval reads a run of $algo" $((code != 0))
done
run train --env Catch-v0 -n 64 --seed 3 --json --metrics-port 0 rollout.n_steps=64 evaluation.every_steps=0 evaluation.final_episodes=41
cat out err >trained
run eval runs/ppo/Catch-v0_1 --episodes 41 --json
cat out err >>trained
"$python" -c '
import json, re
text = open("trained").read()
exact = [json.loads(line)["eval_mean"] for line in text.splitlines() if line.startswith("{")]
shown = [float(mean) for mean in re.findall(r": (-?[0-9.e-]+) \+/- ", text)]
assert len(exact) == len(shown) == 2 and any(0 < abs(mean) < 1 for mean in exact), text
assert all(abs(a - b) <= 0.005 * abs(a) for a, b in zip(exact, shown)), text'
report "train and eval print small returns with three digits" $?
refuses "a configuration of another algorithm is refused" 2 '/algo: ' train --algo a2c algo=ppo
run list
[[ $code -eq 0 ]] && grep -q '^  ppo ' out && grep -q '^  CartPole-v1 .*Discrete(2)  *475$' out
report "list names algorithms and environments" $?
"$python" -c '
rows = open("out").read().split("environments\n")[1].splitlines()
column = rows[0].index("actions")
rows = [row for row in rows if len(row) > column]  # a long cell goes on in lines of its own
assert len(rows) > 10 and all(row[column - 2:column] == "  " and row[column] != " " for row in rows), rows'
report "in columns" $?
[[ $(wc -L <out) -le 100 ]] && grep -q '^  ConnectFour-v0 .*42 x Discrete(3)' out
report "that fit a terminal, with equal parts of a space counted" $?

# ---- check-env

run check-env CartPole-v1 --steps 200
[[ $code -eq 0 ]] && grep -q '^CartPole-v1: no fault, 1 warning$' out
report "check-env finds no fault in CartPole" $?
run check-env Pendulum-v1 env.rescale_action=true env.frame_stack=2 --steps 100 --json
[[ $code -eq 0 ]]
report "check-env takes options of the environment" $?
holds "and prints its findings as JSON" \
  's["env"] == "Pendulum-v1" and not s["faults"] and s["warnings"][0]["where"] == "observation space"'
export PYTHONPATH=$docs/../tests/actors/python/worlds
run check-env unsound:WrongLevel env.python=/usr/bin/python3 --steps 20 --json
[[ $code -eq 1 ]]
report "check-env of an environment in Python with a fault ends with 1" $?
holds "which names the key, what was expected and what came" \
  '[(f["key"], f["expected"], f["got"]) for f in s["faults"]] == [("level", "an integer from 0 to 3", "4")] * 2'
unset PYTHONPATH
refuses "check-env of an unknown environment is told the nearest" 2 'did you mean "CartPole-v1"?' check-env CartPol-v1
refuses "check-env refuses options of other sections" 2 '/trainer: unknown key "trainer"' \
  check-env CartPole-v1 trainer.lr=1
refuses "check-env refuses a wrapper that does not fit" 2 'expected a Box to rescale actions' \
  check-env CartPole-v1 env.rescale_action=true
refuses "check-env checks one environment" 2 '/env/tasks: expected none' \
  check-env CartPole-v1 'env.tasks=[{"id":"CartPole-v1"}]'

run --version
[[ $code -eq 0 ]] && grep -qx 'troupe [0-9]*\.[0-9]*\.[0-9]*' out
report "--version prints it" $?
run --help
[[ $code -eq 0 ]] && grep -q train out && grep -q eval out && grep -q list out
report "--help names the commands" $?
! ldd "$troupe" | grep -q libtorch
report "the command that prints help loads no libtorch" $?
! ldd "$(dirname "$troupe")/../libexec/troupe/serve-env" "$(dirname "$troupe")/../libexec/troupe/env-host" | grep -q libtorch
report "nor do the programs that serve and host environments" $?
cp "$troupe" alone
code=0
./alone list >out 2>err || code=$?
[[ $code -eq 1 ]] && grep -q 'cannot start .*/libexec/troupe/troupe: No such file' err
report "a command without the program behind it says what is missing" $?
run train --help
[[ $code -eq 0 ]] && grep -q -- --metrics-port out
report "train --help names the options" $?
run config ppo
[[ $code -eq 0 ]] && grep -qE '^  option +default +range +meaning$' out &&
  grep -qE "^  trainer.lr +0.0003 +> 0 +\S" out && grep -qE '^  mode +sync +sync\|async +\S' out &&
  [[ $(wc -l <out) -lt 100 ]]
report "config prints a line for each option" $?
run config ppo --json
[[ $code -eq 0 ]] && "$python" -c '
import json
schema = json.load(open("out"))
assert schema["properties"]["trainer"]["properties"]["lr"]["default"] == 3e-4
assert all("description" in p or "properties" in p for p in schema["properties"].values())'
report "config --json prints a JSON schema" $?

# ---- off-policy algorithms

run train --algo dqn --env CartPole-v1 -n 1200 --runs off --metrics-port 0 --json trainer.lr=2.3e-3 \
  collection.train_freq=16 collection.learning_starts=200 evaluation.final_episodes=5
[[ $code -eq 0 ]]
report "train --algo dqn ends well" $?
holds "its summary is of dqn" "s['algo'] == 'dqn' and s['steps'] >= 1200 and s['eval_episodes'] == 5"
names=$(head -1 off/dqn/CartPole-v1_1/progress.csv)
[[ $names == *rollout/ep_rew_mean* && $names == *rollout/exploration_rate* && $names == *train/loss* ]]
report "progress.csv has Stable-Baselines3's names" $?
run eval off/dqn/CartPole-v1_1 --episodes 3 --json
[[ $code -eq 0 ]]
report "eval takes a run of dqn" $?
holds "and plays its episodes" "s['eval_episodes'] == 3 and s['env'] == 'CartPole-v1'"
run train --algo grpo -n 2 --runs words --metrics-port 0 --json warm_start.batches=20 warm_start.batch_size=16 \
  task.problems.size=1 task.problems.training=4 task.problems.held_out=5 rollout.prompts=2 rollout.group=4 \
  evaluation.every_updates=1 evaluation.problems=2 evaluation.final_problems=3 trainer.clip_low=0.1
report "train --algo grpo ends well" $((code != 0))
grep -q 'info the warm start is over batches=20 loss=' err && grep -q 'info the model was evaluated before the first update right=' err
report "its warm start and its first evaluation are told" $?
grep -q 'warning an option has no effect option=trainer.clip_low value=0.1 why="only term clip' err
report "and so is an option that has no effect with its variant" $?
grep -qE '^sum_digits after 2 updates in .* updates/s\): share right [01]\.[0-9]+ \+/- ' err &&
  grep -qE '^before that: [0-9.]+ s of warm start and first evaluation' err
report "the last lines speak of updates and shares, and of the time before" $?
holds "and so does the summary" "s['start_s'] > 0"
tail -1 out >trained
run eval words/grpo/sum_digits_1 --json
report "eval takes a run of grpo" $((code != 0))
holds "and asks the held-out problems as its end did" "s['eval_mean'] == json.load(open('trained'))['eval_mean'] and
  s['eval_episodes'] == 3 and s['env'] == 'sum_digits'"
run eval words/grpo/sum_digits_1 --model best_model --episodes 2
[[ $code -eq 0 ]] && grep -q '^sum_digits, best_model: .* % right of 2 held-out problems' out
report "and its best model" $?
run eval words/grpo/sum_digits_1 --episodes 4
[[ $code -eq 2 ]] && grep -q 'expected 1 to 3 problems, as many as are held out and not asked during training, got 4' err
report "and refuses more problems than there are" $?
for number in {1..20}; do
  echo "{\"question\": \"$number\", \"completion\": \"$((number + 1))\"}"
done >numbers.jsonl
echo '{"question": "1"}' >wrong.jsonl
refuses "lines that can't be learned from are told with their file and number" 2 \
  'wrong.jsonl:1: completion: expected a text, got none' \
  train --algo sft task.data=wrong.jsonl task.prompt=question task.answer=completion
refuses "a run of sft needs examples" 2 '/task/data: expected a file of examples' train --algo sft
refuses "and no environment" 2 'sft trains a language model on examples (task.data=FILE)' \
  train --algo sft --env CartPole-v1
run train --algo sft --runs words --metrics-port 0 --json task.data=numbers.jsonl task.prompt=question \
  task.answer=completion task.held_out=0.2 trainer.batch_size=8 model.layers=2 model.hidden_size=32
report "train --algo sft ends well" $((code != 0))
grep -qE '^numbers after 6 updates in .* updates/s\): minus loss -[0-9.]+ \+/- [0-9.]+ over 4 held-out examples$' err
report "its last line says what is measured" $?
tail -1 out >trained
run eval words/sft/numbers_1 --json
report "eval takes a run of sft" $((code != 0))
holds "and takes the held-out examples as its end did" "abs(s['eval_mean'] - json.load(open('trained'))['eval_mean']) < 1e-6 and
  s['eval_episodes'] == 4 and s['env'] == 'numbers'"
grep -q '^numbers, last_model: a loss of [0-9.]* (mean cross-entropy in nats) on 4 held-out examples' err
report "with a verdict in words" $?
run chat words/sft/numbers_1/best_model --max-tokens 4 <<<"3"
report "chat reads its model" $((code != 0))
"$python" - "$docs/metrics.md" {kept/ppo,off/dqn,words/grpo,words/sft}/*_1/progress.csv <<'PYTHON'
import csv, sys
metrics, *files = sys.argv[1:]
text = open(metrics).read()
unexplained = {name for file in files for name in next(csv.reader(open(file))) if f"`{name}`" not in text}
assert len(files) == 4 and not unexplained, (files, unexplained)
PYTHON
report "docs/metrics.md has every column of progress.csv" $?
refuses "a configuration of another algorithm is refused" 2 '/algo' \
  train --algo ppo --config off/dqn/CartPole-v1_1/config.json
refuses "an environment without discrete actions is refused" 2 'actions of Discrete' \
  train --algo dqn --env Pendulum-v1
refuses "a replay that would take too much is refused" 2 'max_bytes' \
  train --algo dqn replay.capacity=1000000000
for algo in ppo a2c reinforce dqn sac td3 ddpg grpo; do
  run config "$algo"
  mv out table
  run config "$algo" --json
  mv out schema
  run train --algo "$algo" --runs defaults --metrics-port 0 -n "$([[ $algo == grpo ]] && echo 1 || echo 200)"
  "$python" - "$algo" defaults/"$algo"/*_1/config.json <<'PYTHON'
import json, sys
algo, path = sys.argv[1:]
schema, run, table = json.load(open("schema")), json.load(open(path)), open("table").read()
rows = {line.split()[0]: line.split()[1:] for line in table.splitlines() if line.strip()}
given = {"total_steps"}  # on the command line

def compare(schema, run, section=""):
    assert schema["properties"].keys() == run.keys(), section
    for name, option in schema["properties"].items():
        if "properties" in option:
            compare(option, run[name], section + name + ".")
        elif section + name not in given and not (algo == "grpo" and option["default"] is None):
            assert option["default"] == run[name], (section + name, option["default"], run[name])
            if isinstance(run[name], (bool, list)) and len(json.dumps(run[name])) < 30:
                assert rows[section + name][0] == json.dumps(run[name], separators=(",", ":")), section + name
            elif isinstance(run[name], (int, float)):
                assert float(rows[section + name][0]) == run[name], section + name

compare(schema, run)
PYTHON
  report "config $algo has the defaults of a run" $?
done
for algo in dqn sac td3 ddpg; do
  run config "$algo" --json
  [[ $code -eq 0 ]] && "$python" -c '
import json
schema = json.load(open("out"))
for section in schema["properties"].values():
    for p in section.get("properties", {}).values():
        assert p["description"] and "default" in p, p'
  report "config $algo describes every option" $?
done

finish
