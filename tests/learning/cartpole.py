"""Trains PPO on CartPole-v1 as a user does, and judges: cartpole.py sample|seeds BUILD_DIR

sample: three seeds in one mode each; every one must be solved.
seeds:  seeds 1 to 10 in both modes; at least nine of each mode must be solved, and async runs must
        train on stale data and overlap rollouts with training for 30 % of the time (medians).

The options are PPO's defaults. Solved is a mean return of at least 475 over 100 deterministic episodes.
Prints a table, and closes with `N passed, N failed`.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import bars

COLUMNS = ("mode", "seed", "eval_mean", "eval_std", "solved", "steps_per_s", "cpu_s",
           "staleness_mean", "staleness_max", "overlap_fraction")
SAMPLE = (("sync", 1), ("async", 2), ("sync", 3))
SEEDS = range(1, 11)
SOLVED = 475
BARS = {"sample": {f"{mode} with seed {seed}": bars.at_least(SOLVED) for mode, seed in SAMPLE},
        "sync": {"solved": bars.at_least(9), "staleness": bars.at_most(0)},
        "async": {"solved": bars.at_least(9), "staleness": bars.at_least(0.1), "overlap": bars.at_least(0.3)}}


def train(build, mode, seed, runs):
    """The summary of one run."""
    command = [build / "deploy/troupe/troupe", "train", "--algo", "ppo", "--env", "CartPole-v1",
               "-n", "100000", "--mode", mode, "--seed", str(seed), "--runs", runs, "--json",
               "--metrics-port", "0"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def train_all(build, plan):
    print("  ".join(f"{name:>12}" for name in COLUMNS))
    summaries = []
    with tempfile.TemporaryDirectory() as runs:
        for mode, seed in plan:
            summary = train(build, mode, seed, runs)
            cells = [summary[name] for name in COLUMNS]
            print("  ".join(f"{cell:12.3f}" if isinstance(cell, float) else f"{cell!s:>12}"
                            for cell in cells), flush=True)
            summaries.append(summary)
    return summaries


def measures_of_sample(summaries):
    return {f"{one['mode']} with seed {one['seed']}": one["eval_mean"] for one in summaries}


def measures_of(mode, summaries):
    """Of the seeds in one mode."""
    measures = {"solved": sum(one["eval_mean"] >= SOLVED for one in summaries),
                "staleness": bars.median_of([one["staleness_mean"] for one in summaries])}
    if mode == "async":
        measures["overlap"] = bars.median_of([one["overlap_fraction"] for one in summaries])
    return measures


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("sample", "seeds"):
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[2]).resolve()
    measured = {}
    if sys.argv[1] == "sample":
        measured["sample"] = measures_of_sample(train_all(build, SAMPLE))
    else:
        for mode in ("sync", "async"):
            measured[mode] = measures_of(mode, train_all(build, [(mode, seed) for seed in SEEDS]))
            print(f"{mode}: {', '.join(f'{name} {value:.2f}' for name, value in measured[mode].items())}", flush=True)
    bars.close(measured, BARS)


if __name__ == "__main__":
    main()
