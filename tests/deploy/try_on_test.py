#!/usr/bin/python3
"""What ./dev try-on makes, uses again and removes: try_on_test.py BUILD_DIR

Its debootstrap makes almost nothing."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

DEBOOTSTRAP = """#!/bin/sh
echo "$@" >>"$STATE/debootstrap"
for one in etc usr/sbin proc sys dev; do mkdir -p "$3/$one"; done
echo "VERSION_CODENAME=$2" >"$3/etc/os-release"
"""
# There is no Debian to change into; the rest happens as it would there.
CHROOT = """#!/bin/sh
ls "$1/proc/self/status" "$1/dev/null" >>"$STATE/mounted" || exit 1
cd "$1/work/troupe" || exit 1
while [ "$1" != ./dev ]; do shift; done
exec "$@"
"""
APT_GET = "#!/bin/sh\necho http://mirror.test/debian/\n"
# Says how often it has run in this clone.
DEV = """#!/bin/sh
mkdir -p build
echo "$1" >>build/calls
[ ! -e fails_at_$1 ] || { echo "1 passed, 2 failed, 0 skipped"; exit 1; }
echo "3 passed, 0 failed, 1 skipped"
"""


def may_mount():
    command = ["unshare", "--mount", "--pid", "--fork", "true"]
    return os.geteuid() == 0 and subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0


class TryOn(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.state = pathlib.Path(folder.name).resolve()
        self.state.chmod(0o755)
        self.repository = self.state / "repository"
        self.debian = self.repository / "build/try-on/trixie"
        for name, text in {"bin/debootstrap": DEBOOTSTRAP, "bin/chroot": CHROOT, "bin/apt-get": APT_GET,
                           "bin/apt-config": "#!/bin/sh\n", "repository/dev": DEV,
                           "repository/.gitignore": "/build/\n"}.items():
            path = self.state / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            path.chmod(0o755)
        (self.repository / "deploy").mkdir()
        shutil.copy(ROOT / "deploy/try_on.sh", self.repository / "deploy")
        self.git("init", "--quiet")
        self.commit()

    def git(self, *arguments):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.test", *arguments], cwd=self.repository,
                       check=True)

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "A commit")

    def try_on(self, *arguments, path=None, **options):
        path = path or f"{self.state / 'bin'}:{os.environ['PATH']}:/usr/sbin:/sbin"
        return subprocess.run(["deploy/try_on.sh", *arguments], cwd=self.repository, text=True, timeout=300,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={**os.environ, "PATH": path, "STATE": str(self.state)}, **options)

    def calls(self):
        return (self.debian / "work/troupe/build/calls").read_text().split()

    def needs_root(self):
        if not may_mount():
            self.skipTest("needs root, and mounts")

    def test_both_commands_run_on_the_commit_and_the_debian_is_used_again(self):
        self.needs_root()
        result = self.try_on("trixie")
        self.assertEqual(result.returncode, 0, result.stdout)
        counts = r"passed \(3 passed, 0 failed, 1 skipped\) in \d+ s"
        self.assertRegex(result.stdout.splitlines()[-1],
                         rf"^try-on trixie: \./dev run {counts}; \./dev test {counts} \(log: .*/trixie\.log\)$")
        self.assertIn("A commit", (self.debian.parent / "trixie.log").read_text())
        (self.repository / "new").write_text("")
        self.commit()
        (self.repository / "dev").write_text("#!/bin/sh\nexit 1\n")
        result = self.try_on("trixie", "--run-only")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("What is not committed here is not tried.", result.stdout)
        self.assertTrue((self.debian / "work/troupe/new").exists())
        self.assertEqual(self.calls(), ["run", "test", "run"])
        self.assertEqual((self.state / "debootstrap").read_text(),
                         f"--variant=minbase trixie {self.debian}.new http://mirror.test/debian/\n")
        self.assertNotIn(str(self.debian), pathlib.Path("/proc/self/mountinfo").read_text())

    def test_it_ends_with_the_command_that_fails(self):
        self.needs_root()
        (self.repository / "fails_at_run").write_text("")
        self.commit()
        result = self.try_on("trixie")
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn("./dev run FAILED (1 passed, 2 failed, 0 skipped)", result.stdout.splitlines()[-1])
        self.assertEqual(self.calls(), ["run"])

    def test_fresh_removes_what_it_made_and_nothing_else(self):
        self.needs_root()
        self.assertEqual(self.try_on("trixie", "--run-only").returncode, 0)
        self.assertEqual(self.try_on("trixie", "--run-only", "--fresh").returncode, 0)
        self.assertEqual(self.calls(), ["run"])
        (self.debian / ".try-on").unlink()
        result = self.try_on("trixie", "--fresh")
        self.assertEqual(result.returncode, 1)
        self.assertIn("was not made by ./dev try-on", result.stdout)
        self.assertEqual(self.calls(), ["run"])

    def test_nothing_is_removed_below_which_something_is_mounted(self):
        self.needs_root()
        self.assertEqual(self.try_on("trixie", "--run-only").returncode, 0)
        mount = self.debian / "proc"
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", mount], check=True)
        self.addCleanup(subprocess.run, ["umount", mount])
        result = self.try_on("trixie", "--fresh")
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"{mount} is mounted", result.stdout)
        self.assertEqual(self.calls(), ["run"])

    def test_another_system_is_not_used(self):
        self.needs_root()
        self.assertEqual(self.try_on("trixie", "--run-only").returncode, 0)
        result = self.try_on("bookworm", "--root", str(self.debian))
        self.assertEqual(result.returncode, 1)
        self.assertIn("is no Debian bookworm", result.stdout)

    def test_it_says_what_it_expects(self):
        for arguments, words in {(): "expected bookworm (Debian 12) or trixie (Debian 13)",
                                 ("sid",): "got 'sid'",
                                 ("trixie", "bookworm"): "got both trixie and bookworm",
                                 ("trixie", "--root"): "--root: expected a folder",
                                 ("trixie", "--root", "/"): "expected a folder of its own, got /"}.items():
            result = self.try_on(*arguments)
            self.assertEqual(result.returncode, 1, result.stdout)
            self.assertIn(words, result.stdout)

    def test_it_says_that_it_needs_root(self):
        other = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        result = self.try_on("trixie", **other)
        self.assertEqual(result.returncode, 1)
        self.assertIn("need root", result.stdout)

    def test_it_names_the_package_that_is_missing(self):
        self.needs_root()
        tools = self.state / "tools"
        tools.mkdir()
        for tool in ("bash", "env", "dirname", "realpath"):
            (tools / tool).symlink_to(shutil.which(tool))
        result = self.try_on("trixie", path=str(tools))
        self.assertEqual(result.returncode, 1)
        self.assertIn("apt-get install debootstrap", result.stdout)


if __name__ == "__main__":
    result = unittest.main(argv=[sys.argv[0]], exit=False, verbosity=1).result
    failed = len(result.failures) + len(result.errors)
    skipped = len(result.skipped)
    print(f"{max(result.testsRun - failed - skipped, 0)} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)
