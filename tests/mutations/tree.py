"""The copy of the repository in which everything is mutated, build/mutations/source, and its build."""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess

from edits import BEGIN, HERE, IS_ON, Applied, Problem, SWITCH, read

PRESET = "release"  # Also the folder's name: commands in which a path differs find nothing in the compiler's cache.
LIBRARIES = ["runtime", "actors", "algorithms"]  # each uses those before it
# The path is relative to the build's folder where the compiler is called so (cmake/compile.sh).
COMPILER_SAYS = re.compile(r"^(?P<path>[^:\n]+):(?P<line>\d+):\d+: (?:fatal )?(?P<kind>error|note): (?P<what>.*)$",
                           re.MULTILINE)


class Suite:
    """A Catch2 executable; its library is the folder below tests/."""

    def __init__(self, path, tests):
        self.path, self.name = path, path.name
        self.library = path.relative_to(tests).parts[0]


class Tree:
    def __init__(self, root):
        self.root = root
        self.folder = root / "build" / "mutations"
        self.source = self.folder / "source"
        self.build = self.source / "build" / PRESET
        self.applied = {}

    def list_files(self):
        """The repository's files, those that git ignores left out."""
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"],
                                cwd=self.root, capture_output=True, check=False)
        if listed.returncode:
            raise Problem(f"git ls-files: {listed.stderr.decode().strip()}")
        return sorted(name for name in listed.stdout.decode().split("\0") if name and (self.root / name).is_file())

    def refresh(self):
        """Brings the copy up to date but for files with mutations, and configures it."""
        for name in self.list_files():
            copied = self.source / name
            if not (copied.is_file() and read(copied).startswith(BEGIN)):
                self.write(copied, (self.root / name).read_bytes(), self.root / name)
        self.configure()

    def copy(self, mutations):
        """Brings the copy up to date, with these mutations. Files that are the same stay untouched."""
        by_file = {}
        for mutation in mutations:
            by_file.setdefault(mutation.file, []).append(mutation)
        files = self.list_files()
        self.applied = {name: Applied(read(self.root / name), by_file[name]) for name in by_file}
        for name in files:
            path, copied = self.root / name, self.source / name
            if name in self.applied:
                content = self.applied[name].text.encode("latin-1")
            else:
                content = path.read_bytes()
            self.write(copied, content, path)
        if SWITCH not in files:
            self.write(self.source / SWITCH, (HERE / "switch.hpp").read_bytes(), HERE / "switch.hpp")
        self.remove_others({*files, SWITCH})

    def list_applied(self, mutations):
        """Those of the mutations that the copy has."""
        texts = {mutation.file: self.source / mutation.file for mutation in mutations}
        texts = {name: read(path) if path.is_file() else "" for name, path in texts.items()}
        return [mutation for mutation in mutations if IS_ON.format(number=mutation.number) in texts[mutation.file]]

    @staticmethod
    def write(copied, content, path):
        if copied.is_file() and copied.read_bytes() == content:
            return
        copied.parent.mkdir(parents=True, exist_ok=True)
        copied.write_bytes(content)
        shutil.copymode(path, copied)

    def remove_others(self, files):
        for folder, folders, names in os.walk(self.source):
            if pathlib.Path(folder) == self.source:
                folders[:] = [name for name in folders if name not in ("build", "runs", ".git")]
            for name in names:
                path = pathlib.Path(folder) / name
                if str(path.relative_to(self.source)) not in files:
                    path.unlink()

    def configure(self):
        if not (self.build / "build.ninja").is_file():
            self.run(["cmake", "--preset", PRESET])
        self.compile(["build.ninja"])

    def run(self, command):
        """Runs a command that is part of the build. Raises BuildFailed."""
        done = subprocess.run(command, cwd=self.source, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              check=False, errors="replace")
        if done.returncode:
            raise BuildFailed(self, command, done.stdout)

    def compile(self, targets):
        """Raises BuildFailed, with all that does not compile."""
        command = ["cmake", "--build", "--preset", PRESET, "--parallel", str(count_compilers())]
        self.run(command + ["--target", *sorted(targets), "--", "-k", "0"])

    def suites(self):
        """All suites by name. The tree is configured."""
        tests = self.build / "tests"
        lists = [path for path in (tests / "suites.txt", tests / "script_suites.txt") if path.exists()]
        lines = [line for path in lists for line in path.read_text().splitlines()]
        return {path.name: Suite(path, tests) for path in map(pathlib.Path, filter(None, map(str.strip, lines)))}

    def digest(self, library):
        """Of what decides what a library's suites say: its sources, those of the libraries that it uses, its tests."""
        used = LIBRARIES[:LIBRARIES.index(library) + 1]
        folders = (*(f"{name}/" for name in used), f"tests/{library}/", "tests/fixtures/", "cmake/")
        total = hashlib.sha256()
        for name in self.list_files():
            if name.startswith(folders) or name in ("CMakeLists.txt", "CMakePresets.json", "tests/test.hpp"):
                total.update(name.encode() + b"\0" + hashlib.sha256((self.root / name).read_bytes()).digest())
        return total.hexdigest()


def count_compilers():
    return int(os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or os.cpu_count())


class BuildFailed(Problem):
    """`blamed` are the mutations that do not compile, each with what the compiler says."""

    def __init__(self, tree, command, output):
        lines = output.splitlines()
        shown = "\n".join([line for line in lines if ": error: " in line or "fatal error: " in line][:20] or lines[-40:])
        super().__init__(f"{' '.join(command)} failed:\n{shown}")
        self.blamed = self.blame(tree, output, "error") or self.blame(tree, output, "note")

    def of_plants(self):
        """The same, where plants are to blame with their names."""
        named = [f"{plant.name}: does not compile: {why}" for plant, why in self.blamed.items()]
        return Problem("\n".join(named)) if named else self

    @staticmethod
    def blame(tree, output, kind):
        blamed = {}
        for said in COMPILER_SAYS.finditer(output):
            file = os.path.relpath(tree.build / said["path"], tree.source)
            if said["kind"] == kind and file in tree.applied:
                for mutation in tree.applied[file].at(int(said["line"])):
                    blamed.setdefault(mutation, f"{file}:{said['line']}: {said['what']}")
        return blamed
