#!/usr/bin/python3
"""The plan, the relay and the options of ./dev chaos --net: chaos_net_parts_test.py BUILD_DIR"""
import json
import pathlib
import socket
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent / "net"
sys.path.insert(0, str(HERE))
import plan  # noqa: E402  pylint: disable=wrong-import-position

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


class Options(unittest.TestCase):
    def test_wrong_ones_are_refused(self):
        for words, text in ((("--seconds", "5"), "--seconds: expected 10 to 86400, got 5"),
                            (("--seed", "x"), "argument --seed: invalid int value: 'x'"),
                            (("--longest", "7"), "argument --longest: invalid choice: 7")):
            done = subprocess.run([sys.executable, HERE / "net.py", "build", *words], text=True, capture_output=True,
                                  timeout=60, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(text, done.stderr)


if __name__ == "__main__":
    result = unittest.main(argv=[sys.argv[0]], exit=False, verbosity=1).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
