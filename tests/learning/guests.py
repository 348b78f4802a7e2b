"""PPO on environments in Python: guests.py BUILD_DIR [--seeds N] [--json]

  doorkey   MiniGrid-DoorKey-5x5-v0 with FlatObsWrapper and RL Zoo's settings: the median over the seeds of the mean return of
            100 episodes must be at least 0.95 (RL Zoo: 0.964)
  two_keys  a dictionary with an image and a vector: the median must be at least 7.5 of 8, and with either key alone at most
            3, where chance is 2
  cartpole  Gymnasium's CartPole-v1 with PPO's defaults: the median must be at least 475 with the built-in one, and within 10 %
            of it with Gymnasium's

The commands are those of docs/guides/python.md and docs/guides/environment.md. The seeds are 1 .. N (5). Where gymnasium and
minigrid can't be installed it says so and ends with 0. Closes with `N passed, N failed`.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import bars
import page

ROOT = pathlib.Path(__file__).resolve().parents[2]
VENV = ROOT / "tests/actors/worlds/gymnasium_venv.py"
DOORKEY = ("guides/python", "--env", "gymnasium:MiniGrid-DoorKey-5x5-v0")
TWO_KEYS = ("guides/environment", "--env", "two_keys:TwoKeys")
CARTPOLE = ("guides/python", "--env", "gymnasium:CartPole-v1")
KEYS = 'env.options={"keys": %s}'
# The command on its page, and options beside it, of each kind of run.
RUNS = {"doorkey": (DOORKEY, []),
        "two_keys": (TWO_KEYS, []),
        "two_keys_image_alone": (TWO_KEYS, [KEYS % '["image"]']),
        "two_keys_vector_alone": (TWO_KEYS, [KEYS % '["offset"]']),
        "cartpole": (CARTPOLE, []),
        "cartpole_built_in": (CARTPOLE, [])}
BARS = {"doorkey": {"median": bars.at_least(0.95)}, "two_keys": {"median": bars.at_least(7.5)},
        "two_keys_image_alone": {"median": bars.at_most(3)}, "two_keys_vector_alone": {"median": bars.at_most(3)},
        "cartpole": {"distance from the built-in one": bars.at_most(0.1)}, "cartpole_built_in": {"median": bars.at_least(475)}}


def words_of(name, python):
    """The words behind `troupe train`."""
    command, more = RUNS[name]
    words = page.command_of(*command)
    if name == "cartpole_built_in":
        return [word.removeprefix("gymnasium:") for word in words]
    return [*words, *more, f"env.python={python}"]


def train(build, python, folder, name, seed):
    """The mean return of 100 episodes of the final policy."""
    command = [build / "deploy/troupe/troupe", "train", *words_of(name, python), "--seed", seed, "--runs", folder, "--json",
               "evaluation.every_steps=0"]
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, check=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "tests/learning/worlds")})
    return json.loads(done.stdout.splitlines()[-1])["eval_mean"]


def measures_of(returns):
    """Of the returns of each kind of run."""
    medians = {name: bars.median_of(each) for name, each in returns.items()}
    distance = abs(medians["cartpole"] / medians["cartpole_built_in"] - 1)
    return {**{name: {"median": median} for name, median in medians.items()},
            "cartpole": {"distance from the built-in one": distance}}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--seeds", type=bars.count_of_seeds, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    made = subprocess.run([VENV, options.build], stdout=subprocess.PIPE, text=True)
    if made.returncode != 0:
        print(f"guests: skipped: {made.stdout.strip()}")
        return 0
    python = made.stdout.split()[-1]
    returns = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in RUNS:
            returns[name] = []
            for seed in range(1, options.seeds + 1):
                returns[name].append(train(options.build.resolve(), python, folder, name, seed))
                print(f"{name:22} seed {seed}: {returns[name][-1]:.3f}", flush=True)
    measured = measures_of(returns)
    passed = [bars.print_faults(name, measures, BARS[name]) for name, measures in measured.items()]
    print(f"{sum(passed)} passed, {len(passed) - sum(passed)} failed")
    if options.json:
        print(json.dumps({"returns": returns, "measured": measured}))
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
