"""Bugs behind switches, and whether the tests see them: tests/mutations/mutate.py [OPTION...] (tests/mutations.md)

Without options every planted bug is judged by the test that it names, then random mutants by the suites of their
library. What is judged is kept in build/mutations, and the next call goes on from there.
"""
import argparse
from concurrent.futures import ThreadPoolExecutor
import json
import pathlib
import sys
import threading

from edits import HERE, Problem, number
from judge import BASELINE_SECONDS, limit_of, run_script, run_suite
from plants import read_plants, table
from random_mutants import RandomMutants
from record import RECORD, Record
from tree import BuildFailed, Tree

RANDOM_COUNT = 100
ENOUGH = 0.9  # of the random mutants that aren't equivalent must be caught
DOCUMENT = "tests/mutations.md"
BEGIN, END = "<!-- plants: ./dev mutate --list --update -->\n", "<!-- end of plants -->\n"


def read_arguments():
    parser = argparse.ArgumentParser(prog="./dev mutate", description="Plants bugs and random mutants behind switches, "
                                     "and judges each by tests.")
    parser.add_argument("--plants", nargs="*", metavar="NAME", help="only planted bugs: all, or those named")
    parser.add_argument("--random", action="store_true", help="only random mutants")
    parser.add_argument("--stale", action="store_true", help="only planted bugs, and of those only the ones that are not "
                        f"caught in {RECORD}, or changed since, they or their files")
    parser.add_argument("--record", action="store_true", help=f"write the verdicts on planted bugs into {RECORD}")
    parser.add_argument("--list", action="store_true", help="print the planted bugs, build nothing")
    parser.add_argument("--markdown", action="store_true", help="with --list: as a table in Markdown")
    parser.add_argument("--update", action="store_true", help=f"with --list: write the table into {DOCUMENT}")
    parser.add_argument("--seed", type=int, default=1, help="what the random mutants are drawn from (%(default)s)")
    parser.add_argument("--count", type=int, help="how many random mutants to judge (100), or with --plants or --stale how "
                        "many planted bugs (all)")
    parser.add_argument("--under", nargs="+", default=[], metavar="FOLDER", help="draw random mutants from the files of these "
                        "folders alone, or with --plants or --stale judge the planted bugs of these alone")
    parser.add_argument("--suites", nargs="+", default=[], metavar="SUITE",
                        help="judge random mutants by these suites alone, which are all that is built")
    parser.add_argument("--jobs", type=int, default=1, help="suites that run at the same time (%(default)s)")
    parser.add_argument("--json", action="store_true", help="end with one JSON object")
    parser.add_argument("--root", type=pathlib.Path, default=HERE.parent.parent, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.stale and arguments.plants is None:
        arguments.plants = []
    if arguments.count is None and arguments.plants is None:
        arguments.count = RANDOM_COUNT
    if arguments.jobs < 1 or (arguments.count is not None and arguments.count < 1):
        parser.error("--count and --jobs: expected 1 or more")
    if arguments.random and (arguments.plants is not None or arguments.record):
        parser.error("--random: expected no --plants, --stale or --record; without any of them both kinds are judged")
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
        self.tree, self.suites = tree, suites

    def run(self, plant, limit, planted):
        switch = plant.number if planted else 0
        if plant.script:
            return run_script(plant.script, self.tree, limit, switch)
        return run_suite(self.suites[plant.suite], self.tree, limit, switch, test=plant.test)

    def judge_all(self, plants):
        """For each of the plants, which name the same test, whether it is caught, in a word and with the reason."""
        without = self.run(plants[0], BASELINE_SECONDS, planted=False)
        said = "".join("\n    " + line for line in without.output.strip().splitlines()[-12:])
        for plant in plants:
            if without.trouble:
                yield plant, False, f"test fails without it ({without.trouble}){said}"
            else:
                yield plant, *self.judge(plant, without)

    def judge(self, plant, without):
        limit = limit_of(without.seconds)
        planted = self.run(plant, limit, planted=True)
        if planted.timed_out and self.run(plant, limit, planted=False).timed_out:
            return False, "takes too long without it, too: the machine is busy"
        if not planted.trouble:
            return False, "NOT caught"
        return True, f"caught ({planted.trouble})" if planted.timed_out else "caught"


def judge_plants(tree, plants, suites, jobs, note):
    """Judges plants, tells note the verdict on each and returns how many are caught."""
    judge, lock, caught, by_test = PlantJudge(tree, suites), threading.Lock(), [], {}
    for plant in plants:
        by_test.setdefault(plant.judge, []).append(plant)

    def judge_some(some):
        for plant, is_caught, verdict in judge.judge_all(some):
            with lock:
                caught.extend([plant] * is_caught)
                say(f"{plant.name}: {verdict}; {plant.judge}")
                note(plant, verdict.splitlines()[0])

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(judge_some, by_test.values()))
    return len(caught)


def list_below(plants, folders):
    """The plants whose files lie below one of the folders."""
    below = {folder: [plant for plant in plants if plant.file.startswith(folder.rstrip("/") + "/")] for folder in folders}
    for folder, found in below.items():
        if not found:
            raise Problem(f"--under {folder}: expected a folder with planted bugs")
    return [plant for plant in plants if any(plant in found for found in below.values())]


def select(plants, arguments, record):
    names = arguments.plants or []
    unknown = sorted(set(names) - set(plants))
    if unknown:
        raise Problem(f"no plant is named '{unknown[0]}'; known: {', '.join(plants)}")
    chosen = [plants[name] for name in names] if names else list(plants.values())
    if arguments.plants is not None and arguments.under:
        chosen = list_below(chosen, arguments.under)
    if arguments.stale:
        chosen = record.list_stale(chosen)
    return chosen[:arguments.count] if arguments.plants is not None else chosen


def targets_of(plants, suites):
    targets = set()
    for plant in plants:
        if plant.suite and plant.suite not in suites:
            raise Problem(f"{plant.name}: no suite is named '{plant.suite}'; known: {', '.join(sorted(suites))}")
        targets |= {plant.suite} if plant.suite else {"deploy/troupe/troupe", *plant.targets}
    return targets


def build_plants(tree, plants, others):
    """Builds the plants. Those of the others that the copy has from calls before stay in it, so that their files are not
    compiled again; none is added. Returns the suites by name."""
    tree.refresh()  # Sources are grouped by their size when the build is configured: by that without plants.
    kept = tree.list_applied(others)
    tree.copy([*plants, *kept])
    suites = tree.suites()
    say(f"Building {len(plants)} plants in {tree.build}")
    try:
        tree.compile(targets_of(plants, suites))
    except BuildFailed as failed:
        if any(plant in kept for plant in failed.blamed):
            return build_plants(tree, plants, [])
        raise failed.of_plants() from None
    return suites


def run_plants(tree, plants, arguments):
    """Builds and judges the plants asked for. Returns what --json prints of them."""
    record, caught = Record(tree.root), 0
    chosen = select(plants, arguments, record)
    number(plants.values())

    def note(plant, verdict):
        record.add(plant, verdict)
        if arguments.record:
            record.save(plants)

    # Those of sources first: nearly everything else comes from the compiler's cache then, and little where headers change.
    for headers in (False, True):
        some = [plant for plant in chosen if plant.is_in_header == headers]
        others = [plant for plant in plants.values() if plant not in some and plant.is_in_header <= headers]
        if some:
            caught += judge_plants(tree, some, build_plants(tree, some, others), arguments.jobs, note)
    say(f"{caught} passed, {len(chosen) - caught} failed")
    return {"plants": len(chosen), "plants_caught": caught}


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
            figures |= run_plants(tree, plants, arguments)
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
