#!/usr/bin/python3
"""The benchmarks of this tree beside those of another commit: pairs.py BUILD_DIR --against COMMIT NAME... [--pairs N] [--json]

COMMIT is built in build/commits. Each pair is one run of bench_NAME of either side, one after the other; the side that begins
changes with each pair, so that a machine that slows down slows both. For each figure that the benchmark prints, and for the CPU
seconds of its processes, user and system, a line has the medians of both sides, their ratio (now over then), and the least and the
greatest ratio of a single pair. A figure that one side alone prints has no ratio.

Counts stand among the figures: where they differ, the sides did not do the same work.
"""
import argparse
import json
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from commits import build_commit  # noqa: E402

LIMIT_S = 1800  # of one run
CPU = "cpu_s"


def flat(value, name=""):
    """The numbers of nested JSON, each under the names and places that lead to it."""
    if isinstance(value, dict):
        parts = [flat(each, f"{name}.{key}" if name else key) for key, each in value.items()]
    elif isinstance(value, list):
        parts = [flat(each, f"{name}[{i}]") for i, each in enumerate(value)]
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        return {name: float(value)}
    else:
        return {}
    return {key: number for part in parts for key, number in part.items()}


def cpu_seconds():
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def run(program):
    """The figures of one run."""
    before = cpu_seconds()
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([program, "--json"], cwd=folder, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if done.returncode != 0:
        sys.exit(f"pairs.py: {program} ended with {done.returncode}: {done.stderr.strip()[-2000:]}")
    figures = flat(json.loads(done.stdout.splitlines()[-1]))
    return {**figures, CPU: cpu_seconds() - before}


def ratio(now, then):
    """None where there is none: of two zeros it is 1."""
    if now == then:
        return 1.0
    return now / then if then else None


def compare(pairs):
    """For each figure its medians, their ratio, and the least and the greatest of the pairs; pairs: a list of (now, then)."""
    rows = {}
    for name in dict.fromkeys(key for pair in pairs for side in pair for key in side):
        both = [(now[name], then[name]) for now, then in pairs if name in now and name in then]
        row = {side: statistics.median(figures[i][name] for figures in pairs if name in figures[i])
               for i, side in enumerate(("now", "then")) if any(name in figures[i] for figures in pairs)}
        ratios = [ratio(*each) for each in both]
        if ratios and None not in ratios:
            row.update(ratio=ratio(row["now"], row["then"]), least=min(ratios), greatest=max(ratios))
        rows[name] = row
    return rows


def shown(value):
    return "-" if value is None else f"{value:.4g}"


def print_table(name, rows, pairs):
    print(f"{'bench_' + name:44} {'now':>10} {'then':>10} {'now/then':>9} {'least':>7} {'greatest':>9}   medians of {pairs}")
    for figure, row in rows.items():
        print(f"{figure:44} {shown(row.get('now')):>10} {shown(row.get('then')):>10} {shown(row.get('ratio')):>9} "
              f"{shown(row.get('least')):>7} {shown(row.get('greatest')):>9}", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="./dev bench")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("names", nargs="+", metavar="NAME")
    parser.add_argument("--against", metavar="COMMIT", required=True)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_intermixed_args()
    if asked.pairs < 1:
        parser.error(f"--pairs: expected 1 or more, got {asked.pairs}")
    programs = [f"tests/bench/bench_{name}" for name in asked.names]
    other = build_commit(asked.against, programs)
    record = {}
    for name, program in zip(asked.names, programs):
        pairs = []
        for i in range(asked.pairs):
            sides = [(asked.build / program).resolve(), other / program]
            found = [run(each) for each in (sides if i % 2 == 0 else reversed(sides))]
            pairs.append(tuple(found if i % 2 == 0 else reversed(found)))
            print(f"{name}: pair {i + 1} of {asked.pairs} is done", file=sys.stderr, flush=True)
        record[name] = compare(pairs)
        print_table(name, record[name], asked.pairs)
    if asked.json:
        print(json.dumps({"against": asked.against, "pairs": asked.pairs, "benchmarks": record}))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        sys.exit(f"pairs.py: {error}")
