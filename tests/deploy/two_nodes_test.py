#!/usr/bin/python3
"""The example with two nodes in network namespaces, skipped where there can be none: two_nodes_test.py BUILD_DIR"""
import pathlib
import re
import subprocess
import tempfile
import time
import unittest

import deployment

SCRIPT = deployment.ROOT / "examples/two_nodes.sh"
NOT_ALLOWED = 77


def nodes_alive():
    """Command lines of the example's processes."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if "10.77.1.1:7700" in command or "10.77.2.1:7700" in command or "pki/controller" in command:
            found.append(command)
    return found


class TwoNodes(unittest.TestCase):
    def setUp(self):
        deployment.require(self, "ip", "iproute2")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def assert_nothing_is_left(self):
        deadline = time.monotonic() + 10
        while nodes_alive() and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual(nodes_alive(), [])
        self.assertNotIn("to-one", deployment.run("ip", "-brief", "link").stdout)

    def test_it_trains_in_four_processes_on_two_nodes_and_shows_them(self):
        result = deployment.run(SCRIPT, deployment.build_folder(), "total_steps=50000", "evaluation.final_episodes=1",
                                "evaluation.every_steps=0", cwd=self.folder)
        if result.returncode == NOT_ALLOWED:
            self.skipTest(result.stdout.strip())
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertRegex(result.stdout, r"(?m)^  environments +ready +4/4 ")
        rows = re.findall(r"(?m)^  (one|two) +(environments-\d) +1 +[1-9]\S* +[1-9]", result.stdout)
        self.assertEqual(len(set(rows)), 4, result.stdout)
        self.assertEqual(sorted(node for node, _ in rows), ["one", "one", "two", "two"])
        self.assertRegex(result.stdout, r"(?m)^CartPole-v1 after \d+ steps")
        self.assert_nothing_is_left()

    def test_nothing_is_left_of_it_when_it_is_killed(self):
        script = subprocess.Popen([SCRIPT, deployment.build_folder(), "total_steps=1000000000"], cwd=self.folder,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 60
            while len(nodes_alive()) < 3:
                if script.poll() == NOT_ALLOWED:
                    self.skipTest("this machine allows no network namespaces")
                self.assertIsNone(script.poll())
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.1)
        finally:
            script.kill()
            script.wait()
        self.assert_nothing_is_left()


if __name__ == "__main__":
    deployment.main()
