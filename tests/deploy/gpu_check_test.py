#!/usr/bin/python3
"""tools/gpu/check in its short form, on the CPU: gpu_check_test.py BUILD_DIR"""
import functools
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import deployment

CHECK = deployment.ROOT / "tools/gpu/check"


@functools.cache
def short_check():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "found.json"
        done = deployment.run(sys.executable, CHECK, "--device", "cpu", "--short", "--build", deployment.build_folder(),
                              "--out", path)
        return done, json.loads(path.read_text())


class ShortCheck(unittest.TestCase):
    def step(self, name):
        done, report = short_check()
        self.assertIn(name, report["steps"], done.stdout)
        return report["steps"][name]

    def found(self, name):
        step = self.step(name)
        self.assertEqual(step["outcome"], "passed", json.dumps(step, indent=1))
        return step["found"]

    def test_no_step_fails(self):
        done, report = short_check()
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertNotIn("failed", [step["outcome"] for step in report["steps"].values()])

    def test_the_backends_of_learners_compute_the_same(self):
        problems = self.found("parity")
        self.assertLessEqual({"ppo mlp", "ppo cnn", "dqn mlp", "dqn cnn", "sac mlp", "sac cnn"},
                             {problem["problem"] for problem in problems})
        for problem in problems:
            self.assertLess(problem["gradient"], 1e-5, problem)

    def test_a_training_comes_to_its_end(self):
        self.assertGreaterEqual(self.found("ppo_cartpole")["cpu"]["steps"], 2048)

    def test_deterministic_runs_are_the_same(self):
        self.assertTrue(self.found("deterministic")["same"])

    def test_speeds_are_positive(self):
        for line in self.found("speed")["cpu"]:
            self.assertTrue(line["ppo"] > 0 and line["dqn"] > 0 and line["sac"] > 0, line)

    def test_what_the_cpu_has_not_is_skipped(self):
        for name in ("full_memory", "utilisation"):
            self.assertEqual(self.step(name)["outcome"], "skipped")

    def test_a_machine_without_a_gpu_refuses_one_in_one_sentence(self):
        step = self.step("refusals")
        if step["outcome"] == "skipped":
            self.skipTest(step["why"])
        self.assertIn("policy.device cuda", step["found"]["no GPU"]["said"])


class Steps(unittest.TestCase):
    def check(self, *words):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "found.json"
            done = deployment.run(sys.executable, CHECK, "--device", "cpu", "--short", "--build",
                                  deployment.build_folder(), "--out", path, *words)
            return done, json.loads(path.read_text())["steps"] if path.exists() else None

    def test_a_step_that_fails_does_not_end_the_others(self):
        with tempfile.TemporaryDirectory() as folder:
            build = pathlib.Path(folder)
            for name in ("tests/actors/test_device", "tools/gpu/device_check", "tools/gpu/gpu_train"):
                (build / name).parent.mkdir(parents=True, exist_ok=True)
                (build / name).symlink_to("/bin/false" if "test" in name else deployment.build_folder() / name)
            done, steps = self.check("--build", build, "--only", "suites,card")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual((steps["suites"]["outcome"], steps["card"]["outcome"]), ("failed", "passed"))

    def test_steps_after_the_time_are_left_out(self):
        done, steps = self.check("--limit", "0", "--only", "card")
        self.assertEqual(steps["card"]["outcome"], "skipped", done.stdout)

    def test_an_unknown_step_is_refused(self):
        done, _ = self.check("--only", "cards")
        self.assertEqual(done.returncode, 2)
        self.assertIn("got cards", done.stdout)


class Bundle(unittest.TestCase):
    def test_help_and_refusals(self):
        tool = deployment.ROOT / "tools/gpu/bundle"
        self.assertEqual(deployment.run(tool, "--help").returncode, 0)
        with tempfile.TemporaryDirectory() as folder:
            done = deployment.run(tool, "--torch", folder)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("expected a libtorch with CUDA", done.stdout)


if __name__ == "__main__":
    deployment.main()
