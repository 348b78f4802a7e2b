#!/usr/bin/python3
"""What ./dev does where two of it run at once, and with another libtorch, by a cmake that only tells: dev_test.py BUILD_DIR"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import readme

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Builds until it is let go, and fails where another one is at work.
CMAKE = """#!/bin/sh
mkdir at_work || { echo "two builds at once" >&2; exit 1; }
echo building
timeout 60 cat go >/dev/null || exit 1
rmdir at_work
"""
TOLD_CMAKE = """#!/bin/sh
echo "$*"
for argument in "$@"; do
  case $argument in
    -DCMAKE_PREFIX_PATH=*)
      mkdir -p build/torch
      echo "Torch_DIR:PATH=${argument#*=}/share/cmake/Torch" >build/torch/CMakeCache.txt ;;
  esac
done
"""
INSTALLING_CMAKE = """#!/bin/sh
[ "$1" = --install ] || exit 0
for file in bin/troupe $(cat more 2>/dev/null); do
  mkdir -p "$(dirname "$4/$file")"
  touch "$4/$file"
  echo "$4/$file"
done >$2/install_manifest.txt
"""
NO_PACKAGE_IS_MISSING = "#!/bin/sh\n"


class Dev(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        shutil.copy(ROOT / "dev", self.root)
        shutil.copytree(ROOT / "tools", self.root / "tools")
        for name, text in {"bin/cmake": CMAKE, "bin/dpkg-query": NO_PACKAGE_IS_MISSING, "deploy/packages.txt": "",
                           "build/release/build.ninja": ""}.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            path.chmod(0o755)
        os.mkfifo(self.root / "go")

    def start_build(self):
        process = subprocess.Popen(["./dev", "build"], cwd=self.root, text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE,
                                   env={**os.environ, "PATH": f"{self.root / 'bin'}:{os.environ['PATH']}"})
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def let_go(self):
        (self.root / "go").write_text("")

    def test_a_second_build_waits_for_the_first_and_says_so(self):
        first = self.start_build()
        self.assertEqual(first.stdout.readline(), "building\n")
        second = self.start_build()
        self.assertEqual(second.stderr.readline(),
                         "./dev: waiting for another ./dev, which holds build/release.lock\n")
        self.let_go()
        self.assertEqual(first.wait(60), 0)
        self.assertEqual(second.stdout.readline(), "building\n")
        self.let_go()
        self.assertEqual(second.wait(60), 0, second.stderr.read())

    def test_one_that_was_killed_leaves_no_lock_behind(self):
        first = self.start_build()
        self.assertEqual(first.stdout.readline(), "building\n")
        first.kill()
        self.let_go()
        second = self.start_build()
        self.assertEqual(second.stdout.readline(), "building\n")
        self.let_go()
        self.assertEqual(second.wait(60), 0)

    def run_with(self, cmake, *words, **options):
        (self.root / "bin/cmake").write_text(cmake)
        environment = {**os.environ, "HOME": str(self.root / "home"), "PATH": f"{self.root / 'bin'}:{os.environ['PATH']}"}
        return subprocess.run(["./dev", *words], cwd=self.root, text=True, capture_output=True, timeout=60,
                              env=environment, **options)

    def run_with_told_cmake(self, *words):
        """./dev WORDS with a cmake that prints its arguments, and leaves a cache like its own behind."""
        return self.run_with(TOLD_CMAKE, *words)

    def test_the_help_text_names_the_commands_that_there_are(self):
        text = self.run_with_told_cmake("help").stdout
        named = {name for words in re.findall(r"^  ([a-z][\w-]*(?:\|[\w.-]+)*) ", text, re.MULTILINE)
                 for name in words.split("|") if name != "..."}
        self.assertEqual(named, set(readme.list_dev_commands(ROOT)))
        self.assertEqual(self.run_with_told_cmake("chaos", "--help").stdout, text)

    def test_a_command_that_does_not_exist_is_refused(self):
        for name in "fly", "lib", "help.txt", "../dev":
            refused = self.run_with_told_cmake(name)
            self.assertEqual((refused.returncode, refused.stdout), (2, ""))
            self.assertTrue(refused.stderr.startswith(f"./dev: unknown command '{name}'\nUsage: ./dev COMMAND\n"), refused.stderr)

    def test_a_tool_builds_what_it_runs_with_the_libtorch_that_is_named(self):
        torch = self.make_torch("torch")
        program = self.root / "build/torch/tests/runtime/simulation/simulate"
        program.parent.mkdir(parents=True)
        program.write_text('#!/bin/sh\necho "simulate $*"\n')
        program.chmod(0o755)
        told = self.run_with_told_cmake("simulate", "--torch", torch, "--seeds", "3")
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertRegex(told.stdout, r"--build build/torch --parallel [0-9]+ --target tests/runtime/simulation/simulate\n"
                                      r"simulate --seeds 3\n$")

    def make_torch(self, name):
        config = self.root / name / "share/cmake/Torch/TorchConfig.cmake"
        config.parent.mkdir(parents=True)
        config.touch()
        return self.root / name

    def test_another_libtorch_has_a_build_of_its_own_that_starts_anew_with_the_next_one(self):
        first, second = self.make_torch("first"), self.make_torch("second")
        fresh = "--fresh --preset release -B build/torch -DCMAKE_PREFIX_PATH={}\n"
        for folder, starts_anew in (first, True), (first, False), (second, True):
            told = self.run_with_told_cmake("build", "--torch", folder, "a_target")
            self.assertEqual(told.returncode, 0, told.stderr)
            self.assertRegex(told.stdout, r"--build build/torch --parallel [0-9]+ --target a_target\n")
            self.assertEqual(fresh.format(folder) in told.stdout, starts_anew, told.stdout)

    def test_a_folder_without_libtorch_and_a_command_without_a_release_build_are_refused(self):
        empty = self.run_with_told_cmake("test", "--torch", "nowhere")
        self.assertEqual((empty.returncode, empty.stdout), (1, ""))
        self.assertEqual(empty.stderr, "./dev: --torch nowhere: no libtorch is there (expected "
                                       "share/cmake/Torch/TorchConfig.cmake in it)\n")
        self.assertIn("./dev: --torch: expected the folder of a libtorch, got nothing\n",
                      self.run_with_told_cmake("build", "--torch").stderr)
        self.assertIn("./dev: lint takes no --torch\n",
                      self.run_with_told_cmake("lint", "--torch", self.make_torch("torch")).stderr)

    def files_in(self, folder):
        return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())

    def test_install_says_what_it_did_and_uninstall_removes_that_alone(self):
        prefix = self.root / "home/.local"
        own = prefix / "share/own"
        own.parent.mkdir(parents=True)
        own.touch()
        (self.root / "more").write_text("include/troupe/old.hpp include/troupe/kept.hpp")
        said = self.run_with(INSTALLING_CMAKE, "install")
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertIn(f"Installed into {prefix}:\n", said.stdout)
        self.assertIn(f'  export PATH="{prefix}/bin:$PATH"\n', said.stdout)

        (self.root / "more").write_text("include/troupe/kept.hpp")
        self.assertEqual(self.run_with(INSTALLING_CMAKE, "install").returncode, 0)
        listed = "share/troupe/install_manifest.txt"
        self.assertEqual(self.files_in(prefix), ["bin/troupe", "include/troupe/kept.hpp", "share/own", listed])

        gone = self.run_with(INSTALLING_CMAKE, "uninstall")
        self.assertEqual((gone.returncode, gone.stdout), (0, f"Removed Troupe from {prefix}\n"), gone.stderr)
        self.assertEqual(self.files_in(prefix), ["share/own"])
        self.assertFalse((prefix / "bin").exists(), "an empty folder")
        again = self.run_with(INSTALLING_CMAKE, "uninstall")
        self.assertEqual(again.returncode, 1)
        self.assertIn(f"./dev: nothing of ./dev install is in {prefix} (expected ", again.stderr)

    def test_install_builds_first_and_takes_a_folder(self):
        said = self.run_with(TOLD_CMAKE + 'case $1 in --install) touch "$2/install_manifest.txt" ;; esac\n', "install",
                             "--prefix", "a folder")
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertRegex(said.stdout, r"^--build build/release --parallel [0-9]+ --target installed\n")
        self.assertIn(f"Installed into {self.root}/a folder:\n", said.stdout)
        self.assertIn(f"./dev uninstall --prefix {self.root}/a folder removes them.\n", said.stdout)

    def test_a_prefix_that_cannot_be_written_to_is_refused_before_anything_is_built(self):
        (self.root / "file").touch()
        said = self.run_with(CMAKE, "install", "--prefix", "file/below")
        self.assertEqual((said.returncode, said.stdout), (1, ""))
        self.assertEqual(said.stderr, f"./dev: --prefix {self.root}/file/below: expected a folder, but {self.root}/file is a "
                                      "file\n")
        locked = self.root / "locked"
        locked.mkdir(mode=0o555)
        self.root.chmod(0o755)
        is_root = os.geteuid() == 0
        said = self.run_with(CMAKE, "install", "--prefix", "locked/below", **({"user": 65534} if is_root else {}))
        self.assertEqual((said.returncode, said.stdout), (1, ""))
        self.assertIn(f"--prefix {locked}/below: you have no right to write into {locked}; ", said.stderr)
        for words in ("install", "elsewhere"), ("uninstall", "--prefix"), ("install", "--prefix", "a", "b"):
            self.assertEqual(self.run_with(CMAKE, *words).returncode, 2)


if __name__ == "__main__":
    result = unittest.main(argv=[sys.argv[0]], exit=False, verbosity=1).result
    failed = len(result.failures) + len(result.errors)
    print(f"{max(result.testsRun - failed, 0)} passed, {failed} failed")
    sys.exit(1 if failed else 0)
