"""The attempts to escape, as this user and, under root, as an ordinary one: escapes.py BUILD_DIR [--json] [NAME...]

--json closes with one object: `attempts`, how many of them `ran` and how many `succeeded`, as all users together.
"""
import json
import os
import pathlib
import subprocess
import sys

ORDINARY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def main():
    program = pathlib.Path(sys.argv[1]).resolve() / "tests/escapes/escapes"
    names = [word for word in sys.argv[2:] if word != "--json"]
    total = {"attempts": 0, "ran": 0, "succeeded": 0}
    as_users, code = [], 0
    for as_user in ([], ORDINARY) if os.geteuid() == 0 else ([],):
        done = subprocess.run([*as_user, program, "--json", *names], stdout=subprocess.PIPE, text=True)
        code = max(code, done.returncode)
        *lines, last = done.stdout.strip().splitlines()
        if not last.startswith("{"):  # it was skipped, and says why
            print(done.stdout)
            continue
        counts = json.loads(last)
        print(f"as {counts['user']}:", *lines, sep="\n")
        as_users.append({key: counts[key] for key in ("user", "attempts", "ran", "succeeded")})
        for key in total:
            total[key] += counts[key]
    if names and as_users and not total["attempts"]:
        sys.exit(f"escapes: expected the names of attempts, got {' '.join(names)}, which name none")
    if "--json" in sys.argv:
        print(json.dumps({**total, "as_users": as_users}))
    return code


if __name__ == "__main__":
    sys.exit(main())
