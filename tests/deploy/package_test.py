#!/usr/bin/python3
"""The Debian packages that cpack writes of this build: package_test.py BUILD_DIR"""
import pathlib
import re
import tempfile
import unittest

import deployment

VERSION = "0.1.0"


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for tool, package in ("dpkg-shlibdeps", "dpkg-dev"), ("file", "file"), ("dpkg-deb", "dpkg"):
            if not deployment.shutil.which(tool):
                raise unittest.SkipTest(f"no {tool}: apt-get install {package}")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        made = deployment.run("cpack", "--config", deployment.build_folder() / "CPackConfig.cmake", "-B", cls.folder,
                              "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=none", cwd=cls.folder)
        if made.returncode != 0:
            raise AssertionError(made.stdout)
        architecture = deployment.run("dpkg", "--print-architecture").stdout.strip()
        cls.troupe, cls.dev = (cls.folder / f"{name}_{VERSION}_{architecture}.deb" for name in ("troupe", "troupe-dev"))

    def field(self, package, name):
        return deployment.run("dpkg-deb", "--field", package, name).stdout.strip()

    def files_of(self, package):
        """The mode and the owner of each path."""
        lines = deployment.run("dpkg-deb", "--contents", package).stdout.splitlines()
        return {line.split(None, 5)[5].removeprefix("."): tuple(line.split()[:2]) for line in lines}

    def test_the_command_its_pages_and_its_completion_are_in_troupe(self):
        files = self.files_of(self.troupe)
        for path in ("bin/troupe", "libexec/troupe/troupe", "libexec/troupe/serve-env", "libexec/troupe/env-host",
                     "libexec/troupe/language-model"):
            self.assertEqual(files[f"/usr/{path}"], ("-rwxr-xr-x", "root/root"))
        for path in ("man/man1/troupe.1.gz", "bash-completion/completions/troupe", "zsh/vendor-completions/_troupe",
                     "fish/vendor_completions.d/troupe.fish", "doc/troupe/copyright", "doc/troupe/changelog.gz"):
            self.assertEqual(files[f"/usr/share/{path}"], ("-rw-r--r--", "root/root"))
        self.assertFalse([path for path in files if "/include/" in path or path.endswith(".a")])

    def test_headers_and_libraries_are_in_troupe_dev(self):
        files = self.files_of(self.dev)
        self.assertIn("/usr/include/troupe/algorithms/program/main.hpp", files)
        self.assertTrue(any(path.endswith("/libtroupe_program.a") for path in files))
        self.assertTrue(any(path.endswith("/cmake/troupe/troupeConfig.cmake") for path in files))
        self.assertFalse([path for path in files if "/bin/" in path or "/libexec/" in path])

    def test_troupe_depends_on_what_its_programs_load(self):
        if not re.search(r"^Torch_DIR:PATH=/usr/", (deployment.build_folder() / "CMakeCache.txt").read_text(), re.MULTILINE):
            self.skipTest("this build has another libtorch than Debian's, which no package brings")
        depends = self.field(self.troupe, "Depends")
        for package in r"libtorch[\d.]+", "libc6", "libopenblas0-pthread", r"libcaf-core[\d.]+":
            self.assertRegex(depends, rf"(^|, ){package}\b")
        self.assertNotRegex(depends, "opencv|avcodec", "libtorch asks for them itself")
        self.assertEqual(self.field(self.troupe, "Version"), VERSION)

    def test_troupe_dev_depends_on_troupe_and_on_the_headers_that_its_own_include(self):
        depends = self.field(self.dev, "Depends").split(", ")
        self.assertIn(f"troupe (= {VERSION})", depends)
        self.assertLessEqual({"libtorch-dev", "libcaf-dev", "nlohmann-json3-dev", "libbox2d-dev"}, set(depends))
        self.assertFalse({"catch2", "prometheus", "ccache"} & set(depends))

    def test_the_command_in_the_package_works(self):
        root = self.folder / "root"
        deployment.run("dpkg-deb", "--extract", self.troupe, root)
        said = deployment.run(root / "usr/bin/troupe", "list")
        self.assertEqual(said.returncode, 0, said.stdout)
        self.assertIn("CartPole-v1", said.stdout)
        page = deployment.run("gzip", "-dc", root / "usr/share/man/man1/troupe.1.gz").stdout
        self.assertRegex(page, re.compile(r"^\.TH TROUPE 1 ", re.MULTILINE))
        self.assertIn("_troupe_complete", (root / "usr/share/bash-completion/completions/troupe").read_text())


if __name__ == "__main__":
    deployment.main()
