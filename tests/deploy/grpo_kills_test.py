#!/usr/bin/python3
"""A GRPO run on ordinary threads that is killed at random moments: grpo_kills_test.py BUILD_DIR. No problem is asked twice
or left out, and no update is made twice or left out. KILLS_SEED=N draws other moments, and KILLS=N is how often the run on
a file is killed (3)."""
import json
import os
import pathlib
import random
import re
import subprocess
import tempfile
import time
import unittest

import deployment

UPDATES, PROMPTS, WORKERS, STALENESS, CHECKPOINTED = 16, 4, 6, 2, 2
# A kill in each of these ranges of updates: there is a checkpoint by then, and something left to do.
KILLS = (range(3, 6), range(8, 11), range(13, 15))
# Groups that may be done or under way when the last update begins, and are never trained on.
LEFT_OVER = (1 + STALENESS) * PROMPTS
OPTIONS = ["--algo", "grpo", "--metrics-port", "0", "--json", "--verbose", "task.problems.training=400", "warm_start.batches=2",
           "warm_start.batch_size=16", "trainer.zero_variance_groups=keep", f"rollout.prompts={PROMPTS}", "rollout.group=4",
           "rollout.max_completion_tokens=4", f"rollout.workers={WORKERS}", f"rollout.max_staleness={STALENESS}",
           "evaluation.every_updates=0", "evaluation.final_problems=5", f"checkpoint.every_updates={CHECKPOINTED}"]
# A run on a file, whose epochs are ten updates.
LINES = 40
FILE_OPTIONS = ["--algo", "grpo", "--metrics-port", "0", "--json", "--verbose", "--mode", "async", "task.problems.held_out=8",
                "model.layers=1", "model.hidden_size=32", "model.max_positions=64", "trainer.zero_variance_groups=keep",
                f"rollout.prompts={PROMPTS}", "rollout.group=2", "rollout.max_completion_tokens=4",
                f"rollout.workers={WORKERS}", f"rollout.max_staleness={STALENESS}", "evaluation.every_updates=0",
                "evaluation.final_problems=4", "checkpoint.every_updates=1"]


def samples_of(run):
    path = run / "samples.jsonl"
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line] if path.exists() else []


def newest_checkpoint(run):
    steps = [int(path.name.rsplit("-", 1)[1]) for path in run.glob("checkpoints/*") if not path.name.endswith(".tmp")]
    return max(steps, default=0)


def updates_of(run):
    """How many updates have told their samples."""
    path = run / "samples.jsonl"
    return path.read_bytes().count(b"\n") // PROMPTS if path.exists() else 0


class Kills(unittest.TestCase):
    def setUp(self):
        seed = int(os.environ.get("KILLS_SEED", "1"))
        print(f"moments of seed {seed}", flush=True)
        self.random = random.Random(seed)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.runs = pathlib.Path(folder.name)
        self.troupe = deployment.troupe()

    def start(self, *arguments):
        """The process, which writes what it says into self.said."""
        self.said = self.runs / "said"
        with self.said.open("w") as said:
            return subprocess.Popen([self.troupe, "train", *map(str, arguments)], stdout=said, stderr=subprocess.STDOUT)

    def finish(self, *arguments):
        """Its summary."""
        code = self.start(*arguments).wait(timeout=300)
        self.assertEqual(code, 0, self.said.read_text())
        return json.loads(self.said.read_text().splitlines()[-1])

    def goes_on_from(self):
        """The checkpoint that the process says it goes on from; 0: none."""
        told = re.search(r"a run goes on .*step=(\d+)", self.said.read_text())
        return int(told[1]) if told else 0

    def kill_after(self, update, seconds, run, asked, reached):
        """A run that goes on from checkpoint `reached` is killed at most so many seconds after that update."""
        process = self.start(*asked)
        deadline = time.monotonic() + 300
        while self.goes_on_from() != reached or updates_of(run) < update:
            self.assertIsNone(process.poll(), self.said.read_text())
            self.assertLess(time.monotonic(), deadline, self.said.read_text())
            time.sleep(0.01)
        time.sleep(self.random.uniform(0, seconds))
        process.kill()
        process.wait()

    def train_and_kill(self, mode, seconds):
        """The folder of a run that was killed in each range of KILLS, and went on after each. `seconds`: of an update."""
        run = self.runs / mode / "grpo/sum_digits_1"
        asked = ["--runs", self.runs / mode, "--mode", mode, "-n", UPDATES, *OPTIONS]
        reached = 0
        for updates in KILLS:
            update = self.random.choice(updates)
            self.kill_after(update, seconds, run, asked, reached)
            reached = newest_checkpoint(run)
            self.assertGreaterEqual(reached, (update - 1) // CHECKPOINTED * CHECKPOINTED)
            asked = ["--resume", run, "--metrics-port", "0", "--json", "--verbose"]
        summary = self.finish(*asked)
        self.assertEqual(summary["resumed_from_step"], reached)
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
        whole = self.finish("--runs", self.runs / "whole", "--mode", "sync", "-n", UPDATES + LEFT_OVER // PROMPTS, *OPTIONS)
        seconds = whole["wall_s"] / whole["steps"]
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

    def kill_often(self, asked, run, kills):
        """Kills a run so many times, each time after an update of its own, and lets it end."""
        for _ in range(kills):
            before = updates_of(run)
            process = self.start(*asked)
            deadline = time.monotonic() + 300
            while updates_of(run) <= before:
                self.assertIsNone(process.poll(), self.said.read_text())
                self.assertLess(time.monotonic(), deadline, self.said.read_text())
                time.sleep(0.002)
            time.sleep(self.random.uniform(0, 0.1))
            process.kill()
            self.assertEqual(process.wait(), -9, "the run ended before it was killed")
            asked = ["--resume", run, "--metrics-port", "0", "--json", "--verbose"]
        return self.finish(*asked)

    def test_each_line_of_a_file_is_trained_on_once_an_epoch(self):
        kills = int(os.environ.get("KILLS", "3"))
        updates = 40 * kills
        lines = self.runs / "lines.jsonl"
        lines.write_text("".join(json.dumps({"prompt": f"{n}+1=", "answer": str(n + 1)}) + "\n" for n in range(LINES + 8)))
        run = self.runs / "killed/grpo/lines_1"
        asked = ["--runs", self.runs / "killed", f"task.data={lines}", "-n", updates, *FILE_OPTIONS]
        self.assertEqual(self.kill_often(asked, run, kills)["steps"], updates)
        samples = samples_of(run)
        self.assertEqual([s["update"] for s in samples], [u for u in range(1, updates + 1) for _ in range(PROMPTS)])
        ledger = {}
        for sample in samples:
            self.assertNotIn(sample["prompt"], ledger, "a prompt was trained on twice")
            ledger[sample["prompt"]] = sample["question"]
        skipped = set(range(max(ledger) + 1)) - set(ledger)
        self.assertLessEqual(len(skipped), LEFT_OVER)  # those under way at the end
        self.assertTrue(all(n >= len(samples) - LEFT_OVER for n in skipped), f"prompts were skipped: {sorted(skipped)}")
        for begin in range(0, max(ledger) - LINES, LINES):
            epoch = [ledger[n] for n in range(begin, begin + LINES) if n in ledger]
            self.assertEqual(len(set(epoch)), len(epoch), "a line was asked twice within an epoch")
        print(f"{kills} kills, {len(samples)} prompts trained on in {len(samples) / LINES:.0f} epochs: 0 doubled, 0 skipped",
              flush=True)


if __name__ == "__main__":
    deployment.main()
