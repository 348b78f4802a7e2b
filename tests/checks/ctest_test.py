#!/usr/bin/python3
"""ctest runs what ./dev test runs, and lists the cases where it is asked for them: ctest_test.py BUILD_DIR"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
sys.path.insert(0, str(TESTS))
import run as runner  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "build/release"

# Lists cases as Catch2 v2 does, which ends with their number, or as v3 does, and runs the one that is named.
SUITE = """#!/bin/sh
case "$*" in
  "--list-test-names-only --verbosity high ~[.]")
    echo listed >>"$0.listed"
    cat "$0.names"
    exit $(wc -l <"$0.names") ;;
  "--list-tests --reporter xml ~[.]")
    exec cat "$0.xml" ;;
esac
printf '%s %s\\n' "$GREETING" "$1"
"""


def list_entries(folder, *words, **environment):
    """The entries of ctest in that build folder, by name."""
    environment = {name: value for name, value in {**os.environ, **environment}.items() if value}
    listed = subprocess.run(["ctest", "--show-only=json-v1", *words], cwd=folder, text=True, capture_output=True, check=True,
                            env=environment)
    return {entry["name"]: entry for entry in json.loads(listed.stdout)["tests"]}


def read_property(entry, name):
    return next((one["value"] for one in entry["properties"] if one["name"] == name), None)


def read_lines(file):
    return [line for line in (BUILD / "tests" / file).read_text().splitlines() if line]


class Entries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.entries = {name: entry for name, entry in list_entries(BUILD, TROUPE_LIST_CASES="").items()
                       if "case" not in read_property(entry, "LABELS")}

    def test_every_suite_and_every_script_is_an_entry_and_nothing_else(self):
        suites = {pathlib.Path(line).name for line in read_lines("suites.txt")}
        scripts = {pathlib.Path(line).relative_to(TESTS).as_posix() for line in read_lines("scripts.txt")}
        self.assertEqual(set(self.entries), suites | scripts)
        for names, label in (suites, "unit"), (scripts, "script"):
            for name in names:
                self.assertIn(label, read_property(self.entries[name], "LABELS"), name)

    def test_those_that_are_listed_as_the_longest_or_as_on_the_disk_are_there(self):
        suites = {pathlib.Path(line).name for line in read_lines("suites.txt")}
        scripts = {"/".join(pathlib.Path(line).parts[-2:]) for line in read_lines("scripts.txt")}
        longest = (TESTS / "longest.txt").read_text().split()
        self.assertEqual(sorted({*longest, *runner.ON_DISK} - suites - scripts), [])
        self.assertEqual(len(longest), len(set(longest)))

    def test_an_entry_runs_what_its_line_names(self):
        commands = [entry.get("command") for entry in self.entries.values()]
        for line in read_lines("scripts.txt"):
            self.assertIn(["/usr/bin/python3", str(TESTS / "run.py"), str(BUILD), "--script", line], commands)
        for line in read_lines("suites.txt"):
            if os.path.exists(line):  # the entry of another has no command
                self.assertIn([line], commands)

    def test_each_has_a_time_limit_and_runs_where_dev_runs_it(self):
        for name, entry in self.entries.items():
            self.assertIn(read_property(entry, "TIMEOUT"), (600, 660), name)
            self.assertEqual(read_property(entry, "WORKING_DIRECTORY"), str(ROOT), name)

    def test_the_presets_hold_what_they_should(self):
        presets = json.loads((ROOT / "CMakePresets.json").read_text())
        of_release = [preset["name"] for preset in presets["testPresets"] if preset.get("configurePreset") == "release"]
        self.assertEqual(of_release, ["release", "quick", "worlds", "cases"])
        labels = {label for entry in self.entries.values() for label in read_property(entry, "LABELS")}
        self.assertLessEqual({"unit", "script", "slow", "worlds"}, labels)
        worlds = {name for name, entry in self.entries.items() if "worlds" in read_property(entry, "LABELS")}
        asking = {path.relative_to(TESTS).as_posix() for path in map(pathlib.Path, read_lines("scripts.txt"))
                  if path != pathlib.Path(__file__).resolve() and "TROUPE_WORLDS" in path.read_text()}
        self.assertEqual(worlds, asking)


class Cases(unittest.TestCase):
    NAMES = ["plain: one", "\"#1 first\"", "a, b [c] and \"d\"", "~e; f", "back\\slash", "${g} $ENV{HOME}"]
    CASE_V3 = ("<?xml version='1.0'?><MatchingTests><TestCase><Name>a &lt; b</Name><ClassName/><Tags>[t]</Tags>"
               "<SourceInfo><File>../x_test.cpp</File><Line>7</Line></SourceInfo></TestCase></MatchingTests>")
    SPECIFICATIONS = ["plain: one", "#1 first", "a\\, b \\[c\\] and \\\"d\\\"", "\\~e; f", "back\\\\slash", "${g} $ENV{HOME}"]

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = pathlib.Path(folder.name)
        (self.build / "tests").mkdir()
        self.suite = self.build / "test_x"
        self.suite.write_text(SUITE)
        self.suite.chmod(0o755)
        self.write_names(self.NAMES)
        (self.build / "tests/suites.txt").write_text(f"{self.suite}\n{self.build}/test_not_built\n")
        (self.build / "tests/environment.txt").write_text("GREETING=good day\nOTHER=1\n")
        self.configure("2.13.10")

    def write_names(self, names):
        (self.build / "test_x.names").write_text("".join(f"{name}\t@/x_test.cpp:{line}\n" for line, name in enumerate(names)))

    def configure(self, version):
        text = (TESTS / "cases.cmake.in").read_text()
        for name, value in {"TROUPE_LIST_CASES": "OFF", "CMAKE_CURRENT_SOURCE_DIR": TESTS, "PROJECT_BINARY_DIR": self.build,
                            "Catch2_VERSION": version}.items():
            text = text.replace(f"@{name}@", str(value))
        self.assertNotIn("@", text)
        (self.build / "CTestTestfile.cmake").write_text(text)

    def count_lists(self):
        listed = self.build / "test_x.listed"
        return len(listed.read_text().splitlines()) if listed.exists() else 0

    def test_nothing_is_listed_where_nobody_asks(self):
        self.assertEqual(list_entries(self.build, TROUPE_LIST_CASES=""), {})
        self.assertEqual(self.count_lists(), 0)

    def test_each_case_is_an_entry_that_runs_it_alone(self):
        entries = list_entries(self.build, TROUPE_LIST_CASES="1")
        self.assertEqual({name: entry["command"] for name, entry in entries.items()},
                         {f"test_x: {name}".replace('"#1 first"', "#1 first"): [str(self.suite), specification]
                          for name, specification in zip(self.NAMES, self.SPECIFICATIONS)})
        for entry in entries.values():
            self.assertEqual(read_property(entry, "LABELS"), ["case"])
            self.assertEqual(read_property(entry, "ENVIRONMENT"), ["GREETING=good day", "OTHER=1"])
        ran = subprocess.run(["ctest", "-V", "-R", "plain"], cwd=self.build, text=True, capture_output=True, check=True,
                             env={**os.environ, "TROUPE_LIST_CASES": "1"})
        self.assertIn("good day plain: one\n", ran.stdout)

    def test_the_lists_of_catch2_v3_are_read_too_and_an_entry_says_where_its_case_is(self):
        self.configure("3.7.1")
        (self.build / "test_x.xml").write_text(self.CASE_V3)
        listed = subprocess.run(["ctest", "--show-only=json-v1"], cwd=self.build, text=True, capture_output=True, check=True,
                                env={**os.environ, "TROUPE_LIST_CASES": "1"})
        told = json.loads(listed.stdout)
        [entry] = told["tests"]
        self.assertEqual((entry["name"], entry["command"]), ("test_x: a < b", [str(self.suite), "a < b"]))
        node = told["backtraceGraph"]["nodes"][entry["backtrace"]]
        self.assertEqual((told["backtraceGraph"]["files"][node["file"]], node["line"]), (str(self.build.parent / "x_test.cpp"), 7))

    def test_a_suite_is_listed_again_only_when_it_is_newer_than_its_list(self):
        for _ in range(2):
            list_entries(self.build, TROUPE_LIST_CASES="1")
        self.assertEqual(self.count_lists(), 1)
        self.write_names(["another"])
        later = (self.build / "tests/cases/test_x.cmake").stat().st_mtime + 1
        os.utime(self.suite, (later, later))
        self.assertEqual(list(list_entries(self.build, TROUPE_LIST_CASES="1")), ["test_x: another"])

    def test_a_suite_that_cannot_list_its_cases_has_none(self):
        self.suite.write_text("#!/bin/sh\nexit 1\n")
        self.assertEqual(list_entries(self.build, TROUPE_LIST_CASES="1"), {})


if __name__ == "__main__":
    result = unittest.main(argv=[sys.argv[0]], exit=False, verbosity=1).result
    failed = len(result.failures) + len(result.errors)
    print(f"{max(result.testsRun - failed, 0)} passed, {failed} failed")
    sys.exit(1 if failed else 0)
