"""Holds README.md to what is true: readme.py [ROOT] [--run BUILD_DIR]

- A ```console or ```sh block's command is `./dev COMMAND`, `build/release/...` or a tool every
  Debian has. ./dev must know COMMAND; what lies in build/release must be a target of the build, as
  must the benchmark of `./dev bench NAME`.
- A ```cpp block occurs, word for word, in a file below examples/ between the lines
  `// readme: NAME` and `// readme: end`, so it compiles. Indentation may differ. The README links that
  file, which has what is to be included.
- A ```cpp block in docs/ says what is to be included, and those headers are there.
- A link to a file in the repository finds it, in the README and in docs/. So does a path in backticks
  in docs/ that begins with a folder of the repository.

With --run, every `build/release/...` command is run instead, in the README's order and from an
empty folder, except in blocks marked `by-hand` (```sh by-hand). Closes with `N passed, N failed`.
"""
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap

import source

_BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```\s*$", re.MULTILINE | re.DOTALL)
_MARKED = re.compile(r"^[ \t]*// readme: (?!end\b)\S+\n(.*?)^[ \t]*// readme: end$",
                     re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)|<img[^>]* src=\"(?!\w+:)([^\"]+)\"")
_PATH = re.compile(rf"`((?:{'|'.join([*source.FOLDERS, 'docs'])})/[^`\s]*)`")
_INCLUDE = re.compile(r'^#include "([^"]+)"$', re.MULTILINE)
_TOOLS = ["apt-get", "cd", "cmake", "curl", "export", "git", "ls", "ninja", "python3", "sudo"]
BUILD = "build/release/"
SHELLS = ["console", "sh", "bash", "shell"]
CPP = ["cpp", "c++", "C++"]


def read_blocks(text):
    """The fenced blocks: line, language, words after the language, content."""
    for match in _BLOCK.finditer(text):
        words = match.group(1).split() or [""]
        yield source.line_of(text, match.start()) + 1, words[0], words[1:], match.group(2)


def read_commands(language, content):
    """A block's command lines; in a console block those behind `$ `, or all if none is."""
    lines = content.replace("\\\n", " ").splitlines()
    if language == "console" and any(line.startswith("$ ") for line in lines):
        lines = [line[2:] for line in lines if line.startswith("$ ")]
    return [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]


def list_dev_commands(root):
    text = (root / "dev").read_text()
    cases = text[text.rindex("case $command in"):]
    return re.findall(r"^  ([\w-]+)(?: \|[^)]*)?\)", cases, re.MULTILINE)


def is_built(root, path):
    """Whether a target of the build has this path below build/release."""
    name = pathlib.PurePosixPath(path).name
    added = re.compile(rf"add_executable\(\s*{re.escape(name)}\b|troupe_\w+\(\s*{re.escape(name)}\b")
    folder = root / pathlib.PurePosixPath(path.removeprefix(BUILD)).parent
    lists = [folder / "CMakeLists.txt", folder.parent / "CMakeLists.txt"]
    return any(file.exists() and added.search(file.read_text()) for file in lists)


def is_benchmark(root, name):
    """Whether `./dev bench NAME` is a program of the build, or a script in a folder of its own."""
    return is_built(root, f"{BUILD}tests/bench/bench_{name}") or (root / f"tests/bench/{name}/{name}.py").exists()


def judge_command(root, command):
    """Why this command line can't be right, or None."""
    try:
        words = shlex.split(command, comments=True)
    except ValueError as error:
        return f"no shell command: {error}"
    while words and re.match(r"^\w+=", words[0]):
        words = words[1:]
    if not words:
        return None
    if words[0] == "./dev":
        known = list_dev_commands(root)
        if len(words) < 2 or words[1] not in known:
            return f"./dev knows {', '.join(known)}"
        names = [word for word in words[2:] if not word.startswith("-")]
        if words[1] == "bench" and names and not is_benchmark(root, names[0]):
            return f"no CMakeLists.txt makes bench_{names[0]}"
    elif words[0].startswith(BUILD):
        if not is_built(root, words[0]):
            return f"no CMakeLists.txt makes {words[0]}"
    elif words[0].startswith(("./", "build/")) or words[0] not in _TOOLS:
        return f"expected ./dev, {BUILD}... or one of {', '.join(_TOOLS)}"
    return None


def normalise(code):
    return textwrap.dedent(code.expandtabs()).strip("\n")


def find_marked_code(root):
    """What is marked, and the file that it is in."""
    return {normalise(match.group(1)): str(path) for path in source.list_sources(root, ["examples"])
            for match in _MARKED.finditer((root / path).read_text())}


def blank_blocks(text):
    """The text without its fenced blocks, in which lines keep their numbers."""
    return _BLOCK.sub(lambda block: "\n" * block.group().count("\n"), text)


def find_problems_of_docs(root):
    for path in sorted((root / "docs").rglob("*.md")):
        text = path.read_text()
        prose = blank_blocks(text)
        targets = [(match, root, match.group(1)) for match in _PATH.finditer(prose)]
        targets += [(match, path.parent, match.group(1) or match.group(2)) for match in _LINK.finditer(prose)]
        for match, folder, target in targets:
            if not (folder / target).exists():
                line = source.line_of(prose, match.start())
                yield f"{path.relative_to(root)}:{line}: names {target}, which does not exist"
        for line, language, _, content in read_blocks(text):
            if language not in CPP:
                continue
            included = _INCLUDE.findall(content)
            if not included:
                yield f"{path.relative_to(root)}:{line}: this code doesn't say what is to be included"
            for header in included:
                if not (root / header).exists():
                    yield f"{path.relative_to(root)}:{line}: includes {header}, which does not exist"


def find_problems_of_figures(path, text, wanted_section):
    """Each row of the tables in these sections says on which day its figure was measured, and which of several runs it is."""
    section = ""
    for number, line in enumerate(blank_blocks(text).splitlines(), 1):
        if line.startswith("## "):
            section = line.lower()
        if not re.search(wanted_section, section) or not line.startswith("| ") or line.startswith("| what |"):
            continue
        said = re.sub("`[^`]*`", "", line.split(" | ", 1)[-1])
        for pattern, wanted in [(r"\b\d{4}-\d\d-\d\d\b", "day"),
                                (r"\b(medians?|means?|best|runs?)\b", "median, mean, best or run")]:
            if not re.search(pattern, said):
                yield f"{path}:{number}: expected a {wanted} behind '{line[:40]}'"


def find_problems(root):
    readme = root / "README.md"
    if not readme.exists():
        yield "README.md: is missing"
        return
    text = readme.read_text()
    marked = find_marked_code(root)
    for line, language, _, content in read_blocks(text):
        if language in SHELLS:
            for command in read_commands(language, content):
                reason = judge_command(root, command)
                if reason:
                    yield f"README.md:{line}: {command}: {reason}"
        elif language in CPP and normalise(content) not in marked:
            yield (f"README.md:{line}: this code is in no file below examples/ between "
                   "`// readme: NAME` and `// readme: end`")
        elif language in CPP and f"]({marked[normalise(content)]})" not in text:
            yield f"README.md:{line}: this code is in {marked[normalise(content)]}, which is not linked"
    for match in _LINK.finditer(blank_blocks(text)):
        target = match.group(1) or match.group(2)
        if not (root / target).exists():
            yield f"README.md: links {target}, which does not exist"
    yield from find_problems_of_figures("README.md", text, "fast|measured")
    benchmarks = root / "docs/benchmarks.md"
    if benchmarks.exists():
        yield from find_problems_of_figures("docs/benchmarks.md", benchmarks.read_text(), "^## ")
    yield from find_problems_of_docs(root)


def run_commands(root, build):
    """Runs what the README shows of the build; returns how many passed and failed."""
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        release = pathlib.Path(folder) / BUILD
        release.parent.mkdir()
        release.symlink_to(pathlib.Path(build).resolve())
        for line, language, words, content in read_blocks((root / "README.md").read_text()):
            if language not in SHELLS or "by-hand" in words:
                continue
            for command in read_commands(language, content):
                if not command.startswith(BUILD):
                    continue
                result = subprocess.run(["bash", "-c", command], cwd=folder, text=True, check=False,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)
                if result.returncode == 0:
                    passed += 1
                else:
                    failed += 1
                    print(f"FAILED README.md:{line}: {command}: exit code {result.returncode}")
                    print(result.stdout)
    return passed, failed


def main():
    arguments = sys.argv[1:]
    if "--run" in arguments:
        at = arguments.index("--run")
        build, arguments = arguments[at + 1], arguments[:at] + arguments[at + 2:]
        root = pathlib.Path(arguments[0]) if arguments else source.ROOT
        passed, failed = run_commands(root, build)
        print(f"{passed} passed, {failed} failed")
        sys.exit(1 if failed or not passed else 0)
    source.finish("README", list(find_problems(source.root_argument())))


if __name__ == "__main__":
    main()
