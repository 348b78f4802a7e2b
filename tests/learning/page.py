"""The commands that the pages in docs/ show. A test takes its options from there, so that it runs what the page says."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/checks"))
import readme  # noqa: E402

# Pages that explain several algorithms.
PAGES = {"matd3": "maddpg"}


def commands_in(text):
    """The words behind `troupe train` of each such command, in order."""
    lines = [line for _, language, _, content in readme.read_blocks(text) if language in readme.SHELLS
             for line in readme.read_commands(language, content)]
    found = [words for line in lines for words in readme.split_commands(line)]
    return [words[2:] for words in found if words[:2] == ["troupe", "train"]]


def command_of(page, *words):
    """Those of the command of docs/PAGE.md that has all these words one after the other, without its seed. There is one."""
    commands = commands_in((ROOT / f"docs/{page}.md").read_text())
    found = [command for command in commands
             if any(tuple(command[at:at + len(words)]) == words for at in range(len(command)))]
    if len(found) != 1:
        raise LookupError(f"docs/{page}.md: expected one command with {' '.join(words)}, got {len(found)}")
    return without(found[0], "--seed")


def example_of(algorithm):
    """Those of the first command in the section "Example" of an algorithm's page, without its seed."""
    page = f"docs/algorithms/{PAGES.get(algorithm, algorithm)}.md"
    _, heading, section = (ROOT / page).read_text().partition("\n## Example\n")
    commands = commands_in(section.partition("\n## ")[0])
    if not heading or not commands:
        raise LookupError(f"{page}: expected a command in the section Example")
    if value_of(commands[0], "--algo", "ppo") != algorithm:
        raise LookupError(f"{page}: expected an example of {algorithm}, got {' '.join(commands[0])}")
    return without(commands[0], "--seed")


def value_of(words, option, otherwise=None):
    """The word behind an option."""
    return words[words.index(option) + 1] if option in words else otherwise


def without(words, option):
    """The words without an option and its value."""
    if option not in words:
        return list(words)
    at = words.index(option)
    return [*words[:at], *words[at + 2:]]
