"""Whether a change of the code leaves what is learned as it was: golden.py BUILD_DIR [NAME...] [--against COMMIT] [--json]

Each of the runs in runs.json is short, the same each time, and takes another way through the code. What is compared is the digest
of the final weights, the evaluation at the end, each column of progress.csv but those of time, and the summary. Beside them are the
parts that probe.cpp prints a digest of each: learners on recorded batches, and episodes by given weights.

A run with "resume" is made a second time as one that was killed at an early checkpoint and resumed. "{worlds}" in its arguments is the
plug-in with the environments of worlds.cpp, "{data}" a file of examples.

Without --against each run is made twice, and both must be alike. With it COMMIT is built in build/commits and makes
the same runs. A run whose order is "sync" must come out alike there. One whose order is "async" depends on the order of its
actors' turns, which a change may shift: it must come out alike twice here, and where COMMIT's is another the table says so.

renames.json says what has another name in COMMIT: "options", "columns" and "summary" map the names of now to those. Its
"exceptions" map the names of runs that may differ to the reason.

Closes with `N passed, N failed, N skipped`, where skipped are the exceptions; --json adds one JSON object.
"""
import argparse
import csv
import hashlib
import json
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
sys.path.insert(0, str(REPOSITORY / "tests"))
from commits import build_commit  # noqa: E402

TROUPE = "deploy/troupe/troupe"
LIMIT_S = 300  # of one run
# What depends on the clock, where the run lies, and what the machine did.
OTHER_KEYS = {"start_s", "wall_s", "cpu_s", "steps_per_s", "run_directory", "metrics_port", "resumed_from_step"}
DATA = "".join(json.dumps({"prompt": one, "answer": other}) + "\n" for one, other in zip("abcdefghijklmnop", "bcdefghijklmnopq"))


def read_json(name):
    return json.loads((HERE / name).read_text())


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def options_of_then(arguments, renames):
    """The arguments with the names that the options had in the other commit."""
    renamed = []
    for argument in arguments:
        option, is_one, value = argument.partition("=")
        renamed.append(renames["options"].get(option, option) + is_one + value)
    return renamed


def read_columns(path):
    """The digest of each column's values; those of time are left out."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    names = [name for name in (rows[0] if rows else {}) if name == "time/total_timesteps" or not name.startswith("time/")]
    return {name: digest("\n".join(row[name] for row in rows)) for name in names}


def forget_later(run):
    """Leaves the oldest checkpoint alone in a run's folder, as if the run had been killed soon after it. Returns its step."""
    steps = sorted(int(each.name.removeprefix("ckpt-")) for each in (run / "checkpoints").iterdir())
    for step in steps[1:]:
        shutil.rmtree(run / "checkpoints" / f"ckpt-{step}")
    return steps[0]


def make_run(troupe, arguments, facts, killed=False):
    """What a run came out as: {"weights", "columns", "summary"}, or {"error"}. `killed`: it is killed and resumed."""
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder) / "letters.jsonl"
        data.write_text(DATA)
        worlds = troupe.parents[2] / "tests/golden/golden_worlds.so"
        arguments = [each.replace("{worlds}", str(worlds)).replace("{data}", str(data)) for each in arguments]
        command = [troupe, "train", "--json", "--metrics-port", "0"]
        begin = [*command, "--runs", folder, *arguments, *(["--deterministic"] if facts.get("deterministic", True) else [])]
        summary = run_to_end(begin)
        if killed and "error" not in summary:
            step = forget_later(pathlib.Path(summary["run_directory"]))
            summary = run_to_end([*command, "--resume", summary["run_directory"]])
            if "error" not in summary and summary["resumed_from_step"] != step:
                return {"error": f"expected to resume from step {step}, got {summary['resumed_from_step']}"}
        if "error" in summary:
            return summary
        columns = read_columns(pathlib.Path(summary["run_directory"]) / "progress.csv")
    kept = {key: value for key, value in summary.items() if key not in OTHER_KEYS and key != "weights_sha256"}
    kept["env"] = str(kept.get("env")).replace(str(worlds), "{worlds}")  # each build has a plug-in of its own
    return {"weights": summary["weights_sha256"], "columns": columns, "summary": kept}


def run_to_end(command):
    """The summary that a run prints, or {"error"}."""
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return {"error": f"not done within {LIMIT_S} s"}
    if result.returncode != 0:
        return {"error": f"exit code {result.returncode}: {result.stderr.strip().splitlines()[-1:]}"}
    return json.loads(result.stdout.splitlines()[-1])


def read_parts(build):
    """What the probe of that build prints, as runs without columns: {part: run}."""
    result = subprocess.run([build / "tests/golden/golden_probe"], capture_output=True, text=True, timeout=LIMIT_S, check=True)
    return {name: {"weights": value, "columns": {}, "summary": {}} for name, value in map(str.split, result.stdout.splitlines())}


def in_terms_of_now(run, renames):
    """A run of the other commit with the names of now."""
    if "error" in run:
        return run
    renamed = dict(run)
    for part in ("columns", "summary"):
        now = {then: name for name, then in renames[part].items()}
        renamed[part] = {now.get(name, name): value for name, value in run[part].items()}
    return renamed


def differences(one, other):
    """Where two runs differ, in words; none: they are alike."""
    for run in (one, other):
        if "error" in run:
            return [run["error"]]
    found = [] if one["weights"] == other["weights"] else ["weights"]
    for part in ("columns", "summary"):
        names = one[part].keys() | other[part].keys()
        found += [f"{part[:-1] if part == 'columns' else part} {name}" for name in sorted(names)
                  if one[part].get(name) != other[part].get(name)]
    return found


def judge(facts, now, then, again, excepted):
    """(verdict, what differs). `then` is None without another commit, `again` where the run is made once."""
    if again is not None:
        found = differences(now, again)
        if found:
            return "failed", ["the second time: " + each for each in found]
    if then is None:
        return ("failed", [now["error"]]) if "error" in now else ("passed", [])
    found = differences(now, then)
    if not found:
        return "passed", []
    if "error" not in now and "error" not in then and facts["order"] == "async":
        return "passed", ["in another order than before"]
    return ("skipped", [excepted]) if excepted else ("failed", found)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--against", metavar="COMMIT")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_intermixed_args()
    runs, renames = read_json("runs.json")["runs"], read_json("renames.json")
    parts = read_parts(asked.build)
    unknown = [name for name in asked.names if name not in runs and name not in parts]
    if unknown:
        parser.error(f"no run is named {unknown[0]}; known: {' '.join([*parts, *runs])}")
    troupe = asked.build / TROUPE
    other = build_commit(asked.against, [TROUPE, "golden_probe", "golden_worlds"]) if asked.against else None
    other_parts = read_parts(other if other else asked.build)

    counts = {"passed": 0, "failed": 0, "skipped": 0}
    record = {}
    for name in asked.names or [*parts, *runs]:
        if name in parts:
            facts, now, again = {"order": "sync"}, parts[name], None
            then = other_parts.get(name, {"error": "it was not there then"})
        else:
            facts = runs[name]
            arguments = shlex.split(facts["arguments"])
            now = make_run(troupe, arguments, facts)
            then = None
            if other:
                then = make_run(other / TROUPE, options_of_then(arguments, renames), facts)
                then = in_terms_of_now(then, renames)
            resumes = facts.get("resume", False)
            again = None
            if other is None or facts["order"] == "async" or resumes:
                again = make_run(troupe, arguments, facts, killed=resumes)
        verdict, found = judge(facts, now, then, again, renames["exceptions"].get(name))
        counts[verdict] += 1
        record[name] = {"verdict": verdict, "weights": now.get("weights"), "differs": found}
        print(f"{name:28} {(now.get('weights') or '-')[:12]:13} {verdict:8} {'; '.join(found[:5])}", flush=True)
    if asked.json:
        print(json.dumps({"golden": record, **{f"golden_{key}": value for key, value in counts.items()}}))
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        sys.exit(f"golden.py: {error}")
