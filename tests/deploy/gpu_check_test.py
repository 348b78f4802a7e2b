#!/usr/bin/python3
"""tools/gpu/check in its short form, on the CPU: gpu_check_test.py BUILD_DIR"""
import functools
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
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
        done, steps = self.check("--limit", "5", "--only", "card")
        self.assertEqual(steps["card"]["outcome"], "skipped", done.stdout)

    def test_an_unknown_step_is_refused(self):
        done, _ = self.check("--only", "cards")
        self.assertEqual(done.returncode, 2)
        self.assertIn("got 'cards'", done.stdout)


class Bundle(unittest.TestCase):
    def test_help_and_refusals(self):
        tool = deployment.ROOT / "tools/gpu/bundle"
        self.assertEqual(deployment.run(tool, "--help").returncode, 0)
        with tempfile.TemporaryDirectory() as folder:
            done = deployment.run(tool, "--torch", folder)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("expected a libtorch with CUDA", done.stdout)


class Refusals(unittest.TestCase):
    """What is refused at the start, and how the check ends early."""

    def check(self, *words, **more):
        return deployment.run(sys.executable, CHECK, "--device", "cpu", "--build", deployment.build_folder(), *words,
                              **more)

    def test_wrong_options_are_refused_at_once(self):
        for words, text in ((["--only", ""], "expected some of card"), (["--only", "card,"], "expected some of card"),
                            (["--only", "card,card"], "each once"), (["--limit", "1"], "at least 5 seconds"),
                            (["--limit", "nan"], "at least 5 seconds"), (["--out", "missing/x.json"], "a file in a folder"),
                            (["--out", "."], "a file in a folder"), (["--torch", "/usr"], "expected none with --build")):
            with self.subTest(words=words):
                done = self.check(*words)
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertIn(text, done.stdout)

    def test_a_report_replaces_no_link_and_no_file_beside_it(self):
        with tempfile.TemporaryDirectory() as folder:
            kept, link, beside = (pathlib.Path(folder) / name for name in ("kept.json", "link.json", "link.part"))
            kept.write_text("old")
            link.symlink_to(kept)
            beside.write_text("precious")
            self.check("--only", "utilisation", "--out", link)
            self.assertTrue(link.is_symlink())
            self.assertIn("utilisation", json.loads(kept.read_text())["steps"])
            self.assertEqual(beside.read_text(), "precious")

    def test_a_report_that_cannot_be_written_is_an_error(self):
        done = self.check("--only", "card", "--out", "/dev/full")
        self.assertEqual(done.returncode, 1)
        self.assertIn("could not write /dev/full: No space left", done.stdout)
        self.assertTrue(pathlib.Path("/dev/full").is_char_device())

    def test_a_check_that_tries_nothing_has_not_passed(self):
        self.assertEqual(self.check("--only", "utilisation").returncode, 1)

    def test_a_signal_ends_what_was_started(self):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, str(CHECK), "--device", "cpu", "--build", str(deployment.build_folder()), "--only",
                       "ppo_cartpole"]
            check = subprocess.Popen(command, env={**os.environ, "TMPDIR": folder}, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL)
            def trainings():
                found = subprocess.run(["pgrep", "-f", folder], capture_output=True, text=True).stdout.split()
                return [pid for pid in found if int(pid) != check.pid]
            while not trainings():
                self.assertIsNone(check.poll())
                time.sleep(0.05)
            check.send_signal(signal.SIGTERM)
            self.assertEqual(check.wait(30), 128 + signal.SIGTERM)
            self.assertEqual(trainings(), [])
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [])

    def test_the_bundle_refuses_options_without_values(self):
        for words, text in ((["--torch"], "--torch: expected a value"), (["--out"], "--out: expected a value"),
                            (["--torch", "/nowhere"], "--torch: expected a folder, got /nowhere"),
                            (["--no-build"], "--no-build needs --torch"), (["--more"], "unknown option --more"),
                            (["--out", "/tmp"], "--out: expected a file, got the folder /tmp")):
            with self.subTest(words=words):
                done = deployment.run(deployment.ROOT / "tools/gpu/bundle", *words)
                self.assertEqual(done.returncode, 1, done.stdout)
                self.assertIn(text, done.stdout)


if __name__ == "__main__":
    deployment.main()
