"""What the checks share: the C++ files below a root, and C++ text without comments and literals."""
import pathlib
import re
import sys

FOLDERS = ["runtime", "actors", "algorithms", "examples", "deploy", "docs", "tests", "tools"]
ROOT = pathlib.Path(__file__).resolve().parents[2]

_COMMENT_OR_LITERAL = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'',
    re.DOTALL)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)


def list_sources(root, folders=FOLDERS):
    """Every .hpp and .cpp of the folders, as paths relative to root."""
    root = pathlib.Path(root)
    return sorted(path.relative_to(root) for folder in folders
                  for path in (root / folder).rglob("*") if path.suffix in (".hpp", ".cpp"))


def strip_text(text):
    """The text with comments and literals blanked out, so that lines keep their numbers."""
    return _COMMENT_OR_LITERAL.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def list_includes(root, path):
    """The line and the name of everything that the file includes."""
    text = (root / path).read_text()
    return [(line_of(text, match.start(1)), match.group(1)) for match in _INCLUDE.finditer(text)]


def finish(what, problems):
    """Prints the problems and ends the program."""
    for problem in problems:
        print(problem)
    print(f"{what}: {'fine' if not problems else f'{len(problems)} found'}")
    sys.exit(1 if problems else 0)


def root_argument():
    """The root to check: the first argument, or this repository."""
    return pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
