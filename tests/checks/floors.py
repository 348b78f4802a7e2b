"""Refuses folders of a layer that include each other in a circle, and includes that do not go down:
floors.py [ROOT]

A folder of a layer is one that holds .hpp or .cpp files itself; a folder inside it is another one.
tests/checks/floors.txt declares on which floor of its layer each folder stands. A folder may include
only folders on lower floors of its layer.
"""
import collections

import source

LAYERS = ["runtime", "actors", "algorithms"]
DECLARATION = "tests/checks/floors.txt"


def read_floors(root, folders):
    """The floor of each declared folder, 1 being its layer's lowest, and the declaration's faults."""
    if not (root / DECLARATION).exists():
        return {}, [f"{DECLARATION}: is missing"]
    floors, heights, problems = {}, collections.Counter(), []
    for number, line in enumerate((root / DECLARATION).read_text().splitlines(), 1):
        declared = line.split("#")[0].split()
        layers = {folder.split("/")[0] for folder in declared}
        if len(layers) > 1:
            problems.append(f"{DECLARATION}:{number}: {' and '.join(sorted(layers))} share a floor")
        heights.update(layers)
        for folder in declared:
            if folder in floors:
                problems.append(f"{DECLARATION}:{number}: {folder} stands on floor {floors[folder]} already")
            elif folder not in folders:
                problems.append(f"{DECLARATION}:{number}: {folder} does not exist or holds no C++ file")
            floors[folder] = heights[folder.split("/")[0]]
    return floors, problems


def read_arrows(root):
    """For each folder of a layer the other folders of that layer that it includes, each with its includes."""
    paths = source.list_sources(root, LAYERS)
    arrows = {path.parent.as_posix(): collections.defaultdict(list) for path in paths}
    for path in paths:
        folder, layer = path.parent.as_posix(), path.parts[0]
        for line, included in source.list_includes(root, path):
            other = included.rpartition("/")[0]
            if other in arrows and other != folder and included.startswith(f"{layer}/"):
                arrows[folder][other].append(f"{path}:{line}: includes {included}")
    return arrows


def find_ways(arrows, start):
    """The shortest way from a folder to each that it reaches; to itself where it is in a circle."""
    ways, queue = {}, collections.deque([[start]])
    while queue:
        way = queue.popleft()
        for other in sorted(arrows[way[-1]]):
            if other not in ways:
                ways[other] = way + [other]
                queue.append(ways[other])
    return ways


def find_circles(arrows):
    """The largest sets of folders that all reach each other, each with the shortest circle in it."""
    ways = {folder: find_ways(arrows, folder) for folder in arrows}
    remaining = sorted(folder for folder in arrows if folder in ways[folder])
    while remaining:
        first = remaining[0]
        members = [folder for folder in remaining if folder in ways[first] and first in ways[folder]]
        yield members, min((ways[folder][folder] for folder in members), key=len)
        remaining = [folder for folder in remaining if folder not in members]


def describe_circle(arrows, members, circle):
    lines = [f"{', '.join(members)}: include each other in a circle; the shortest:"]
    for folder, other in zip(circle, circle[1:]):
        includes = arrows[folder][other]
        more = f" (and {len(includes) - 1} more from {folder} to {other})" if len(includes) > 1 else ""
        lines.append(f"  {includes[0]}{more}")
    return "\n".join(lines)


def find_problems(root):
    arrows = read_arrows(root)
    floors, problems = read_floors(root, arrows)
    yield from problems
    for folder in sorted(arrows):
        if folder not in floors:
            yield f"{folder}: {DECLARATION} does not say on which floor it stands"
    for members, circle in find_circles(arrows):
        yield describe_circle(arrows, members, circle)
    for folder in sorted(arrows):
        for other in sorted(arrows[folder]):
            if folder in floors and other in floors and floors[other] >= floors[folder]:
                for include in arrows[folder][other]:
                    yield (f"{include}: {folder} (floor {floors[folder]}) may not see "
                           f"{other} (floor {floors[other]})")


if __name__ == "__main__":
    source.finish("floors", list(find_problems(source.root_argument())))
