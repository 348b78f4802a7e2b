#!/usr/bin/python3
"""The plan, the relay, the options and what training leaves, of ./dev chaos --net: chaos_net_parts_test.py BUILD_DIR"""
import argparse
import json
import pathlib
import pickle
import socket
import subprocess
import sys
import tempfile
import unittest
import zipfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent / "net"
sys.path.insert(0, str(HERE))
import plan  # noqa: E402  pylint: disable=wrong-import-position
import training  # noqa: E402  pylint: disable=wrong-import-position
import training_record as record  # noqa: E402  pylint: disable=wrong-import-position

SILENCE = 0.5  # Seconds for which nothing must come.


class Plan(unittest.TestCase):
    def test_the_seed_decides_it(self):
        self.assertEqual(plan.draw_plan(3, 600, 3), plan.draw_plan(3, 600, 3))
        self.assertNotEqual(plan.draw_plan(3, 600, 3), plan.draw_plan(4, 600, 3))

    def test_it_has_every_kind_and_stops_everybody_for_every_time(self):
        faults = plan.draw_plan(1, 3600, 3)
        kinds = {fault.kind for fault in faults}
        stops = {f"stop {who}" for who in plan.STOPPED}
        self.assertEqual(kinds, {*stops, *plan.RELAYED, *plan.NETWORKED, *plan.KILLED, "kill controller"})
        for kind in stops:
            self.assertEqual({fault.seconds for fault in faults if fault.kind == kind}, set(plan.PAUSES))

    def test_the_controller_is_killed_each_minute_and_in_a_short_run_once(self):
        def kills(seconds):
            return sum(fault.kind == "kill controller" for fault in plan.draw_plan(1, seconds, 3))

        self.assertEqual(kills(30), 1)
        self.assertIn(kills(600), (9, 10))

    def test_the_controller_is_killed_as_often_as_is_said_or_never(self):
        def kills(every):
            faults = plan.draw_plan(1, 3600, 3, killed_every=every)
            return sum(fault.kind == "kill controller" for fault in faults)

        self.assertIn(kills(600), (5, 6))
        self.assertEqual(kills(0), 0)

    def test_it_ends_in_time_and_holds_what_the_machine_allows(self):
        for seed in range(20):
            faults = plan.draw_plan(seed, 30, 3, networked=(), longest=4)
            self.assertGreater(len(faults), 1)
            for fault in faults:
                self.assertLessEqual(fault.at + fault.seconds, 30)
                self.assertLessEqual(fault.seconds, 4)
                self.assertNotIn(fault.kind, plan.NETWORKED)


class Relay(unittest.TestCase):
    def setUp(self):
        self.server = self.enterContext(socket.create_server(("127.0.0.1", 0)))
        self.server.settimeout(30)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        to = f"127.0.0.1:{self.server.getsockname()[1]}"
        self.relay = subprocess.Popen([sys.executable, HERE / "relay.py", to, f"1=127.0.0.1:{self.port}"],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(self.end_relay)
        self.assertEqual(self.relay.stdout.readline(), b"ok\n")
        self.node, self.controller = self.connect()

    def enterContext(self, context):  # unittest has it from Python 3.11 on.
        entered = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return entered

    def end_relay(self):
        self.relay.kill()
        self.relay.communicate()

    def connect(self):
        node = self.enterContext(socket.create_connection(("127.0.0.1", self.port), 30))
        controller = self.enterContext(self.server.accept()[0])
        controller.settimeout(30)
        self.assert_passes(node, controller, b"hello")  # From now on the relay knows the connection.
        return node, controller

    def tell(self, action, **more):
        self.relay.stdin.write(json.dumps({"link": "1", "do": action, **more}).encode() + b"\n")
        self.relay.stdin.flush()
        self.assertEqual(self.relay.stdout.readline(), b"ok\n")

    def assert_silent(self, end):
        end.settimeout(SILENCE)
        with self.assertRaises(TimeoutError):
            end.recv(1)
        end.settimeout(30)

    def assert_passes(self, sender, receiver, text):
        sender.sendall(text)
        self.assertEqual(receiver.recv(100), text)

    def test_bytes_pass_in_both_directions_until_one_side_ends(self):
        self.assert_passes(self.node, self.controller, b"up")
        self.assert_passes(self.controller, self.node, b"down")
        self.node.close()
        self.assertEqual(self.controller.recv(1), b"")

    def test_a_stall_holds_one_direction_and_loses_nothing(self):
        self.tell("stall", way="up")
        self.node.sendall(b"held")
        self.assert_passes(self.controller, self.node, b"down")
        self.assert_silent(self.controller)
        self.tell("clear")
        self.assertEqual(self.controller.recv(100), b"held")

    def test_a_delay_lasts_until_it_is_cleared(self):
        self.tell("delay", seconds=3600)
        self.node.sendall(b"late")
        self.assert_silent(self.controller)

    def test_a_cut_connection_ends_on_both_sides(self):
        self.tell("cut")
        self.assertEqual((self.node.recv(1), self.controller.recv(1)), (b"", b""))
        self.node, self.controller = self.connect()
        self.assert_passes(self.node, self.controller, b"again")

    def test_a_forgotten_connection_neither_passes_nor_ends_anything(self):
        self.tell("forget")
        self.node.sendall(b"to nobody")
        self.assert_silent(self.controller)
        self.node.shutdown(socket.SHUT_WR)
        self.assert_silent(self.controller)
        self.node, self.controller = self.connect()
        self.assert_passes(self.node, self.controller, b"again")


def progress_of(*updates):
    """The text of a progress.csv with these updates, of 128 steps each; None stands for a row without an update."""
    rows = ["time/total_timesteps,train/n_updates,eval/mean_reward"]
    rows += ["128,,1.5" if update is None else f"{128 * update},{update}," for update in updates]
    return "\n".join(rows) + "\n"


class TrainingRecord(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_the_newest_checkpoint_is_the_one_of_the_latest_step_that_is_whole(self):
        self.assertEqual(record.newest_checkpoint(self.folder), 0)
        for name in ("ckpt-9", "ckpt-00010", "ckpt-11.tmp", "ckpt-x"):
            (self.folder / "checkpoints" / name).mkdir(parents=True)
        self.assertEqual(record.newest_checkpoint(self.folder), 10)

    def test_a_log_says_where_a_run_has_begun(self):
        goes_on = "08:00:00.000 info a run goes on directory=runs/ppo/x_1 step=2560\n"
        self.assertEqual(record.step_gone_on_from("some line\n" + goes_on), 2560)
        self.assertEqual(record.step_gone_on_from("08:00:00.000 info a run begins algo=ppo\n"), 0)
        self.assertIsNone(record.step_gone_on_from("killed before it said so\n"))

    def test_the_score_of_a_model_is_read(self):
        model = self.folder / "best_model"
        with zipfile.ZipFile(model, "w") as archive:
            archive.writestr("model/data.pkl", pickle.dumps({"step": 3, "score": -1.5, "other": 2.5}, protocol=2))
        self.assertEqual(record.score_of(model), -1.5)

    def test_updates_that_follow_each_other_are_right(self):
        self.assertEqual(record.check_progress(progress_of(1, 2, None, 3)), [])
        self.assertEqual(record.updates_of(progress_of(1, 2, None, 3)), 3)

    def test_updates_that_are_lost_doubled_or_missing_are_found(self):
        for updates, text in (((1, 3), "after update 1 at step 128 comes update 3 at step 384"),
                              ((1, 2, 2, 3), "after update 2 at step 256 comes update 2 at step 256"),
                              ((1, 2, None, 1), "after update 2 at step 256 comes update 1 at step 128"),
                              ((None,), "there are no updates")):
            wrong = record.check_progress(progress_of(*updates))
            self.assertEqual(len(wrong), 1, wrong)
            self.assertIn(text, wrong[0])

    def test_an_update_that_is_counted_twice_at_two_steps_is_found(self):
        wrong = record.check_progress(progress_of(1, 2) + "384,2,\n")
        self.assertEqual(wrong, ["progress.csv: after update 2 at step 256 comes update 2 at step 384, expected update 3 at "
                                 "a later step"])

    def test_memory_may_grow_a_little_and_descriptors_and_threads_may_not(self):
        def samples(last_memory, last_descriptors=90, last_threads=40):
            first = {"memory": 100, "descriptors": 90, "threads": 40}
            return [first] * 12 + [{"memory": last_memory, "descriptors": last_descriptors, "threads": last_threads}] * 4

        self.assertEqual(record.check_growth("a node", samples(105)), [])
        self.assertEqual(record.check_growth("a node", samples(106)), [
            "a node: memory in the first quarter 100, in the last 106, expected at most 105"])
        self.assertEqual(len(record.check_growth("a node", samples(100, 91, 41))), 2)

    def test_processes_that_are_just_being_replaced_are_no_growth_and_those_left_behind_are(self):
        def samples(*counts):
            return [{"memory": 100, "descriptors": 10 * count, "threads": count, "processes": count} for count in counts]
        replaced = samples(18, 16, 17, 18, 20, 18, 18, 16, 18, 16, 20, 19)
        self.assertEqual(record.check_growth("all processes", replaced, True), [])
        self.assertEqual(len(record.check_growth("node-1", replaced)), 3)
        left_behind = samples(18, 16, 17, 18, 20, 18, 20, 18, 19, 22, 20, 19)
        self.assertIn("all processes: processes in the first quarter 17, in the last 19, expected at most 17",
                      record.check_growth("all processes", left_behind, True))

    def test_a_moment_at_the_end_is_no_growth(self):
        flat = {"memory": 100, "descriptors": 9, "threads": 4}
        self.assertEqual(record.check_growth("a node", [flat] * 15 + [{"memory": 900, "descriptors": 90, "threads": 40}]), [])

    def test_the_figures_of_a_process_that_has_ended_are_none(self):
        child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
        figures = record.read_figures(child.pid)
        self.assertGreater(figures["memory"], 0)
        self.assertGreaterEqual(figures["descriptors"], 3)
        self.assertEqual(figures["threads"], 1)
        self.assertEqual(record.add_up([figures, figures])["processes"], 2)
        child.communicate()
        self.assertIsNone(record.read_figures(child.pid))


class TrainingJudgement(unittest.TestCase):
    """A run of two controllers, the second of which has gone on from step 256."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        options = argparse.Namespace(build=pathlib.Path("build"), seconds=3600, sample_every=60)
        self.run = training.Training(options, pathlib.Path(folder.name), False)
        self.addCleanup(self.run.faults.close)
        for name in ("checkpoints/ckpt-512", "best_model", "last_model"):
            (self.run.directory / name).mkdir(parents=True)
        (self.run.directory / "progress.csv").write_text(progress_of(1, 2, 3, 4))
        self.say(1, "info a run begins algo=ppo\n")
        self.say(2, "info a run goes on directory=x step=256\n")
        self.run.life, self.run.before_life = 2, [0, 256]
        self.run.best_scores, self.run.recoveries = [1.0, 1.0, 2.5], [0.5, 40]

    def say(self, life, text):
        (self.run.logs / f"00{life}-controller-{life}.log").write_text(text)

    def assert_wrong(self, sentence):
        text, figures, holds = self.run.judge()
        self.assertFalse(holds)
        self.assertEqual(figures["breaches"], [sentence])
        self.assertIn(f"NOT AS PROMISED: {sentence}", text)

    def test_a_run_that_has_lost_nothing_holds(self):
        text, figures, holds = self.run.judge()
        self.assertTrue(holds, text)
        self.assertEqual((figures["updates"], figures["checkpoint"], figures["controllers"]), (4, 512, 2))

    def test_a_killed_run_is_started_again_in_both_ways(self):
        self.run.controller_port = 1
        ways = []
        for self.run.life, newest in ((1, 0), (2, 0), (3, 128), (4, 256)):
            self.run.before_life.append(newest)
            words = [str(word) for word in self.run.controller_words()]
            ways.append(next(word for word in words if word in ("--continue", "--resume")))
        self.assertEqual(ways, ["--continue", "--continue", "--continue", "--resume"])
        self.assertEqual(words[words.index("--resume") + 1], str(self.run.directory))

    def test_a_controller_that_has_gone_on_from_an_older_checkpoint_is_found(self):
        self.run.before_life = [0, 384]
        self.assert_wrong("controller 2 has gone on from step 256, expected the newest checkpoint's, 384")

    def test_a_controller_that_has_begun_anew_is_found(self):
        self.say(2, "info a run begins algo=ppo\n")
        self.assert_wrong("controller 2 has gone on from step 0, expected the newest checkpoint's, 256")

    def test_a_best_model_that_has_got_worse_is_found(self):
        self.run.best_scores = [1.0, 2.5, 2.0]
        self.assert_wrong("the best model's score has fallen from 2.5 to 2.0")

    def test_a_model_that_is_missing_is_found(self):
        (self.run.directory / "last_model").rmdir()
        self.assert_wrong("last_model is missing")

    def test_a_checkpoint_that_is_lost_is_found(self):
        (self.run.directory / "checkpoints/ckpt-512").rename(self.run.directory / "checkpoints/ckpt-128")
        self.assert_wrong("the newest checkpoint, 128, is older than 256, from which the last controller has gone on")

    def test_a_late_recovery_is_found(self):
        self.run.recoveries = [40.5]
        self.assert_wrong("recovered late: training went on 40.5 s after a fault, expected at most 40 s")

    def test_an_update_that_is_left_out_is_found(self):
        (self.run.directory / "progress.csv").write_text(progress_of(1, 2, 4))
        self.assert_wrong("progress.csv: after update 2 at step 256 comes update 4 at step 512, expected update 3 at a "
                          "later step")

    def test_the_figures_are_those_of_the_run_and_not_of_what_hurts_it(self):
        def start():
            child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
            self.addCleanup(child.communicate)
            return child
        self.run.controller, self.run.nodes = start(), {1: start()}
        of_the_run = self.run.controller.pid, self.run.nodes[1].pid
        self.run.relay, self.run.metrics = start(), start()
        figures = self.run.read_figures()
        self.assertEqual(list(figures), ["controller-2", f"node-1 ({of_the_run[1]})", "all processes"])
        self.assertEqual(figures["all processes"]["processes"], len(of_the_run))

    def test_growth_is_judged_of_those_that_live_for_half_of_a_run_of_half_an_hour(self):
        grows = [{"memory": size, "descriptors": 9, "threads": 4} for size in (100, 100, 100, 100, 110, 110, 110, 110)]
        self.run.samples = {"all processes": [grows[0]] * 16, "controller-2": grows, "controller-1": grows[2:6]}
        self.assert_wrong("controller-2: memory in the first quarter 100, in the last 110, expected at most 105")
        self.run.options.seconds = 600
        self.assertTrue(self.run.judge()[2])


class Options(unittest.TestCase):
    def test_wrong_ones_are_refused(self):
        for words, text in ((("--seconds", "5"), "--seconds: expected 10 to 86400, got 5"),
                            (("--seed", "x"), "argument --seed: invalid int value: 'x'"),
                            (("--longest", "7"), "argument --longest: invalid choice: 7"),
                            (("--kill-controller-every", "5"),
                             "--kill-controller-every: expected 0 or 10 to 86400, got 5"),
                            (("--sample-every", "1"), "--sample-every: expected it beside --train"),
                            (("--train", "--sample-every", "0"), "--sample-every: expected 0.1 to 86400, got 0")):
            done = subprocess.run([sys.executable, HERE / "net.py", "build", *words], text=True, capture_output=True,
                                  timeout=60, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(text, done.stderr)


if __name__ == "__main__":
    result = unittest.main(argv=[sys.argv[0]], exit=False, verbosity=1).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
