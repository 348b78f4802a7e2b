"""Which planted bugs were judged, when and at which commit: tests/mutations/judged.json, a line a plant."""
import datetime
import hashlib
import json
import os
import subprocess

from edits import Problem, read

RECORD = "tests/mutations/judged.json"


def describe_commit(root):
    """The commit of the repository, with a + where files other than the record differ from it."""
    def git(*words):
        done = subprocess.run(["git", *words], cwd=root, text=True, capture_output=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else ""
    changed = "+" if git("status", "--porcelain", "--untracked-files=no", "--", ".", f":(exclude){RECORD}") else ""
    return (git("rev-parse", "--short=8", "HEAD") or "none") + changed


class Record:
    """The verdicts on plants. That a plant is caught holds while it, its test's name and its file's text are the same."""

    def __init__(self, root):
        self.root, self.path = root, root / RECORD
        try:
            self.judged = json.loads(self.path.read_text())["judged"] if self.path.is_file() else {}
        except (KeyError, TypeError, json.JSONDecodeError) as error:
            raise Problem(f'{RECORD}: expected {{"judged": {{...}}}}, got an error: {error!r}') from None

    def digest(self, plant):
        changed = [(edit.start, edit.end, edit.text) for edit in plant.edits]
        text = json.dumps([plant.judge, changed, read(self.root / plant.file)])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def holds(self, plant):
        """A plant that was not caught may be caught by what its test says now."""
        known = self.judged.get(plant.name, {})
        return known.get("verdict", "").startswith("caught") and known["digest"] == self.digest(plant)

    def list_stale(self, plants):
        """The plants without a verdict that holds: first those that were never judged."""
        return sorted((plant for plant in plants if not self.holds(plant)), key=lambda plant: plant.name in self.judged)

    def add(self, plant, verdict):
        self.judged[plant.name] = {"verdict": verdict, "date": datetime.date.today().isoformat(),
                                   "commit": describe_commit(self.root), "digest": self.digest(plant)}

    def save(self, known):
        """Writes the verdicts on the plants known. The file is complete whenever it is read."""
        rows = [f"{json.dumps(name)}: {json.dumps(self.judged[name])}" for name in sorted(self.judged) if name in known]
        fresh = self.path.with_suffix(".new")
        fresh.write_text('{"judged": {\n' + ",\n".join(rows) + "\n}}\n")
        os.replace(fresh, self.path)
