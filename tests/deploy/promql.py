"""What a PromQL expression names: its metrics with their matchers, and the labels it groups by."""
import re

_STRING = re.compile(r'"(?:\\.|[^"\\])*"')
_SELECTOR = re.compile(r"([a-zA-Z_:][\w:]*)\s*\{([^}]*)\}")
_MATCHER = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*"((?:\\.|[^"\\])*)"')
_CLAUSE = re.compile(r"\b(by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)")
_WORD = re.compile(r"[a-zA-Z_:][\w:]*")
_KEYWORDS = {"and", "or", "unless", "bool", "offset", "by", "without", "on", "ignoring", "inf", "nan"}


def metrics(expression):
    """Its metrics: (name, [(label, operator, value)]) each."""
    found = [(name, _MATCHER.findall(matchers)) for name, matchers in _SELECTOR.findall(expression)]
    rest = _STRING.sub("", _SELECTOR.sub(" ", expression))
    rest = re.sub(r"\[[^\]]*\]", " ", _CLAUSE.sub(" ", rest))
    rest = re.sub(r"\b\d[\w.]*", " ", rest)
    for match in _WORD.finditer(rest):
        is_function = rest[match.end():].lstrip().startswith("(")
        if not is_function and match.group().lower() not in _KEYWORDS:
            found.append((match.group(), []))
    return found


def grouping(expression):
    """The labels of its `by` and `on` clauses, or None where it has no `by`."""
    clauses = _CLAUSE.findall(expression)
    if not any(kind == "by" for kind, _ in clauses):
        return None
    return {label.strip() for _, labels in clauses for label in labels.split(",") if label.strip()}


def read_scrape(text):
    """Each sample's name in Prometheus's text format, with its labels and their values: {name: {label: {value}}}."""
    samples = {}
    for line in text.splitlines():
        match = re.match(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})? ", line)
        if match:
            labels = samples.setdefault(match.group(1), {})
            for label, value in re.findall(r'(\w+)="((?:\\.|[^"\\])*)"', match.group(2) or ""):
                labels.setdefault(label, set()).add(value)
    return samples
