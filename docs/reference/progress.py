"""The columns of progress.csv: which a run writes, and the meanings in docs/metrics.md."""
import re

import markdown
import program

PAGE = "docs/metrics.md"
_HEAD = "| column | algorithms | only with | meaning |"
_GROUPS = {"on-policy": program.ON_POLICY, "off-policy": [*program.OFF_POLICY, "q_learning"]}
_LITERAL = re.compile(r'"((?:rollout|train|eval|time)/\w+)"')


class Column:
    def __init__(self, line, name, algorithms, when, meaning):
        self.line, self.name, self.algorithms, self.when, self.meaning = line, name, algorithms, when, meaning

    def matches(self, header):
        """Whether it describes that column; TASK, AGENT and ACTIONS in its name stand for any word."""
        return re.fullmatch(re.sub("TASK|AGENT|ACTIONS", "[^/]+", re.escape(self.name)), header) is not None


def list_algorithms(cell, known):
    named = []
    for word in cell.split(", "):
        named += known if word == "all" else _GROUPS.get(word, [word.lower()])
    return named


def read_columns(told):
    """The rows of the page's table."""
    columns, is_in = [], False
    for number, line in enumerate((told.root / PAGE).read_text().splitlines(), 1):
        if line == _HEAD:
            is_in = True
        elif not line.startswith("|"):
            is_in = False
        elif is_in and not line.startswith("|---"):
            names, algorithms, when, meaning = (cell.strip() for cell in line.strip("|").split("|"))
            for name in names.split(", "):
                columns.append(Column(number, name.strip("`"), list_algorithms(algorithms, told.algorithms), when, meaning))
    return columns


def render(told, name, page):
    if name not in told.columns:
        raise program.Unknown(f"no such algorithm; known: {', '.join(told.columns)}")
    rows = []
    for column in read_columns(told):
        if name in column.algorithms:
            when = f"Only with {column.when}: " if column.when else ""
            meaning = column.meaning[:1].lower() + column.meaning[1:] if when and column.meaning[1:2].islower() else column.meaning
            rows.append([f"`{column.name}`", when + meaning])
    return markdown.table(["column", "meaning"], rows)


def places(told):
    return [("metrics", algo) for algo in told.algorithms]


def judge_run(algo, when, header, columns):
    """Where the header of a run and the table differ."""
    what = f"{algo} with {when}" if when else algo
    wanted = [column for column in columns if algo in column.algorithms and column.when in ("", when)]
    for name in header:
        if not any(column.matches(name) for column in wanted):
            yield f"{PAGE}: the table has no column {name}, which a run of {what} writes"
    for column in wanted:
        if column.when == when and not any(column.matches(name) for name in header):
            yield f"{PAGE}:{column.line}: a run of {what} has no column {column.name}"


def find_problems(told):
    columns = read_columns(told)
    for algo in told.algorithms:
        if algo not in told.columns:
            yield f"docs/reference/program.py: RUNS has no short run of {algo}"
            continue
        yield from judge_run(algo, "", told.columns[algo], columns)
    for (algo, when), header in told.special_columns.items():
        yield from judge_run(algo, when, header, columns)
    known = {column.name for column in columns}
    for folder in ("actors", "algorithms"):
        for path in sorted((told.root / folder).rglob("*.[ch]pp")):
            for name in _LITERAL.findall(path.read_text()):
                if name not in known:
                    yield f"{PAGE}: the table has no column {name}, which {path.relative_to(told.root)} names"
