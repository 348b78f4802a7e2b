"""Planted bugs: the entries of tests/mutations/plants/*.json, which tests/mutations.md describes."""
import json
import re

from edits import Edit, Mutation, Problem, read, to_text

FOLDER = "tests/mutations/plants"
KEYS = {"name": str, "what": str, "file": str, "find": str, "replace": str, "suite": str, "test": str, "script": str,
        "targets": list}
PLANTED = re.compile(r"\bPLANTED\b")


class Plant(Mutation):
    def __init__(self, entry, edits):
        super().__init__(entry["name"], entry["file"], edits)
        self.what, self.suite, self.test = entry["what"], entry.get("suite"), entry.get("test")
        self.script, self.targets = entry.get("script"), entry.get("targets", [])

    @property
    def is_in_header(self):
        return self.file.endswith(".hpp")

    @property
    def judge(self):
        return self.script or f"{self.suite}: \"{self.test}\""


def read_entries(path):
    try:
        entries = json.loads(path.read_text())
    except json.JSONDecodeError as error:
        raise Problem(f"{path}: not JSON: {error}") from None
    if not isinstance(entries, dict) or set(entries) != {"plants"} or not isinstance(entries["plants"], list):
        raise Problem(f'{path}: expected {{"plants": [...]}}')
    return entries["plants"]


def check(entry):
    """What is wrong with an entry of the list, or None."""
    if not isinstance(entry, dict):
        return "expected an object"
    for key, value in entry.items():
        if key not in KEYS:
            return f"unknown key '{key}'; known: {', '.join(KEYS)}"
        if not isinstance(value, KEYS[key]) or not value:
            return f"'{key}': expected a {KEYS[key].__name__} that isn't empty, got {json.dumps(value)}"
    missing = {"name", "what", "file", "find", "replace"} - set(entry)
    if missing:
        return f"'{sorted(missing)[0]}' is missing"
    if ("script" in entry) == ("suite" in entry) or ("suite" in entry) != ("test" in entry):
        return "expected either 'suite' and 'test' or 'script'"
    if not PLANTED.search(entry["replace"]):
        return "'replace': the token PLANTED is not in it"
    return None


def place(root, entry):
    """The edit that an entry asks for."""
    path = root / entry["file"]
    if not path.is_file():
        raise Problem(f"'file': {entry['file']} does not exist")
    text, find = read(path), to_text(entry["find"])
    found = text.count(find)
    if found != 1:
        raise Problem(f"'find' occurs {found} times in {entry['file']}, expected once: {entry['find']}")
    start = text.index(find)
    return Edit(start, start + len(find), PLANTED.sub("{is_on}", to_text(entry["replace"])))


def read_plants(root):
    """All plants by name. Raises Problem with a line for each entry that is wrong."""
    plants, problems = {}, []
    for path in sorted((root / FOLDER).glob("*.json")):
        here = path.relative_to(root)
        try:
            entries = read_entries(path)
        except Problem as problem:
            problems.append(str(problem))
            continue
        for index, entry in enumerate(entries):
            wrong = check(entry)
            name = entry.get("name") if isinstance(entry, dict) else None
            where = f"{here}: {name if isinstance(name, str) else f'/plants/{index}'}"
            if wrong:
                problems.append(f"{where}: {wrong}")
                continue
            if name in plants:
                problems.append(f"{where}: another plant has this name")
                continue
            try:
                plant = Plant(entry, [place(root, entry)])
            except Problem as problem:
                problems.append(f"{where}: {problem}")
                continue
            overlapped = next((other for other in plants.values() if other.overlaps(plant)), None)
            if overlapped:
                problems.append(f"{where}: 'find' overlaps that of {overlapped.name} in {plant.file}")
                continue
            plants[name] = plant
    if problems:
        raise Problem("\n".join(problems))
    return dict(sorted(plants.items()))


def table(plants):
    """The plants as a table in Markdown, whose cells a `|` doesn't end."""
    rows = ["| Plant | What it does | File | Caught by |", "|---|---|---|---|"]
    for plant in plants.values():
        judge = f"`{plant.script}`" if plant.script else f"`{plant.suite}`: {plant.test}"
        cells = [f"`{plant.name}`", plant.what, f"`{plant.file}`", judge]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows) + "\n"
