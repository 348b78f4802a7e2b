"""PPO on environments in Python: guests.py BUILD_DIR [--seeds N] [--json]

  doorkey   MiniGrid-DoorKey-5x5-v0 with FlatObsWrapper, 100,000 steps, RL Zoo's settings: the median over the seeds of
            the mean return of 100 episodes must be at least 0.95 (RL Zoo: 0.964)
  two_keys  a dictionary with an image and a vector, 40,000 steps: the median must be at least 7.5 of 8, and with either
            key alone at most 3, where chance is 2
  cartpole  Gymnasium's CartPole-v1, 60,000 steps: the mean over the seeds must be within 10 % of the built-in one's

The seeds are 1 .. N (5). Where gymnasium and minigrid can't be installed it says so and ends with 0.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
VENV = ROOT / "tests/actors/worlds/gymnasium_venv.py"
DOORKEY = ["env.wrappers=[minigrid.wrappers.FlatObsWrapper]", "env.n_envs=8", "rollout.n_steps=128",
           "trainer.batch_size=64", "trainer.lr=2.5e-4", "env.normalize_obs=true", "env.normalize_reward=true"]
TWO_KEYS = ["env.n_envs=8", "rollout.n_steps=128", "trainer.batch_size=128", "trainer.lr=1e-3", "policy.cnn.features=64",
            "policy.cnn.channels=[16,32]", "policy.cnn.kernels=[3,3]", "policy.cnn.strides=[2,2]"]
CARTPOLE = ["env.n_envs=8", "rollout.n_steps=128"]
KEYS = 'env.options={"keys": %s}'
# The name, the environment, the steps and the options of each kind of run.
RUNS = (("doorkey", "gymnasium:MiniGrid-DoorKey-5x5-v0", 100_000, DOORKEY),
        ("two_keys", "two_keys:TwoKeys", 40_000, TWO_KEYS),
        ("two_keys_image_alone", "two_keys:TwoKeys", 40_000, [*TWO_KEYS, KEYS % '["image"]']),
        ("two_keys_vector_alone", "two_keys:TwoKeys", 40_000, [*TWO_KEYS, KEYS % '["offset"]']),
        ("cartpole", "gymnasium:CartPole-v1", 60_000, CARTPOLE),
        ("cartpole_built_in", "CartPole-v1", 60_000, CARTPOLE))


def train(build, python, folder, env, steps, seed, options):
    """The mean return of 100 episodes of the final policy."""
    command = [build / "deploy/troupe/troupe", "train", "--algo", "ppo", "--env", env, "--steps", steps, "--seed", seed,
               "--runs", folder, "--json", "evaluation.every_steps=0", f"env.python={python}", *options]
    if env == "CartPole-v1":
        command.remove(f"env.python={python}")
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, check=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "tests/learning/worlds")})
    return json.loads(done.stdout.splitlines()[-1])["eval_mean"]


def judge(returns):
    """The faults of the results, as sentences."""
    median = {name: statistics.median(each) for name, each in returns.items()}
    mean = {name: statistics.fmean(each) for name, each in returns.items()}
    faults = []
    if median["doorkey"] < 0.95:
        faults.append(f"doorkey: expected a median of at least 0.95, got {median['doorkey']:.3f}")
    if median["two_keys"] < 7.5:
        faults.append(f"two_keys: expected a median of at least 7.5, got {median['two_keys']:.2f}")
    for key in ("image", "vector"):
        if median[f"two_keys_{key}_alone"] > 3:
            faults.append(f"two_keys by the {key} alone: expected at most 3, got {median[f'two_keys_{key}_alone']:.2f}")
    if abs(mean["cartpole"] / mean["cartpole_built_in"] - 1) > 0.1:
        faults.append(f"cartpole: expected {mean['cartpole_built_in']:.1f} within 10 %, got {mean['cartpole']:.1f}")
    return faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    made = subprocess.run([VENV, options.build], stdout=subprocess.PIPE, text=True)
    if made.returncode != 0:
        print(f"guests: skipped: {made.stdout.strip()}")
        return 0
    python = made.stdout.split()[-1]
    returns = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, env, steps, more in RUNS:
            returns[name] = []
            for seed in range(1, options.seeds + 1):
                returns[name].append(train(options.build.resolve(), python, folder, env, steps, seed, more))
                print(f"{name:22} seed {seed}: {returns[name][-1]:.3f}", flush=True)
    faults = judge(returns)
    for fault in faults:
        print(fault)
    print(f"{len(returns)} kinds of runs, {options.seeds} seeds each: {len(faults)} faults")
    if options.json:
        print(json.dumps({"returns": returns, "faults": faults}))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
