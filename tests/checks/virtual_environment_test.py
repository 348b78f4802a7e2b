#!/usr/bin/python3
"""Several tests may ask for one virtual environment at a time: virtual_environment_test.py BUILD_DIR"""
import concurrent.futures
import contextlib
import io
import pathlib
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import virtual_environment  # noqa: E402

PACKAGES = (("first>=1", "second"), ("third",))


class Installations:
    """Stands for venv and pip: counts the commands, and those that ran beside another one."""

    def __init__(self, refused=()):
        self.refused = refused
        self.commands = []
        self.overlaps = 0
        self.running = threading.Lock()

    def run(self, command, what):
        if not self.running.acquire(blocking=False):
            self.overlaps += 1
            return
        with contextlib.ExitStack() as ended:
            ended.callback(self.running.release)
            self.commands.append(command)
            time.sleep(0.02)
            if command[-1] in self.refused:
                raise virtual_environment.Unavailable(f"{what}: there is no {command[-1]}")


class Environments(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name) / "venvs/one"
        self.folder.mkdir(parents=True)

    def make(self, installations, packages=PACKAGES, optional=()):
        with mock.patch.object(virtual_environment, "run_quietly", installations.run), \
                contextlib.redirect_stderr(io.StringIO()):
            virtual_environment.make(self.folder, packages, "some packages", optional)

    def test_one_process_makes_it_and_the_others_wait(self):
        installations = Installations()
        with mock.patch.object(virtual_environment, "run_quietly", installations.run), \
                concurrent.futures.ThreadPoolExecutor(4) as pool, contextlib.redirect_stderr(io.StringIO()):
            for asked in [pool.submit(virtual_environment.make, self.folder, PACKAGES, "it") for _ in range(4)]:
                asked.result()
        self.assertEqual(installations.overlaps, 0)
        self.assertEqual([command[-1] for command in installations.commands], [self.folder, "second", "third"])

    def test_it_is_made_again_when_the_packages_change(self):
        installations = Installations()
        self.make(installations)
        self.make(installations)
        self.assertEqual(len(installations.commands), 3)
        self.make(installations, (("other",),))
        self.assertEqual([command[-1] for command in installations.commands[3:]], [self.folder, "other"])

    def test_one_that_failed_is_made_again(self):
        with self.assertRaisesRegex(virtual_environment.Unavailable, "there is no second"):
            self.make(Installations(refused=("second",)))
        installations = Installations()
        self.make(installations)
        self.assertEqual(len(installations.commands), 3)

    def test_an_optional_package_may_be_missing(self):
        self.make(Installations(refused=("rare",)), optional=(("rare",),))
        again = Installations()
        self.make(again, optional=(("rare",),))
        self.assertEqual(again.commands, [])

    def test_a_lock_that_is_never_free_ends_the_wait(self):
        lock = self.folder.with_name("one.lock")
        with virtual_environment.locked(lock), mock.patch.object(virtual_environment, "LONGEST_S", 0.1), \
                self.assertRaisesRegex(virtual_environment.Unavailable, "another process has held"):
            self.make(Installations())


if __name__ == "__main__":
    ran = unittest.main(argv=sys.argv[:1], exit=False).result
    failed = len(ran.failures) + len(ran.errors)
    print(f"{ran.testsRun - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
