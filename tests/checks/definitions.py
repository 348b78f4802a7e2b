"""Refuses two classes of one name in one namespace: definitions.py [ROOT]

Where both are linked into a program, one's destructor may end the other's objects. What has no linkage
beyond its file (an unnamed namespace, a function's own classes) may repeat.
"""
import collections
import re

import source

_NAMESPACE = re.compile(r"\bnamespace\s*([\w:]*)\s*\{")
_CLASS = re.compile(
    r"\b(?:class|struct|union|enum(?:\s+(?:class|struct))?)\s+(?:alignas\([^)]*\)\s*)?(\w+)(?:\s+final)?"
    r"\s*(?::(?!:)[^;{}()]*(?:\([^;{}()]*\)[^;{}()]*)*)?\{")
_BRACE = re.compile(r"[{}]")


def definitions(text):
    """The qualified names of the classes that the text defines, with their positions."""
    text = source.strip_text(text)
    opens = {match.end() - 1: ("namespace", match.group(1)) for match in _NAMESPACE.finditer(text)}
    for match in _CLASS.finditer(text):
        opens.setdefault(match.end() - 1, ("class", match.group(1)))
    around = []
    for brace in _BRACE.finditer(text):
        if brace.group() == "}":
            around = around[:-1]
            continue
        kind, name = opens.get(brace.start(), ("block", ""))
        around.append((kind, name))
        is_seen = all(other == "namespace" and part for other, part in around[:-1])
        if kind == "class" and is_seen:
            yield "::".join(part for _, part in around), brace.start()


def main():
    root = source.root_argument()
    places = collections.defaultdict(list)
    for path in source.list_sources(root, [f for f in source.FOLDERS if f not in ("tests", "examples", "docs")]):
        text = (root / path).read_text()
        for name, position in definitions(text):
            places[name].append(f"{path}:{source.line_of(text, position)}")
    source.finish("definitions", [f"{where[1]}: {name} is defined at {where[0]}, too"
                                  for name, where in sorted(places.items()) if len(where) > 1])


if __name__ == "__main__":
    main()
