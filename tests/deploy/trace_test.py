#!/usr/bin/python3
"""The trace of a training run, as a trace viewer reads it: trace_test.py BUILD_DIR"""
import collections
import functools
import json
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

import deployment

PICTURE = deployment.ROOT / "docs/images/draw_trace.py"


class Trace:
    def __init__(self, path):
        self.whole = json.loads(path.read_text())
        self.events = self.whole["traceEvents"]
        self.rows = {e["tid"]: e["args"]["name"] for e in self.events if e["name"] == "thread_name"}
        self.slices = [e for e in self.events if e["ph"] == "X"]

    def intervals(self, row, name):
        """(begin, end) in us of the slices of that name, on the rows whose names the pattern fits."""
        return [(e["ts"], e["ts"] + e["dur"]) for e in self.slices
                if e["name"] == name and re.fullmatch(row, self.rows[e["tid"]])]

    def arrows(self):
        """The events of each, by phase: s where it begins, f where it ends."""
        found = collections.defaultdict(lambda: collections.defaultdict(list))
        for event in self.events:
            if event["ph"] in "stf":
                found[event["id"]][event["ph"]].append(event)
        return list(found.values())


def overlap(one, other):
    return max(one[0], other[0]) < min(one[1], other[1])


def train(folder, *arguments):
    return deployment.run(deployment.troupe(), "train", "--metrics-port", 0, "evaluation.final_episodes=1",
                          "evaluation.every_steps=0", *arguments, cwd=folder)


@functools.cache
def async_run():
    """The trace of eight updates in async mode, and the picture of it."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace.json"
        result = train(folder, "--mode", "async", "-n", 16384, "--seed", 1, "--trace", path)
        picture = deployment.run("/usr/bin/python3", PICTURE, path, path.with_suffix(".svg"))
        return result, Trace(path), picture, path.with_suffix(".svg").read_text()


class AsyncTraining(unittest.TestCase):
    def setUp(self):
        self.result, self.trace, self.picture, self.svg = async_run()

    def test_it_ends_well_and_the_log_says_where_the_trace_is(self):
        self.assertEqual(self.result.returncode, 0, self.result.stdout)
        self.assertIn("trace.json", self.result.stdout)

    def test_every_lane_has_a_name_of_its_own(self):
        self.assertEqual(len(set(self.trace.rows.values())), len(self.trace.rows))
        self.assertLessEqual({e["tid"] for e in self.trace.slices}, set(self.trace.rows))
        self.assertLessEqual({"environments 0", "policy 0", "replay 0", "trainer 0", "rollouts 0", "training 0"},
                             set(self.trace.rows.values()))

    def test_times_are_within_the_run(self):
        for event in self.trace.slices:
            self.assertGreaterEqual(event["ts"], 0)
            self.assertGreaterEqual(event["dur"], 0)

    def test_slices_of_a_lane_lie_beside_or_within_one_another(self):
        lanes = collections.defaultdict(list)
        for event in self.trace.slices:
            begin, took = round(1000 * event["ts"]), round(1000 * event["dur"])  # whole ns, which add up exactly
            lanes[event["tid"]].append((begin, begin + took))
        for tid, slices in lanes.items():
            around = []
            for begin, end in sorted(slices, key=lambda s: (s[0], -s[1])):
                while around and around[-1] <= begin:
                    around.pop()
                self.assertTrue(not around or end <= around[-1], f"{self.trace.rows[tid]}: {begin} ns")
                around.append(end)

    def test_arrows_lead_from_who_waits_to_who_works(self):
        arrows = self.trace.arrows()
        self.assertGreater(len(arrows), 100)
        for arrow in arrows:
            self.assertEqual({phase: len(events) for phase, events in arrow.items()}, {"s": 1, "f": 1})
            (begin,), (end,) = arrow["s"], arrow["f"]
            self.assertLessEqual(begin["ts"], end["ts"])
            self.assertNotEqual(begin["tid"], end["tid"])
        lanes = {(self.trace.rows[a["s"][0]["tid"]].rstrip("0123456789"), self.trace.rows[a["f"][0]["tid"]])
                 for a in arrows}
        self.assertLessEqual({("training ", "trainer 0"), ("rollouts ", "environments 0")}, lanes)

    def test_updates_go_on_while_rollouts_do(self):
        rollouts = self.trace.intervals(r"rollouts \d+", "rollout")
        updates = self.trace.intervals("trainer 0", "train_step")
        self.assertGreaterEqual(len(rollouts), 8)
        self.assertEqual(len(updates), 8)
        beside = sum(any(overlap(update, rollout) for rollout in rollouts) for update in updates)
        self.assertGreater(beside, len(updates) / 2, f"{updates}, {rollouts}")

    def test_each_update_is_awaited_where_the_loop_trains(self):
        waits = self.trace.intervals(r"training \d+", "waiting for trainer.train_step")
        self.assertEqual(len(waits), len(self.trace.intervals("trainer 0", "train_step")))

    def test_it_is_bounded_and_says_so(self):
        about = self.trace.whole["otherData"]
        self.assertEqual(about["full"], False)
        self.assertLessEqual(len(self.trace.slices), about["slices"])
        self.assertLessEqual(about["slices"], about["limit"])

    def test_the_picture_of_the_readme_is_drawn_from_it(self):
        self.assertEqual(self.picture.returncode, 0, self.picture.stdout)
        for text in ("<svg ", "rollouts 0", "trainer 0", "train_step", "</svg>"):
            self.assertIn(text, self.svg)
        self.assertLess(len(self.svg), 100_000)


class Ends(unittest.TestCase):
    def test_a_file_that_cannot_be_written_is_refused_before_anything_is_trained(self):
        with tempfile.TemporaryDirectory() as folder:
            result = train(folder, "-n", 1, "--trace", pathlib.Path(folder) / "none" / "trace.json")
            self.assertEqual(result.returncode, 2)
            self.assertIn("--trace: cannot write", result.stdout)
            self.assertFalse((pathlib.Path(folder) / "runs").exists())

    def test_a_run_that_is_stopped_leaves_its_trace(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "trace.json"
            run = subprocess.Popen([deployment.troupe(), "train", "--metrics-port", "0", "-n", "1000000000", "--trace",
                                    path], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                deadline = time.monotonic() + 60
                while not any(len(table.read_text().splitlines()) > 1
                              for table in pathlib.Path(folder).glob("runs/ppo/*/progress.csv")):
                    self.assertLess(time.monotonic(), deadline, "no update in 60 s")
                    time.sleep(0.05)
                run.send_signal(signal.SIGINT)
                run.wait(timeout=60)
            finally:
                run.kill()
                run.wait()
            self.assertTrue(Trace(path).intervals("trainer 0", "train_step"))


if __name__ == "__main__":
    deployment.main()
