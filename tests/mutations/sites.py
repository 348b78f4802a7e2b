"""Places in C++ text where a mutation might be, found by its tokens alone, in an order drawn from a seed."""
import hashlib
import itertools
import re

KINDS = ("comparison", "constant", "sign", "statement")
COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
SIGNS = {"+": "-", "-": "+", "+=": "-=", "-=": "+="}
TOKEN = re.compile(
    r"""(?P<blank>[ \t\n\r]+|//[^\n]*|/\*.*?\*/)
    |(?P<directive>\#(?:[^\n\\]|\\.|\\\n)*)
    |(?P<string>(?:u8|u|U|L)?R"(?P<fence>[^\s()\\]{0,16})\(.*?\)(?P=fence)"
        |(?:u8|u|U|L)?"(?:[^"\\\n]|\\.)*"\w*|(?:u8|u|U|L)?'(?:[^'\\\n]|\\.)+')
    |(?P<number>\.?[0-9](?:[eEpP][+-]|'?[\w.])*)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<mark><=>|<<=|>>=|\.\.\.|->\*?|::|<=|>=|==|!=|&&|\|\||\+\+|--|[-+*/%&|^]=|.)""",
    re.DOTALL | re.VERBOSE)
NUMBER = re.compile(r"(?P<digits>0[xXbB][\da-fA-F']+|[\d'.]+(?:[eE][+-]?\d+)?)(?P<suffix>\w*)$")
ENDS_OPERAND = {")", "]"}
# What begins a `;`'s text that is no statement to drop, and what stands before a name that it does not declare.
BEGIN_OTHERS = set("""alignas auto class concept const consteval constexpr constinit co_return co_yield default enum explicit
    extern friend goto inline mutable namespace operator private protected public return static static_assert struct
    template thread_local typedef typename union using virtual""".split())
BEFORE_NAMES = {"case", "co_await", "delete", "do", "else", "goto", "new", "not", "return", "throw"}


class Site:
    """A token in a file's text, and what it becomes."""

    def __init__(self, file, kind, start, token, mutated, line, row, column, occurrence):
        self.file, self.kind, self.start, self.token, self.mutated = file, kind, start, token, mutated
        self.line, self.row, self.column, self.occurrence = line, row, column, occurrence

    @property
    def end(self):
        return self.start + len(self.token)

    @property
    def name(self):
        """Says which site it is wherever other lines of the file move it."""
        return "|".join([self.file, self.line, str(self.column), str(self.occurrence), self.kind, self.mutated])


def tokens(text):
    for found in TOKEN.finditer(text):
        if found.lastgroup == "directive":
            # Only where it begins a line: elsewhere `#` isn't C++.
            yield "directive", found
        elif found["blank"] is None:
            yield next(kind for kind in ("string", "number", "name", "mark") if found[kind] is not None), found


def hashed(*words):
    return int.from_bytes(hashlib.sha256("|".join(map(str, words)).encode("latin-1")).digest()[:8], "big")


def mutate_number(token, draw):
    """Another constant than the literal: 0 or one more of whole numbers, 0 or twice of others; 1 where it is 0."""
    found = NUMBER.match(token)
    if not found:
        return None
    digits, suffix = found["digits"].replace("'", ""), found["suffix"]
    floating = not digits.lower().startswith(("0x", "0b")) and ("." in digits or "e" in digits.lower())
    try:
        value = float(digits) if floating else int(digits, 8 if re.fullmatch(r"0[0-7]+", digits) else 0)
    except ValueError:
        return None
    if value == 0:
        return ("1.0" if floating else "1") + suffix
    if draw % 2:
        return ("0.0" if floating else "0") + suffix
    return (repr(2 * value) if floating else str(value + 1)) + suffix


def sites_of(file, text):
    """All sites of a file."""
    lines = text.split("\n")
    starts = list(itertools.accumulate((len(line) + 1 for line in lines), initial=0))
    seen, occurrences = {}, []
    for line in lines:
        seen[line.strip()] = seen.get(line.strip(), 0) + 1
        occurrences.append(seen[line.strip()])
    row, before, before_kind = 0, "", ""
    first, brackets, declares = "", 0, False  # what the next `;` ends: its first token, how deep, whether of a name
    for kind, found in tokens(text):
        token, start = found.group(), found.start()
        while starts[row + 1] <= start:
            row += 1
        line = lines[row].strip()
        column = start - starts[row] - (len(lines[row]) - len(lines[row].lstrip()))
        spaced = text[start - 1:start].isspace() and text[found.end():found.end() + 1].isspace()
        operand = before_kind in ("string", "number") or before in ENDS_OPERAND or (
            before_kind == "name" and before not in ("return", "co_return", "case", "throw", "else", "operator"))
        to = kind_of = None
        if kind == "mark" and token in COMPARISONS and spaced and before != "operator":
            kind_of, to = "comparison", COMPARISONS[token]
        elif kind == "mark" and token in SIGNS and spaced and operand and before_kind != "string":
            kind_of, to = "sign", SIGNS[token]
        elif kind == "mark" and token == "-" and not operand:
            kind_of, to = "sign", ""
        elif kind == "number":
            kind_of = "constant"
            to = mutate_number(token, hashed(file, line, column, occurrences[row]))
        elif kind == "name" and token in ("true", "false"):
            kind_of, to = "constant", "false" if token == "true" else "true"
        elif token == ";" and first not in BEGIN_OTHERS | {""} and not (brackets or declares):
            kind_of, to = "statement", ""
        if to is not None:
            yield Site(file, kind_of, start, token, to, line, row + 1, column, occurrences[row])
        if kind == "name" and not brackets and first and text[start - 1].isspace():
            declares |= before in (">", "&", "*", "&&") or (before_kind == "name" and before not in BEFORE_NAMES)
        before, before_kind = token, kind
        if kind == "mark" and token in ("{", "}", ";"):
            first, brackets, declares = "", brackets if token == ";" else 0, False
        else:
            first = first or token
            brackets += (token in ("(", "[")) - (token in (")", "]"))


def draw(sites, seed):
    """The sites in the order of a seed: the kinds in turn, each by the hash of seed and name, which where sites come
    or go leaves the others' order as it is."""
    ranked = {kind: [] for kind in KINDS}
    for site in sites:
        ranked[site.kind].append((hashed(seed, site.name), site.name, site))
    queues = [[site for _, _, site in sorted(ranked[kind], key=lambda key: key[:2])] for kind in KINDS]
    for turn in itertools.zip_longest(*queues):
        yield from filter(None, turn)
