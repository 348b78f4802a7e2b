#!/usr/bin/python3
"""A GRPO run on ordinary threads that is killed at random moments: grpo_kills_test.py BUILD_DIR. No problem is asked twice
or left out, and no update is made twice or left out."""
import json
import pathlib
import random
import subprocess
import tempfile
import time
import unittest

import deployment

UPDATES, PROMPTS, WORKERS, STALENESS, KILLS = 16, 4, 6, 2, 3
# Groups that may be done or under way when the last update begins, and are never trained on.
LEFT_OVER = (1 + STALENESS) * PROMPTS
OPTIONS = ["--algo", "grpo", "--metrics-port", "0", "--json", "task.problems.training=400", "warm_start.batches=2",
           "warm_start.batch_size=16", "trainer.flat_groups=keep", f"rollout.prompts={PROMPTS}", "rollout.group=4",
           "rollout.answer_tokens=4", f"rollout.workers={WORKERS}", f"rollout.max_staleness={STALENESS}",
           "evaluation.every_updates=0", "evaluation.final_problems=5", "checkpoint.every_updates=2"]


def samples_of(run):
    path = run / "samples.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def newest_checkpoint(run):
    steps = [int(path.name.rsplit("-", 1)[1]) for path in run.glob("checkpoints/*") if not path.name.endswith(".tmp")]
    return max(steps, default=0)


class Kills(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.runs = pathlib.Path(folder.name)
        self.troupe = deployment.troupe()

    def start(self, *arguments):
        return subprocess.Popen([self.troupe, "train", *map(str, arguments)], text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT)

    def finish(self, *arguments):
        """Its summary."""
        process = self.start(*arguments)
        output, _ = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, output)
        return json.loads(output.splitlines()[-1])

    def train_and_kill(self, mode, seconds):
        """The folder of a run that was killed KILLS times, and went on after each. `seconds`: what one takes."""
        run = self.runs / mode / "grpo/sum_digits_1"
        asked = ["--runs", self.runs / mode, "--mode", mode, "-n", UPDATES, *OPTIONS]
        reached = 0
        for _ in range(KILLS):
            process = self.start(*asked)
            time.sleep(random.uniform(0, 1) * seconds)
            process.kill()
            process.communicate()
            now = newest_checkpoint(run)
            self.assertGreaterEqual(now, reached)
            reached = now
            if (run / "config.json").exists():
                asked = ["--resume", run, "--metrics-port", "0", "--json"]
        if (run / "summary.json").exists():
            return run
        summary = self.finish(*asked)
        self.assertEqual(summary["rollouts_failed"], 0)
        return run

    def check(self, run, staleness):
        samples = samples_of(run)
        self.assertEqual([s["update"] for s in samples], [u for u in range(1, UPDATES + 1) for _ in range(PROMPTS)])
        self.assertLessEqual({s["staleness"] for s in samples}, set(range(staleness + 1)))
        asked = [s["question"] for s in samples]
        self.assertEqual(len(set(asked)), len(asked), "a problem was asked twice within an epoch")
        return asked

    def test_no_problem_is_asked_twice_or_left_out(self):
        began = time.monotonic()
        whole = self.finish("--runs", self.runs / "whole", "--mode", "sync", "-n", UPDATES + LEFT_OVER // PROMPTS, *OPTIONS)
        seconds = time.monotonic() - began
        in_order = [s["question"] for s in samples_of(pathlib.Path(whole["run_directory"]))]
        wanted = UPDATES * PROMPTS

        asked = self.check(self.train_and_kill("sync", seconds), 0)
        for begin in range(0, wanted, PROMPTS):  # answers of one update come in any order
            update = slice(begin, begin + PROMPTS)
            self.assertEqual(sorted(asked[update]), sorted(in_order[update]))

        asked = self.check(self.train_and_kill("async", seconds), STALENESS)
        self.assertLessEqual(set(asked), set(in_order))
        left_out = set(in_order[:wanted]) - set(asked)
        self.assertLessEqual(len(left_out), LEFT_OVER)


if __name__ == "__main__":
    deployment.main()
