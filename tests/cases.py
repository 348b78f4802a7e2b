#!/usr/bin/python3
"""Lists the single cases of a build's suites for ctest: cases.py BUILD_DIR CATCH2_VERSION

Writes a file of add_test commands for each suite that is built, BUILD_DIR/tests/cases/SUITE.cmake, where that is missing
or older than the suite, and prints the paths of all as a list of CMake. An entry is called `SUITE: CASE` and has the
label `case`. A suite that is not built, or cannot list its cases, has no entries.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

from run import TIME_LIMIT_SECONDS, read_environment

ROOT = pathlib.Path(__file__).resolve().parents[1]
LIST_V2 = ["--list-test-names-only", "--verbosity", "high"]
LIST_V3 = ["--list-tests", "--reporter", "xml"]
SHOWN = "~[.]"  # not the hidden ones, which a suite runs only where they are named
_LINE_V2 = re.compile(r"(.+)\t@(.+):(\d+)")


def read_v2(text):
    """The cases of a list of Catch2 v2, which puts a name that begins with # in quotation marks."""
    for line in text.splitlines():
        name, file, number = _LINE_V2.fullmatch(line).groups()
        yield re.sub('^"(#.*)"$', r"\1", name), file, number


def read_v3(text):
    for case in xml.fromstring(text).iter("TestCase"):
        yield case.findtext("Name"), case.findtext("SourceInfo/File"), case.findtext("SourceInfo/Line")


def list_cases(suite, is_v2, environment):
    """The name, the file and the line of each of the suite's cases; None where it can't list them."""
    try:
        listed = subprocess.run([suite, *(LIST_V2 if is_v2 else LIST_V3), SHOWN], text=True, capture_output=True,
                                stdin=subprocess.DEVNULL, timeout=60, check=False, env=environment, cwd=ROOT)
        cases = list((read_v2 if is_v2 else read_v3)(listed.stdout))
    except (OSError, subprocess.TimeoutExpired, xml.ParseError, AttributeError):
        return None
    is_whole = listed.returncode == (len(cases) % 256 if is_v2 else 0)  # v2 ends with their number
    return cases if is_whole else None


def escape(name):
    """The test specification of Catch2 that means this case alone."""
    name = re.sub(r'([\\,\[\]"])', r"\\\1", name)
    return "\\" + name if name.startswith("~") else name


def quote(text):
    """The text as an argument of CMake."""
    return f"[==[{text}]==]"


def render(suite, cases, build, environment):
    """The commands of ctest. _BACKTRACE_TRIPLES is what CMake writes for an add_test of its own: where the entry stands."""
    settings = ";".join(f"{name}={value}" for name, value in environment.items())
    for name, file, line in cases:
        file = os.path.normpath(build / file)
        entry = quote(f"{suite.name}: {name}")
        yield f"add_test({entry} {quote(suite)} {quote(escape(name))})\n"
        yield (f"set_tests_properties({entry} PROPERTIES LABELS case TIMEOUT {TIME_LIMIT_SECONDS} "
               f"WORKING_DIRECTORY {quote(ROOT)} ENVIRONMENT {quote(settings)} "
               f"_BACKTRACE_TRIPLES {quote(f'{file};{line};TEST_CASE;{file};0;')})\n")


def renew(suite, build, is_v2, environment):
    """The file with the suite's cases, made anew where it is older; None where there is none."""
    file = build / f"tests/cases/{suite.name}.cmake"
    if file.exists() and file.stat().st_mtime_ns >= suite.stat().st_mtime_ns:
        return file
    cases = list_cases(suite, is_v2, {**os.environ, **environment})
    if cases is None:
        return None
    new = file.with_suffix(f".{os.getpid()}")
    new.write_text("".join(render(suite, cases, build, environment)))
    new.replace(file)
    return file


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    build, is_v2 = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2].startswith("2.")
    (build / "tests/cases").mkdir(parents=True, exist_ok=True)
    environment = read_environment(build)
    suites = [pathlib.Path(line) for line in (build / "tests/suites.txt").read_text().splitlines() if line]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        files = pool.map(lambda suite: renew(suite, build, is_v2, environment),
                         [suite for suite in suites if suite.exists()])
        print(";".join(str(file) for file in files if file))


if __name__ == "__main__":
    main()
