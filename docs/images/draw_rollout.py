#!/usr/bin/python3
"""Draws the life of one rollout of PPO: draw_rollout.py SVG"""
import sys

from drawing import BLUE, GREEN, GREY, HEAD, INK, ORANGE, PALE, SMALL, SOFT_INK, TEXT, VIOLET, Picture

WIDTH, HEIGHT = 1000, 590


def draw():
    p = Picture(WIDTH, HEIGHT, "The life of a PPO rollout",
                "A rollout of PPO: the episode function makes it, the replay holds it, the trainer learns from it")
    # The services.
    p.box(24, 84, 216, 112, "policy", ["answers observations with", "actions; requests that come",
                                       "at the same time share one", "forward pass"], GREEN)
    p.box(24, 256, 216, 112, "environments", ["a replica holds env.n_envs", "environments; a rollout has",
                                             "it alone: an exclusive", "session"], GREEN)
    p.box(616, 176, 150, 130, "replay", ["first in, first out;", "each rollout once;", "max_staleness",
                                         "versions old at", "most"], ORANGE)
    p.box(826, 176, 150, 130, "trainer", ["advantages (GAE),", "n_epochs of", "minibatches; then",
                                          "version + 1"], VIOLET)
    p.box(826, 84, 150, 52, "weight store", ["keeps 3 versions"], VIOLET)
    # The episode function.
    p.rect(326, 120, 226, 232, PALE[BLUE], BLUE)
    p.text(340, 142, "episode function", HEAD, INK, bold=True)
    p.text(340, 160, "generate_rollout", SMALL, INK, mono=True)
    p.rect(340, 174, 198, 102, GREY, SOFT_INK, line=1, dashed=True)
    p.text(358, 194, "rollout.n_steps times:", SMALL, SOFT_INK)
    p.text(358, 216, "actions of the policy", SMALL, INK)
    p.text(358, 236, "step of the environments", SMALL, INK)
    p.text(358, 256, "one more row of the rollout", SMALL, INK, within=176)
    p.text(340, 300, "values of what comes next;", SMALL, INK)
    p.text(340, 318, "version of the oldest weights", SMALL, INK)
    p.text(340, 336, "that acted", SMALL, INK)
    # The way.
    p.arrow((339, 206), (290, 206), (290, 130), (241, 130), colour=BLUE)
    p.arrow((241, 156), (274, 156), (274, 220), (339, 220), colour=GREEN)
    p.arrow((339, 236), (282, 236), (282, 300), (241, 300), colour=BLUE)
    p.arrow((241, 326), (298, 326), (298, 250), (339, 250), colour=GREEN)
    p.arrow((615, 200), (553, 200), colour=ORANGE, dashed=True)
    p.arrow((553, 270), (615, 270), colour=BLUE, line=2)
    p.arrow((767, 240), (825, 240), colour=ORANGE, line=2)
    p.arrow((901, 175), (901, 137), colour=VIOLET, line=2)
    p.arrow((842, 175), (842, 156), (796, 156), (796, 68), (132, 68), (132, 83), colour=VIOLET, line=2)
    p.arrow((901, 307), (901, 340), (691, 340), (691, 307), colour=VIOLET, dashed=True)
    for x, y, number in ((584, 200, "1"), (266, 130, "2"), (262, 300, "3"), (340, 296, "4"), (584, 270, "5"),
                         (796, 240, "6"), (921, 156, "7"), (460, 68, "8"), (796, 340, "9")):
        p.badge(x if number != "4" else 326, y, number, INK)
    steps = [("1", "Async mode: admit waits until a new rollout would be fresh enough."),
             ("2", "act: observations go to the policy; actions, values and a version come back."),
             ("3", "step: actions go to the environments; observations and rewards come back."),
             ("4", "After the last step, the policy values what follows it (bootstrap)."),
             ("5", "insert: the replay takes the rollout, and drops what is too stale."),
             ("6", "The loop samples rollout.batch rollouts and calls train_step."),
             ("7", "put: the trainer stores the new version of the weights."),
             ("8", "update: every policy gets it by a control message, which overtakes queued calls."),
             ("9", "trained: the replay learns the version, drops what became too stale, and admits more.")]
    for i, (number, words) in enumerate(steps):
        y = 398 + 20 * i
        p.badge(34, y - 4, number, INK, radius=8.5)
        p.text(52, y, words, TEXT, INK)
    p.rect(640, 386, 336, 186, GREY, SOFT_INK, line=1)
    p.text(654, 408, "The bound on staleness", HEAD, INK, bold=True)
    p.lines(654, 432, ["Staleness is the version of the weights in", "use minus the version that made the rollout.", "",
                       "Rollout k = 0, 1, 2 ... may begin once", "version >= floor(k / batch) - max_staleness.", "",
                       "In sync mode no rollout is under way during", "an update, so that the staleness is 0."],
            SMALL, INK, step=17.5, within=312)
    return p


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    draw().save(sys.argv[1])
