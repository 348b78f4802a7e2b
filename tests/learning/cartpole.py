"""Trains PPO on CartPole-v1 as a user does, and judges: cartpole.py sample|seeds BUILD_DIR

sample: three seeds in one mode each; every one must be solved.
seeds:  seeds 1 to 10 in both modes; at least nine of each mode must be solved, and async runs must
        train on stale data and overlap rollouts with training for 30 % of the time (medians).

Solved is a mean return of at least 475 over 100 deterministic episodes. Prints a table, and closes
with `N passed, N failed`.
"""
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

COLUMNS = ("mode", "seed", "eval_mean", "eval_std", "solved", "steps_per_s", "cpu_s",
           "staleness_mean", "staleness_max", "overlap_fraction")


class Tally:
    def __init__(self):
        self.passed = self.failed = 0

    def expect(self, what, holds):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {what}")

    def close(self):
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed else 0)


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


def judge_sample(build, tally):
    for summary in train_all(build, [("sync", 1), ("async", 2), ("sync", 3)]):
        tally.expect(f"{summary['mode']} with seed {summary['seed']} is solved", summary["solved"])


def judge_seeds(build, tally):
    for mode in ("sync", "async"):
        summaries = train_all(build, [(mode, seed) for seed in range(1, 11)])
        solved = sum(summary["solved"] for summary in summaries)
        staleness = statistics.median(summary["staleness_mean"] for summary in summaries)
        overlap = statistics.median(summary["overlap_fraction"] for summary in summaries)
        print(f"{mode}: {solved} of 10 solved, staleness {staleness:.2f}, overlap {overlap:.2f}")
        tally.expect(f"at least 9 of 10 in {mode} mode are solved", solved >= 9)
        if mode == "sync":
            tally.expect("sync mode trains on fresh data alone", staleness == 0)
        else:
            tally.expect("async mode trains on stale data", staleness > 0)
            tally.expect("rollouts and training overlap for 30 % of the time", overlap >= 0.3)


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("sample", "seeds"):
        sys.exit(__doc__)
    tally = Tally()
    build = pathlib.Path(sys.argv[2]).resolve()
    (judge_sample if sys.argv[1] == "sample" else judge_seeds)(build, tally)
    tally.close()


main()
