"""Checks the links of a built site: links.py SITE

Each relative link and picture of a page leads to a file of the site, and each #part to an element of that page with this id.
The pages of Doxygen below api/ are targets alone.
"""
import html.parser
import pathlib
import sys
import urllib.parse

UNCHECKED = "api"


class Page(html.parser.HTMLParser):
    """The ids of a page, and what it links."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(path.read_text(errors="replace"))

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.ids.update(value for name, value in attrs if value and (name == "id" or name == "name" and tag == "a"))
        for name in ("href", "src"):
            if values.get(name) is not None:
                self.links.append((self.getpos()[0], values[name]))


def find_problems(site):
    pages = {path: Page(path) for path in sorted(site.rglob("*.html")) if path.relative_to(site).parts[0] != UNCHECKED}
    for path, page in pages.items():
        if path == site / "404.html":
            continue  # its links are from the root
        for line, link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            where = f"{path.relative_to(site)}:{line}: {link}"
            if not target.exists():
                yield f"{where}: there is no such file"
            elif parts.fragment and target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].ids:
                yield f"{where}: the page has no such part"


def main():
    site = pathlib.Path(sys.argv[1]).resolve()
    if not (site / "index.html").exists():
        sys.exit(f"{site}: no site is there")
    problems = list(find_problems(site))
    for problem in problems:
        print(problem)
    print(f"links: {'fine' if not problems else f'{len(problems)} lead nowhere'}")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
