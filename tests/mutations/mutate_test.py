#!/usr/bin/python3
"""./dev mutate on a project of two files, tests/mutations/fixture: mutate_test.py BUILD_DIR"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

import judge

HERE = pathlib.Path(__file__).resolve().parent
LATE = {"name": "late", "what": "The first number is left out.", "file": "runtime/window.cpp",
        "find": "number >= w.first", "replace": "(PLANTED ? number > w.first : number >= w.first)",
        "suite": "test_window", "test": "window: has its first number, [3, 5)"}
LATER = {**LATE, "name": "later", "find": "&& number < w.last",
         "replace": "&& (PLANTED ? number < w.first : number < w.last)"}
UNSEEN = {**LATE, "name": "unseen", "file": "runtime/window.hpp", "find": "int last = 5;",
          "replace": "int last = PLANTED ? 6 : 5;", "test": "window: nothing"}
SURVIVOR = {"file": "runtime/window.cpp", "mutation": "number < w.last => number <= w.last", "reason": "For this test.",
            "line": "bool has(const window& w, int number) { return number >= w.first && number < w.last; }"}


def mutate(root, *options):
    return subprocess.run([sys.executable, HERE / "mutate.py", "--root", root, *options], text=True, check=False,
                          capture_output=True)


class Mutate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name) / "fixture"
        shutil.copytree(HERE / "fixture", cls.root)
        shutil.copy(HERE.parent / "test.hpp", cls.root / "tests")
        (cls.root / "cmake").mkdir()
        shutil.copy(HERE.parent.parent / "cmake/compile.sh", cls.root / "cmake")
        (cls.root / ".gitignore").write_text("/build/\n")
        subprocess.run(["git", "init", "-q", cls.root], check=True)

    def plant(self, *entries, text=None):
        folder = self.root / "tests/mutations/plants"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "window.json").write_text(text or json.dumps({"plants": entries}))

    def give_reasons(self, **reasons):
        (self.root / "tests/mutations/equivalent.json").write_text(json.dumps(reasons))

    def judge_random(self, *options):
        """The exit code, the lines and the figures of a run without plants."""
        self.plant()
        result = mutate(self.root, "--random", "--json", *options)
        *lines, figures = result.stdout.splitlines() or ["{}"]
        self.assertEqual(result.stderr, "", result.stdout)
        return result.returncode, lines, json.loads(figures)

    def assert_refused(self, *parts):
        result = mutate(self.root, "--plants")
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        for part in parts:
            self.assertIn(part, result.stderr)

    def test_a_plant_is_caught_where_its_own_test_fails_with_it(self):
        self.plant(LATE, UNSEEN)
        result = mutate(self.root, "--plants", "--json")
        said = result.stdout + result.stderr
        self.assertEqual(result.returncode, 1, said)
        *rows, closing, figures = result.stdout.splitlines()
        self.assertIn('late: caught; test_window: "window: has its first number, [3, 5)"', rows, said)
        self.assertIn('unseen: NOT caught; test_window: "window: nothing"', rows, said)
        self.assertEqual(closing, "1 passed, 1 failed")
        self.assertEqual(json.loads(figures), {"plants": 2, "plants_caught": 1})

    def test_only_the_plants_named_are_judged(self):
        self.plant(LATE, UNSEEN)
        result = mutate(self.root, "--plants", "late")
        self.assertEqual((result.returncode, result.stdout.splitlines()[-1]), (0, "1 passed, 0 failed"), result.stderr)
        result = mutate(self.root, "--plants", "later")
        self.assertEqual(result.returncode, 2)
        self.assertIn("no plant is named 'later'; known: late, unseen", result.stderr)

    def test_what_is_judged_is_recorded_and_judged_again_where_it_has_changed(self):
        self.plant(LATE, UNSEEN)
        self.addCleanup((self.root / "tests/mutations/judged.json").unlink)
        result = mutate(self.root, "--plants", "late", "--record")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        judged = json.loads((self.root / "tests/mutations/judged.json").read_text())["judged"]
        self.assertEqual(set(judged), {"late"})
        self.assertEqual((judged["late"]["verdict"], judged["late"]["commit"]), ("caught", "none"))

        result = mutate(self.root, "--stale", "--record", "--json")  # goes on with what is not judged yet
        self.assertEqual(json.loads(result.stdout.splitlines()[-1]), {"plants": 1, "plants_caught": 0}, result.stdout)
        judged = json.loads((self.root / "tests/mutations/judged.json").read_text())["judged"]
        self.assertEqual({name: row["verdict"] for name, row in judged.items()}, {"late": "caught", "unseen": "NOT caught"})
        result = mutate(self.root, "--stale", "--json")  # what was not caught is judged again: its test may have changed
        self.assertEqual(json.loads(result.stdout.splitlines()[-1]), {"plants": 1, "plants_caught": 0}, result.stdout)

        source = self.root / "runtime/window.cpp"
        before = source.read_text()
        self.addCleanup(source.write_text, before)
        source.write_text(before + "// another line\n")
        result = mutate(self.root, "--stale", "--json")
        self.assertEqual(json.loads(result.stdout.splitlines()[-1]), {"plants": 2, "plants_caught": 1}, result.stdout)

    def test_the_commit_of_a_verdict_has_a_plus_where_files_other_than_the_record_differ(self):
        self.plant(LATE)
        record = self.root / "tests/mutations/judged.json"
        self.addCleanup(subprocess.run, ["git", "init", "-q", self.root], check=True)
        self.addCleanup(shutil.rmtree, self.root / ".git")
        self.addCleanup(record.unlink)
        record.write_text('{"judged": {}}\n')
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@localhost"]
        for words in (["add", "--all"], ["commit", "--quiet", "--message", "all"]):
            subprocess.run([*git, *words], cwd=self.root, check=True)

        def commit_of_verdict():
            self.assertEqual(mutate(self.root, "--plants", "--record").returncode, 0)
            return json.loads(record.read_text())["judged"]["late"]["commit"]

        first = commit_of_verdict()
        self.assertRegex(first, "^[0-9a-f]{8}$")
        self.assertEqual(commit_of_verdict(), first, "the record differs now, which says nothing of what was judged")
        presets = self.root / "CMakePresets.json"
        presets.write_text(presets.read_text() + "\n")
        self.assertEqual(commit_of_verdict(), first + "+")

    def test_plants_are_judged_in_parts_and_what_was_built_before_stays(self):
        self.plant(LATE, LATER)
        self.addCleanup((self.root / "tests/mutations/judged.json").unlink)
        copied = self.root / "build/mutations/source/runtime/window.cpp"
        result = mutate(self.root, "--plants", "late")
        self.assertEqual((result.returncode, copied.read_text().count("is_on(")), (0, 1), result.stdout + result.stderr)
        result = mutate(self.root, "--stale", "--record", "--count", "1", "--under", "runtime")
        self.assertEqual((result.returncode, result.stdout.splitlines()[-1]), (0, "1 passed, 0 failed"), result.stderr)
        result = mutate(self.root, "--stale", "--record", "--json")
        self.assertEqual(json.loads(result.stdout.splitlines()[-1])["plants"], 1, result.stdout)
        self.assertEqual(copied.read_text().count("is_on("), 2, "both are in the copy, one of them from before")
        result = mutate(self.root, "--stale", "--under", "runtime/none")
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        self.assertIn("--under runtime/none: expected a folder with planted bugs", result.stderr)

    def test_a_plant_of_a_call_before_that_does_not_compile_any_more_is_left_out(self):
        self.plant(LATE, LATER)
        self.assertEqual(mutate(self.root, "--plants").returncode, 0)
        self.plant(LATE, {**LATER, "replace": "PLANTED ? number"})
        result = mutate(self.root, "--plants", "late")
        self.assertEqual((result.returncode, result.stdout.splitlines()[-1]), (0, "1 passed, 0 failed"), result.stderr)

    def test_a_plant_with_a_test_that_is_not_there_is_not_caught(self):
        self.plant({**LATE, "test": "window: has"})
        result = mutate(self.root, "--plants")
        self.assertEqual(result.returncode, 1)
        self.assertIn("late: test fails without it", result.stdout)

    def test_a_plant_that_does_not_compile_is_named(self):
        self.plant({**LATE, "replace": "PLANTED ? number"})
        self.assert_refused("late: does not compile: runtime/window.cpp:5: ")

    def test_what_is_wrong_with_plants_is_said_for_each(self):
        self.plant(LATE, {**LATE, "find": "w.first"}, {**LATE, "name": "again", "find": ">= w.first &&"},
                   {**LATE, "name": "none", "find": "w.begin"}, {**LATE, "name": "off", "replace": "false"},
                   {**LATE, "name": "nowhere", "file": "runtime/door.cpp"}, {**LATE, "name": "extra", "line": 3},
                   {key: value for key, value in LATE.items() if key != "test"})
        self.assert_refused(
            "tests/mutations/plants/window.json: late: another plant has this name",
            "again: 'find' overlaps that of late in runtime/window.cpp",
            "none: 'find' occurs 0 times in runtime/window.cpp, expected once: w.begin",
            "off: 'replace': the token PLANTED is not in it", "nowhere: 'file': runtime/door.cpp does not exist",
            "extra: unknown key 'line'", "late: expected either 'suite' and 'test' or 'script'")

    def test_what_is_no_json_is_refused_with_its_place(self):
        self.plant(text='{"plants": [}')
        self.assert_refused("tests/mutations/plants/window.json: not JSON: ", "line 1 column 13")
        self.plant(text="[]")
        self.assert_refused('window.json: expected {"plants": [...]}')

    def test_random_mutants_are_judged_by_the_suites_that_reach_them(self):
        self.give_reasons()
        code, lines, figures = self.judge_random("--count", "50")
        self.assertEqual(figures, {"random": 7, "random_equivalent": 0, "random_caught": 6}, lines)
        self.assertEqual(code, 1, "6 of 7 are fewer than 90 %")
        self.assertIn("survived: runtime/window.cpp:5: number < w.last => number <= w.last", lines)
        self.assertIn("    NO REASON (reached by test_window)", lines)
        for change in ["++found; => nothing", "0 => 1", "number >= w.first => number > w.first"]:
            self.assertTrue(any(f": {change}: caught by test_window: window: " in line for line in lines), lines)
        self.assertFalse(any("most" in line or "number - 1" in line for line in lines), lines)

        drawn = [line.split(": caught")[0] for line in lines if line.startswith("[")]
        fewer = self.judge_random("--count", "2")[1]
        self.assertEqual([line.split(": caught")[0].replace("/2]", "/7]") for line in fewer if line.startswith("[")],
                         drawn[:2], "a seed has one order")
        below = self.judge_random("--count", "2", "--under", "runtime")[1]
        self.assertEqual(below[-1], fewer[-1], "all files are below runtime")
        result = mutate(self.root, "--under", "runtime/none")
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        self.assertIn("--under runtime/none: expected a folder of ", result.stderr)
        by_one = self.judge_random("--count", "2", "--suites", "test_window")[1]
        self.assertEqual(by_one[-1], fewer[-1], "there is no other suite")
        result = mutate(self.root, "--random", "--suites", "test_door")
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        self.assertIn("--suites: no suite is named 'test_door'; known: test_window", result.stderr)
        other = self.judge_random("--count", "50", "--seed", "2")[1]
        others = [line.split("] ")[1].split(": caught")[0] for line in other if line.startswith("[")]
        self.assertNotEqual(others, [line.split("] ")[1] for line in drawn])

    def test_a_random_mutant_that_does_not_compile_is_dropped_and_the_others_are_judged(self):
        self.give_reasons()
        shutil.rmtree(self.root / "build", ignore_errors=True)  # nothing is known of it from another test
        _, lines, figures = self.judge_random("--count", "50")
        dropped = [line for line in lines if line.startswith("Dropped: ")]
        self.assertEqual(len(dropped), 1, lines)
        self.assertIn(": text += '!' => text -= '!': does not compile: runtime/window.cpp:", dropped[0])
        self.assertEqual(figures["random"], 7, lines)

    def test_equivalent_mutants_are_counted_apart_and_survivors_have_reasons(self):
        self.give_reasons(equivalent=[SURVIVOR])
        code, _, figures = self.judge_random()
        self.assertEqual((code, figures["random_equivalent"], figures["random_caught"]), (0, 1, 6))
        self.give_reasons(survivors=[SURVIVOR])
        code, lines, figures = self.judge_random()
        self.assertEqual((code, figures["random_equivalent"], figures["random_caught"]), (1, 0, 6))
        self.assertIn("    For this test. (reached by test_window)", lines)

    def test_a_reason_for_a_line_that_is_gone_is_refused(self):
        self.plant()
        self.give_reasons(equivalent=[{**SURVIVOR, "line": "return 1;"}])
        result = mutate(self.root)
        self.assertEqual(result.returncode, 2)
        self.assertIn("equivalent.json: /equivalent/0: no line of runtime/window.cpp reads: return 1;", result.stderr)

    def test_a_survivor_is_judged_again_where_a_test_has_come(self):
        self.give_reasons()
        self.judge_random()
        tests = self.root / "tests/runtime/window_test.cpp"
        before = tests.read_text()
        self.addCleanup(tests.write_text, before)
        tests.write_text(before + 'TEST_CASE("window: has no last number") { CHECK(!fixture::has({}, 5)); }\n')
        code, lines, figures = self.judge_random()
        self.assertEqual((code, figures["random_caught"]), (0, 7), lines)
        self.assertTrue(any("caught by test_window: window: has no last number" in line for line in lines), lines)


class Runs(unittest.TestCase):
    def test_a_file_without_blocks_may_be_large_and_a_test_that_fills_the_disk_is_ended(self):
        with tempfile.TemporaryDirectory() as folder:
            tree = types.SimpleNamespace(source=folder)
            self.assertEqual(judge.run(["truncate", "--size=4T", "sparse"], tree, 60).trouble, "")
            with unittest.mock.patch.object(judge, "WRITTEN_MAX", 1 << 20):
                full = judge.run(["sh", "-c", "head -c 64M /dev/zero > \"$TMPDIR\"/full; tail -f /dev/null"], tree, 60)
            self.assertEqual(full.trouble, "wrote more than 1 MiB")


class Document(unittest.TestCase):
    def test_the_document_lists_the_plants(self):
        result = mutate(HERE.parent.parent, "--list", "--markdown")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(result.stdout in (HERE.parent / "mutations.md").read_text(),
                        "./dev mutate --list --update writes the table")


if __name__ == "__main__":
    done = unittest.main(argv=sys.argv[:1], exit=False).result
    failed = len(done.failures) + len(done.errors)
    print(f"{done.testsRun - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
