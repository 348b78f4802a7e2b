"""Refuses reads of a parsed document that may leave its memory: json_members.py [ROOT]

`operator[]` of a const JSON object with a name that it has not is undefined: in a release build it reads whatever lies
after the object. So a member of a document that was parsed into a const is read by at(), which throws with the name, or
by value(), or after contains() with the same name.
"""
import re

import source

_PARSED = re.compile(
    r"\bconst\s+(?:auto|(?:nlohmann::)?(?:ordered_)?json)&?\s+(\w+)\s*[=({]\s*[\w:]*(?:json::parse|parse_json)\s*\(")
_BRACE = re.compile(r"[{}]")


def end_of_block(text, position):
    """Where the block around `position` closes, in a text without literals."""
    depth = 0
    for brace in _BRACE.finditer(text, position):
        depth += 1 if brace.group() == "{" else -1
        if depth < 0:
            return brace.start()
    return len(text)


def unsafe_reads(text):
    """The positions of such reads, with their documents and members."""
    stripped = source.strip_text(text)
    for document in _PARSED.finditer(stripped):
        name = document.group(1)
        block = text[:end_of_block(stripped, document.start())]
        asked = set(re.findall(rf'\b{name}\.contains\("([^"]*)"\)', block[document.end():]))
        for read in re.compile(rf'(?<![\w.>]){name}((?:\.at\([^()]*\))*)\["([^"]*)"\]').finditer(block, document.end()):
            if read.group(1) or read.group(2) not in asked:
                yield read.start(), name, read.group(2)


def main():
    root = source.root_argument()
    problems = []
    for path in source.list_sources(root):
        text = (root / path).read_text()
        problems += [f'{path}:{source.line_of(text, position)}: {document}["{member}"]: expected '
                     f'{document}.at("{member}") for a member of a const document'
                     for position, document, member in sorted(unsafe_reads(text))]
    source.finish("json members", problems)


if __name__ == "__main__":
    main()
