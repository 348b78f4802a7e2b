"""Draws random mutants, builds them and judges those that a suite of their library reaches."""
from concurrent.futures import ThreadPoolExecutor
import json
import math
import os
import pathlib
import tempfile
import threading

from edits import NUMBERS, Problem, number, to_unicode
from judge import BASELINE_SECONDS, limit_of, run_suite
from mutants import Factory
from tree import BuildFailed, LIBRARIES

REASONS = "tests/mutations/equivalent.json"
ENTRY = {"file", "line", "mutation", "reason"}
# Judge nothing: times decide what they see.
LEFT_OUT = {"test_crashes", "test_allocations"}
RESERVE = 1.4  # mutants that are built for each that is wanted: some are never reached


class Reasons:
    """What tests/mutations/equivalent.json says of mutants: `equivalent` ones are counted apart, `survivors` not."""

    def __init__(self, root):
        self.found = {"equivalent": {}, "survivors": {}}
        path = root / REASONS
        if not path.is_file():
            return
        try:
            read_lists = json.loads(path.read_text())
        except json.JSONDecodeError as error:
            raise Problem(f"{REASONS}: not JSON: {error}") from None
        if not isinstance(read_lists, dict) or set(read_lists) - set(self.found):
            raise Problem(f'{REASONS}: expected {{"equivalent": [...], "survivors": [...]}}')
        lines = {}
        for kind, entries in read_lists.items():
            for place, entry in enumerate(entries):
                where = f"{REASONS}: /{kind}/{place}"
                if not isinstance(entry, dict) or set(entry) != ENTRY:
                    raise Problem(f"{where}: expected an object of {', '.join(sorted(ENTRY))}")
                file = entry["file"]
                if file not in lines:
                    if not (root / file).is_file():
                        raise Problem(f"{where}: {file} does not exist")
                    lines[file] = {line.strip() for line in (root / file).read_text().splitlines()}
                if entry["line"].strip() not in lines[file]:
                    raise Problem(f"{where}: no line of {file} reads: {entry['line']}")
                self.found[kind][self.key(file, entry["line"], entry["mutation"])] = entry["reason"]

    @staticmethod
    def key(file, line, mutation):
        return (file, " ".join(line.split()), " ".join(mutation.split()))

    def of(self, kind, mutant):
        key = self.key(mutant.file, mutant.line, mutant.change)
        return self.found[kind].get(tuple(map(to_unicode, key)))


class Results:
    """What is known from the calls before, in a file that is complete whenever it is read."""

    def __init__(self, path):
        self.path, self.lock = path, threading.Lock()
        known = json.loads(path.read_text()) if path.is_file() else {}
        self.sites, self.reach = known.get("sites", {}), known.get("reach", {})
        self.suites, self.verdicts = known.get("suites", {}), known.get("verdicts", {})

    def save(self):
        with self.lock:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            fresh = self.path.with_suffix(".new")
            fresh.write_text(json.dumps({"sites": self.sites, "reach": self.reach, "suites": self.suites,
                                         "verdicts": self.verdicts}, indent=0))
            os.replace(fresh, self.path)


class RandomMutants:
    """Mutants of what is not planted."""

    def __init__(self, tree, plants, arguments, say):
        self.tree, self.plants, self.arguments, self.say = tree, plants, arguments, say
        self.reasons = Reasons(tree.root)
        self.results = Results(tree.folder / "results.json")
        self.suites = {name: suite for name, suite in tree.suites().items()
                       if suite.library in LIBRARIES and name not in LEFT_OUT}
        if unknown := sorted(set(arguments.suites) - set(self.suites)):
            raise Problem(f"--suites: no suite is named '{unknown[0]}'; known: {', '.join(sorted(self.suites))}")
        self.digests = {library: tree.digest(library) for library in LIBRARIES}
        if arguments.suites:
            self.suites = {name: self.suites[name] for name in arguments.suites}
            self.digests = {library: " ".join([digest, *sorted(self.suites)]) for library, digest in self.digests.items()}

    def digest(self, mutant):
        return self.digests[mutant.file.split("/")[0]]

    def gather(self):
        """The first `--count` mutants of the seed's order that compile and are reached, built."""
        factory = Factory(self.tree, self.plants, self.results.sites, self.arguments.under)
        queue, count, drawn = factory.draw(self.arguments.seed), self.arguments.count, []
        while True:
            reached = [mutant for mutant in drawn if self.reach_of(mutant)]
            more = factory.take(queue, math.ceil(RESERVE * (count - len(reached))), drawn)
            self.results.save()
            drawn += more
            if more and all(self.is_recorded(mutant) for mutant in drawn):
                continue  # nothing has to be built to know what is reached
            built = self.build(drawn, factory)
            self.record(built)
            if not more and len(built) == len(drawn):
                return reached[:count]
            drawn = built

    def build(self, mutants, factory):
        """Builds what mutants need, and returns those that compile."""
        while True:
            number(mutants)
            self.tree.copy(mutants)
            libraries = {mutant.file.split("/")[0] for mutant in mutants}
            targets = sorted(name for name, suite in self.suites.items() if suite.library in libraries)
            self.say(f"Building {len(mutants)} mutants in {self.tree.build}")
            try:
                self.tree.compile(targets)
                return mutants
            except BuildFailed as failed:
                blamed = [mutant for mutant in mutants if mutant in failed.blamed]
                if not blamed:
                    raise
                for mutant in blamed:
                    self.say(f"Dropped: {mutant.where}: {to_unicode(mutant.change)}: does not compile: {failed.blamed[mutant]}")
                    factory.reject(mutant.name, "does not compile")
                self.results.save()
                mutants = [mutant for mutant in mutants if mutant not in blamed]

    def is_recorded(self, mutant):
        return self.results.reach.get(mutant.name, {}).get("digest") == self.digest(mutant)

    def reach_of(self, mutant):
        """The suites that reach a mutant, the fastest first; empty where it isn't known."""
        if not self.is_recorded(mutant):
            return []
        known = self.results.reach[mutant.name]["suites"]
        return sorted((name for name in known if name in self.suites), key=lambda name: self.results.suites[name])

    def record(self, mutants):
        """Runs the suites of the libraries once and notes which reach which mutants."""
        unknown = [mutant for mutant in mutants if not self.is_recorded(mutant)]
        for library in LIBRARIES:
            some = [mutant for mutant in unknown if mutant.file.split("/")[0] == library]
            if not some:
                continue
            reached = {mutant: [] for mutant in some}
            for name, suite in sorted(self.suites.items()):
                if suite.library == library:
                    bytes_reached = self.record_suite(suite)
                    for mutant in some:
                        if bytes_reached[mutant.number]:
                            reached[mutant].append(name)
            for mutant, names in reached.items():
                self.results.reach[mutant.name] = {"digest": self.digest(mutant), "suites": names}
            self.results.save()

    def record_suite(self, suite):
        """A byte a mutation: whether the suite reaches it. A suite that fails by itself reaches none."""
        with tempfile.NamedTemporaryFile(prefix="troupe") as file:
            os.truncate(file.name, NUMBERS)
            verdict = run_suite(suite, self.tree, BASELINE_SECONDS, reached=file.name)
            self.results.suites[suite.name] = verdict.seconds
            if verdict.trouble:
                self.say(f"{suite.name} judges nothing: it fails without a mutant ({verdict.trouble}): {verdict.failed}")
                return bytes(NUMBERS)
            reached = pathlib.Path(file.name).read_bytes()
            self.say(f"{suite.name}: {verdict.seconds:.0f} s, reaches {sum(reached)} mutations")
            return reached

    def judge_all(self, mutants):
        """Judges mutants and returns what --json prints of them."""
        done, lock = [0], threading.Lock()

        def judge(mutant):
            verdict = self.known_verdict(mutant) or self.judge(mutant)
            with lock:
                self.results.verdicts[mutant.name] = {**verdict, "digest": self.digest(mutant)}
                done[0] += 1
                self.results.save()
                self.say(f"[{done[0]}/{len(mutants)}] {mutant.where}: {to_unicode(mutant.change)}: {describe(verdict)}")
            return verdict

        with ThreadPoolExecutor(self.arguments.jobs) as pool:
            verdicts = list(pool.map(judge, mutants))
        return self.report(mutants, verdicts)

    def known_verdict(self, mutant):
        if self.reasons.of("equivalent", mutant):
            return {"equivalent": True}
        known = self.results.verdicts.get(mutant.name, {})
        same = known.get("digest") == self.digest(mutant) and not known.get("equivalent")
        return {key: value for key, value in known.items() if key != "digest"} if same else None

    def judge(self, mutant):
        """Runs the test that caught the mutant last, then every suite that reaches it, up to the first that fails."""
        names = self.reach_of(mutant)
        before = self.results.verdicts.get(mutant.name, {})
        if before.get("by") in names and before.get("test"):
            caught = self.judge_by(mutant, before["by"], before["test"])
            if caught:
                return caught
        for name in names:
            caught = self.judge_by(mutant, name, None)
            if caught:
                return caught
        return {"caught": False, "suites": names}

    def judge_by(self, mutant, name, test):
        """What results keep of a failure, or None. A failure counts that comes again, by itself or in its suite: a busy
        machine makes some of its own."""
        verdict = self.failure(mutant, name, test)
        if not verdict:
            return None
        again = [verdict.failed, None] if verdict.failed else [None]
        if not verdict.timed_out and not any(self.failure(mutant, name, alone) for alone in again):
            self.say(f"{mutant.where}: {name} failed once and not again: {verdict.failed}")
            return None
        return {"caught": True, "by": name, "test": verdict.failed, "how": verdict.trouble,
                "timed_out": verdict.timed_out, "seconds": round(verdict.seconds, 1)}

    def failure(self, mutant, name, test):
        """The verdict of a suite, or of one test of it, that fails with a mutant; None where it passes."""
        limit = limit_of(self.results.suites[name])
        verdict = run_suite(self.suites[name], self.tree, limit, mutant.number, test=test)
        if verdict.timed_out and run_suite(self.suites[name], self.tree, limit, test=test).timed_out:
            self.say(f"{mutant.where}: {name} takes too long without the mutant, too: the machine is busy, it judges nothing")
            return None
        return verdict if verdict.trouble and not verdict.is_missing else None

    def report(self, mutants, verdicts):
        judged = list(zip(mutants, verdicts))
        caught = [verdict for verdict in verdicts if verdict.get("caught")]
        equivalent = [mutant for mutant, verdict in judged if verdict.get("equivalent")]
        survivors = [(mutant, verdict) for mutant, verdict in judged if verdict.get("caught") is False]
        for mutant, verdict in sorted(survivors, key=lambda pair: (pair[0].file, pair[0].row)):
            reason = self.reasons.of("survivors", mutant)
            self.say(f"survived: {mutant.where}: {to_unicode(mutant.change)}")
            self.say(f"    {to_unicode(mutant.line)}")
            self.say(f"    {reason or 'NO REASON'} (reached by {', '.join(verdict['suites'])})")
        ended = sum(verdict["timed_out"] for verdict in caught)
        self.say(f"{len(mutants)} random mutants of seed {self.arguments.seed}: {len(caught)} caught ({ended} by the time "
                 f"limit), {len(equivalent)} equivalent, {len(survivors)} survived")
        return {"random": len(mutants), "random_equivalent": len(equivalent), "random_caught": len(caught)}


def describe(verdict):
    if verdict.get("equivalent"):
        return "equivalent"
    if not verdict["caught"]:
        return "SURVIVED"
    return f"caught by {verdict['by']}" + (" (time limit)" if verdict["timed_out"] else f": {verdict['test']}")
