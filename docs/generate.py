#!/usr/bin/python3
"""Fills the generated parts of docs/**/*.md from the program: docs/generate.py BUILD_DIR [--check] [ROOT]

A part stands between the lines `<!-- begin generated: KIND NAME -->` and `<!-- end generated -->`. The kinds are

    options ALGO        the options of an algorithm, but for those that all algorithms share
    options shared      the options that all algorithms on environments share
    metrics ALGO        the columns of progress.csv; their meanings are those of the table in docs/metrics.md
    prometheus PATTERN  the metrics whose names match the pattern, such as troupe_llm_*
    command NAME...     the usage, arguments and options of a command; no NAME: of the program itself

With --check nothing is written. It fails where a part is out of date, and where an option, a column, a metric, a kind of
error, an exit code or a command has no place in the pages, and where a page for newcomers or the table of algorithms says
what is not so (reference/claims.py). Closes with `N passed, N failed`.
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "reference"))

import claims
import commands
import errors
import metrics
import options
import progress
import program

ROOT = pathlib.Path(__file__).resolve().parents[1]
PART = re.compile(r"^<!-- begin generated: (\w+) ?([^\n]*?) -->\n(.*?)^<!-- end generated -->$", re.MULTILINE | re.DOTALL)
KINDS = {"options": options.render, "metrics": progress.render, "prometheus": metrics.render, "command": commands.render}


def list_pages(root):
    return sorted((root / "docs").rglob("*.md"))


def fill(told, page, text):
    """The page's text with its parts renewed, and a problem for each that was out of date."""
    problems = []

    def renew(part):
        kind, name, before = part.groups()
        begin = part.group().split("\n", 1)[0]
        where = f"{page.relative_to(told.root)}: {kind} {name}".rstrip()
        if kind not in KINDS:
            problems.append(f"{where}: there is no such kind; known: {', '.join(KINDS)}")
            return part.group()
        try:
            content = KINDS[kind](told, name, page)
        except program.Unknown as unknown:
            problems.append(f"{where}: {unknown}")
            return part.group()
        content = f"\n{content.strip()}\n\n"
        if content != before:
            problems.append(f"{where}: is out of date; `./dev docs --renew` renews it")
        return f"{begin}\n{content}<!-- end generated -->"

    return PART.sub(renew, text), problems


def find_missing_places(told, texts):
    """What no page has a place for."""
    parts = [(part.group(1), part.group(2)) for text in texts.values() for part in PART.finditer(text)]
    for names in (options.places(told), progress.places(told), commands.places(told)):
        for kind, name in names:
            if (kind, name) not in parts:
                yield f"docs: no page has a part `{kind} {name}`"
    yield from metrics.find_missing(told, [name for kind, name in parts if kind == "prometheus"])
    yield from progress.find_problems(told)
    yield from errors.find_problems(told.root)
    yield from claims.find_problems(told)


def main():
    arguments = [word for word in sys.argv[1:] if word != "--check"]
    if not arguments:
        sys.exit(__doc__)
    is_check = "--check" in sys.argv
    root = pathlib.Path(arguments[1]).resolve() if len(arguments) > 1 else ROOT
    with program.Program(pathlib.Path(arguments[0]).resolve(), root) as told:
        told.ask_all()
        texts = {page: page.read_text() for page in list_pages(root)}
        problems, parts = [], 0
        for page, text in texts.items():
            parts += len(PART.findall(text))
            renewed, stale = fill(told, page, text)
            if is_check:
                problems += stale
            elif renewed != text:
                page.write_text(renewed)
                print(f"renewed {page.relative_to(root)}")
            if not is_check:
                problems += [problem for problem in stale if not problem.endswith("renews it")]
        problems += find_missing_places(told, texts)
    for problem in problems:
        print(f"FAILED {problem}")
    print(f"{max(parts - len(problems), 0) if problems else parts} passed, {len(problems)} failed")
    sys.exit(1 if problems or not parts else 0)


if __name__ == "__main__":
    main()
