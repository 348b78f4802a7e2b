"""Bugs behind switches, and whether the tests see them: tests/mutations/mutate.py [OPTION...] (tests/mutations.md)

Without options every planted bug is judged by the test that it names, then random mutants by the suites of their
library. What is judged is kept in build/mutations, and the next call goes on from there.
"""
import argparse
import json
import pathlib
import sys

from edits import HERE, Problem, number
from judge import BASELINE_SECONDS, limit_of, run_script, run_suite
from plants import read_plants, table
from random_mutants import RandomMutants
from tree import BuildFailed, Tree

ENOUGH = 0.9  # of the random mutants that aren't equivalent must be caught
DOCUMENT = "tests/mutations.md"
BEGIN, END = "<!-- plants: ./dev mutate --list --update -->\n", "<!-- end of plants -->\n"


def read_arguments():
    parser = argparse.ArgumentParser(prog="./dev mutate", description="Plants bugs and random mutants behind switches, "
                                     "and judges each by tests.")
    parser.add_argument("--plants", nargs="*", metavar="NAME", help="only planted bugs: all, or those named")
    parser.add_argument("--random", action="store_true", help="only random mutants")
    parser.add_argument("--list", action="store_true", help="print the planted bugs, build nothing")
    parser.add_argument("--markdown", action="store_true", help="with --list: as a table in Markdown")
    parser.add_argument("--update", action="store_true", help=f"with --list: write the table into {DOCUMENT}")
    parser.add_argument("--seed", type=int, default=1, help="what the random mutants are drawn from (%(default)s)")
    parser.add_argument("--count", type=int, default=100, help="how many random mutants to judge (%(default)s)")
    parser.add_argument("--under", nargs="+", default=[], metavar="FOLDER",
                        help="draw random mutants from the files of these folders alone")
    parser.add_argument("--jobs", type=int, default=1, help="suites that run at the same time (%(default)s)")
    parser.add_argument("--json", action="store_true", help="end with one JSON object")
    parser.add_argument("--root", type=pathlib.Path, default=HERE.parent.parent, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.count < 1 or arguments.jobs < 1:
        parser.error("--count and --jobs: expected 1 or more")
    if arguments.random and arguments.plants is not None:
        parser.error("--plants and --random: expected one of them; without either both are judged")
    if (arguments.markdown or arguments.update) and not arguments.list:
        parser.error("--markdown and --update go with --list")
    return arguments


def say(text):
    print(text, flush=True)


def list_plants(root, plants, arguments):
    if arguments.update:
        document = root / DOCUMENT
        before, rest = document.read_text().split(BEGIN)
        document.write_text(f"{before}{BEGIN}{table(plants)}{END}{rest.split(END)[1]}")
    elif arguments.markdown:
        print(table(plants), end="")
    else:
        for plant in plants.values():
            print(f"{plant.name}: {plant.what} ({plant.file}; {plant.judge})")


class PlantJudge:
    """Runs plants' tests; a test without plant runs once for all plants that name it."""

    def __init__(self, tree, suites):
        self.tree, self.suites, self.without = tree, suites, {}

    def run(self, plant, limit, planted):
        switch = plant.number if planted else 0
        if plant.script:
            return run_script(plant.script, self.tree, limit, switch)
        return run_suite(self.suites[plant.suite], self.tree, limit, switch, test=plant.test)

    def judge(self, plant):
        """Whether the plant is caught, in a word and with the reason."""
        if plant.judge not in self.without:
            self.without[plant.judge] = self.run(plant, BASELINE_SECONDS, planted=False)
        without = self.without[plant.judge]
        if without.trouble:
            said = "".join("\n    " + line for line in without.output.strip().splitlines()[-12:])
            return False, f"test fails without it ({without.trouble}){said}"
        planted = self.run(plant, limit_of(without.seconds), planted=True)
        if not planted.trouble:
            return False, "NOT caught"
        return True, f"caught ({planted.trouble})" if planted.timed_out else "caught"


def judge_plants(tree, plants, suites):
    """Judges plants in turn and returns what --json prints of them."""
    judge, caught = PlantJudge(tree, suites), 0
    for plant in plants:
        is_caught, verdict = judge.judge(plant)
        caught += is_caught
        say(f"{plant.name}: {verdict}; {plant.judge}")
    say(f"{caught} passed, {len(plants) - caught} failed")
    return {"plants": len(plants), "plants_caught": caught}


def select(plants, names):
    unknown = sorted(set(names) - set(plants))
    if unknown:
        raise Problem(f"no plant is named '{unknown[0]}'; known: {', '.join(plants)}")
    return [plants[name] for name in names] if names else list(plants.values())


def targets_of(plants, suites):
    targets = set()
    for plant in plants:
        if plant.suite and plant.suite not in suites:
            raise Problem(f"{plant.name}: no suite is named '{plant.suite}'; known: {', '.join(sorted(suites))}")
        targets |= {plant.suite} if plant.suite else {"deploy/troupe/troupe", *plant.targets}
    return targets


def run_plants(tree, plants, names):
    """Builds and judges the plants named, all where none is. Returns what --json prints of them."""
    chosen = select(plants, names)
    if not chosen:
        return judge_plants(tree, chosen, {})
    number(plants.values())
    tree.refresh()  # Sources are grouped by their size when the build is configured: by that without plants.
    tree.copy(plants.values())
    suites = tree.suites()
    say(f"Building {len(plants)} plants in {tree.build}")
    try:
        tree.compile(targets_of(chosen, suites))
    except BuildFailed as failed:
        raise failed.of_plants() from None
    return judge_plants(tree, chosen, suites)


def run_random(tree, plants, arguments):
    """Builds and judges random mutants outside of what is planted, and nothing else: what they leave as it is comes from
    the compiler's cache. Returns what --json prints of them."""
    tree.refresh()
    random_mutants = RandomMutants(tree, list(plants.values()), arguments, say)
    return random_mutants.judge_all(random_mutants.gather())


def is_good(figures):
    """Every plant is caught, and 90 % of the mutants that are not equivalent."""
    others = figures.get("random", 0) - figures.get("random_equivalent", 0)
    return figures.get("plants") == figures.get("plants_caught") and figures.get("random_caught", 0) >= ENOUGH * others


def main():
    arguments = read_arguments()
    root = arguments.root.resolve()
    try:
        plants = read_plants(root)
        if arguments.list:
            list_plants(root, plants, arguments)
            return 0
        tree = Tree(root)
        figures = {}
        if not arguments.random:
            figures |= run_plants(tree, plants, arguments.plants or [])
        if arguments.plants is None:
            figures |= run_random(tree, plants, arguments)
    except Problem as problem:
        print(problem, file=sys.stderr)
        return 2
    if arguments.json:
        print(json.dumps(figures))
    return 0 if is_good(figures) else 1


if __name__ == "__main__":
    sys.exit(main())
