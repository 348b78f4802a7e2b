"""Kinds of errors and exit codes: those in the code against those in docs/errors.md."""
import re

PAGE = "docs/errors.md"
KINDS = "runtime/base/error.hpp"
# Where an exit code stands as a number: the program's commands, and the end of a process that hangs.
_CODES = [("algorithms/program", r"\breturn (\d+);"), ("deploy/troupe", r"\breturn (\d+);"), ("runtime", r"_Exit\((\d+)\)")]


def read_rows(text, head):
    """The first cells of the table with that head."""
    table = re.search(rf"^\| {head} \|.*\n\|---.*\n((?:\|.*\n)+)", text, re.MULTILINE)
    cells = [line.split("|")[1].strip() for line in table.group(1).splitlines()] if table else []
    return [name for cell in cells for name in re.findall(r"`?(\w+)`?", cell)]


def list_kinds(root):
    body = re.search(r"enum class error_kind \{(.*?)\n\};", (root / KINDS).read_text(), re.DOTALL).group(1)
    return re.findall(r"^\s*(\w+),", body, re.MULTILINE)


def list_codes(root):
    codes = {"0", "1"}
    for folder, pattern in _CODES:
        for path in (root / folder).rglob("*.cpp"):
            codes.update(re.findall(pattern, path.read_text()))
    return sorted(codes, key=int)


def compare(what, real, told):
    for name in real:
        if name not in told:
            yield f"{PAGE}: the table has no {what} {name}"
    for name in told:
        if name not in real:
            yield f"{PAGE}: there is no {what} {name}"


def find_problems(root):
    text = (root / PAGE).read_text()
    yield from compare("kind", list_kinds(root), read_rows(text, "kind"))
    yield from compare("exit code", list_codes(root), read_rows(text, "code"))
