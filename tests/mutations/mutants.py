"""Random mutants: sites that the compiler's syntax tree says can be mutated, and that compile so.

Needs Debian's python3-clang-19. Each file is parsed as the build compiles it, a header within a source that
includes it.
"""
from concurrent.futures import ThreadPoolExecutor
import hashlib
import itertools
import json
import os
import re
import shlex

from edits import HERE, Applied, Edit, Mutation, Problem, number, read
from sites import draw, sites_of
from tree import LIBRARIES, count_compilers

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
HEADER = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
CONSTANT = re.compile(r"\bconst(?:expr|eval|init)\b")
MACRO = re.compile(r"\b[A-Z][A-Z0-9_]{2,}\s*\(")
LOGGED = ("log::", "troupe::log::", "spdlog::", "::troupe::log::")
LEFT = re.compile(r"(?:co_return|co_yield|return\b.|goto|static_cast<void>|\(void\)|[A-Z][A-Z0-9_]{2,}\s*\()", re.DOTALL)
STATEMENTS = {"BREAK_STMT", "CONTINUE_STMT", "RETURN_STMT"}
FUNCTIONS = {"FUNCTION_DECL", "CXX_METHOD", "CONSTRUCTOR", "DESTRUCTOR", "FUNCTION_TEMPLATE", "CONVERSION_FUNCTION"}
FIXED = {"STATIC_ASSERT", "ENUM_CONSTANT_DECL", "ENUM_DECL", "TEMPLATE_NON_TYPE_PARAMETER", "CONCEPT_DECL"}
WORTH_NO_MUTANT = {"CXX_THROW_EXPR"}  # constants and signs there make an error's text
FLAGS = ["-Wno-everything", "-Werror=vla-cxx-extension", f"-I{HERE.parent.parent}"]


def one_line(text):
    return " ".join(text.split())


class Mutant(Mutation):
    """A site's mutation; `change` says what it was and is."""

    def __init__(self, site, edits, change):
        super().__init__(site.name, site.file, edits)
        self.kind, self.line, self.row, self.change = site.kind, site.line, site.row, change

    @property
    def where(self):
        return f"{self.file}:{self.row}"


class Node:
    def __init__(self, cursor, parent):
        self.start, self.end = cursor.extent.start.offset, cursor.extent.end.offset
        self.kind, self.is_expression = cursor.kind.name, cursor.kind.is_expression()
        self.parent = parent
        self.is_bit_field = self.kind == "FIELD_DECL" and cursor.is_bitfield()

    def ancestors(self):
        node = self.parent
        while node:
            yield node
            node = node.parent


class Rejected(Exception):
    """Why a site has no mutant."""


class File:
    """A file's syntax tree."""

    def __init__(self, unit, path, text):
        self.text, self.nodes = text, []
        for cursor in unit.cursor.get_children():
            if cursor.location.file and cursor.location.file.name == str(path):
                self.add(cursor, None)

    def add(self, cursor, parent):
        node = Node(cursor, parent)
        self.nodes.append(node)
        for child in cursor.get_children():
            self.add(child, node)

    def text_of(self, node):
        return self.text[node.start:node.end]

    def mutate(self, site):
        """The edits of a site's mutation and what they change, in a line. Raises Rejected."""
        if site.kind == "statement":
            return self.drop(site)
        binary = site.kind == "comparison" or (site.kind == "sign" and site.mutated != "")  # operands on either side
        around = [node for node in self.nodes if node.start <= site.start - binary and site.end + binary <= node.end]
        if not around:
            raise Rejected("outside of what is compiled")
        node = min(reversed(around), key=lambda node: node.end - node.start)
        if not node.is_expression:
            raise Rejected(f"no expression ({node.kind})")
        self.check_context(node, site)
        if site.kind == "sign" and not binary and node.start != site.start:
            raise Rejected("no unary minus")
        if site.kind == "constant" and (node.start, node.end) != (site.start, site.end):
            raise Rejected(f"no literal ({node.kind})")
        original = self.text_of(node)
        if site.kind == "sign" and '"' in original:
            raise Rejected("text")
        if "//" in original:
            raise Rejected("a comment")
        mutated = one_line(self.text[node.start:site.start] + site.mutated + self.text[site.end:node.end])
        edit = Edit(node.start, node.end, f"({{is_on}} ? ({mutated}) : ({original}))")
        return [edit], f"{one_line(original)} => {mutated}"

    def drop(self, site):
        node = self.statement_before(site)
        text = self.text_of(node)
        if not (node.is_expression or node.kind in STATEMENTS):
            raise Rejected(f"no statement to drop ({node.kind})")
        if LEFT.match(text) or text.startswith(LOGGED):
            raise Rejected("no statement to drop")
        if text.startswith("throw") and (not node.parent.parent or node.parent.parent.kind in FUNCTIONS):
            raise Rejected("the end of a function")
        self.check_context(node, site)
        edits = [Edit(node.start, node.start, "{ if (!{is_on}) "), Edit(site.end, site.end, " }")]
        return edits, f"{one_line(text)}; => nothing"

    def statement_before(self, site):
        """The innermost node that the `;` ends and that is a statement of a block or the body of another statement."""
        ended = [node for node in self.nodes
                 if node.end <= site.start and not self.text[node.end:site.start].strip() and node.parent]
        for node in sorted(ended, key=lambda node: -node.start):
            parent = node.parent
            if parent.kind == "COMPOUND_STMT" or (parent.kind in ("CASE_STMT", "DEFAULT_STMT") and parent.end == node.end):
                return node
            after = self.text[site.end:site.end + 40].lstrip()
            body = parent.end == node.end or (parent.kind == "IF_STMT" and after.startswith("else"))
            if parent.kind in ("IF_STMT", "FOR_STMT", "WHILE_STMT", "CXX_FOR_RANGE_STMT", "DO_STMT") and body:
                return node
        raise Rejected("no statement")

    def check_context(self, node, site):
        text = self.text_of(node)
        whole = site.kind == "statement"
        if MACRO.search(text):
            raise Rejected("a macro")
        if not whole and ("co_await" in text or "co_yield" in text):
            raise Rejected("co_await")
        if not whole and any(other.kind == "LAMBDA_EXPR" and node.start <= other.start and other.end <= node.end
                             for other in self.nodes):
            raise Rejected("a lambda")
        for around in node.ancestors():
            before = self.text[around.start:node.start]
            if around.kind in FIXED or around.is_bit_field:
                raise Rejected(f"fixed when compiled ({around.kind})")
            if around.kind in FUNCTIONS | {"VAR_DECL"} and CONSTANT.search(re.split(r"[{=]", before)[0]):
                raise Rejected("fixed when compiled")
            if around.kind in WORTH_NO_MUTANT and not whole and site.kind != "comparison":
                raise Rejected("an error's text")
            if around.is_expression and before.startswith(LOGGED):
                raise Rejected("logging")


def load_clang():
    try:
        from clang import cindex
    except ImportError:
        raise Problem("random mutants need the package python3-clang-19") from None
    return cindex


def without_precompiled(flags):
    """The flags with the headers of a precompiled header in its place: it holds those of the copy that is built."""
    plain, place = [], 0
    while place < len(flags):
        if flags[place:place + 2] == ["-Xclang", "-include-pch"]:
            place += 4
        elif flags[place:place + 2] == ["-Xclang", "-include"]:
            for header in HEADER.findall(read(flags[place + 3])):
                plain += ["-include", header]
            place += 4
        else:
            plain += [flags[place]]
            place += 1
    return plain


class Factory:
    """Makes mutants of sites below `folders`, all where there are none, of the repository's own text. What it finds out is
    kept in `known`, by site."""

    def __init__(self, tree, plants, known, folders=()):
        self.cindex = load_clang()
        self.tree, self.plants, self.known = tree, plants, known
        self.rules = read(HERE / "mutants.py") + read(HERE / "sites.py")  # where they change nothing is known
        self.commands = self.read_commands()
        self.sources = self.find_sources(LIBRARIES)
        self.tests = self.find_sources([f"tests/{library}" for library in LIBRARIES])
        self.files = self.find_files(folders)

    def read_commands(self):
        """The compile commands by source."""
        entries = json.loads((self.tree.build / "compile_commands.json").read_text())
        return {os.path.relpath(entry["file"], self.tree.source): entry for entry in entries}

    def find_sources(self, folders):
        """The source below folders by which a file of the libraries is compiled: itself, or the one nearest to it of
        those that include it."""
        known = set(self.tree.list_files())
        included = {}

        def includes(name):
            if name not in included:
                included[name] = []
                for path in INCLUDE.findall(read(self.tree.root / name)):
                    near = os.path.normpath(os.path.join(os.path.dirname(name), path))
                    included[name] += [found for found in (path, near) if found in known][:1]
            return included[name]

        def reach(source):
            seen, waiting = {source}, [source]
            while waiting:
                for name in includes(waiting.pop()):
                    if name not in seen:
                        seen.add(name)
                        waiting.append(name)
            return seen

        def distance(source, name):
            source_folder, folder = os.path.dirname(source).removeprefix("tests/"), os.path.dirname(name)
            stem = os.path.splitext(os.path.basename(name))[0]
            return (source != name, name not in includes(source), source_folder != folder,
                    not os.path.basename(source).startswith(stem), source)

        sources = {}
        for source in sorted(self.commands):
            if source in known and source.startswith(tuple(f"{folder}/" for folder in folders)):
                for name in reach(source):
                    if name.split("/")[0] in LIBRARIES:
                        sources[name] = min(sources.get(name, source), source, key=lambda one: distance(one, name))
        return sources

    def find_files(self, folders):
        """The files of the libraries that lie below folders."""
        below = [tuple(name for name in sorted(self.sources) if name.startswith(folder.rstrip("/") + "/")) for folder in folders]
        for folder, files in zip(folders, below):
            if not files:
                raise Problem(f"--under {folder}: expected a folder of {', '.join(LIBRARIES)} with C++ files")
        return sorted(set().union(*below)) if folders else sorted(self.sources)

    def sites(self):
        """All sites of the files, outside of what is planted."""
        for file in self.files:
            planted = [edit for plant in self.plants if plant.file == file for edit in plant.edits]
            for site in sites_of(file, read(self.tree.root / file)):
                if not any(edit.start < site.end and site.start < edit.end for edit in planted):
                    yield site

    def draw(self, seed):
        return draw(self.sites(), seed)

    def take(self, queue, count, accepted):
        """Mutants of the next sites of the queue, in its order, until there are count more or the queue ends."""
        made = []
        while len(made) < count:
            chunk = list(itertools.islice(queue, count - len(made)))
            if not chunk:
                break
            self.examine(chunk)
            for site in chunk:
                found = self.known[site.name]
                if "why" in found:
                    continue
                edits = [Edit(site.start + first, site.start + last, text) for first, last, text in found["edits"]]
                mutant = Mutant(site, edits, found["change"])
                if not any(mutant.overlaps(other) for other in (*self.plants, *accepted, *made)):
                    made.append(mutant)
        return made

    def reject(self, name, why):
        self.known[name] = {"file": self.known[name]["file"], "why": why}

    def examine(self, sites):
        """Finds out whether sites can be mutated, for those of which it is not known."""
        by_file = {}
        for site in sites:
            by_file.setdefault(site.file, []).append(site)
        waiting = []
        for file, some in by_file.items():
            text = read(self.tree.root / file)
            digest = hashlib.sha256((self.rules + text).encode("latin-1")).hexdigest()
            some = [site for site in some if self.known.get(site.name, {}).get("file") != digest]
            if some:
                waiting.append((file, text, digest, some))
        with ThreadPoolExecutor(count_compilers()) as pool:
            for _ in pool.map(lambda each: self.examine_file(*each), waiting):
                pass

    def examine_file(self, file, text, digest, sites):
        unit = self.parse(file, text, self.sources[file])
        units = {self.sources[file]: unit}
        tree = File(unit, self.tree.root / file, text)
        for site in sites:
            try:
                edits, change = tree.mutate(site)
            except Rejected as why:
                self.known[site.name] = {"file": digest, "why": str(why)}
                continue
            if not file.endswith(".cpp"):  # the build finds it out for sources; many of them include a header
                if why := self.try_header(Mutant(site, edits, change), text, units):
                    self.known[site.name] = {"file": digest, "why": f"does not compile: {why}"}
                    continue
            places = [[edit.start - site.start, edit.end - site.start, edit.text] for edit in edits]
            self.known[site.name] = {"file": digest, "edits": places, "change": change}

    def try_header(self, mutant, text, units):
        """Why a header's mutant does not compile, where its source is compiled or a test, which has more templates."""
        number([mutant])
        applied = Applied(text, [mutant]).text
        for source in filter(None, [self.sources[mutant.file], self.tests.get(mutant.file)]):
            if source in units:
                units[source].reparse(self.unsaved(mutant.file, applied))
                why = self.error(units[source])
            else:
                try:
                    units[source] = self.parse(mutant.file, applied, source)
                    why = ""
                except Problem as problem:
                    why = str(problem)
            if why:
                return why
        return ""

    def unsaved(self, file, text):
        return [(str(self.tree.root / file), text.encode("latin-1").decode())]

    def parse(self, file, text, source):
        """The translation unit of a source, file having this text. Raises Problem where it does not compile."""
        command = shlex.split(self.commands[source]["command"])
        compiler = next(place for place, word in enumerate(command) if "clang++" in os.path.basename(word))
        flags = [f"-I{self.tree.root}" if flag == f"-I{self.tree.source}" else flag
                 for flag in without_precompiled(command[compiler + 1:command.index("-o")])]
        arguments = ["-working-directory", self.commands[source]["directory"], *flags, *FLAGS]
        try:
            index = self.cindex.Index.create(excludeDecls=True)
            unit = index.parse(str(self.tree.root / source), args=arguments, unsaved_files=self.unsaved(file, text))
        except self.cindex.TranslationUnitLoadError:
            raise Problem(f"libclang can't read {source}") from None
        if self.error(unit):
            raise Problem(f"libclang can't compile {file} in {source}: {self.error(unit)}")
        return unit

    @staticmethod
    def error(unit):
        return next((said.spelling for said in unit.diagnostics if said.severity >= 3), "")
