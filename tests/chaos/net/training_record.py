"""What a training run and its processes have left, and the judgement of it."""
import csv
import io
import pathlib
import pickletools
import re
import statistics
import zipfile

# What memory may be in the last quarter, as a multiple of that in the first, and the shortest run that is judged by it:
# a process grows for some minutes after it has begun.
GROWTH_MAX = 1.05
FLAT_FROM = 1800
STEP = "time/total_timesteps"


def newest_checkpoint(directory):
    """Its step; 0: there is none. A checkpoint that is being written has another name."""
    names = (path.name for path in directory.glob("checkpoints/ckpt-*"))
    return max((int(found[1]) for name in names if (found := re.fullmatch(r"ckpt-0*(\d+)", name))), default=0)


def step_gone_on_from(log):
    """The step that a run goes on from, by its log; 0: it begins; None: the log says neither."""
    if found := re.search(r"info a run goes on .*step=(\d+)", log):
        return int(found[1])
    return 0 if "info a run begins " in log else None


def score_of(model):
    """The score in a model file, which is a zip archive of a pickle; None: there is none."""
    with zipfile.ZipFile(model) as archive:
        name = next(name for name in archive.namelist() if name.endswith("data.pkl"))
        operations = pickletools.genops(archive.read(name))
        for operation, argument, _ in operations:
            if argument == "score":
                return next(value for found, value, _ in operations if found.name == "BINFLOAT")
    return None


def check_progress(text):
    """What is wrong with a progress.csv: updates that are left out, or written twice."""
    wrong, last = [], None
    for row in csv.DictReader(io.StringIO(text)):
        if not row["train/n_updates"]:
            continue
        update, step = int(float(row["train/n_updates"])), int(float(row[STEP]))
        if last and (update != last[0] + 1 or step <= last[1]):
            wrong.append(f"progress.csv: after update {last[0]} at step {last[1]} comes update {update} at step {step}, "
                         f"expected update {last[0] + 1} at a later step")
        last = update, step
    if last is None:
        wrong.append("progress.csv: there are no updates")
    return wrong


def updates_of(text):
    return sum(1 for row in csv.DictReader(io.StringIO(text)) if row["train/n_updates"])


# ---- memory, descriptors and threads

def read_figures(pid):
    """Of a process; None: it has ended."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text(errors="replace")
        descriptors = len(list(pathlib.Path(f"/proc/{pid}/fd").iterdir()))
    except OSError:
        return None
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    if "VmRSS" not in fields:  # It has just ended.
        return None
    return {"memory": int(fields["VmRSS"].split()[0]) * 1024, "descriptors": descriptors, "threads": int(fields["Threads"])}


def add_up(figures):
    """Of several processes, and how many they are."""
    figures = list(figures)
    sums = {key: sum(one[key] for one in figures) for key in ("memory", "descriptors", "threads")}
    return {**sums, "processes": len(figures)}


def quarters(samples):
    """The medians of the first and of the last quarter of the samples, which are in the order of time."""
    count = max(1, len(samples) // 4)
    parts = samples[:count], samples[-count:]
    return tuple({key: statistics.median(one[key] for one in part) for key in samples[0]} for part in parts)


def check_growth(name, samples, of_many=False):
    """What has grown, a sentence each. `of_many` means that the samples add up several processes. When some of them are
    just being replaced, those before them still end, so the number differs from one sample to the next. What has been
    left behind is there at the quietest moment of the last quarter, too, and that is judged."""
    first, last = quarters(samples)
    quiet = samples[-max(1, len(samples) // 4):]
    wrong = []
    for key in first:
        if of_many and key != "memory":
            last[key] = min(one[key] for one in quiet)
        allowed = first[key] * GROWTH_MAX if key == "memory" else first[key]
        if last[key] > allowed:
            wrong.append(f"{name}: {key} in the first quarter {first[key]:.0f}, in the last {last[key]:.0f}, "
                         f"expected at most {allowed:.0f}")
    return wrong


def describe_growth(name, samples):
    first, last = quarters(samples)
    said = [f"{first['memory'] / 1e6:.1f} and {last['memory'] / 1e6:.1f} MB"]
    said += [f"{first[key]:.0f} and {last[key]:.0f} {key}" for key in first if key != "memory"]
    return f"{name}, medians of the first and the last quarter of {len(samples)} samples: {', '.join(said)}"
