"""Prints where clang's time went, from the files of -ftime-trace below a build folder: build_times.py FOLDER [ROWS]

Times are wall seconds of single compilers, so they are longer where the machine is busy. A header's time includes the
headers that it includes. A header that is precompiled counts once, in the group that precompiles it.
"""
import collections
import json
import pathlib
import sys

STAGES = {"Total Frontend": "front end", "Total Backend": "back end", "Total ExecuteCompiler": "all"}


def read_events(path):
    with open(path) as file:
        return json.load(file)["traceEvents"]


def add_headers(events, seconds, counts):
    """Adds the seconds of each header that one compilation has read. clang writes where it begins and where it ends."""
    begun = []
    for event in sorted((e for e in events if e["name"] == "Source"), key=lambda e: e["ts"]):
        if event["ph"] == "b":
            begun.append(event)
        elif begun:
            first = begun.pop()
            seconds[first["args"]["detail"]] += (event["ts"] - first["ts"]) / 1e6
            counts[first["args"]["detail"]] += 1


def print_table(title, rows):
    print(f"\n{title}")
    for row in rows:
        print("  " + "  ".join(str(cell) for cell in row))


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    folder, rows = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) == 3 else 15
    traces = [path for path in folder.rglob("*.json") if path.with_suffix(".o").exists() or ".hxx" in path.name]
    if not traces:
        sys.exit(f"build_times.py: no files of -ftime-trace are below {folder}")
    total, sources = collections.Counter(), []
    headers, header_counts = collections.Counter(), collections.Counter()
    templates, template_counts = collections.Counter(), collections.Counter()
    for path in traces:
        events = read_events(path)
        stages = collections.Counter()
        for event in events:
            if event["name"] in STAGES:
                stages[STAGES[event["name"]]] += event["dur"] / 1e6
            elif event["name"] in ("InstantiateFunction", "InstantiateClass"):
                name = event["args"]["detail"].split("<")[0]
                templates[name] += event["dur"] / 1e6
                template_counts[name] += 1
        total.update(stages)
        sources.append((stages["all"], stages["front end"], stages["back end"], path.relative_to(folder)))
        add_headers(events, headers, header_counts)
    print(f"{len(sources)} compilations, " + ", ".join(f"{name} {value:.0f} s" for name, value in total.items()))
    print_table("Compilations: all, front end and back end in seconds",
                [(f"{a:6.1f}", f"{b:6.1f}", f"{c:6.1f}", name) for a, b, c, name in sorted(sources, reverse=True)[:rows]])
    print_table("Headers: seconds, how often",
                [(f"{value:6.1f}", f"{header_counts[name]:5}", name) for name, value in headers.most_common(rows)])
    print_table("Templates: seconds, how often",
                [(f"{value:6.1f}", f"{template_counts[name]:5}", name) for name, value in templates.most_common(rows)])


if __name__ == "__main__":
    main()
