#!/usr/bin/python3
"""Tests multi_agent.py: the way of a score, what a median is judged by, what is kept and for how long, and its cells
beside the real `troupe`: multi_agent_test.py BUILD_DIR"""
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

import multi_agent


class Scripted(multi_agent.Runs):
    """Runs of a `troupe` that knows one algorithm, `known`."""

    def __init__(self, only_kept=False):
        super().__init__(pathlib.Path("."), only_kept)
        self.defaults = {"known": {"lr": 1}}

    def defaults_of(self, algorithm):
        if algorithm not in self.defaults:
            raise multi_agent.Missing(f"troupe has no {algorithm}")
        return self.defaults[algorithm]

    def run(self, seed=1, options=(), algorithm="known"):
        with contextlib.redirect_stdout(io.StringIO()):
            return self.train("cell", algorithm, "Env-v0", 10, seed, *options)["eval_mean"]


class Judged(unittest.TestCase):
    def test_random_players_are_at_the_beginning_of_the_way_and_the_controller_at_its_end(self):
        self.assertEqual((multi_agent.way(-27.0), multi_agent.way(-7.9)), (0.0, 1.0))

    def test_a_result_has_the_median_of_the_seeds(self):
        result = multi_agent.spread_result([{"eval_mean": mean, "steps": 10, "cpu_s": 1.0} for mean in (-8, -27, -10)])
        self.assertEqual((result["median"], result["steps"], result["cpu_s"]), (-10, 10, [1.0, 1.0, 1.0]))
        self.assertAlmostEqual(result["median_way"], 17 / 19.1)

    def test_mappo_must_come_six_tenths_of_the_way(self):
        self.assertEqual(multi_agent.faults_of_mappo({"median": -15.5, "median_way": 0.602}), [])
        self.assertIn("got 0.597", *multi_agent.faults_of_mappo({"median": -15.6, "median_way": 0.597}))

    def test_mappo_must_not_be_below_its_peer(self):
        beside = {"median": -14.0, "median_way": 0.68}
        self.assertEqual(multi_agent.faults_of_mappo({**beside, "peer_median": -14.0}), [])
        self.assertIn("-13.99", *multi_agent.faults_of_mappo({**beside, "peer_median": -13.99}))


class Kept(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for name, value in {"KEPT": pathlib.Path(folder.name), "measured": self.measure}.items():
            self.addCleanup(setattr, multi_agent, name, getattr(multi_agent, name))
            setattr(multi_agent, name, value)
        self.measured = 0

    def measure(self, _):
        """A command whose score says how many there were before it."""
        self.measured += 1
        return json.dumps({"eval_mean": float(self.measured), "eval_std": 0.0, "steps": 10}), 0.5

    def test_what_is_done_is_not_done_again(self):
        runs = Scripted()
        self.assertEqual([runs.run(1), runs.run(2), runs.run(1)], [1.0, 2.0, 1.0])
        self.assertEqual(Scripted(only_kept=True).run(2), 2.0)

    def test_other_options_and_other_defaults_are_done_anew(self):
        runs = Scripted()
        self.assertEqual([runs.run(), runs.run(options=["trainer.lr=2"])], [1.0, 2.0])
        runs.defaults["known"] = {"lr": 3}
        self.assertEqual(runs.run(), 3.0)

    def test_a_list_of_what_is_kept_does_nothing(self):
        runs = Scripted(only_kept=True)
        with self.assertRaisesRegex(multi_agent.Missing, "not done yet"):
            runs.run()
        self.assertEqual(self.measured, 0)

    def test_an_unknown_algorithm_is_missing(self):
        with self.assertRaisesRegex(multi_agent.Missing, "troupe has no unknown"):
            Scripted().run(algorithm="unknown")


class Command(unittest.TestCase):
    def test_cpu_seconds_are_those_of_the_process_and_its_children(self):
        busy = "import time\nwhile time.process_time() < 0.2: pass\nprint('over')"
        child = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {busy!r}])"
        printed, cpu_s = multi_agent.measured([sys.executable, "-c", child])
        self.assertEqual(printed, "over\n")
        self.assertGreater(cpu_s, 0.2)

    def test_a_command_that_fails_says_why(self):
        with self.assertRaisesRegex(RuntimeError, "ended with 1: no"):
            multi_agent.measured([sys.executable, "-c", "import sys; sys.exit('no')"])

    def test_troupe_has_the_options_of_both_sides(self):
        runs = multi_agent.Runs(pathlib.Path(sys.argv[1]), True)
        for algorithm in ("mappo", "ippo"):
            trainer = runs.defaults_of(algorithm)["trainer"]
            self.assertLessEqual(set(multi_agent.NUMBERS) - {"n_envs"} | {"lr"}, set(trainer), json.dumps(trainer))
        with self.assertRaises(multi_agent.Missing):
            runs.defaults_of("unknown")


if __name__ == "__main__":
    outcome = unittest.main(argv=["multi_agent_test"], exit=False, verbosity=0).result
    failed = len(outcome.failures) + len(outcome.errors)
    print(f"{max(outcome.testsRun - failed, 0)} passed, {failed} failed")
    sys.exit(1 if failed else 0)
