"""Runs every test of a build: python3 tests/run.py BUILD_DIR [NAME...|--script PATH]

Suites are Catch2 executables (BUILD_DIR/tests/suites.txt), scripts are executables that take the
build directory and close with `N passed, N failed[, N skipped]` (BUILD_DIR/tests/scripts.txt). With
NAMEs only those whose path contains one are run. As many run side by side as TROUPE_TEST_JOBS says (the
cores, at most 2). The longest begins first, so that all end at about the same time: by the seconds that it took
when it passed last (BUILD_DIR/tests/results/seconds.json), or else in the order of tests/longest.txt. The last
line is `N passed, N failed, N skipped`, where a Catch2 test case counts one. Without NAMEs it follows the ten
slowest cases, where a script is one case. Exits 1 if a test failed or none ran.

Their temporary files are in memory, in a folder of /dev/shm that is removed at the end, where there is room and TMPDIR
does not name another: runs with checkpoints flush thousands of files. Those of ON_DISK are on the disk.

With --script only the script of that path is run, and one that skipped everything exits 77: so ctest runs them.
Tests get the variables of BUILD_DIR/tests/environment.txt, one NAME=VALUE a line, as those that ctest starts do.
"""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as xml

TIME_LIMIT_SECONDS = 600
EXIT_SKIPPED = 77
DEFAULT_JOBS = min(2, os.cpu_count() or 1)
SLOWEST_SHOWN = 10
LONGEST = pathlib.Path(__file__).resolve().parent / "longest.txt"
# Tests of what a disk does, and those that write hundreds of megabytes.
ON_DISK = {"test_checkpoint", "test_recorder", "deploy/disk_test.sh", "deploy/chat_test.sh", "deploy/image_test.py",
           "deploy/install_test.sh", "deploy/install_parts_test.sh", "deploy/package_test.py", "deploy/try_on_test.py",
           "sandbox/sandbox_test.py"}
MEMORY = pathlib.Path("/dev/shm")
MEMORY_NEEDED = 4 << 30  # in bytes, of which tests use some hundred megabytes
SECONDS_FILE = "tests/results/seconds.json"
CLOSING_LINE = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")
# A shell that kills its children when it exits may write such a line after its closing line.
END_OF_A_JOB = re.compile(r"^\S+: line \d+: +\d+ (Killed|Terminated)\b")


class Tally:
    def __init__(self, passed=0, failed=0, skipped=0):
        self.passed, self.failed, self.skipped = passed, failed, skipped
        self.cases = []  # the seconds and the name of each
        self.seconds = {}  # of each test that passed, by its name

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.cases += other.cases
        self.seconds.update(other.seconds)

    def note_seconds(self, name, seconds):
        if self.passed and not self.failed:
            self.seconds[name] = round(seconds, 1)

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def describe_slowest(cases):
    """The sum of the seconds of all cases, and those that took longest, as lines of text."""
    total = sum(seconds for seconds, _ in cases)
    slowest = sorted(cases, reverse=True)[:SLOWEST_SHOWN]
    return [f"{len(cases)} cases took {total:.1f} s together. The slowest:",
            *(f"{seconds:8.1f} s  {name}" for seconds, name in slowest)]


def has_room_in_memory():
    """Whether files in memory may be executed, and there is room for many."""
    try:
        about = os.statvfs(MEMORY)
        available = re.search(r"^MemAvailable: +(\d+) kB$", pathlib.Path("/proc/meminfo").read_text(), re.MULTILINE)
    except OSError:
        return False
    return (os.path.ismount(MEMORY) and not about.f_flag & os.ST_NOEXEC and about.f_bavail * about.f_frsize >= MEMORY_NEEDED
            and available is not None and int(available[1]) << 10 >= 2 * MEMORY_NEEDED)


def remove_what_killed_runs_left():
    for folder in MEMORY.glob("troupe-*"):
        number = folder.name.removeprefix("troupe-")
        if number.isdecimal() and not os.path.exists(f"/proc/{number}"):
            shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def temporary_folder():
    """The folder for the temporary files of tests, or None if they go where the system has them."""
    if "TMPDIR" in os.environ or not has_room_in_memory():
        yield None
        return
    remove_what_killed_runs_left()
    folder = MEMORY / f"troupe-{os.getpid()}"  # short, as paths of sockets have a limit
    shutil.rmtree(folder, ignore_errors=True)  # of a killed run whose number this one has
    folder.mkdir()
    try:
        folder.chmod(0o1777)  # as /tmp: some tests have programs of other users
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def environment_of(name, temporary):
    """The environment of the test, or None if it has this process's."""
    return None if temporary is None or name in ON_DISK else {**os.environ, "TMPDIR": str(temporary)}


def end_group(process):
    """Kills what the test left running; its process group has the number of its leader."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run_limited(command, log, on_wait, limit, environment=None, folder=None):
    """Runs command with all output in log, with this process's environment and in its folder unless others are given.
    Returns what went wrong, or an empty string."""
    with open(log, "wb") as output:
        try:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=subprocess.STDOUT, start_new_session=True, env=environment,
                                       cwd=folder)
        except OSError as error:
            return f"could not be started: {error}"
    deadline = time.monotonic() + limit
    try:
        while process.poll() is None:
            if time.monotonic() > deadline:
                return f"did not end within {limit} s"
            if stopping.is_set():
                return "was interrupted"
            on_wait()
            try:
                process.wait(0.2)
            except subprocess.TimeoutExpired:
                pass
    finally:
        end_group(process)
        process.wait()
    if process.returncode < 0:
        return f"ended by {signal.Signals(-process.returncode).name}"
    return f"exit code {process.returncode}" if process.returncode else ""


def read_test_cases(path):
    """The finished test cases of a Catch2 XML report, and the name of one that did not finish."""
    finished, running = [], ""
    parser = xml.XMLPullParser(["start", "end"])
    try:
        parser.feed(pathlib.Path(path).read_bytes())
        for event, element in parser.read_events():
            if element.tag != "TestCase":
                continue
            running = element.get("name", "") if event == "start" else ""
            if event == "end":
                finished.append(element)
    except (xml.ParseError, FileNotFoundError):
        pass  # cut short: the caller knows how the suite ended
    return finished, running


def path_in_sources(path):
    """The path of a source that a suite names: the compiler was given it relative to the build folder."""
    return re.sub(r"^(\.\./)+", "", path or "")


def describe_failure(element, indent="  "):
    """The failed expressions below an element of a Catch2 report, as lines of text."""
    lines, notes = [], []
    for child in element:
        text = (child.text or "").strip()
        where = f"{path_in_sources(child.get('filename'))}:{child.get('line')}"
        if child.tag == "Section":
            inner = describe_failure(child, indent + "  ")
            if inner:
                lines += [f"{indent}{child.get('name')}"] + inner
        elif child.tag in ("Info", "Warning"):
            notes.append(f"{indent}note: {text}")
        elif child.tag == "Expression":
            if child.get("success") == "false":
                expanded = (child.findtext("Expanded") or "").strip()
                lines += [f"{indent}{where}: {child.get('type')} failed",
                          f"{indent}  {(child.findtext('Original') or '').strip()}",
                          f"{indent}  with {expanded}"]
                for kind in ("Exception", "FatalErrorCondition"):
                    if child.find(kind) is not None:
                        lines.append(f"{indent}  {kind}: {child.findtext(kind).strip()}")
                lines += notes
            notes = []
        elif child.tag in ("Failure", "Exception", "FatalErrorCondition"):
            lines += [f"{indent}{where}: {child.tag}: {text}"] + notes
            notes = []
        elif child.tag == "OverallResult":
            for stream in ("StdOut", "StdErr"):
                printed = (child.findtext(stream) or "").strip()
                if printed and child.get("success") == "false":
                    lines.append(f"{indent}{stream}:\n{printed}")
    return lines


reporting = threading.Lock()
stopping = threading.Event()  # Ctrl-C: every test that runs is ended


def show_progress(text):
    if sys.stdout.isatty():
        print(f"\r\033[K{text[:100]}", end="", flush=True)


def report(name, tally, started, problems):
    with reporting:
        show_progress("")
        print("\n".join([f"{name}: {tally} ({time.monotonic() - started:.1f} s)"] + problems), flush=True)


def name_of_suite(executable):
    return os.path.basename(executable)


def name_of_script(path):
    path = pathlib.Path(path)
    return f"{path.parent.name}/{path.name}"  # two folders may have a script of one name


def run_suite(executable, folder, limit, temporary=None):
    name = name_of_suite(executable)
    result, log = folder / f"{name}.xml", folder / f"{name}.log"
    result.unlink(missing_ok=True)
    started = time.monotonic()

    def on_wait():
        if sys.stdout.isatty():
            finished, running = read_test_cases(result)
            show_progress(f"{name}: {len(finished)} test cases, now {running}")

    trouble = run_limited([executable, "-r", "xml", "-d", "yes", "-o", str(result)], log, on_wait, limit,
                          environment_of(name, temporary))
    finished, running = read_test_cases(result)
    tally, problems = Tally(), []
    for case in finished:
        overall = case.find("OverallResult")
        seconds = float(overall.get("durationInSeconds", 0)) if overall is not None else 0.0
        tally.cases.append((seconds, f"{name}: {case.get('name')}"))
        if overall is not None and overall.get("success") == "true":
            if overall.get("skips", "0") != "0":
                tally.skipped += 1
            else:
                tally.passed += 1
        else:
            tally.failed += 1
            problems += [f"FAILED {case.get('name')}"] + describe_failure(case)
    if running or (trouble and not tally.failed):
        tally.failed += 1
        problems.append(f"FAILED {running or name}: {name} {trouble}")
    if running:  # it has no report of its own, and the time that the others leave
        rest = time.monotonic() - started - sum(seconds for seconds, _ in tally.cases)
        tally.cases.append((max(rest, 0.0), f"{name}: {running}"))
    if problems:
        printed = log.read_text(errors="replace").strip()
        problems += [f"  output of {name}:", printed] if printed else []
    tally.note_seconds(name_of_suite(executable), time.monotonic() - started)
    report(name, tally, started, problems)
    return tally


def read_closing_line(printed):
    lines = [line.strip() for line in printed.splitlines()]
    while lines and END_OF_A_JOB.match(lines[-1]):
        lines.pop()
    return CLOSING_LINE.match(lines[-1]) if lines else None


def run_script(script, build, folder, limit, temporary=None):
    name = os.path.basename(script)
    log = folder / f"{name_of_script(script).replace('/', '_')}.log"
    started = time.monotonic()
    show_progress(name)
    trouble = run_limited([script, str(build)], log, lambda: None, limit, environment_of(name_of_script(script), temporary))
    printed = log.read_text(errors="replace").strip()
    closing = read_closing_line(printed)
    tally = Tally(*(int(count or 0) for count in closing.groups())) if closing else Tally()
    if not closing and not trouble:
        trouble = "printed no closing line"
    elif closing and not (tally.passed or tally.failed or tally.skipped):
        trouble = "ran nothing"
    problems = []
    if trouble and not tally.failed:
        tally.failed += 1
    if tally.failed:
        problems = [f"FAILED {name}: {trouble or 'see below'}", printed]
    seconds = time.monotonic() - started
    tally.cases.append((seconds, name_of_script(script)))
    tally.note_seconds(name_of_script(script), seconds)
    report(name, tally, started, problems)
    return tally


def read_paths(build, file, names):
    """The paths that a list of the build holds, those whose part below a root contains a name."""
    paths = [line.strip() for line in (build / "tests" / file).read_text().splitlines()]
    roots = (str(build) + "/", str(pathlib.Path(__file__).resolve().parent.parent) + "/")

    def is_wanted(path):
        for root in roots:
            path = path.removeprefix(root)
        return not names or any(name in path for name in names)

    return [path for path in paths if path and is_wanted(path)]


def read_jobs():
    text = os.environ.get("TROUPE_TEST_JOBS", str(DEFAULT_JOBS))
    if not re.fullmatch("[1-9][0-9]?", text):
        sys.exit(f"TROUPE_TEST_JOBS: expected 1 to 99 tests at once, got '{text}'")
    return int(text)


def read_seconds(build):
    """The seconds that each test of the build took when it passed last, by its name."""
    try:
        kept = json.loads((build / SECONDS_FILE).read_text())
        return {name: float(seconds) for name, seconds in kept.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}  # there are none yet, or the file was cut short


def keep_seconds(build, seconds):
    """Keeps them beside those of other tests."""
    file = build / SECONDS_FILE
    new = file.with_suffix(f".{os.getpid()}")
    new.write_text(json.dumps({**read_seconds(build), **seconds}, indent=0, sort_keys=True))
    new.replace(file)


def longest_first(tests, kept, listed):
    """Sorts pairs of a name and anything: those without kept seconds come first in the order of the list, so that an unknown
    long one doesn't begin last, then the others from the longest to the shortest, and at the end those that neither knows."""
    def place(test):
        name = test[0]
        if name in kept:
            return 1, -kept[name]
        return (0, listed.index(name)) if name in listed else (2, 0)
    return sorted(tests, key=place)


def interrupt(*_):
    raise KeyboardInterrupt


def read_environment(build):
    """The variables with which the tests of a build run."""
    file = build / "tests/environment.txt"
    lines = file.read_text().splitlines() if file.exists() else []
    return dict(line.split("=", 1) for line in lines if line)


def run_one_script(script, build, folder, limit):
    """The exit code for this script alone."""
    try:
        tally = run_script(script, build, folder, limit)
    except KeyboardInterrupt:
        return 130
    return 1 if tally.failed else 0 if tally.passed else EXIT_SKIPPED


def run_all(tests):
    """Runs them in their order, several at a time, and returns the sum of their tallies."""
    total = Tally()
    with concurrent.futures.ThreadPoolExecutor(read_jobs()) as pool:
        try:
            for tally in pool.map(lambda test: test[1][0](*test[1][1:]), tests):
                total.add(tally)
        except KeyboardInterrupt:
            stopping.set()
            pool.shutdown(cancel_futures=True)
            sys.exit(130)
    return total


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)  # as Ctrl-C: tests have sessions of their own, and would go on
    build, names = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    limit = float(os.environ.get("TROUPE_TEST_SECONDS", TIME_LIMIT_SECONDS))
    folder = build / "tests" / "results"
    folder.mkdir(parents=True, exist_ok=True)
    os.environ.update(read_environment(build))
    if names[:1] == ["--script"]:
        if len(names) != 2:
            sys.exit("--script: expected the path of one script")
        sys.exit(run_one_script(names[1], build, folder, limit))
    with temporary_folder() as temporary:
        tests = [(name_of_script(script), (run_script, script, build, folder, limit, temporary))
                 for script in read_paths(build, "scripts.txt", names)]
        tests += [(name_of_suite(suite), (run_suite, suite, folder, limit, temporary))
                  for suite in read_paths(build, "suites.txt", names)]
        total = run_all(longest_first(tests, read_seconds(build), LONGEST.read_text().split()))
    keep_seconds(build, total.seconds)
    if not (total.passed or total.failed):
        print("no test ran" + (f": none matches {' '.join(names)}" if names else ""))
    elif not names:
        print("\n".join(describe_slowest(total.cases)))
    print(total)
    sys.exit(1 if total.failed or not total.passed else 0)


if __name__ == "__main__":
    main()
