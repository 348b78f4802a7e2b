"""The example of each algorithm's page, as it stands there, on the seeds 1 to 5: pages.py BUILD_DIR [ALGO...] [--json] [--list]

The command is the first one in the section "Example" of docs/algorithms/ALGO.md; only its seed is changed. A run's score is the
mean return of its last policy in the evaluation at the end. The bar is for the median of the five:

  ppo, dqn, a2c, impala, reinforce
                             475 on CartPole-v1, which counts as solved there; random play has 22.6
  sac, td3, ddpg             -200 on Pendulum-v1; the best policies are at -140 to -160, with a standard error of 9 over 100
                             episodes, and random play has -1215
  several agents             that of multi_agent.py for simple_spread_v3

What is done is kept in runs/learning/pages, and is not done again unless the page's command or the algorithm's defaults have
changed since. --list prints what is kept. Closes with `N passed, N failed, N skipped`.
"""
import argparse
import pathlib
import sys

import bars
import multi_agent
import page
import runs

SEEDS = (1, 2, 3, 4, 5)
SOLVED, SWUNG_UP = 475, -200
BARS = {**{algorithm: {"median": bars.at_least(SOLVED)} for algorithm in ("ppo", "dqn", "a2c", "impala", "reinforce")},
        **{algorithm: {"median": bars.at_least(SWUNG_UP)} for algorithm in ("sac", "td3", "ddpg")},
        **{algorithm: multi_agent.BARS[f"{algorithm}_spread"]
           for algorithm in ("ippo", "mappo", "coma", "iql", "vdn", "qmix", "matd3")}}


def result_of(kept, algorithm):
    """What the seeds have come to, and what is judged."""
    words = page.example_of(algorithm)
    results = [kept.train(algorithm, words, seed) for seed in SEEDS]
    means = [each["eval_mean"] for each in results]
    median = bars.median_of(means)
    return {"command": ["troupe", "train", *words], "means": means, "stds": [each["eval_std"] for each in results],
            "median": median, "reached": sum(BARS[algorithm]["median"].holds(mean) for mean in means),
            "steps": results[0]["steps"], "cpu_s": [each["cpu_s"] for each in results]}, {"median": median}


def describe(algorithm, result, _):
    means = ", ".join(f"{mean:.1f}" for mean in result["means"])
    return (f"{means}: median {result['median']:.1f}; {result['reached']} of {len(SEEDS)} at the bar of "
            f"{BARS[algorithm]['median'].number:g}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("algorithms", nargs="*", choices=[*BARS, []], default=[])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--list", action="store_true")
    asked = parser.parse_intermixed_args()
    kept = runs.Runs(asked.build, "pages", asked.list)
    return runs.judge(asked.algorithms or BARS, lambda algorithm: result_of(kept, algorithm), BARS, describe, asked.json)


if __name__ == "__main__":
    sys.exit(main())
