"""Changes of a file's text behind switches.

Texts are bytes read as Latin-1, so that a character's place is its byte's, as libclang counts.
"""
import pathlib
import zlib

HERE = pathlib.Path(__file__).resolve().parent
SWITCH = "tests/mutations/switch.hpp"
NUMBERS = 1 << 22  # as in switch.hpp
BEGIN = f'#include "{SWITCH}"\n#line 1\n'  # of a file with mutations
IS_ON = "troupe_mutations::is_on({number})"


class Problem(Exception):
    """What a user has to mend, in a sentence or several lines."""


class Edit:
    """Text that takes the place of [start, end) of a file; `{is_on}` in it is the switch of its mutation."""

    def __init__(self, start, end, text):
        self.start, self.end, self.text = start, end, text

    def overlaps(self, other):
        if self.start == self.end or other.start == other.end:  # what is inserted fits between two
            return self.start < other.end and other.start < self.end
        return max(self.start, other.start) < min(self.end, other.end)


def read(path):
    return pathlib.Path(path).read_bytes().decode("latin-1")


def to_text(unicode):
    return unicode.encode().decode("latin-1")


def to_unicode(text):
    return text.encode("latin-1").decode()


class Mutation:
    """A named change of one file that `number` switches on."""

    def __init__(self, name, file, edits):
        self.name, self.file, self.edits = name, file, edits
        self.number = 0

    def overlaps(self, other):
        return self.file == other.file and any(mine.overlaps(yours) for mine in self.edits for yours in other.edits)


def number(mutations):
    """Gives each mutation a number of its own, which is its name's hash: it stays where others come and go."""
    taken = {0}
    for mutation in mutations:
        mutation.number = zlib.crc32(mutation.name.encode()) % NUMBERS
        while mutation.number in taken:
            mutation.number = (mutation.number + 1) % NUMBERS
        taken.add(mutation.number)


class Applied:
    """The file's text with all of its mutations, which are numbered and don't overlap."""

    def __init__(self, text, mutations):
        pieces, place, line, self.lines = [], 0, 1, {}
        edits = [(edit, mutation) for mutation in mutations for edit in mutation.edits]
        for edit, mutation in sorted(edits, key=lambda pair: (pair[0].start, pair[0].end)):
            assert place <= edit.start, f"{mutation.name} overlaps another mutation"
            changed = edit.text.replace("{is_on}", IS_ON.format(number=mutation.number))
            pieces += [text[place:edit.start], changed]
            line += pieces[-2].count("\n")
            first = self.lines.get(mutation, (line, line))[0]
            line += changed.count("\n")
            self.lines[mutation] = (first, line)
            place = edit.end
        self.text = BEGIN + "".join(pieces) + text[place:]

    def at(self, line):
        """The mutations of a line, as a compiler counts it."""
        return [mutation for mutation, (first, last) in self.lines.items() if first <= line <= last]
