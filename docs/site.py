#!/usr/bin/python3
"""Builds the site of docs/: docs/site.py FOLDER

FOLDER/pages gets a copy of the pages that MkDocs can read, FOLDER/site the site, with Doxygen's C++ reference below api/.
In the copy a link to a file outside of docs/ leads to a page that shows this file, and lists are indented as
Python-Markdown wants them. mkdocs.yml names both folders.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
API = "api"
SOURCES = "source"  # the folder of the pages that show source files
_FENCE = re.compile(r"^(\s*)(`{3,})(.*)$")
_LINK = re.compile(r"(\]\(|\bsrc=\"|\bhref=\")(?!\w+:|#)([^)#\"\s]+)")
_ITEM = re.compile(r"^\s*(?:[-*]|\d+\.) ")
_HEADERS = re.compile(r"^## Which header for what\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".py": "python", ".sh": "sh", ".json": "json", ".yaml": "yaml", ".yml": "yaml"}


def list_public_headers():
    """The headers that docs/architecture.md says to include."""
    section = _HEADERS.search((DOCS / "architecture.md").read_text())
    return sorted(set(re.findall(r"`([^`\s]+\.hpp)`", section.group(1)))) if section else []


class Pages:
    """The copy of docs/, which grows by the source files that its pages link."""

    def __init__(self, folder):
        self._folder = folder
        self._sources = set()

    def add_all(self):
        for path in sorted(DOCS.rglob("*")):
            inside = path.relative_to(DOCS)
            if path.suffix == ".md":
                self._write(inside, self._convert(path, inside))
            elif path.suffix in (".svg", ".png"):
                self._write(inside, path.read_bytes())
        self._write("site.css", (DOCS / "reference/site.css").read_text())
        shown = set()
        while shown != self._sources:  # what is shown may link more
            for target in sorted(self._sources - shown):
                page = self._page_of(target)
                is_text = target.endswith(".md")
                self._write(page, self._convert(ROOT / target, pathlib.PurePosixPath(page)) if is_text else self._show(target))
                shown.add(target)

    def _write(self, inside, content):
        path = self._folder / inside
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content) if isinstance(content, bytes) else path.write_text(content)

    @staticmethod
    def _page_of(target):
        """The page that shows a file or a folder of the repository."""
        return f"{SOURCES}/{target}.md" if (ROOT / target).is_file() else f"{SOURCES}/{target}/index.md"

    def _convert(self, page, inside):
        """The text of a page for its place in the copy."""
        lines, fence, is_in_list = [], "", False
        for line in page.read_text().splitlines():
            opening = _FENCE.match(line)
            if is_in_list and line.startswith(("  ", "   ")):
                indent = len(line) - len(line.lstrip())
                line = " " * (4 * ((indent + 2) // 4) - indent if indent % 4 else 0) + line
            if opening and not fence:
                fence = opening.group(2)
                line = line.rstrip().split("```", 1)[0] + fence + (opening.group(3).split() or [""])[0]
            elif opening and opening.group(2) == fence and not opening.group(3).strip():
                fence = ""
            elif not fence:
                if _ITEM.match(line):
                    if not is_in_list and lines and lines[-1].strip():
                        lines.append("")
                    is_in_list = True
                elif line.strip() and not line.startswith(" "):
                    is_in_list = is_in_list and bool(lines and lines[-1].strip())
                line = _LINK.sub(lambda link: link.group(1) + self._lead(page, inside, link.group(2)), line)
            if line == "<!-- api -->":
                line = f"[Open the C++ reference]({API}/index.html)"
            lines.append(line)
        return "\n".join(lines) + "\n"

    def _lead(self, page, inside, target):
        """Where a link of that page leads from its place in the copy."""
        path = pathlib.Path(os.path.normpath(page.parent / target))
        if path.is_relative_to(DOCS) and path.suffix in (".md", ".svg", ".png"):
            return os.path.relpath(path.relative_to(DOCS), inside.parent)
        if not path.is_relative_to(ROOT) or not path.exists():
            return target
        self._sources.add(path.relative_to(ROOT).as_posix())
        return os.path.relpath(self._page_of(path.relative_to(ROOT).as_posix()), inside.parent)

    def _show(self, target):
        """The page of a source file, or of a folder."""
        head = f"# {target}\n\n"
        path = ROOT / target
        if path.is_dir():
            files = subprocess.run(["git", "ls-files", "--", target], cwd=ROOT, text=True, capture_output=True, check=True)
            return head + "".join(f"- `{name}`\n" for name in files.stdout.splitlines())
        text = path.read_text(errors="replace")
        ticks = "`" * max([3, *(len(run) + 1 for run in re.findall(r"`{3,}", text))])
        return f"{head}{ticks}{_LANGUAGES.get(path.suffix, 'text')}\n{text.rstrip()}\n{ticks}\n"


def build_reference(folder):
    """The C++ reference, into the pages: MkDocs takes it to the site as it is. Its first page is the table of the headers."""
    first = folder.parent / "cpp_reference.md"
    section = _HEADERS.search((DOCS / "architecture.md").read_text())
    table = re.sub(r"`([^`\s]+\.hpp)`", r"\1", section.group(1) if section else "")
    first.write_text(f"# C++ reference\n\n{table}")
    extra = (f"INPUT = {first} {' '.join(list_public_headers())}\nUSE_MDFILE_AS_MAINPAGE = {first}\n"
             f"OUTPUT_DIRECTORY = {folder}\n")
    subprocess.run(["doxygen", "-"], cwd=ROOT, input=(DOCS / "Doxyfile").read_text() + extra, text=True, check=True)


def leave_out_sources(index):
    """Takes the pages of source files out of the search, which is for the documentation."""
    content = json.loads(index.read_text())
    content["docs"] = [one for one in content["docs"]
                       if not one["location"].startswith(SOURCES + "/") or ".md.html" in one["location"]]
    index.write_text(json.dumps(content, separators=(",", ":")))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1]).resolve()
    pages = folder / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    pages.mkdir(parents=True)
    Pages(pages).add_all()
    build_reference(pages)
    subprocess.run(["mkdocs", "build", "--strict", "--clean"], cwd=ROOT, check=True)
    leave_out_sources(folder / "site/search/search_index.json")
    print(f"The site is in {os.path.relpath(folder / 'site')}; to read it: python3 -m http.server -d "
          f"{os.path.relpath(folder / 'site')} 8001")


if __name__ == "__main__":
    main()
