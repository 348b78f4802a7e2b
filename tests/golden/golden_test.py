#!/usr/bin/python3
"""Tests golden.py: what differs is named, renamed options and columns are the same thing, and three of the runs come out
alike twice: golden_test.py BUILD_DIR"""
import json
import pathlib
import sys
import tempfile
import unittest

import golden

NAMES = {"options": {"trainer.learning_rate": "trainer.lr"}, "columns": {"train/new": "train/old"}, "summary": {},
         "exceptions": {}}
SYNC, ASYNC = {"order": "sync"}, {"order": "async"}


def run(weights="w", **columns):
    return {"weights": weights, "columns": dict(columns), "summary": {"steps": 1}}


class Judged(unittest.TestCase):
    def test_alike_runs_pass(self):
        self.assertEqual(golden.judge(SYNC, run(), run(), None, None), ("passed", []))

    def test_other_weights_fail(self):
        self.assertEqual(golden.judge(SYNC, run("w"), run("v"), None, None), ("failed", ["weights"]))

    def test_a_column_that_differs_or_is_gone_is_named(self):
        self.assertEqual(golden.judge(SYNC, run(loss="1"), run(loss="2"), None, None), ("failed", ["column loss"]))
        self.assertEqual(golden.judge(SYNC, run(), run(loss="2"), None, None), ("failed", ["column loss"]))

    def test_an_exception_is_skipped_with_its_reason(self):
        self.assertEqual(golden.judge(SYNC, run("w"), run("v"), None, "why"), ("skipped", ["why"]))

    def test_an_async_run_may_have_another_order_but_not_two(self):
        self.assertEqual(golden.judge(ASYNC, run("w"), run("v"), run("w"), None)[0], "passed")
        self.assertEqual(golden.judge(ASYNC, run("w"), run("v"), run("u"), None),
                         ("failed", ["the second time: weights"]))

    def test_a_run_that_fails_is_told_with_its_error(self):
        self.assertEqual(golden.judge(SYNC, {"error": "exit code 2"}, None, None, None), ("failed", ["exit code 2"]))
        self.assertEqual(golden.judge(ASYNC, run(), {"error": "exit code 2"}, run(), None)[0], "failed")

    def test_names_of_then(self):
        self.assertEqual(golden.options_of_then(["--algo", "ppo", "trainer.learning_rate=0.1"], NAMES),
                         ["--algo", "ppo", "trainer.lr=0.1"])
        self.assertEqual(golden.in_terms_of_now(run(**{"train/old": "1"}), NAMES), run(**{"train/new": "1"}))


class Runs(unittest.TestCase):
    def setUp(self):
        self.runs = golden.read_json("runs.json")["runs"]

    def test_there_are_enough(self):
        self.assertGreaterEqual(len(self.runs), 40)
        self.assertEqual({facts["order"] for facts in self.runs.values()}, {"sync", "async"})

    def test_no_two_are_the_same(self):
        self.assertEqual(len({json.dumps(facts) for facts in self.runs.values()}), len(self.runs))

    def test_exceptions_name_runs_and_reasons(self):
        probe = (golden.HERE / "probe.cpp").read_text()
        for name, reason in golden.read_json("renames.json")["exceptions"].items():
            self.assertTrue(name in self.runs or f'"{name}"' in probe, name)
            self.assertGreater(len(reason), 20)

    def test_algorithms_are_resumed_in_both_modes(self):
        resumed = {}
        for facts in self.runs.values():
            if facts.get("resume"):
                resumed.setdefault(facts["arguments"].split()[1], set()).add(facts["order"])
        several = ("ippo", "mappo", "coma", "iql", "vdn", "qmix", "maddpg", "matd3")
        self.assertEqual({name: resumed[name] for name in several}, dict.fromkeys(several, {"sync", "async"}))
        self.assertLessEqual({"sft", "dqn", "sac", "td3"}, resumed.keys())

    def test_a_killed_run_goes_on_from_its_oldest_checkpoint(self):
        with tempfile.TemporaryDirectory() as folder:
            run = pathlib.Path(folder)
            for step in (1000, 200, 600):
                (run / f"checkpoints/ckpt-{step}").mkdir(parents=True)
            self.assertEqual(golden.forget_later(run), 200)
            self.assertEqual([each.name for each in (run / "checkpoints").iterdir()], ["ckpt-200"])

    def test_resumed_runs_come_out_as_the_whole(self):
        for name in ("vdn-turns", "async-coma", "sft"):
            with self.subTest(name):
                facts = self.runs[name]
                one, other = (golden.make_run(TROUPE, facts["arguments"].split(), facts, killed) for killed in (False, True))
                self.assertEqual(golden.differences(one, other), [])

    def test_three_come_out_alike_twice(self):
        for name in ("a2c", "ppo-groups", "async-dqn"):
            with self.subTest(name):
                facts = self.runs[name]
                one, other = (golden.make_run(TROUPE, facts["arguments"].split(), facts) for _ in range(2))
                self.assertEqual(golden.differences(one, other), [])

    def test_all_parts_come_out_alike_twice(self):
        parts = golden.read_parts(BUILD)
        self.assertGreaterEqual(len(parts), 25)
        self.assertEqual(len({part["weights"] for part in parts.values()}), len(parts))
        self.assertEqual(golden.read_parts(BUILD), parts)

    def test_another_seed_is_seen(self):
        facts = self.runs["a2c"]
        one, other = (golden.make_run(TROUPE, [*facts["arguments"].split(), "--seed", seed], facts) for seed in "12")
        self.assertIn("weights", golden.differences(one, other))


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1))
    TROUPE = BUILD / golden.TROUPE
    result = unittest.main(exit=False).result
    failed = len({getattr(case, "test_case", case).id() for case, _ in result.failures + result.errors})
    print(f"{result.testsRun - failed} passed, {failed} failed, {len(result.skipped)} skipped")
    sys.exit(1 if failed else 0)
