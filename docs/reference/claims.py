"""What the pages for newcomers and the table of algorithms say of the program, against the program itself.

In docs/coming_from/*.md and docs/algorithms/index.md, each option in backticks is one of some algorithm, each flag one of some
command, and each `troupe train` of a block is accepted up to the moment in which its run directory would be made. A table's
first column has the names of another library, where the page has such tables. Of the table of algorithms each row's name,
modes and action spaces are those of the program, which is asked by runs that can't begin.
"""
import concurrent.futures
import os
import re
import shlex

import commands
import options

INDEX = "docs/algorithms/index.md"
_FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_GENERATED = re.compile(r"^<!-- begin generated.*?^<!-- end generated -->$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`([^`\n]+)`")
_OPTION = re.compile(r"(?<![\w./:-])[a-z]\w*(?:\.[a-z]\w*)+(?![\w(./:])")
_DOTTED = re.compile(r"[a-z]\w*(?:\.[a-z]\w*)+")
_FLAG = re.compile(r"(?<![\w-])--[a-z][\w-]*")
_ROW = re.compile(r"^\| \[([^|]+) \| ([^|]+) \| ([^|]+) \| [^|]+ \| [^|]+ \|$", re.MULTILINE)
_PLACEHOLDER = re.compile(r"\b[A-Z]{1,6}\b(?!-)")
# An environment for each kind of action space, with one agent and with several.
_PROBES = {
    ("one", "discrete"): ["--env", "CartPole-v1"],
    ("one", "continuous"): ["--env", "Pendulum-v1"],
    ("several", "discrete"): ["--env", "simple_spread_v3"],
    ("several", "continuous"): ["--env", "simple_spread_v3", 'env.options={"continuous_actions": true}'],
}
# A table needs states that can be numbered.
_OWN_PROBES = {("q_learning", "one", "discrete"): ["--env", "Blackjack-v1"]}
# Algorithms that stand in a row without a link of their name.
_OF_PAGE = {"maddpg": ["maddpg", "matd3"]}


def list_pages(root):
    return [*sorted((root / "docs/coming_from").glob("*.md")), root / INDEX]


def split_cells(line):
    return [cell.strip() for cell in line.strip().strip("|").replace("\\|", " ").split(" | ")]


def read_spans(text, compares):
    """The spans in backticks that are about Troupe, and those about another library, which the first columns of
    tables have on pages that compare."""
    own, foreign = [], []
    for line in _FENCE.sub("", _GENERATED.sub("", text)).splitlines():
        if compares and line.startswith("|"):
            cells = split_cells(line)
            foreign += _SPAN.findall(cells[0])
            own += _SPAN.findall(" ".join(cells[1:]))
        else:
            own += _SPAN.findall(line)
    return own, foreign


class Names:
    """The options and flags that the program has."""

    def __init__(self, told):
        self.options = {name.replace("[]", "") for schema in told.schemas.values() for name, _ in options.list_options(schema)}
        self.sections = {name.split(".")[0] for name in self.options if "." in name}
        self.flags = {name for words in [(), *commands.list_commands(told.tree)]
                      for option in commands.find(told.tree, words)["options"] for name in option["names"]} | {"--help"}

    def find_unknown(self, text, compares):
        own, foreign = read_spans(text, compares)
        foreign_flags = {flag for span in foreign for flag in _FLAG.findall(span)}
        foreign_options = {name for span in foreign for name in _DOTTED.findall(span)}
        for span in own:
            for name in _OPTION.findall(span):
                if name.split(".")[0] in self.sections and name not in self.options | foreign_options:
                    yield f"`{name}` is no option of any algorithm"
            for flag in _FLAG.findall(span):
                # No flag of the program has an underscore.
                if flag not in self.flags | foreign_flags and "_" not in flag:
                    yield f"`{flag}` is no option of any command"


def read_commands(text):
    """The words of each `troupe train` of the page's blocks for a shell."""
    for language, block in _FENCE.findall(text):
        if language.split()[:1] not in (["sh"], ["console"]):
            continue
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line.removeprefix("$ "), comments=True)
            if words[:2] == ["troupe", "train"]:
                yield [_PLACEHOLDER.sub("1", word) for word in words[1:]]


def option_of(words, name, default):
    return words[words.index(name) + 1] if name in words[:-1] else default


class Asker:
    """Asks the program whether it accepts a run, without making one: its folder for runs is a file."""

    def __init__(self, told):
        self.told, self.file = told, told.file_in_folder("no_folder")

    def refusal(self, words):
        """Why the run is refused before its directory would be made; "" if it is not."""
        code, error = self.told.try_command([*words, "--runs", self.file, "--metrics-port", "0"])
        return "" if code == 2 and self.file in error else f"exit code {code}: {error.strip()[-300:]}"

    def refusal_of_command(self, words):
        algo = option_of(words, "--algo", "ppo")
        if algo not in self.told.schemas:
            return f"there is no algorithm {algo}"
        if "env" in self.told.schemas[algo]["properties"] and "--task" not in words:
            return self.refusal(words)
        known = {name.replace("[]", "") for name, _ in options.list_options(self.told.schemas[algo])}  # needs a model or data
        unknown = [word for word in words if re.match(r"[a-z][\w.]*=", word) and word.split("=")[0] not in known]
        return f"{algo} has no option {', '.join(unknown)}" if unknown else ""


def find_problems_of_rows(told, asker, pool):
    """Compares the first table of the index with the program."""
    rows = {}
    for name, spaces, modes in _ROW.findall((told.root / INDEX).read_text()):
        page = re.search(r"\]\((\w+)\.md\)", name).group(1)
        for algo in _OF_PAGE.get(page, [page]):
            rows[algo] = (spaces, modes)
    for algo in sorted({*told.algorithms} ^ {*rows}):
        yield f"{INDEX}: {algo} is {'not in the table' if algo in told.algorithms else 'no algorithm of the program'}"
    on_environments = [algo for algo in told.algorithms if algo in rows and rows[algo][0] != "tokens"]
    asked = {(algo, *probe): pool.submit(asker.refusal, ["train", "--algo", algo, *_OWN_PROBES.get((algo, *probe), words)])
             for algo in on_environments for probe, words in _PROBES.items()}
    for algo, (spaces, modes) in sorted(rows.items()):
        if algo not in told.schemas:
            continue
        has_modes = "mode" in told.schemas[algo]["properties"]
        if has_modes != (modes == "sync, async"):
            yield f"{INDEX}: {algo}: the modes are told as {modes!r}"
        agents = "several" if "several agents" in spaces else "one"
        for kind in ("discrete", "continuous") if spaces != "tokens" else ():
            refusal = asked[algo, agents, kind].result()
            if ("any" in spaces or kind in spaces) != (refusal == ""):
                yield f"{INDEX}: {algo}: told to take {spaces!r}; with {kind} actions: {refusal or 'accepted'}"
        if agents == "several" and not asked[algo, "one", "discrete"].result():
            yield f"{INDEX}: {algo}: told to be for several agents, but it takes an environment with one"


def find_problems(told):
    names, asker = Names(told), Asker(told)
    with concurrent.futures.ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        for page in list_pages(told.root):
            where, text = page.relative_to(told.root), page.read_text()
            for problem in sorted(set(names.find_unknown(text, page.parent.name == "coming_from"))):
                yield f"{where}: {problem}"
            asked = [(words, pool.submit(asker.refusal_of_command, words)) for words in read_commands(text)]
            for words, answer in asked:
                if answer.result():
                    yield f"{where}: troupe {' '.join(words)}: {answer.result()}"
        yield from find_problems_of_rows(told, asker, pool)
