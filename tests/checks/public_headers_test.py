#!/usr/bin/python3
"""Public headers compile alone, without a warning, and describe no namespace: public_headers_test.py BUILD_DIR [--all] [ROOT]

A public header is one that the table "Which header for what" in docs/architecture.md names. It is
compiled as the only include of a file, by the command of a source near it in compile_commands.json,
without the precompiled header, which would hide what it forgets to include. ccache, where it is
installed, compiles only what has changed since the last time. With --all every header of the layers
is compiled. What a header says of itself is a comment with // at its top: Doxygen takes one with
/// before `namespace troupe` as the description of the whole namespace.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import source

LAYERS = ["runtime", "actors", "algorithms"]
TABLE = "docs/architecture.md"
_SECTION = re.compile(r"^## Which header for what\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_HEADER = re.compile(r"`([^`\s]+\.hpp)`")
_DESCRIBED_NAMESPACE = re.compile(r"^///[^\n]*\n+namespace troupe \{", re.MULTILINE)
# At most so many compilers at once: a header that sees libtorch takes 1 GB.
PROCESSES = min(2, os.cpu_count() or 1)


def list_public_headers(root):
    section = _SECTION.search((root / TABLE).read_text())
    return sorted(set(_HEADER.findall(section.group(1)))) if section else []


def list_all_headers(root):
    return [path.as_posix() for path in source.list_sources(root, LAYERS) if path.suffix == ".hpp"]


def read_flags(command):
    """The compiler and the flags of a compile command: no files, no precompiled header, no cache."""
    words = shlex.split(command)
    compiler = next(word for word in words if re.search(r"(clang\+\+|g\+\+|c\+\+)[-\d.]*$", word))
    words = iter(words[words.index(compiler) + 1:])
    flags = [compiler]
    for word in words:
        if word in ("-o", "-c", "-MF", "-MT", "-include"):
            next(words)
        elif word == "-Xclang":
            option = next(words)
            if option in ("-include-pch", "-include"):
                next(words), next(words)  # -Xclang FILE
            else:
                flags += [word, option]
        elif word not in ("-MD", "-Winvalid-pch"):
            flags.append(word)
    return flags


def read_database(build, root):
    """The compile command of each source of the layers, by its path below root."""
    entries = json.loads((build / "compile_commands.json").read_text())
    paths = [(pathlib.Path(entry["directory"], entry["file"]), entry) for entry in entries]
    return {path.relative_to(root).as_posix(): entry for path, entry in paths
            if path.is_relative_to(root) and path.relative_to(root).parts[0] in LAYERS}


def find_command(database, header):
    """The command of the source of the header's name, or else of the first in the nearest folder."""
    named = header.removesuffix(".hpp") + ".cpp"

    def distance(path):
        common = os.path.commonpath([path, header])
        return path != named, -len(pathlib.PurePath(common).parts), path.count("/"), path

    return database[min(database, key=distance)]


def compile_alone(root, build, entry, header):
    """What the compiler says of a file that includes the header and nothing else; empty: nothing."""
    including = build / "tests/public_headers" / (header.replace("/", "-") + ".cpp")
    including.parent.mkdir(parents=True, exist_ok=True)
    including.write_text(f'#include "{header}"\n')
    ccache = shutil.which("ccache")
    launcher = [source.ROOT / "cmake/compile.sh", root, ccache] if ccache else []
    command = [*launcher, *read_flags(entry["command"]), "-Werror", "-O0", "-c", including, "-o", including.with_suffix(".o")]
    result = subprocess.run(command, cwd=entry["directory"], text=True, capture_output=True, check=False)
    return result.stderr.strip() or (f"exit code {result.returncode}" if result.returncode else "")


def find_problem(root, build, database, header):
    """What is wrong with the header; empty: nothing."""
    problem = compile_alone(root, build, find_command(database, header), header)
    if problem:
        return f"does not compile alone:\n{problem}"
    described = _DESCRIBED_NAMESPACE.search((root / header).read_text())
    return "has a /// comment before `namespace troupe`, expected // at its top" if described else ""


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--all"]
    build = pathlib.Path(arguments[0]).resolve()
    root = pathlib.Path(arguments[1]).resolve() if len(arguments) > 1 else source.ROOT
    headers = list_all_headers(root) if "--all" in sys.argv else list_public_headers(root)
    database = read_database(build, root)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
        told = pool.map(lambda header: find_problem(root, build, database, header), headers)
        for header, problem in zip(headers, told):
            if problem:
                failed += 1
                print(f"FAILED {header} {problem}", flush=True)
    print(f"{len(headers) - failed} passed, {failed} failed")
    sys.exit(1 if failed or not headers else 0)


if __name__ == "__main__":
    main()
