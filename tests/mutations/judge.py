"""Runs tests with a mutation on or off, and says whether they fail."""
import os
import pathlib
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from run import read_test_cases, run_limited  # noqa: E402

BASELINE_SECONDS = 900
GIGABYTES = 8  # what a mutant may allocate before it fails
WRITTEN_MAX = 8 << 30  # bytes that a mutant may write; files without blocks may be larger, as tests have them
SPECIAL = "\\,[]\"*~"


class WroteTooMuch(Exception):
    pass


class Verdict:
    """How a run ended: `trouble` is empty where every test passed, `failed` the first test that didn't."""

    def __init__(self, trouble, seconds, output, finished, running):
        self.trouble, self.seconds, self.output = trouble, seconds, output
        self.is_missing = False  # the test that was asked for
        self.tests = [case.get("name") for case in finished]
        self.failed = next((case.get("name") for case in finished
                            if case.find("OverallResult") is None
                            or case.find("OverallResult").get("success") != "true"), running)

    @property
    def timed_out(self):
        return self.trouble.startswith("did not end")


def escape(test):
    """The Catch2 pattern that matches a test case of this name alone."""
    return "".join("\\" + letter if letter in SPECIAL else letter for letter in test)


def limit_of(baseline_seconds):
    return 3 * baseline_seconds + 20


def run(command, tree, limit, number=0, reached=None, report=False):
    """Runs a suite or a script of the tree with mutation `number` on, none for 0."""
    with tempfile.TemporaryDirectory(prefix="troupe", ignore_cleanup_errors=True) as folder:
        log, result = pathlib.Path(folder) / "log", pathlib.Path(folder) / "result.xml"
        temporary = pathlib.Path(folder) / "t"
        temporary.mkdir()
        for each in (folder, temporary):  # Programs of a coder go through them as other users.
            os.chmod(each, 0o711)
        environment = {**os.environ, "TROUPE_MUTATION": str(number), "TMPDIR": str(temporary)}
        environment.pop("TROUPE_MUTATIONS_REACHED", None)
        if reached:
            environment["TROUPE_MUTATIONS_REACHED"] = str(reached)
        limited = ["prlimit", f"--data={GIGABYTES << 30}", "--core=0", "--"]
        if report:
            command = [*command, "-a", "-r", "xml", "-o", str(result)]
        room = shutil.disk_usage(folder).free

        def require_room():
            if room - shutil.disk_usage(folder).free > WRITTEN_MAX:
                raise WroteTooMuch

        started = time.monotonic()
        try:
            trouble = run_limited([*limited, *command], log, require_room, limit, environment, tree.source)
        except WroteTooMuch:
            trouble = f"wrote more than {WRITTEN_MAX >> 20} MiB"
        seconds = time.monotonic() - started
        finished, running = read_test_cases(result) if report else ([], "")
        return Verdict(trouble, seconds, log.read_text(errors="replace"), finished, running)


def run_suite(suite, tree, limit, number=0, reached=None, test=None):
    """Runs a suite up to its first failure, or one of its test cases."""
    command = [str(suite.path), *([escape(test)] if test else [])]
    verdict = run(command, tree, limit, number, reached, report=True)
    if test and not verdict.trouble and test not in verdict.tests:
        verdict.trouble, verdict.is_missing = "the suite has no such test", True
    return verdict


def run_script(script, tree, limit, number=0):
    return run([str(tree.source / script), str(tree.build)], tree, limit, number)
