"""Prometheus's metrics: from real answers of /metrics, and those that no short run has, from the code that makes them."""
import fnmatch
import re

import markdown
import program

_NAME = re.compile(r'"((?:troupe|process)_(?!vm_)[a-z_]+)"')  # process_vm_readv is a system call
_TEXT = re.compile(r'\s*,?\s*((?:"(?:[^"\\]|\\.)*"\s*)+)')
_LABEL = re.compile(r'\{\s*"(\w+)"\s*,')
_FOLDERS = ["runtime", "actors", "algorithms", "deploy"]
_OTHERS = {"troupe_plugin", "troupe_worker"}  # names of the code that are no metrics


def read_source(root):
    """{name: family} of the metrics that C++ code makes by a name, a help text and perhaps one label."""
    families = {}
    for folder in _FOLDERS:
        for path in sorted((root / folder).rglob("*.[ch]pp")):
            text = path.read_text()
            for match in _NAME.finditer(text):
                told = _TEXT.match(text, match.end())
                if not told:
                    continue
                kinds = re.findall(r"\b(counter|gauge|histogram)\(", text[max(0, match.start() - 60):match.start()])
                kinds += re.findall(r"^,\s*MetricType::(\w+)", text[told.end():])
                if not kinds:
                    continue
                help_text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', told.group(1)))
                rest = text[told.end():text.find(";", told.end())]
                families.setdefault(match.group(1), {"type": kinds[-1].lower(), "help": help_text, "labels": _LABEL.findall(rest)})
    return families


def list_names(root):
    """Every name of a metric that stands in the code."""
    return sorted({name for folder in _FOLDERS for path in (root / folder).rglob("*.[ch]pp")
                   for name in _NAME.findall(path.read_text())} - _OTHERS)


def list_families(told):
    """All metrics; what a program really answers comes first."""
    if not hasattr(told, "all_families"):
        told.all_families = {**read_source(told.root), **told.families}
    return told.all_families


def render(told, pattern, _page):
    patterns = pattern.split()
    families = list_families(told)
    rows = []
    for one in patterns:
        named = sorted(name for name in families if fnmatch.fnmatchcase(name, one))
        if not named:
            raise program.Unknown(f"no metric is called {one}")
        for name in named:
            family = families[name]
            row = [f"`{name}`", family["type"], ", ".join(f"`{label}`" for label in family["labels"]),
                   markdown.escape(family["help"])]
            if row not in rows:
                rows.append(row)
    return markdown.table_with_rest(["metric", "type", "labels", "meaning"], rows)


def find_missing(told, parts):
    patterns = [one for part in parts for one in part.split()]
    families = list_families(told)
    for name in sorted({*families, *list_names(told.root)}):
        if name not in families:
            yield f"docs/reference/metrics.py: the type and the help of {name} can't be read"
        elif not any(fnmatch.fnmatchcase(name, one) for one in patterns):
            yield f"docs: no part `prometheus` has {name}"
