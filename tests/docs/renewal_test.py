#!/usr/bin/python3
"""When ./dev docs takes the generated parts of the pages for those of the program: renewal_test.py BUILD_DIR"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = "# A page\n\n<!-- begin generated: options x -->\n\n{}\n\n<!-- end generated -->\n"
OWN_GIT = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b",
           "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}


class Renewal(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name) / "first"
        self.root.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")
        self.write({".gitignore": "/build\n", "runtime/a.cpp": "int a;\n", "docs/page.md": PAGE.format("a"), "tests/a_test.cpp": ""})
        self.commit()

    def git(self, *words):
        subprocess.run(["git", *words], cwd=self.root, check=True, env={**os.environ, **OWN_GIT}, capture_output=True)

    def write(self, files):
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message=more")

    def ask(self, word):
        asked = subprocess.run([sys.executable, ROOT / "docs/renewal.py", word, self.root], text=True, capture_output=True,
                               check=True)
        return asked.stdout.strip()

    def clone(self):
        first, self.root = self.root, self.root.parent / "second"
        subprocess.run(["git", "clone", "--quiet", first, self.root], check=True, capture_output=True)

    def assert_due(self, files):
        before = {name: (self.root / name).read_text() if (self.root / name).exists() else None for name in files}
        self.write(files)
        self.assertEqual(self.ask("state"), "due", files)
        for name, text in before.items():
            self.write({name: text}) if text is not None else (self.root / name).unlink()

    def assert_not_due(self, reason, files=()):
        self.write(dict(files))
        self.assertIn(f"were not renewed, as neither they nor the program {reason}", self.ask("state"))

    def test_a_clone_has_the_parts_of_its_program(self):
        self.clone()
        self.assert_not_due("differs from commit ")
        self.assert_not_due("differs from commit ", {"docs/page.md": "More.\n\n" + PAGE.format("a"), "docs/new.md": "New.\n",
                                                     "tests/a_test.cpp": "int b;\n"})

    def test_what_is_made_from_the_program_is_due_where_either_was_changed(self):
        self.clone()
        for files in ({"runtime/a.cpp": "int b;\n"}, {"actors/b.cpp": ""}, {"docs/page.md": PAGE.format("b")},
                      {"docs/new.md": PAGE.format("b")}):
            self.assert_due(files)
        self.assert_not_due("differs from commit ")
        (self.root / "runtime/a.cpp").unlink()
        self.assertEqual(self.ask("state"), "due")

    def test_a_commit_that_origin_has_not_is_due_until_the_parts_were_renewed(self):
        self.clone()
        self.write({"runtime/a.cpp": "int b;\n"})
        self.commit()
        self.assertEqual(self.ask("state"), "due")
        self.ask("remember")
        self.assert_not_due("has changed since they were")
        self.assert_due({"runtime/a.cpp": "int c;\n"})
        self.assert_due({"docs/page.md": PAGE.format("c")})

    def test_without_an_origin_it_is_the_last_commit_until_parts_were_renewed(self):
        self.assert_not_due("differs from commit ")
        self.assert_due({"runtime/a.cpp": "int b;\n"})
        self.ask("remember")
        self.assert_not_due("has changed since they were")
        self.write({"runtime/a.cpp": "int b;\n"})
        self.commit()
        self.assertEqual(self.ask("state"), "due")

    def test_a_note_says_nothing_where_there_is_no_repository(self):
        self.ask("remember")
        (self.root / ".git").rename(self.root / "none")
        self.write({"runtime/a.cpp": "int b;\n"})
        self.assertEqual(self.ask("state"), "due")

    def test_where_there_is_no_repository_they_are_due(self):
        subprocess.run(["rm", "-rf", self.root / ".git"], check=True)
        self.assertEqual(self.ask("state"), "due")


if __name__ == "__main__":
    result = unittest.main(argv=[sys.argv[0]], exit=False, verbosity=1).result
    failed = len(result.failures) + len(result.errors)
    print(f"{max(result.testsRun - failed, 0)} passed, {failed} failed")
    sys.exit(1 if failed else 0)
