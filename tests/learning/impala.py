"""IMPALA learns from rollouts that are 8 versions old: impala.py BUILD_DIR [cartpole|catch ...] [--json] [--list]

Trains by IMPALA on CartPole-v1 and on the pixels of CatchSmall-v0, on the seeds 1 to 5, in deterministic async mode:

  fresh      one rollout at a time, so that none is stale
  stale      nine at a time, of which each is 7.7 versions old in the mean and 8 at most
  slow       the same, while a quarter of all turns of all roles take up to 10 ms longer
  truncated  the same as stale, by A2C with the same options: truncated importance weights in place of V-trace

A run's score is the mean return of its last policy over 100 deterministic episodes. The bars are for the medians: that of `fresh`
is at least 475 on CartPole and 0.8 on Catch; those of `stale` and `slow` are not below the lowest seed of `fresh`. `truncated` has
none; its numbers stand beside the others.

What is done is kept in runs/learning/impala. --list prints what is kept. Closes with `N passed, N failed, N skipped`.
"""
import argparse
import pathlib
import sys

import bars
import runs

SEEDS = (1, 2, 3, 4, 5)
ENVIRONMENTS = {
    "cartpole": ["--env", "CartPole-v1", "-n", "500000", "env.n_envs=8", "rollout.n_steps=10", "trainer.lr=7e-4",
                 "trainer.lr_schedule=linear", "trainer.max_grad_norm=0.5"],
    "catch": ["--env", "CatchSmall-v0", "-n", "24576", "env.n_envs=16", "env.frame_stack=2", "rollout.n_steps=9",
              "trainer.lr=1e-3", "trainer.max_grad_norm=0.5"],
}
SOLVED = {"cartpole": 475, "catch": 0.8}
STALE = ["rollout.workers=9", "rollout.max_staleness=8"]
AS_IMPALA = ["trainer.optimizer=adam", "trainer.optimizer_eps=1e-8", "trainer.ent_coef=0.01"]
WAYS = {
    "fresh": ["--algo", "impala", "rollout.workers=1", "rollout.max_staleness=0"],
    "stale": ["--algo", "impala", *STALE],
    "slow": ["--algo", "impala", "--faults", "slow=0.25:10ms", *STALE],
    "truncated": ["--algo", "a2c", *STALE, *AS_IMPALA],
}
BARS = {env: {"fresh": bars.at_least(solved), "stale above the lowest fresh": bars.at_least(0),
              "slow above the lowest fresh": bars.at_least(0)} for env, solved in SOLVED.items()}


def result_of(kept, env):
    """The scores of the seeds by each way, and what is judged."""
    scores = {}
    for way, words in WAYS.items():
        options = ["--mode", "async", "--deterministic", "rollout.batch=1", *words, *ENVIRONMENTS[env]]
        scores[way] = [kept.train(f"{env} {way}", options, seed)["eval_mean"] for seed in SEEDS]
    medians = {way: bars.median_of(means) for way, means in scores.items()}
    lowest = min(scores["fresh"])
    return ({"scores": scores, "medians": medians},
            {"fresh": medians["fresh"], "stale above the lowest fresh": medians["stale"] - lowest,
             "slow above the lowest fresh": medians["slow"] - lowest})


def describe(_, result, __):
    return "; ".join(f"{way} {', '.join(f'{mean:.2f}' for mean in means)}: median {result['medians'][way]:.2f}"
                     for way, means in result["scores"].items())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("environments", nargs="*", choices=[*ENVIRONMENTS, []], default=[])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--list", action="store_true")
    asked = parser.parse_intermixed_args()
    kept = runs.Runs(asked.build, "impala", asked.list)
    return runs.judge(asked.environments or ENVIRONMENTS, lambda env: result_of(kept, env), BARS, describe, asked.json)


if __name__ == "__main__":
    sys.exit(main())
