#!/usr/bin/python3
"""Draws the life of one routed call: draw_one_call.py SVG"""
import sys

from drawing import (BLUE, GREEN, GREY, HEAD, INK, ORANGE, PALE, RED, SMALL, SOFT_INK, TEXT, VIOLET, WHITE, Picture)

WIDTH, HEIGHT = 1000, 640


def draw_caller(p):
    p.rect(24, 56, 262, 318, GREY, SOFT_INK)
    p.text(38, 78, "Caller's actor", HEAD, INK, bold=True)
    p.box(38, 92, 234, 84, None, (), BLUE)
    p.text(50, 112, "the caller's coroutine", SMALL, SOFT_INK)
    p.text(50, 134, "auto acted = co_await", SMALL, INK, mono=True, within=216)
    p.text(50, 152, "  policies.route<", SMALL, INK, mono=True, within=216)
    p.text(50, 168, "    &policy::act>(obs);", SMALL, INK, mono=True, within=216)
    p.box(38, 200, 234, 76, "Router", ["a copy of the replica table;", "the less loaded of two replicas"], BLUE)
    p.box(38, 300, 234, 60, "Mailbox", ["the answer wakes the coroutine"], BLUE)
    p.arrow((155, 177), (155, 198))


def draw_service(p):
    p.rect(366, 56, 252, 318, GREY, SOFT_INK)
    p.text(380, 78, "Service", HEAD, INK, bold=True)
    p.box(380, 92, 224, 76, "Table of replicas", ["those that serve now, and how", "many calls each one holds"], GREEN)
    p.box(380, 184, 224, 92, "Queue for room", ["for calls that find no room;", "control calls first, then by",
                                                "arrival; at most max_waiting"], GREEN)
    p.box(380, 292, 224, 68, "Supervisor", ["starts, restarts, scales and", "replaces replicas"], GREEN)


def draw_replicas(p):
    p.rect(698, 56, 278, 240, GREY, SOFT_INK)
    p.text(712, 78, "Replica 0", HEAD, INK, bold=True)
    p.box(712, 92, 250, 60, "Mailbox", ["at most max_queued calls"], ORANGE)
    p.arrow((837, 153), (837, 174))
    p.box(712, 176, 250, 106, "Endpoint", ["f(a): runs to its end", "task<R> f(a): others run while it",
                                          "waits, max_ongoing at once", "batch<R> f(batch<A>): max_batch"], ORANGE)
    p.rect(698, 312, 278, 62, GREY, SOFT_INK)
    p.text(712, 334, "Replica 1", HEAD, INK, bold=True)
    p.text(712, 356, "the same, with a state of its own", SMALL, SOFT_INK, within=250)


def draw_way(p):
    # 2: the copy of the table. 3: to the replica. 4: no room. 5: the endpoint. 6: the answer.
    p.arrow((379, 132), (330, 132), (330, 222), (273, 222), colour=SOFT_INK, dashed=True)
    p.arrow((273, 246), (379, 246))
    p.arrow((273, 214), (312, 214), (312, 46), (660, 46), (660, 122), (711, 122), line=2)
    p.arrow((605, 240), (672, 240), (672, 136), (711, 136))
    p.arrow((711, 270), (642, 270), (642, 392), (326, 392), (326, 332), (273, 332), line=2)
    p.arrow((605, 352), (697, 352), colour=SOFT_INK, dashed=True)
    p.arrow((660, 122), (660, 330), (697, 330), dashed=True)
    for x, y, number in ((38, 92, "1"), (38, 200, "2"), (660, 84, "3"), (312, 246, "4"), (712, 176, "5"),
                         (488, 392, "6")):
        p.badge(x, y, number, INK)
    for x, y, letter, colour in ((272, 92, "D", RED), (660, 178, "H", VIOLET), (660, 206, "R", BLUE),
                                 (380, 292, "S", GREEN), (962, 176, "D", RED)):
        p.badge(x, y, letter, colour)


STEPS = [("1", "co_await begins the call."),
         ("2", "The router chooses a replica and takes one of its places."),
         ("3", "The call goes to the replica's mailbox."),
         ("4", "Without room it waits, or ends as overloaded if wait is false."),
         ("5", "The endpoint runs in the replica's own turn."),
         ("6", "The answer comes back, and its place goes to the first in the queue.")]
CARDS = [("D", RED, "Deadline", ["Counted from co_await, in every stage.", "The call ends as deadline_exceeded,",
                                 "is not begun any more, and a", "coroutine ends where it waits."]),
         ("R", BLUE, "Retry", ["If the replica dies: an endpoint listed", "as idempotent is asked again, after",
                               "25 ms and up to max_retries times;", "others end as replica_lost."]),
         ("H", VIOLET, "Hedge", ["An endpoint listed as hedged without", "an answer after hedge_after goes to a",
                                 "second replica, too. The first answer", "counts."]),
         ("S", GREEN, "Restart", ["The first at once, then after backoff.", "More than max_restarts in the window:",
                                  "calls end as service_down. A replica", "busy for max_call_time is replaced."])]


def draw():
    p = Picture(WIDTH, HEIGHT, None, "The life of one routed call, from the coroutine to the endpoint and back")
    p.text(24, 36, "The life of one call", 18, INK, bold=True)
    draw_caller(p)
    draw_service(p)
    draw_replicas(p)
    draw_way(p)
    for i, (number, words) in enumerate(STEPS):
        x, y = (34, 424 + 22 * i) if i < 3 else (500, 424 + 22 * (i - 3))
        p.badge(x, y - 4, number, INK, radius=8.5)
        p.text(x + 17, y, words, TEXT, INK, within=970 - x)
    for i, (letter, colour, head, lines) in enumerate(CARDS):
        x = 24 + i * 240
        p.rect(x, 500, 232, 120, PALE[colour], colour)
        p.badge(x + 20, 520, letter, colour)
        p.text(x + 38, 525, head, HEAD, INK, bold=True)
        p.lines(x + 10, 549, lines, 11, INK, step=17, within=218)
    return p


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    draw().save(sys.argv[1])
