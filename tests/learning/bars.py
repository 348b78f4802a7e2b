"""The bars that learning is judged by.

A script measures numbers by name, such as the median of a cell's returns, and has a bar for each of them: its BARS are
{cell: {name: bar}}. A number without a bar and a bar without a number are errors of the script, so no cell passes without being
judged. bars_test.py requires of every script that a number just below its bar fails.
"""
import argparse
import collections
import statistics
import sys

FEWEST_SEEDS = 3


class Bar(collections.namedtuple("Bar", "number is_upper")):
    """The least that a number must be, or the most."""

    def holds(self, value):
        """Not for a value that is no number."""
        return value <= self.number if self.is_upper else value >= self.number

    def __str__(self):
        return f"at {'most' if self.is_upper else 'least'} {self.number:g}"


def at_least(number):
    return Bar(number, False)


def at_most(number):
    return Bar(number, True)


def faults_of(measures, bars):
    """A sentence for each number that misses its bar."""
    if not bars or measures.keys() != bars.keys():
        raise ValueError(f"expected a number for each of the bars {sorted(bars)}, got {sorted(measures)}")
    return [f"{name}: expected {bars[name]}, got {value:.4g}" for name, value in measures.items() if not bars[name].holds(value)]


def print_faults(cell, measures, bars):
    """Prints the faults of a cell; returns whether there are none."""
    faults = faults_of(measures, bars)
    for fault in faults:
        print(f"FAILED {cell}: {fault}", flush=True)
    return not faults


def close(measured, bars_of):
    """Judges the numbers of each cell, prints `N passed, N failed` and ends the program."""
    passed = [print_faults(cell, measures, bars_of[cell]) for cell, measures in measured.items()]
    print(f"{sum(passed)} passed, {len(passed) - sum(passed)} failed")
    sys.exit(0 if passed and all(passed) else 1)


def median_of(values):
    """Of runs with different seeds."""
    if len(values) < FEWEST_SEEDS:
        raise ValueError(f"expected at least {FEWEST_SEEDS} seeds, got {len(values)}")
    return statistics.median(values)


def seeds_of(text):
    """The seeds that an argument such as 1,2,3 names."""
    seeds = [int(seed) for seed in text.split(",")]
    if len(set(seeds)) < max(FEWEST_SEEDS, len(seeds)):
        raise argparse.ArgumentTypeError(f"expected at least {FEWEST_SEEDS} different seeds, got {text}")
    return seeds


def count_of_seeds(text):
    """The number of seeds that an argument names."""
    if int(text) < FEWEST_SEEDS:
        raise argparse.ArgumentTypeError(f"expected at least {FEWEST_SEEDS} seeds, got {text}")
    return int(text)
