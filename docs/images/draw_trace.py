#!/usr/bin/python3
"""Draws a part of a trace as SVG: draw_trace.py TRACE SVG [NAME]

TRACE is what `--trace` wrote. The part is the middle one of the slices called NAME (train_step), with half
its time before it and its time after it. Green is what the program marks, blue an endpoint at work, grey a
coroutine that awaits a call; of arrows, from who waits to who works, one in forty pixels is drawn.
"""
import json
import sys
from xml.sax.saxutils import escape

from drawing import FONT, GRID, INK, RED, SMALL, SOFT_INK, WHITE, width_of

WIDTH, LABELS, ROW, TOP = 1000, 140, 20, 32  # pixels
COLOURS = {"execution": "#8fb4ec", "wait": "#dfe3e8", "span": "#8fcfae"}


def choose_part(slices, name):
    """Begin and end in us."""
    found = sorted((e["ts"], e["dur"]) for e in slices if e["name"] == name)
    if not found:
        sys.exit(f"draw_trace: no slice is called {name}")
    begin, took = found[len(found) // 2]
    return begin - took / 2, begin + 2 * took


def fuse(slices, pixel):
    """Slices of one kind that lie closer than a pixel are one, so that the picture is bounded."""
    fused = []
    for e in sorted(slices, key=lambda e: e["ts"]):
        begin, end = e["ts"], e["ts"] + e["dur"]
        last = fused[-1] if fused else None
        if last and last["cat"] == e["cat"] and begin - last["end"] < pixel and end >= last["end"]:
            last.update(end=end, names=last["names"] | {e["name"]})
        else:
            fused.append({"begin": begin, "end": end, "cat": e["cat"], "names": {e["name"]}})
    return fused


class Picture:
    def __init__(self, trace, name):
        self.events = trace["traceEvents"]
        self.names = {e["tid"]: e["args"]["name"] for e in self.events if e["name"] == "thread_name"}
        slices = [e for e in self.events if e["ph"] == "X"]
        self.begin, self.end = choose_part(slices, name)
        self.scale = (WIDTH - LABELS - 16) / (self.end - self.begin)
        self.seen = [e for e in slices if e["ts"] < self.end and e["ts"] + e["dur"] > self.begin]
        # A row on which less than three pixels would be painted is left out.
        painted = {}
        for e in self.seen:
            painted[e["tid"]] = painted.get(e["tid"], 0) + e["dur"] * self.scale
        kept = [tid for tid in sorted(painted) if painted[tid] >= 3]
        self.rows = {tid: TOP + ROW * i for i, tid in enumerate(kept)}
        self.height = TOP + ROW * len(kept) + 14

    def x(self, time):
        return LABELS + (min(max(time, self.begin), self.end) - self.begin) * self.scale

    def draw(self):
        shapes = [shape for tid in self.rows for shape in self.row(tid)]
        shapes.sort(key=lambda shape: shape.startswith("<text"))  # no block covers a text
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" width="{WIDTH}" '
            f'height="{self.height}" font-family="{FONT}" font-size="{SMALL}">',
            f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{self.height - 1}" rx="8" fill="{WHITE}" '
            f'stroke="{GRID}"/>', *self.ruler(),
            *shapes, *self.arrows(), "</svg>\n"])

    def ruler(self):
        whole = (self.end - self.begin) / 1000
        step = next(s for s in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10**9) if whole / s <= 12)
        for i in range(int(whole / step) + 1):
            x = self.x(self.begin + i * step * 1000)
            yield f'<path d="M{x:.1f} {TOP - 6}V{self.height - 10}" stroke="{GRID}"/>'
            if x < WIDTH - 60:
                yield f'<text x="{x:.1f}" y="{TOP - 10}" fill="{SOFT_INK}">{i * step} ms</text>'

    def row(self, tid):
        y = self.rows[tid]
        yield f'<text x="16" y="{y + 13}" fill="{INK}">{escape(self.names[tid])}</text>'
        mine = [e for e in self.seen if e["tid"] == tid]
        outer = [e for e in mine if e["cat"] != "wait"]
        inner = [e for e in mine if e["cat"] == "wait"]
        for e in fuse(outer, 1 / self.scale):
            yield from self.block(e, y + 1, ROW - 4)
        for e in fuse(inner, 1 / self.scale):
            yield from self.block(e, y + (13 if outer else 1), 4 if outer else ROW - 4)

    def block(self, e, y, height):
        left, right = self.x(e["begin"]), self.x(e["end"])
        yield (f'<rect x="{left:.1f}" y="{y}" width="{max(right - left, .5):.1f}" height="{height}" '
               f'fill="{COLOURS[e["cat"]]}"/>')
        names = sorted({name.split(" x")[0] for name in e["names"]})
        text = ", ".join(names[:3] + ["..."] * (len(names) > 3))
        if height > 8 and right - left > width_of(text, SMALL) + 6:
            yield f'<text x="{left + 3:.1f}" y="{y + 12}" fill="{INK}">{escape(text)}</text>'

    def arrows(self):
        ends = {}
        for e in self.events:
            if e["ph"] in "sf" and e["tid"] in self.rows and self.begin <= e["ts"] <= self.end:
                ends.setdefault(e["id"], {})[e["ph"]] = (self.x(e["ts"]), self.rows[e["tid"]] + ROW / 2)
        drawn = set()
        for arrow in ends.values():
            if len(arrow) < 2:
                continue
            (x1, y1), (x2, y2) = arrow["s"], arrow["f"]
            place = (x1 // 40, y1, y2)
            if place not in drawn:
                drawn.add(place)
                yield f'<path d="M{x1:.1f} {y1}L{x2:.1f} {y2}" stroke="{RED}" stroke-width=".6"/>'
                yield f'<circle cx="{x2:.1f}" cy="{y2}" r="1.6" fill="{RED}"/>'


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    with open(sys.argv[1]) as file:
        picture = Picture(json.load(file), sys.argv[3] if len(sys.argv) == 4 else "train_step").draw()
    with open(sys.argv[2], "w") as file:
        file.write(picture)
