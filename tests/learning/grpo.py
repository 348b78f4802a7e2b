"""A language model learns from reward: grpo.py BUILD_DIR [grpo|rloo] [--json] [--seeds 1,2,..] [--modes sync,..]

grpo trains the model of 22 letters on sums of digits from its warm start, with GRPO's defaults, on seeds 1 to 5: in sync
mode, and in async mode with groups of up to 8 versions ago. The bar: each run answers 0.95 of 1,000 problems rightly, by its
likeliest tokens, with its last weights, after at most 240 updates. A run ends when an evaluation on 500 problems, every 20
updates, has reached 0.97. All 1,500 are held out, and none of the 500 is one of the 1,000.

rloo does the same with variant rloo, for a fixed number of updates and without looking in between: in sync mode, in async mode
at a staleness of 8 with the weights that correct for it (the default), and without them (trainer.correction=none). The bar: the
median of the corrected runs' shares of right answers is at most 0.02 below that of the sync runs.

What is done is kept in runs/learning/grpo_sum_digits/, a file a run, and is not done again unless its options have changed
since. --json adds one JSON object. Closes with `N passed, N failed`.
"""
import argparse
import hashlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

KEPT = pathlib.Path(__file__).resolve().parents[2] / "runs/learning/grpo_sum_digits"
SEEDS = (1, 2, 3, 4, 5)
BAR, ENOUGH, NEAR = 0.95, 0.97, 0.02
STALE = ["--mode", "async", "rollout.max_staleness=8"]
USUAL = ["-n", "240", f"evaluation.stop_at={ENOUGH}", "evaluation.problems=500", "evaluation.final_problems=1000"]
RLOO = ["-n", "80", "trainer.variant=rloo", "evaluation.every_updates=0", "evaluation.final_problems=1000"]
RUNS = {
    "grpo": {"sync": ["--mode", "sync", *USUAL], "stale": [*STALE, *USUAL]},
    "rloo": {"sync": ["--mode", "sync", *RLOO], "corrected": [*STALE, *RLOO],
             "uncorrected": [*STALE, "trainer.correction=none", *RLOO]},
}


def train(build, options, seed):
    """The summary of a run."""
    with tempfile.TemporaryDirectory() as runs:
        command = [build / "deploy/troupe/troupe", "train", "--algo", "grpo", "--task", "sum_digits", "--seed", str(seed),
                   "--runs", runs, "--json", "--metrics-port", "0", "--log-level", "warn", *options]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def summary_of(build, options, seed):
    """The same, of one that was done before where there is one by these options."""
    digest = hashlib.sha256(json.dumps(options).encode()).hexdigest()[:16]
    path = KEPT / f"{digest}_seed_{seed}.json"
    if not path.exists():
        record = {"options": options, "seed": seed, "summary": train(build, options, seed)}
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_suffix(".part")
        beside.write_text(json.dumps(record, indent=1))
        os.replace(beside, path)
    return json.loads(path.read_text())["summary"]


def row_of(mode, seed, summary):
    print(f"{mode} seed {seed}: {summary['eval_mean']:.3f} right after {summary['steps']} updates, staleness "
          f"{summary['staleness_mean']:.1f} in the mean and {summary['staleness_max']} at most, "
          f"{summary['cpu_s']:.0f} s of CPU", flush=True)
    return {"mode": mode, "seed": seed, "right": summary["eval_mean"], "updates": summary["steps"],
            "staleness_mean": summary["staleness_mean"], "staleness_max": summary["staleness_max"], "cpu_s": summary["cpu_s"]}


def judge_grpo(rows):
    """Of each run whether it has reached the bar."""
    return [row["right"] >= BAR for row in rows], {}


def judge_rloo(rows):
    """Whether the corrected runs are as good as those in sync mode, where both were run; and the medians."""
    medians = {mode: statistics.median(row["right"] for row in rows if row["mode"] == mode)
               for mode in dict.fromkeys(row["mode"] for row in rows)}
    for mode, median in medians.items():
        print(f"{mode}: median {median:.3f}")
    both = {"sync", "corrected"} <= medians.keys()
    return [medians["corrected"] >= medians["sync"] - NEAR] if both else [], {"medians": medians}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("which", nargs="?", choices=list(RUNS), default="grpo")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seeds", type=lambda text: [int(seed) for seed in text.split(",")], default=SEEDS)
    parser.add_argument("--modes", type=lambda text: text.split(","))
    asked = parser.parse_intermixed_args()
    modes = RUNS[asked.which]
    rows = [row_of(mode, seed, summary_of(asked.build.resolve(), modes[mode], seed))
            for mode in asked.modes or modes for seed in asked.seeds]
    verdicts, more = {"grpo": judge_grpo, "rloo": judge_rloo}[asked.which](rows)
    print(f"{sum(verdicts)} passed, {len(verdicts) - sum(verdicts)} failed")
    if asked.json:
        print(json.dumps({f"{asked.which}_sum_digits": rows, **more}))
    sys.exit(0 if all(verdicts) else 1)


main()
