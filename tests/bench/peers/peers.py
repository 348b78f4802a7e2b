"""Troupe beside Stable-Baselines3 and RL-tools, doing the same work: peers.py BUILD_DIR [options]

    --only NAME[,NAME]  these pairs (settings.py); all without it
    --repeats N         runs of each side, 3 by default; seeds 1 to N
    --json              close with one JSON object
    --markdown          close with a table for docs/benchmarks.md

The two sides of a pair run in turn, ours, the peer's, ours, ..., on one thread each. What is compared is CPU time,
user and system, of training, the median of the runs:

- The peers say it themselves: the process's CPU clock from the begin to the end of training. Loading, making the
  model and the evaluation afterwards are not in it.
- Ours is the CPU time of the whole `troupe train` as the system counted it (wait4), less that of an empty start: the
  same command with the fewest steps (one rollout, or one step more than the random ones before the first update;
  all the configurations are Stable-Baselines3's defaults, but for what they say). What those steps cost is scaled out: (run - start) / (steps of the run - steps
  of the start) * steps. Loading and an evaluation of the same length cancel out; on CartPole, where a good policy's
  evaluation is longer than a poor one's, the difference counts against us.

The whole process is printed beside it. Both sides evaluate over 100 deterministic episodes (PPO on Pendulum: ours 1,000)
and their returns are printed, since speed without learning is worth nothing. RL-tools is compared with OpenBLAS alone:
a run that multiplied no matrix with it, or with kernels of 2004 on a processor that has wider ones, is void.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import set_up
from settings import PAIRS

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def run_child(command, variables):
    """The last line of its output as JSON, and its CPU seconds, user and system."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = subprocess.Popen([str(word) for word in command], stdout=out, stderr=err,
                                 env={**os.environ, **ONE_THREAD, **variables})
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if child.returncode != 0:
            raise set_up.Unavailable(f"{' '.join(map(str, command))} ended with {child.returncode}: "
                                     f"{(out.read() + err.read())[-1500:]}")
        return json.loads(out.read().splitlines()[-1]), used.ru_utime + used.ru_stime


class Troupe:
    def __init__(self, pair, build, steps=None):
        self.command = build / "deploy/troupe/troupe"
        self.pair, self.steps = pair, steps
        self.config = set_up.HERE / pair.config
        if not self.config.exists():
            raise set_up.Unavailable(f"tests/bench/peers/{pair.config} is missing")
        known = subprocess.run([self.command, "config", pair.algorithm], capture_output=True, check=False)
        if known.returncode != 0:
            raise set_up.Unavailable(f"troupe has no {pair.algorithm} yet")

    def train(self, seed, steps=None):
        steps = steps or self.steps
        with tempfile.TemporaryDirectory() as runs:
            command = [self.command, "train", "--algo", self.pair.algorithm, "--config", self.config, "--seed", seed,
                       "--threads", 1, "--metrics-port", 0, "--runs", runs, "--json"]
            return run_child(command + (["-n", steps] if steps else []), {})

    def run(self, seed):
        start, start_cpu = self.train(seed, steps=self.pair.fewest)
        summary, cpu = self.train(seed)
        taken = summary["steps"]
        train_cpu = (cpu - start_cpu) / (taken - start["steps"]) * taken
        return {"steps": taken, "train_cpu_s": train_cpu, "process_cpu_s": cpu,
                "eval_mean": summary["eval_mean"], "eval_std": summary["eval_std"]}


class StableBaselines3:
    def __init__(self, pair):
        set_up.make_environment()
        self.job = pair.job

    def run(self, seed):
        result, cpu = run_child([set_up.PYTHON, set_up.HERE / "sb3.py", self.job, seed], {})
        return {**result, "process_cpu_s": cpu}


class RlTools:
    FEWEST_PRODUCTS = 10  # of an update; each has at least three networks with three layers

    def __init__(self, pair):
        self.program = set_up.compile_rl_tools(pair.job)
        self.variables = set_up.openblas_variables()

    def run(self, seed):
        result, cpu = run_child([self.program, seed], self.variables)
        if result["kernels"] == "Prescott" or result["matrix_products"] < self.FEWEST_PRODUCTS * result["updates"]:
            raise set_up.Unavailable(f"void: RL-tools ran without OpenBLAS, or with its oldest kernels: {result}")
        return {**result, "process_cpu_s": cpu, "version": f"RL-tools, OpenBLAS {result['kernels']}"}


def print_run(side, seed, result):
    print(f"  {side:18} seed {seed}: {result['train_cpu_s']:8.3f} s training, {result['process_cpu_s']:8.3f} s in all, "
          f"{result['steps']} steps, return {result['eval_mean']:.1f} +- {result['eval_std']:.1f}", flush=True)


def judge(pair, ours, theirs):
    """What the runs of both sides say."""
    def ratio(of):
        mine, others = (of(r["train_cpu_s"] / r["steps"] for r in side) for side in (ours, theirs))
        return mine / others if pair.kind == "ratio" else others / mine

    value = ratio(statistics.median)
    return {"our_cpu_s": statistics.median(r["train_cpu_s"] for r in ours), "value": value, "value_of_best": ratio(min),
            "reached": value <= pair.bar if pair.kind == "ratio" else value >= pair.bar}


def compare(pair, build, repeats):
    """The figures of a pair, or why there are none."""
    print(f"== {pair.name}: {pair.work}", flush=True)
    figures = {"bar": pair.bar}
    try:
        peer = StableBaselines3(pair) if pair.peer == "sb3" else RlTools(pair)
        theirs, ours = [], []
        for seed in range(1, repeats + 1):
            theirs.append(peer.run(seed))
            print_run(pair.peer, seed, theirs[-1])
            # Where Stable-Baselines3 is given fewer steps than our configuration says, so are we.
            steps = theirs[-1]["steps"] if pair.peer == "sb3" else None
            try:
                ours.append(Troupe(pair, build, steps).run(seed))
                print_run("troupe", seed, ours[-1])
            except set_up.Unavailable as reason:
                figures["missing"] = str(reason)
    except set_up.Unavailable as reason:
        print(f"  {reason}")
        return {**figures, "missing": str(reason)}
    figures.update(peer=theirs[-1].get("version"), peer_runs=theirs, our_runs=ours)
    figures["peer_cpu_s"] = statistics.median(r["train_cpu_s"] for r in theirs)
    if ours and "missing" not in figures:
        figures.update(judge(pair, ours, theirs))
        print(f"  {pair.key} {figures['value']:.2f} (of the best {figures['value_of_best']:.2f}; bar "
              f"{'<=' if pair.kind == 'ratio' else '>='} {pair.bar})")
    else:
        print(f"  missing: {figures['missing']}")
    return figures


def as_json(pair, figures):
    """A pair's figures under names of their own, flat."""
    name, result = pair.key, {pair.key: round(figures["value"], 3) if "value" in figures else None}
    if "missing" in figures:
        result[f"{name}_missing"] = figures["missing"]
    if "peer_cpu_s" in figures:
        result[f"{name}_peer_cpu_s"] = round(figures["peer_cpu_s"], 3)
        result[f"{name}_peer_returns"] = [round(r["eval_mean"], 1) for r in figures["peer_runs"]]
    if "value" in figures:
        result[f"{name}_our_cpu_s"] = round(figures["our_cpu_s"], 3)
        result[f"{name}_our_returns"] = [round(r["eval_mean"], 1) for r in figures["our_runs"]]
        result[f"{name}_of_best"] = round(figures["value_of_best"], 3)
        result[f"{name}_reached"] = figures["reached"]
    return result


def print_markdown(all_figures):
    print("\n| work | peer | peer's CPU s | Troupe's CPU s | |\n|---|---|---|---|---|")
    for pair, figures in all_figures:
        if "peer_cpu_s" not in figures:
            print(f"| {pair.work} | {pair.peer} | | | {figures['missing'].splitlines()[0]} |")
            continue
        returns = [" / ".join(f"{r['eval_mean']:.0f}" for r in figures[side]) for side in ("peer_runs", "our_runs")]
        if "value" not in figures:
            print(f"| {pair.work} | {figures['peer']} | {figures['peer_cpu_s']:.2f} (return {returns[0]}) | | missing |")
            continue
        verdict = f"{figures['value']:.2f} of its time" if pair.kind == "ratio" else f"{figures['value']:.1f} times faster"
        print(f"| {pair.work} | {figures['peer']} | {figures['peer_cpu_s']:.2f} (return {returns[0]}) | "
              f"{figures['our_cpu_s']:.2f} (return {returns[1]}) | {verdict} |")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_intermixed_args()
    names = [name for name in arguments.only.split(",") if name]
    known = {pair.name for pair in PAIRS} | {pair.key for pair in PAIRS}
    for name in names:
        if name not in known:
            parser.error(f"--only: no pair is named '{name}'; known: {' '.join(pair.name for pair in PAIRS)}")
    if arguments.repeats < 1:
        parser.error(f"--repeats: expected at least 1, got {arguments.repeats}")
    return arguments, [pair for pair in PAIRS if not names or pair.name in names or pair.key in names]


def main():
    arguments, pairs = parse_arguments()
    build = arguments.build.resolve()
    all_figures = [(pair, compare(pair, build, arguments.repeats)) for pair in pairs]
    if arguments.markdown:
        print_markdown(all_figures)
    if arguments.json:
        merged = {}
        for pair, figures in all_figures:
            merged.update(as_json(pair, figures))
        print(json.dumps(merged))
    sys.exit(0 if all("value" in figures for _, figures in all_figures) else 1)


if __name__ == "__main__":
    main()
