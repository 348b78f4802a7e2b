"""Holds Troupe to RL Zoo's published results: cells.py BUILD_DIR [cells|ALGO[/ENVIRONMENT]...] [--json] [--list]

A cell is an algorithm on an environment with RL Zoo's tuned settings (cells/ALGO.json, with their source). It is trained
with the seeds 1 to 5, or those that the cell names, at least three, and each final policy is evaluated over 100 deterministic
episodes. The bar: the median of the seeds' means keeps 95 % of what the published policy gains over a random one: the
published mean less 5 % of its distance from a random policy's. RL Zoo's standard deviation is over the episodes of one run:
it says how much start states differ, not how much runs do, so it can't widen the bar, but where it is less than those 5 % it
takes their place.

What is done is kept below runs/learning/ALGO/ENVIRONMENT/, a file a seed, and is not done again unless the cell's
settings have changed since; an interrupted command goes on where it stood. A cell that needs an algorithm, an
environment or an option that `troupe` hasn't got is named with what is missing, and is not run with something like it.

--list prints the table as far as it goes, and trains nothing. Closes with `N passed, N failed, N skipped`, where
skipped cells could not be expressed (with --list: or are not done); --json adds one JSON object.
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

HERE = pathlib.Path(__file__).resolve().parent
KEPT = HERE.parents[1] / "runs/learning"
SEEDS = (1, 2, 3, 4, 5)
EPISODES = 100
MAY_LOSE = 0.05  # of the published policy's gain over a random one
# Mean returns of uniformly random actions (Gymnasium 1.2.3, action_space.seed(1), reset(seed=1); episodes: 1000 of CartPole
# and each LunarLander, 500 of Pendulum, 100 of Acrobot and MountainCarContinuous, 50 of MountainCar).
RANDOM_RETURNS = {"CartPole-v1": 22.6, "Acrobot-v1": -499.5, "MountainCar-v0": -200.0, "MountainCarContinuous-v0": -33.3,
                  "Pendulum-v1": -1215.2, "LunarLander-v3": -180.3, "LunarLanderContinuous-v3": -220.0}


class Cell:
    def __init__(self, algorithm, key, facts):
        self.algorithm, self.key = algorithm, key
        self.name = f"{algorithm}/{key}"
        self.config, self.published = facts["config"], facts["published"]
        self.environment = self.config["env"]["id"]
        self.seeds = facts.get("seeds", SEEDS)
        if len(set(self.seeds)) < bars.FEWEST_SEEDS:
            raise ValueError(f"{self.name}: expected at least {bars.FEWEST_SEEDS} seeds, got {len(set(self.seeds))}")
        self.note = facts.get("note", "")
        gain = self.published["mean"] - RANDOM_RETURNS[self.environment]
        self.bar = bars.at_least(self.published["mean"] - min(MAY_LOSE * gain, self.published["std"]))

    def settings(self):
        """RL Zoo's, and nothing but an evaluation at the end."""
        return {**self.config, "evaluation": {"every_steps": 0, "final_episodes": EPISODES}}

    def digest(self):
        return hashlib.sha256(json.dumps(self.settings(), sort_keys=True).encode()).hexdigest()[:16]

    def kept(self, seed):
        return KEPT / self.algorithm / self.key / f"seed_{seed}.json"

    def done(self, seed):
        """The summary of a run that stands, or None."""
        try:
            record = json.loads(self.kept(seed).read_text())
        except FileNotFoundError:
            return None
        return record["summary"] if record["digest"] == self.digest() else None


def read_cells():
    for path in sorted((HERE / "cells").glob("*.json")):
        for key, facts in json.loads(path.read_text())["cells"].items():
            yield Cell(path.stem, key, facts)


def unknown_options(schema, config, place=""):
    """Paths in a configuration that the schema has no property for."""
    known = schema.get("properties", {})
    for key, value in config.items():
        if key not in known:
            yield place + key
        elif isinstance(value, dict):
            yield from unknown_options(known[key], value, f"{place}{key}.")


class Command:
    """`troupe`, and what it knows."""

    def __init__(self, build):
        self.path = build / "deploy/troupe/troupe"
        self.environments = subprocess.run([self.path, "list"], capture_output=True, text=True, check=True).stdout
        self.schemas = {}

    def schema(self, algorithm):
        if algorithm not in self.schemas:
            done = subprocess.run([self.path, "config", algorithm, "--json"], capture_output=True,
                                  text=True, check=False)
            self.schemas[algorithm] = json.loads(done.stdout) if done.returncode == 0 else None
        return self.schemas[algorithm]

    def missing(self, cell):
        """What the cell needs and `troupe` hasn't got."""
        lacks = []
        if f" {cell.environment} " not in self.environments:
            lacks.append(f"environment {cell.environment}")
        schema = self.schema(cell.algorithm)
        if schema is None:
            return [f"algorithm {cell.algorithm}", *lacks]
        return lacks + [f"option {path}" for path in unknown_options(schema, cell.settings())]

    def train(self, cell, seed):
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder) / "config.json"
            config.write_text(json.dumps(cell.settings()))
            command = [self.path, "train", "--algo", cell.algorithm, "--config", config, "--seed", str(seed), "--threads",
                       "1", "--metrics-port", "0", "--runs", folder, "--json"]
            done = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            out, err = done.communicate()
            if done.returncode != 0:
                sys.exit(f"{cell.name} with seed {seed}: troupe ended with {done.returncode}:\n{out}{err}")
            return json.loads(out.splitlines()[-1])


def keep(cell, seed, summary):
    path = cell.kept(seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".part")
    beside.write_text(json.dumps({"digest": cell.digest(), "settings": cell.settings(), "summary": summary}, indent=1))
    os.replace(beside, path)


def train_cell(command, cell):
    for seed in cell.seeds:
        if cell.done(seed) is None:
            summary = command.train(cell, seed)
            keep(cell, seed, summary)
            print(f"  {cell.name} seed {seed}: {summary['eval_mean']:.1f} +- {summary['eval_std']:.1f} after "
                  f"{summary['steps']} steps, {summary['cpu_s']:.1f} s of CPU", flush=True)


def judge(command, cell):
    """A cell's row."""
    row = {"published_mean": cell.published["mean"], "published_std": cell.published["std"],
           "bar": round(cell.bar.number, 3)}
    lacks = command.missing(cell)
    if lacks:
        return {**row, "state": "can't be expressed", "missing": lacks}
    done = [summary for summary in map(cell.done, cell.seeds) if summary]
    row.update(seeds=len(cell.seeds), done=len(done), returns=[round(s["eval_mean"], 2) for s in done],
               cpu_s=round(sum(s["cpu_s"] for s in done), 1))
    if cell.note:
        row["note"] = cell.note
    if len(done) < len(cell.seeds):
        return {**row, "state": "not done"}
    came_to = bars.median_of([s["eval_mean"] for s in done])
    return {**row, "median": round(came_to, 3), "state": "reached" if cell.bar.holds(came_to) else "NOT reached"}


def print_table(rows):
    print(f"{'cell':30} {'published':>17} {'bar':>8} {'median':>8}  {'state':18} returns, or what is missing")
    for name, row in rows.items():
        published = f"{row['published_mean']:.1f} +- {row['published_std']:.1f}"
        median = f"{row['median']:.1f}" if "median" in row else ""
        rest = ", ".join(row["missing"]) if "missing" in row else " ".join(f"{r:.1f}" for r in row["returns"])
        print(f"{name:30} {published:>17} {row['bar']:8.1f} {median:>8}  {row['state']:18} {rest}")


def choose(names):
    cells = list(read_cells())
    for name in names:
        if not any(name in ("cells", cell.name, cell.algorithm) for cell in cells):
            sys.exit(f"learning: no cell is named '{name}'; known: {' '.join(cell.name for cell in cells)}")
    return [cell for cell in cells if not names or {"cells", cell.name, cell.algorithm} & set(names)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_intermixed_args()
    command, cells = Command(arguments.build.resolve()), choose(arguments.names)
    if not arguments.list:
        for cell in cells:
            if not command.missing(cell):
                train_cell(command, cell)
    rows = {cell.name: judge(command, cell) for cell in cells}
    print_table(rows)
    states = [row["state"] for row in rows.values()]
    passed, failed = states.count("reached"), states.count("NOT reached")
    print(f"{passed} passed, {failed} failed, {len(states) - passed - failed} skipped")
    if arguments.json:
        print(json.dumps({"learning_cells_reached": passed, "learning_cells_failed": failed, "cells": rows}))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
