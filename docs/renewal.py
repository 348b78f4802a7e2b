#!/usr/bin/python3
"""Whether the generated parts of docs/ may be out of date: docs/renewal.py state|remember [ROOT]

`state` prints `due` where they may be, or else a sentence that says why they are not: program and parts are those of
the last commit that origin has, too, where docs_test holds them to each other; or they are what they were when
`remember` noted them in build/docs/renewed, after they were renewed or checked. A repository without an origin that has
noted nothing takes its last commit.
"""
import hashlib
import pathlib
import subprocess
import sys

from generate import PART, ROOT, list_pages

# What the parts are made from.
SOURCES = ["CMakeLists.txt", "cmake", "runtime", "actors", "algorithms", "deploy/troupe", "docs/generate.py", "docs/reference"]
SENTENCE = ("The generated parts of the pages were not renewed, as neither they nor the program {}; "
            "`./dev docs --renew` builds the program and renews them in any case.")


def ask_git(root, *words):
    """What git prints; None where it fails, or is not there."""
    try:
        told = subprocess.run(["git", *words], cwd=root, text=True, capture_output=True, check=False)
    except OSError:
        return None
    return told.stdout if told.returncode == 0 else None


def list_sources(root):
    names = ask_git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate", "--", *SOURCES)
    return sorted(filter(None, (names or "").split("\0")))


def read_parts(text):
    return [part.group() for part in PART.finditer(text)]


def fingerprint(root):
    """A text that differs where a source of the program or a generated part does."""
    whole = hashlib.sha256()
    for name in list_sources(root):
        path = root / name
        content = path.read_bytes() if path.is_file() else b""
        whole.update(f"{name} {hashlib.sha256(content).hexdigest()}\n".encode())
    for page in list_pages(root):
        for part in read_parts(page.read_text()):
            whole.update(f"{page.relative_to(root)}\n{part}\n".encode())
    return whole.hexdigest()


def is_as_in(root, base):
    """Whether the program and the parts are those of that commit."""
    if ask_git(root, "diff", "--quiet", base, "--", *SOURCES) is None:
        return False
    if ask_git(root, "ls-files", "--others", "--exclude-standard", "--", *SOURCES):
        return False
    for page in list_pages(root):
        name = page.relative_to(root).as_posix()
        if ask_git(root, "diff", "--quiet", base, "--", name) is None or not ask_git(root, "ls-files", "--", name):
            if read_parts(page.read_text()) != read_parts(ask_git(root, "show", f"{base}:{name}") or ""):
                return False
    return True


def state(root, note):
    base = ask_git(root, "merge-base", "HEAD", "origin/HEAD")
    if base is None and not note.exists():
        base = ask_git(root, "rev-parse", "HEAD")
    if base and is_as_in(root, base.strip()):
        return SENTENCE.format(f"differs from commit {base[:8]}")
    # Without git nothing tells which files the program is made from.
    if list_sources(root) and note.exists() and note.read_text() == fingerprint(root):
        return SENTENCE.format("has changed since they were")
    return "due"


def main():
    if sys.argv[1:2] not in (["state"], ["remember"]):
        sys.exit(__doc__)
    root = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else ROOT
    note = root / "build/docs/renewed"
    if sys.argv[1] == "remember":
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(fingerprint(root))
    else:
        print(state(root, note))


if __name__ == "__main__":
    main()
