"""A language model learns from reward: grpo.py BUILD_DIR [grpo|rloo] [--json] [--seeds 1,2,..] [--modes sync,..]

grpo trains the model of 22 letters on sums of digits from its warm start, with GRPO's defaults, on seeds 1 to 5: in sync
mode, and in async mode with groups of up to 8 versions ago. The bar: each run answers 0.95 of 1,000 problems rightly, by its
likeliest tokens, with its last weights, after at most 240 updates. A run ends when an evaluation on 500 problems, every 20
updates, has reached 0.97. All 1,500 are held out, and none of the 500 is one of the 1,000.

rloo does the same with variant rloo, for a fixed number of updates and without looking in between: in sync mode, in async mode
at a staleness of 8 with the weights that correct for it (the default), and without them (trainer.correction=none). The bars are
for the medians of the shares of right answers: that of the sync runs is at least 0.9, where the warm start leaves 0.85 to 0.95;
that of the corrected runs is at most 0.02 below it, and at least 0.2 above that of the uncorrected ones, or there was nothing to
correct.

What is done is kept in runs/learning/grpo_sum_digits/, a file a run, and is not done again unless its options have changed
since. --modes runs some of the modes, and judges only those that it has all numbers for. --json adds one JSON object. Closes with
`N passed, N failed`.
"""
import argparse
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import bars

KEPT = pathlib.Path(__file__).resolve().parents[2] / "runs/learning/grpo_sum_digits"
SEEDS = (1, 2, 3, 4, 5)
ENOUGH = 0.97
STALE = ["--mode", "async", "rollout.max_staleness=8"]
USUAL = ["-n", "240", f"evaluation.stop_at={ENOUGH}", "evaluation.problems=500", "evaluation.final_problems=1000"]
RLOO = ["-n", "80", "trainer.variant=rloo", "evaluation.every_updates=0", "evaluation.final_problems=1000"]
RUNS = {
    "grpo": {"sync": ["--mode", "sync", *USUAL], "stale": [*STALE, *USUAL]},
    "rloo": {"sync": ["--mode", "sync", *RLOO], "corrected": [*STALE, *RLOO],
             "uncorrected": [*STALE, "trainer.correction=none", *RLOO]},
}
BARS = {"grpo sync": {"lowest": bars.at_least(0.95)}, "grpo stale": {"lowest": bars.at_least(0.95)},
        "rloo sync": {"median": bars.at_least(0.9)},
        "rloo corrected": {"above sync": bars.at_least(-0.02), "above uncorrected": bars.at_least(0.2)}}


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


def rights_of(rows):
    """The shares of right answers, by mode."""
    return {mode: [row["right"] for row in rows if row["mode"] == mode] for mode in dict.fromkeys(row["mode"] for row in rows)}


def measures_of_grpo(rights):
    return {f"grpo {mode}": {"lowest": min(shares)} for mode, shares in rights.items()}


def measures_of_rloo(rights):
    medians = {mode: bars.median_of(shares) for mode, shares in rights.items()}
    for mode, median in medians.items():
        print(f"{mode}: median {median:.3f}")
    measured = {"rloo sync": {"median": medians["sync"]}} if "sync" in medians else {}
    if medians.keys() == RUNS["rloo"].keys():
        measured["rloo corrected"] = {"above sync": medians["corrected"] - medians["sync"],
                                      "above uncorrected": medians["corrected"] - medians["uncorrected"]}
    return measured


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("which", nargs="?", choices=list(RUNS), default="grpo")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seeds", type=bars.seeds_of, default=SEEDS)
    parser.add_argument("--modes", type=lambda text: text.split(","))
    asked = parser.parse_intermixed_args()
    modes = RUNS[asked.which]
    rows = [row_of(mode, seed, summary_of(asked.build.resolve(), modes[mode], seed))
            for mode in asked.modes or modes for seed in asked.seeds]
    measured = {"grpo": measures_of_grpo, "rloo": measures_of_rloo}[asked.which](rights_of(rows))
    passed = [bars.print_faults(cell, measures, BARS[cell]) for cell, measures in measured.items()]
    print(f"{sum(passed)} passed, {len(passed) - sum(passed)} failed")
    if asked.json:
        print(json.dumps({f"{asked.which}_sum_digits": rows, "measured": measured}))
    sys.exit(0 if all(passed) else 1)


if __name__ == "__main__":
    main()
