"""Markdown tables whose cells stay short."""
import os
import re
import textwrap

CELL_MAX = 200  # characters of a cell; what is longer goes on below the table
WIDTH = 100


def escape(text):
    """The text for a cell; what is in backticks stays as it is, but for bars, which end a cell."""
    parts = text.replace("\n", " ").split("`")
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"([*\[\]])", r"\\\1", parts[i]).replace("<", "&lt;").replace("&lt; ", "< ")
    return "`".join(parts).replace("|", "\\|")


def code(text):
    return f"`{text}`" if text else ""


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def split_sentences(text, limit=CELL_MAX):
    """The first sentences that fit, and the rest. A text whose first sentence is longer stays whole."""
    ends = [match.end() for match in re.finditer(r"\.(?= )", text) if match.end() <= limit]
    if len(text) <= limit or not ends:
        return text, ""
    return text[:ends[-1]], text[ends[-1]:].strip()


def table_with_rest(head, rows):
    """A table whose last cells are meanings, and below it what of them was too long for a cell."""
    short, rests = [], []
    for row in rows:
        meaning, rest = split_sentences(row[-1])
        short.append([*row[:-1], meaning])
        if rest:
            rests.append(wrap(f"{row[0]}: {rest}", "- "))
    return "\n\n".join([table(head, short)] + (["\n".join(rests)] if rests else []))


def wrap(text, bullet=""):
    return textwrap.fill(text, WIDTH, initial_indent=bullet, subsequent_indent=" " * len(bullet),
                         break_long_words=False, break_on_hyphens=False)


def link(page, root, target):
    """The way from a page to a file of the repository."""
    return os.path.relpath(root / target, page.parent)
