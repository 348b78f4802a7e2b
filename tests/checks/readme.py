"""Holds README.md and docs/ to what is true: readme.py [ROOT] [--run BUILD_DIR]

- A ```console or ```sh block's command is `./dev COMMAND`, `troupe COMMAND`, `./my_program`, an example
  (`./hello_service`), a program of `venv/bin/` or a tool of Debian. ./dev must know COMMAND, and the benchmark of `./dev bench NAME` must be a target of the build.
  docs/command_line.md must have the command of `troupe` and its options; docs/generate.py --check holds
  that page to the program.
- A ```cpp block occurs, word for word, in a file below examples/ or docs/code/ between the lines
  `// readme: NAME` and `// readme: end`, so it compiles. Indentation may differ. A block that only
  includes headers needs no such place, but the headers must be there. The README links the file.
- A link to a file in the repository finds it. So does a path in backticks in docs/ that begins with a
  folder of the repository.
- No path into build/release, nor in the examples, and no line above 400 characters. The README has at
  most 150 lines.
- A table with a column for the day says in it on which day each figure was measured, and which of
  several runs it is.

With --run, every `troupe ...` command of the README is run instead, in its order and from an empty
folder, with the build's troupe first on the PATH, except in blocks marked `by-hand` (```sh by-hand).
Closes with `N passed, N failed`.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap

import source

_BLOCK = re.compile(r"^([ \t]*)```([^\n]*)\n(.*?)^[ \t]*```[ \t]*$", re.MULTILINE | re.DOTALL)
_MARKED = re.compile(r"^[ \t]*// readme: (?!end\b)\S+\n(.*?)^[ \t]*// readme: end$",
                     re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)|<img[^>]* src=\"(?!\w+:)([^\"]+)\"")
_PATH = re.compile(rf"`((?:{'|'.join(source.FOLDERS)})/[^`\s]*)`")
_INCLUDE = re.compile(r'^#include "([^"]+)"[^\n]*$', re.MULTILINE)
_COMMAND = re.compile(r"^##+ troupe(?: ([^\n]+))?\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)
_OPTION_ROW = re.compile(r"^\| `(-[^`]+)` \|", re.MULTILINE)
_TOOLS = """apt apt-get awk cat cd chown cmake cp curl cut docker dpkg echo exec exit export find for git grep head jq kill kubectl
    less ls man mkdir mv ninja openssl pip podman promtool ps python python3 rm sbatch scp sed seq set sleep sort source squeue srun ssh
    ssh-keygen sudo systemctl tail tar tee tensorboard test umask uvicorn wait watch wget""".split()
_WORDS = {"do", "done", "then", "fi", "if", "while", "else", "!", "{", "}"}  # of the shell, before a command
BENCHMARKS = "build/release/tests/bench/bench_"
BUILD = "build/release/"
SHELLS = ["console", "sh", "bash", "shell"]
CPP = ["cpp", "c++", "C++"]
COMMAND_LINE = "docs/command_line.md"
README_LINES_MAX = 150
LINE_MAX = 400


def read_blocks(text):
    """The fenced blocks: line, language, words after the language, content."""
    for match in _BLOCK.finditer(text):
        words = match.group(2).split() or [""]
        yield source.line_of(text, match.start()) + 1, words[0], words[1:], textwrap.dedent(match.group(3))


def read_commands(language, content):
    """A block's command lines; in a console block those behind `$ `, or all if none is."""
    lines = re.sub(r"<<-?\s*'?(\w+)'?([^\n]*)\n.*?^\s*\1$", r"\2", content, flags=re.MULTILINE | re.DOTALL)
    lines = lines.replace("\\\n", " ").splitlines()
    if language == "console" and any(line.startswith("$ ") for line in lines):
        lines = [line[2:] for line in lines if line.startswith("$ ")]
    return [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]


def list_dev_commands(root):
    """Those that ./dev has in itself, and the scripts in tools/ that it runs for the others."""
    text = (root / "dev").read_text()
    cases = text[text.rindex("case $command in"):]
    tools = (path for path in sorted((root / "tools").glob("*")) if path.is_file() and os.access(path, os.X_OK))
    return re.findall(r"^  ([\w-]+)(?: \|[^)]*)?\)", cases, re.MULTILINE) + [path.name for path in tools]


def is_built(root, path):
    """Whether a target of the build has this path below build/release."""
    name = pathlib.PurePosixPath(path).name
    added = re.compile(rf"add_executable\(\s*{re.escape(name)}\b|troupe_\w+\(\s*{re.escape(name)}\b")
    folder = root / pathlib.PurePosixPath(path.removeprefix(BUILD)).parent
    lists = [folder / "CMakeLists.txt", folder.parent / "CMakeLists.txt"]
    return any(file.exists() and added.search(file.read_text()) for file in lists)


def is_benchmark(root, name):
    """Whether `./dev bench NAME` is a program of the build, or a script in a folder of its own."""
    return is_built(root, BENCHMARKS + name) or (root / f"tests/bench/{name}/{name}.py").exists()


def read_command_line(root):
    """The commands of `troupe` with the names of their options: {("certs", "add"): {"--name", ...}}."""
    commands = {}
    if not (root / COMMAND_LINE).exists():
        return commands
    for match in _COMMAND.finditer((root / COMMAND_LINE).read_text()):
        names = {name for row in _OPTION_ROW.findall(match.group(2)) for name in re.findall(r"(?<!\S)--?[\w-]+", row)}
        commands[tuple((match.group(1) or "").split())] = names
    return commands


def split_commands(line):
    """The simple commands of a line of the shell, as lists of words."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
    lexer.whitespace_split = True
    commands, is_redirected = [[]], False
    for word in lexer:
        if word and set(word) <= set("|&;()"):
            commands.append([])
        elif word and set(word) <= set("<>&"):
            is_redirected = True
        elif is_redirected:
            is_redirected = False
        else:
            commands[-1].append(word)
    for words in commands:
        while words and (re.match(r"^\w+=", words[0]) or words[0] in _WORDS):
            words = words[1:]
        if words:
            yield words[1:] if words[0] == "sudo" and len(words) > 1 else words


def judge_troupe(known, words):
    """Why these words after `troupe` can't be right, or None."""
    if not known:
        return f"{COMMAND_LINE} is missing, or has no command"
    command, everywhere = (), known.get((), set()) | {"-h", "--help"}
    rest = list(words)
    while rest and rest[0] in everywhere:
        rest = rest[2:] if rest[0] == "--log-level" else rest[1:]
    while rest and (*command, rest[0]) in known:
        command, rest = (*command, rest[0]), rest[1:]
    if not command and rest:
        return f"there is no such command; known: {', '.join(sorted({one[0] for one in known if one}))}"
    for word in rest:
        name = word.split("=")[0]
        if re.match(r"^--?[a-zA-Z]", name) and name not in known[command] | everywhere:
            return f"`troupe {' '.join(command)}` has no {name}, says {COMMAND_LINE}"
    return None


def judge_words(root, known, words):
    """Why this simple command can't be right, or None."""
    if words[0] == "./dev":
        dev_commands = list_dev_commands(root)
        if len(words) < 2 or words[1] not in dev_commands:
            return f"./dev knows {', '.join(dev_commands)}"
        names = [word for word in words[2:] if not word.startswith("-")]
        if words[1] == "bench" and names and not is_benchmark(root, names[0]):
            return f"no CMakeLists.txt makes bench_{names[0]}"
    elif words[0] == "troupe":
        return judge_troupe(known, words[1:])
    elif not is_program(root, words[0]) and words[0] not in _TOOLS:
        return f"expected ./dev, troupe, ./my_program, an example's ./name or one of {', '.join(_TOOLS)}"
    return None


def is_program(root, word):
    """Whether it is a user's program, an example, or a program of a virtual environment."""
    name = word.removeprefix("./")
    return word == "./my_program" or word.startswith("venv/bin/") or word != name and (root / f"examples/{name}.cpp").exists()


def judge_command(root, known, command):
    """Why this command line can't be right, or None."""
    try:
        simple = list(split_commands(command.split(" # ")[0]))
    except ValueError as error:
        return f"no shell command: {error}"
    return next(filter(None, (judge_words(root, known, words) for words in simple)), None)


def normalise(code):
    return textwrap.dedent(code.expandtabs()).strip("\n")


def find_marked_code(root):
    """What is marked, and the file that it is in."""
    return {normalise(match.group(1)): str(path) for path in source.list_sources(root, ["examples", "docs/code"])
            for match in _MARKED.finditer((root / path).read_text())}


def blank_blocks(text):
    """The text without its fenced blocks, in which lines keep their numbers."""
    return _BLOCK.sub(lambda block: "\n" * block.group().count("\n"), text)


def find_problems_of_code(root, marked, content):
    included = _INCLUDE.findall(content)
    if not _INCLUDE.sub("", content).strip() and included:
        for header in included:
            if not (root / header).exists():
                yield f"includes {header}, which does not exist"
    elif normalise(content) not in marked:
        yield ("this code is in no file below examples/ or docs/code/ between `// readme: NAME` and "
               "`// readme: end`")


def find_problems_of_blocks(root, known, marked, path, text):
    name = path.relative_to(root)
    for line, language, _, content in read_blocks(text):
        if language in SHELLS:
            for command in read_commands(language, content):
                reason = judge_command(root, known, command)
                if reason:
                    yield f"{name}:{line}: {command}: {reason}"
        elif language in CPP:
            for problem in find_problems_of_code(root, marked, content):
                yield f"{name}:{line}: {problem}"
            origin = marked.get(normalise(content))
            if name.as_posix() == "README.md" and origin and f"]({origin})" not in text:
                yield f"{name}:{line}: this code is in {origin}, which is not linked"


def find_problems_of_links(root, path, text):
    prose = blank_blocks(text)
    targets = [(match, path.parent, match.group(1) or match.group(2)) for match in _LINK.finditer(prose)]
    if path.parent != root:
        targets += [(match, root, match.group(1)) for match in _PATH.finditer(prose)]
    for match, folder, target in sorted(targets, key=lambda one: one[0].start()):
        if not (folder / target).exists():
            line = source.line_of(prose, match.start())
            yield f"{path.relative_to(root)}:{line}: names {target}, which does not exist"


def find_problems_of_lines(root, path, text):
    name = path.relative_to(root)
    lines = text.splitlines()
    if name.as_posix() == "README.md" and len(lines) > README_LINES_MAX:
        yield f"{name}: has {len(lines)} lines; at most {README_LINES_MAX} are read"
    for number, line in enumerate(lines, 1):
        if len(line) > LINE_MAX:
            yield f"{name}:{number}: has {len(line)} characters; a line has at most {LINE_MAX}"
        if BUILD in line:
            yield f"{name}:{number}: names a path in {BUILD}; say troupe, ./my_program, or link the source"


def find_problems_of_figures(root, path, text):
    """Rows of tables that have a column for the day: they say it, and which of several runs the figure is."""
    dated = None
    for number, line in enumerate(blank_blocks(text).splitlines(), 1):
        if not line.startswith("|"):
            dated = None
        elif dated is None:
            dated = re.search(r"\b(day|date)\b", line) is not None
        elif dated and not line.startswith("|---"):
            said = re.sub("`[^`]*`", "", line.split(" | ", 1)[-1])
            for pattern, wanted in [(r"\b\d{4}-\d\d-\d\d\b", "day"),
                                    (r"\b(medians?|means?|best|runs?)\b", "median, mean, best or run")]:
                if not re.search(pattern, said):
                    yield f"{path.relative_to(root)}:{number}: expected a {wanted} behind '{line[:40]}'"


def find_problems_of_examples(root):
    for path in source.list_sources(root, ["examples", "docs/code"]):
        for number, line in enumerate((root / path).read_text().splitlines(), 1):
            if BUILD in line:
                yield f"{path}:{number}: names a path in {BUILD}; say ./{path.stem}, as the pages do"


def find_problems(root):
    readme = root / "README.md"
    if not readme.exists():
        yield "README.md: is missing"
        return
    marked, known = find_marked_code(root), read_command_line(root)
    for path in [readme, *sorted((root / "docs").rglob("*.md"))]:
        text = path.read_text()
        yield from find_problems_of_lines(root, path, text)
        yield from find_problems_of_blocks(root, known, marked, path, text)
        yield from find_problems_of_links(root, path, text)
        yield from find_problems_of_figures(root, path, text)
    yield from find_problems_of_examples(root)


def run_commands(root, build):
    """Runs what the README shows of the build; returns how many passed and failed."""
    passed = failed = 0
    environment = {**os.environ, "PATH": f"{pathlib.Path(build).resolve() / 'deploy/troupe'}:{os.environ['PATH']}"}
    with tempfile.TemporaryDirectory() as folder:
        for line, language, words, content in read_blocks((root / "README.md").read_text()):
            if language not in SHELLS or "by-hand" in words:
                continue
            for command in read_commands(language, content):
                if not command.startswith("troupe "):
                    continue
                result = subprocess.run(["bash", "-c", command], cwd=folder, text=True, check=False, env=environment,
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
    source.finish("README and docs", list(find_problems(source.root_argument())))


if __name__ == "__main__":
    main()
