#!/usr/bin/python3
"""Draws both modes of training in time, from two traces: draw_sync_async.py SYNC ASYNC SVG

SYNC and ASYNC are what these commands wrote:

  troupe train --mode sync  -n 40960 --trace sync.json  trainer.n_epochs=4 evaluation.every_steps=0
  troupe train --mode async -n 40960 --trace async.json trainer.n_epochs=4 evaluation.every_steps=0

Of each trace the picture has the shortest part in which the trainer begins UPDATES updates, so that other work on
the machine shows the least. Each mode needs a core for the rollouts and one for the trainer: where other work keeps
them busy, take several traces and draw those with the shortest parts. A lane is busy while a rollout is under way,
or while the trainer is at work.
"""
import json
import sys

from drawing import BLUE, GREEN, GRID, HEAD, INK, ORANGE, PALE, SMALL, SOFT_INK, TEXT, THIN, WHITE, Picture

UPDATES = 6
WIDTH, LEFT, RIGHT, LANE, ROOM = 1000, 140, 976, 54, 12


def read(path):
    """Begin and end of the rollouts and of the trainer's work, in ms."""
    with open(path, encoding="utf-8") as file:
        slices = [e for e in json.load(file)["traceEvents"] if e["ph"] == "X"]

    def times(*names):
        return sorted((e["ts"] / 1000, (e["ts"] + e["dur"]) / 1000) for e in slices
                      if e["name"] in names and e["cat"] != "wait")

    return {"rollouts": times("rollout"), "trainer": times("train_step", "push_weights"),
            "updates": times("train_step")}


def shortest_part(updates):
    """Begin and end of UPDATES updates that follow each other, from the begin of the first to that of the next."""
    if len(updates) <= UPDATES:
        sys.exit(f"draw_sync_async: the trace has {len(updates)} updates, and needs more than {UPDATES}")
    begins = [begin for begin, _ in updates]
    return min(zip(begins, begins[UPDATES:]), key=lambda part: part[1] - part[0])


def within(times, begin, end):
    """The part of the times between begin and end, where those that overlap are one."""
    joined = []
    for first, last in times:
        first, last = max(first, begin), min(last, end)
        if first >= last:
            continue
        if joined and first <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], last)
        else:
            joined.append([first, last])
    return joined


def draw(paths):
    modes = [("sync", "Sync mode", "--mode sync", paths[0]), ("async", "Async mode", "--mode async", paths[1])]
    traces = {}
    for mode, _, _, path in modes:
        times = read(path)
        traces[mode] = (times, *shortest_part(times["updates"]))
    longest = max(end - begin for _, begin, end in traces.values())
    scale = (RIGHT - LEFT) / longest
    p = Picture(WIDTH, 452, "Sync and async mode in time",
                "In sync mode rollouts and updates take turns; in async mode they overlap")
    p.text(24, 58, f"{UPDATES} updates of PPO on CartPole-v1 in each mode, from two traces on one scale of time.", TEXT,
           SOFT_INK)
    y = 92
    for mode, title, option, _ in modes:
        times, begin, end = traces[mode]
        p.text(24, y + 4, title, HEAD, INK, bold=True)
        p.text(LEFT, y + 4, f"{UPDATES} updates in {end - begin:.0f} ms", TEXT, INK)
        y += 16
        for lane, words, colour in (("rollouts", ("Environments", "and policy"), BLUE),
                                    ("trainer", ("Trainer",), GREEN)):
            busy = within(times[lane], begin, end)
            idle = 1 - sum(last - first for first, last in busy) / (end - begin)
            p.lines(24, y + LANE / 2 + 4 - 9 * len(words), words, TEXT, INK, step=18)
            p.text(24, y + LANE / 2 + 4 + 9 * len(words), f"{round(100 * idle)} % idle", SMALL, SOFT_INK)
            wide = (end - begin) * scale
            p.rect(LEFT, y, wide, LANE, WHITE, SOFT_INK, line=THIN, radius=0, dashed=True)
            for first, last in busy:
                p.rect(LEFT + (first - begin) * scale, y, max((last - first) * scale, 0.6), LANE, colour, radius=0)
            y += LANE + ROOM
        y += 28
    step = next(s for s in (5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000) if longest / s <= 10)
    base = y - 30
    p.line([(LEFT, base), (RIGHT, base)], SOFT_INK, THIN)
    for i in range(int(longest / step) + 1):
        x = LEFT + i * step * scale
        p.line([(x, base), (x, base + 5)], SOFT_INK, THIN)
        p.text(x, base + 20, f"{i * step} ms", SMALL, SOFT_INK, "middle" if x < RIGHT - 20 else "end")
    y = base + 46
    for x, colour, words in ((24, BLUE, "a rollout is under way"),
                             (218, GREEN, "the trainer learns or gives its weights"),
                             (508, None, "idle: nothing to do, because the other lane works")):
        p.rect(x, y - 11, 14, 14, colour or WHITE, None if colour else SOFT_INK, THIN, radius=2, dashed=not colour)
        p.text(x + 22, y, words, TEXT, SOFT_INK)
    p.height = round(y + 22)
    return p


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    draw(sys.argv[1:3]).save(sys.argv[3])
