#!/usr/bin/env bash
# A run of `troupe train`, and what it leaves: cli_train_test.sh BUILD_DIR
set -uo pipefail
source "$(dirname "$0")/common.sh" "$1"

short=(evaluation.final_episodes=5 evaluation.episodes=2 evaluation.every_steps=2048)

run train -n 4096 --seed 3 --json -v --metrics-port 0 trainer.n_epochs=2 "${short[@]}"
report "a short run succeeds" $((code != 0))
grep -q 'a run begins algo=ppo .*directory=runs/ppo/CartPole-v1_1' err
report "stderr says which algorithm runs, and where" $?
[[ $(wc -l <out) -eq 1 ]]
report "with --json stdout has the JSON object alone" $?
grep -q 'the newest weights were evaluated steps=2048 mean=.* episodes=2' err
report "and each evaluation is told while it trains" $?
grep -q 'NOT solved: that takes 475' err
report "what is not solved is said to be" $?
cp out verbose_out
run train -n 2048 --seed 3 --json --metrics-port 0 --runs quiet trainer.n_epochs=2 "${short[@]}"
[[ $code -eq 0 && $(wc -l <out) -eq 1 && ! -s err ]]
report "without -v, --json leaves stderr to warnings and errors" $?
run train -n 100 --json --metrics-port 0 --runs quiet rollout.n_steps=64 env.n_envs=8 evaluation.final_episodes=1
[[ $code -eq 0 ]] && grep -q 'the run takes more steps than total_steps' err && [[ $(wc -l <err) -eq 1 ]]
report "of which each is there" $?
run eval quiet/ppo/CartPole-v1_1 --episodes 2 --json
[[ $code -eq 0 && $(wc -l <out) -eq 1 && ! -s err ]]
report "and so does eval" $?
cp verbose_out out
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

# ---- where the configuration comes from

echo '{"seed": 3, "total_steps": 1, "trainer": {"n_epochs": 5}}' >file.json
run train --config file.json -n 4096 --json --metrics-port 0 trainer.n_epochs=2 "${short[@]}"
holds "file, options and overrides give the same run in another directory" \
  "s['run_directory'] == 'runs/ppo/CartPole-v1_2' and
   s['weights_sha256'] == json.load(open('$run_dir/summary.json'))['weights_sha256']"

printf 'seed: 3\ntotal_steps: 1\ntrainer: {n_epochs: 5}\n' >file.yaml
run train --config file.yaml -n 4096 --json --metrics-port 0 trainer.n_epochs=2 "${short[@]}"
holds "and so does a file in YAML" \
  "s['weights_sha256'] == json.load(open('$run_dir/summary.json'))['weights_sha256']"
run train --config "$sources/examples/ppo_cartpole.yaml" --json --metrics-port 0 -n 2048 evaluation.final_episodes=1
holds "the example of a configuration in YAML trains" "s['algo'] == 'ppo' and s['steps'] == 2048"

# ---- faults

tiny=(-n 1024 --metrics-port 0 rollout.n_steps=64 env.n_envs=2 rollout.batch=2 policy.hidden=[8]
  trainer.n_epochs=2 evaluation.every_steps=256 evaluation.episodes=2 evaluation.final_episodes=2
  checkpoint.every_updates=2)
for mode in sync async; do
  run train --deterministic --seed 2 --mode $mode --faults crash=0.005,delay=0.01 --json "${tiny[@]}"
  holds "a run with faults ends in $mode mode" "$code == 0 and s['steps'] == 1024"
  grep -q 'a replica crashes.*an injected fault' err
  report "faults happen in $mode mode" $?
done

# ---- other algorithms

for algo in a2c reinforce; do
  run train --algo $algo -n 4000 --seed 3 --json --metrics-port 0 "${short[@]}"
  holds "a short run of $algo succeeds" \
    "s['algo'] == '$algo' and s['run_directory'] == 'runs/$algo/CartPole-v1_1' and s['steps'] == 4000"
  run eval runs/$algo/CartPole-v1_1 --episodes 5
  report "eval reads a run of $algo" $((code != 0))
done

finish
