"""Convolution policies learn from pixels: images.py BUILD_DIR [ALGO...]

Trains each algorithm with the Nature network on CatchSmall-v0, two pictures stacked, on seeds 1 to 3, by the commands of
docs/algorithms/, and evaluates the last policy over 100 deterministic episodes. A paddle that moves at random returns about
-0.6, a perfect one 1. The bar: the median of the seeds is 0.8, nine balls of ten. About a minute of CPU in all. Closes with
`N passed, N failed`.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import bars
import page

SEEDS = (1, 2, 3)
PAGES = {"ppo": "index", "a2c": "a2c", "dqn": "dqn"}
BARS = {algorithm: {"median": bars.at_least(0.8)} for algorithm in PAGES}


def words_of(algorithm):
    """The command of its page."""
    return page.command_of(f"algorithms/{PAGES[algorithm]}", "--env", "CatchSmall-v0")


def train(build, algorithm, seed, runs):
    """The summary of a run."""
    command = [build / "deploy/troupe/troupe", "train", *words_of(algorithm), "--seed", str(seed), "--runs", runs, "--json",
               "--metrics-port", "0", "evaluation.every_steps=0"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main():
    if len(sys.argv) < 2 or not set(sys.argv[2:]) <= set(PAGES):
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).resolve()
    measured = {}
    with tempfile.TemporaryDirectory() as runs:
        for algorithm in sys.argv[2:] or PAGES:
            means = []
            for seed in SEEDS:
                summary = train(build, algorithm, seed, runs)
                means.append(summary["eval_mean"])
                print(f"{algorithm} seed {seed}: {summary['eval_mean']:.2f} over {summary['eval_episodes']} episodes "
                      f"after {summary['steps']} steps, {summary['cpu_s']:.1f} s of CPU", flush=True)
            measured[algorithm] = {"median": bars.median_of(means)}
    bars.close(measured, BARS)


if __name__ == "__main__":
    main()
