#!/usr/bin/env python3
"""Runs test_sandbox, test_sandboxed_grpo and the escapes, as this user and, under root, as an ordinary one:
sandbox_test.py BUILD_DIR

Most of their time is spent waiting for limits of time, so several run side by side: PARALLEL at a time, of which the
escapes are two, each with every other attempt. Where this machine can't make sandboxes, all of these are skipped, with the reason. Closes with
`N passed, N failed, N skipped`.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

ORDINARY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
PARALLEL = 3
CLOSING = re.compile(r"^(\d+) passed, (\d+) failed", re.MULTILINE)


def unmet_by(build, as_user):
    """The checks that this machine does not meet, by name."""
    told = subprocess.run([*as_user, build / "deploy/troupe/troupe", "check-sandbox", "--json"], stdout=subprocess.PIPE, text=True)
    return {check["what"]: check for check in json.loads(told.stdout)["checks"] if not check["met"]}


def cases_of(suite):
    """The number of test cases."""
    names = subprocess.run([suite, "--list-test-names-only"], capture_output=True, text=True)
    return len(names.stdout.splitlines())


def run_suite(suite, as_user, cases=()):
    """(passed, failed) of a Catch2 executable."""
    done = subprocess.run([*as_user, suite, "-r", "compact", *cases], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    count = 1 if cases else cases_of(suite)
    found = re.search(r"Failed (?:(\d+)|all|both) test case", done.stdout)
    failed = 0 if done.returncode == 0 else int(found[1]) if found and found[1] else count
    if failed:
        print(done.stdout)
    return count - failed, failed


def run_escapes(program, as_user, names):
    """(passed, failed) of these attempts."""
    done = subprocess.run([*as_user, program, *names], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    closing = CLOSING.search(done.stdout)
    if done.returncode != 0:
        print(done.stdout)
    return (int(closing[1]), int(closing[2])) if closing else (0, len(names))


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    suites = [build / "tests/actors/sandbox/test_sandbox", build / "tests/actors/sandbox/test_sandboxed_grpo"]
    escapes = build / "tests/escapes/escapes"
    attempts = sorted(path.stem for path in (pathlib.Path(__file__).parents[2] / "escapes/attempts").glob("*.py"))
    skipped, parts = 0, []
    for as_user in ([], ORDINARY) if os.geteuid() == 0 else ([],):
        unmet = unmet_by(build, as_user)
        for check in unmet.values():
            print(f"skipped{' as an ordinary user' if as_user else ''}: {check['what']}: {check['found']}")
        if any(check["needed"] for check in unmet.values()):
            skipped += sum(map(cases_of, suites)) + 1 + len(attempts)
            continue
        if "control groups" in unmet:
            skipped += 1
        else:
            parts.append((run_suite, suites[0], as_user, ["[cgroup]"]))
        parts += [(run_suite, suite, as_user) for suite in suites]
        parts += [(run_escapes, escapes, as_user, attempts[begin::2]) for begin in range(2)]
    with concurrent.futures.ThreadPoolExecutor(PARALLEL) as pool:
        counts = list(pool.map(lambda part: part[0](*part[1:]), parts))
    passed, failed = (sum(count) for count in zip((0, 0), *counts))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
