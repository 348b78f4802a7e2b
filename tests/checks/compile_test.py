#!/usr/bin/python3
"""cmake/compile.sh, by which ccache serves clones in several folders: compile_test.py BUILD_DIR

Clones of a project of one precompiled header and one source share a cache.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPILER = "clang++-19"


@unittest.skipUnless(shutil.which("ccache") and shutil.which(COMPILER), f"ccache and {COMPILER} are needed")
class Compile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = {**os.environ, "CCACHE_DIR": str(self.folder / "cache")}
        self.environment.pop("CCACHE_DISABLE", None)

    def clone(self, name, number=1):
        root = self.folder / name
        (root / "build/release").mkdir(parents=True)
        (root / "lib").mkdir()
        (root / "lib/number.hpp").write_text(f"#pragma once\ninline int number() {{ return {number}; }}\n")
        (root / "all.hpp").write_text('#include "lib/number.hpp"\n')
        (root / "main.cpp").write_text('#include "lib/number.hpp"\nint main() { return number(); }\n')
        return root

    def compile(self, root, *arguments):
        launcher = [ROOT / "cmake/compile.sh", root, shutil.which("ccache"), COMPILER]
        return subprocess.run([*launcher, f"-I{root}", *arguments], cwd=root / "build/release", env=self.environment,
                              text=True, capture_output=True, check=False)

    def given(self, root, folder, *arguments):
        """What a compiler is given that is called in that folder."""
        compiler = self.folder / "echo"
        compiler.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
        compiler.chmod(0o755)
        result = subprocess.run([ROOT / "cmake/compile.sh", root, compiler, "compiler", *arguments], cwd=folder, text=True,
                                capture_output=True, check=True)
        self.assertEqual(result.stdout.splitlines()[0], "compiler")
        return result.stdout.splitlines()[1:]

    def compile_header(self, root):
        return self.compile(root, "-Xclang", "-fno-pch-timestamp", "-Xclang", "-emit-pch", "-x", "c++-header", "-MD",
                            "-MT", "all.pch", "-MF", "all.pch.d", "-o", "all.pch", "-c", root / "all.hpp")

    def build(self, root):
        """The program's exit status, which is the number."""
        for result in (self.compile_header(root),
                       self.compile(root, "-Xclang", "-include-pch", "-Xclang", "all.pch", "-Xclang",
                                    "-fno-pch-timestamp", "-o", "main.o", "-c", root / "main.cpp")):
            self.assertEqual(result.returncode, 0, result.stderr)
        subprocess.run([COMPILER, "main.o", "-o", "main"], cwd=root / "build/release", check=True)
        return subprocess.run([root / "build/release/main"], check=False).returncode

    def hits(self):
        lines = subprocess.run(["ccache", "--print-stats"], env=self.environment, text=True, capture_output=True,
                               check=True).stdout.splitlines()
        return int(dict(line.split("\t") for line in lines)["direct_cache_hit"])

    def test_a_clone_in_another_folder_compiles_nothing(self):
        self.assertEqual(self.build(self.clone("first")), 1)
        self.assertEqual(self.hits(), 0)
        self.assertEqual(self.build(self.clone("second")), 1)
        self.assertEqual(self.hits(), 1)

    def test_another_precompiled_header_is_seen(self):
        self.assertEqual(self.build(self.clone("first")), 1)
        self.assertEqual(self.build(self.clone("second", number=2)), 2)
        self.assertEqual(self.hits(), 0)

    def test_an_edit_of_a_precompiled_header_is_seen(self):
        root = self.clone("first")
        self.assertEqual(self.build(root), 1)
        (root / "lib/number.hpp").write_text("#pragma once\ninline int number() { return 2; }\n")
        self.assertEqual(self.build(root), 2)

    def test_paths_are_relative_to_the_folder_that_the_compiler_runs_in(self):
        root = self.clone("first")
        (root / "build/release/lib").mkdir()
        self.assertEqual(self.given(root, root / "build/release", f"-I{root}", "-isystem", f"{root}/lib", "-c",
                                    f"{root}/main.cpp"),
                         ["-I../..", "-isystem", "../../lib", "-c", "../../main.cpp"])
        self.assertEqual(self.given(root, root / "build/release/lib", f"{root}/main.cpp"), ["../../../main.cpp"])

    def test_a_build_folder_may_be_a_link(self):
        root, far = self.clone("first"), self.folder / "a/b/c/far"
        far.mkdir(parents=True)
        (root / "linked").symlink_to(far)
        [path] = self.given(root, root / "linked", f"{root}/main.cpp")
        self.assertEqual((far / path).resolve(), root / "main.cpp")

    def test_only_paths_of_the_clone_are_made_relative(self):
        root = self.clone("first")
        others = ["-D", f"FOLDER={root}/lib", f"-DFOLDER={root}", f"-I/opt{root}/lib", f"-I{root}s/lib", f"/opt{root}"]
        self.assertEqual(self.given(root, root, *others), others)

    def test_a_folder_may_have_quotes_and_spaces(self):
        self.assertEqual(self.build(self.clone("o'neil \"s\" clone")), 1)

    def test_an_error_of_the_compiler_is_told(self):
        root = self.clone("first")
        (root / "lib/number.hpp").write_text("neither C nor C++")
        result = self.compile_header(root)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("lib/number.hpp:1", result.stderr)

    def test_a_header_that_is_gone_is_no_part_of_a_hash(self):
        root = self.clone("first")
        gone = root / "lib/number.hpp"
        compiler = self.folder / "compiler"  # a header vanishes while it is compiled
        compiler.write_text(f'#!/bin/sh\n{COMPILER} "$@" && rm {gone}\n')
        compiler.chmod(0o755)
        result = subprocess.run(
            [ROOT / "cmake/compile.sh", root, shutil.which("ccache"), compiler, f"-I{root}", "-x", "c++-header",
             "-MD", "-MF", "all.pch.d", "-o", "all.pch", "-c", root / "all.hpp"],
            cwd=root / "build/release", env=self.environment, text=True, capture_output=True, check=False)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("lib/number.hpp", result.stderr)


if __name__ == "__main__":
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed, {len(result.skipped)} skipped")
    sys.exit(1 if failed else 0)
