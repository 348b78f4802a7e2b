#!/usr/bin/python3
"""Tests peers.py's arithmetic and its pairs; no peer is installed: peers_test.py BUILD_DIR"""
import json
import unittest

import peers
import set_up
import settings


def runs(*cpu_and_steps):
    return [{"train_cpu_s": cpu, "steps": steps, "eval_mean": 0.0} for cpu, steps in cpu_and_steps]


def pair_of(kind, bar):
    return settings.PAIRS[0]._replace(kind=kind, bar=bar)


class Judge(unittest.TestCase):
    def test_a_ratio_is_our_time_over_theirs_and_the_median_counts(self):
        judged = peers.judge(pair_of("ratio", 1.2), runs((9, 10), (3, 10), (2, 10)), runs((2, 10), (2, 10), (1, 10)))
        self.assertAlmostEqual(judged["value"], 1.5)
        self.assertAlmostEqual(judged["value_of_best"], 2.0)
        self.assertFalse(judged["reached"])

    def test_a_speedup_is_their_time_over_ours_a_step(self):
        judged = peers.judge(pair_of("speedup", 15), runs((1, 100)), runs((10, 50)))
        self.assertAlmostEqual(judged["value"], 20)
        self.assertTrue(judged["reached"])

    def test_a_pair_without_a_value_is_null_with_its_reason(self):
        pair = pair_of("ratio", 1.2)
        self.assertEqual(peers.as_json(pair, {"missing": "void: no BLAS"}),
                         {pair.key: None, f"{pair.key}_missing": "void: no BLAS"})


class OurRun(unittest.TestCase):
    def test_an_empty_start_is_taken_off_and_its_steps_scaled_out(self):
        class Scripted(peers.Troupe):
            def __init__(self):
                self.pair = settings.PAIRS[0]

            def train(self, seed, steps=None):
                taken, cpu = (100, 1.5) if steps else (1100, 3.5)
                return {"steps": taken, "eval_mean": 1.0, "eval_std": 0.0}, cpu

        self.assertAlmostEqual(Scripted().run(1)["train_cpu_s"], 2.2)


class OpenBlas(unittest.TestCase):
    def scripted(self, **facts):
        class Scripted(peers.RlTools):
            def __init__(self):
                self.program, self.variables = "/usr/bin/echo", {}

            def run(self, _):
                return super().run(json.dumps({"updates": 100, **facts}))

        return Scripted()

    def test_a_run_that_used_it_counts(self):
        result = self.scripted(kernels="Haswell", matrix_products=5000).run(1)
        self.assertEqual(result["version"], "RL-tools, OpenBLAS Haswell")

    def test_a_run_without_it_is_void(self):
        with self.assertRaisesRegex(set_up.Unavailable, "void"):
            self.scripted(kernels="Haswell", matrix_products=0).run(1)

    def test_a_run_with_its_oldest_kernels_is_void(self):
        with self.assertRaisesRegex(set_up.Unavailable, "void"):
            self.scripted(kernels="Prescott", matrix_products=5000).run(1)


class Pairs(unittest.TestCase):
    def test_names_are_told_apart(self):
        for field in ("name", "key"):
            names = [getattr(pair, field) for pair in settings.PAIRS]
            self.assertEqual(len(names), len(set(names)))

    def test_each_configuration_that_is_there_is_json(self):
        for path in set_up.HERE.glob("*.json"):
            self.assertIn("env", json.loads(path.read_text()), path.name)


if __name__ == "__main__":
    outcome = unittest.main(argv=["peers_test"], exit=False, verbosity=0).result
    failed = len(outcome.failures) + len(outcome.errors)
    print(f"{max(outcome.testsRun - failed, 0)} passed, {failed} failed")
    raise SystemExit(1 if failed else 0)
