#!/usr/bin/python3
"""Tests bars.py and page.py, and holds every script of this folder to both: each of its cells has a bar, a number just beyond a
bar fails, and so do results of runs that are too bad: bars_test.py BUILD_DIR"""
import argparse
import contextlib
import io
import pathlib
import sys
import unittest

import agents
import backends
import bars
import blackjack
import cartpole
import collapses
import grpo
import guests
import images
import impala
import multi_agent
import page
import pages

HERE = pathlib.Path(__file__).resolve().parent
# cells.py computes its bars, which cells_test.py tests.
JUDGED = (agents, backends, blackjack, cartpole, collapses, grpo, guests, images, impala, multi_agent, pages)
OTHERS = {"bars", "cells", "collapses_sb3", "multi_agent_torchrl", "page", "runs"}
STEP = 1e-6


def beyond(bar, by):
    return bar.number + by if bar.is_upper else bar.number - by


def quietly(work, *arguments):
    with contextlib.redirect_stdout(io.StringIO()):
        return work(*arguments)


class OfEachScript(unittest.TestCase):
    def test_every_script_is_judged_here(self):
        found = {path.stem for path in HERE.glob("*.py") if not path.stem.endswith("_test")}
        self.assertEqual(found, {script.__name__ for script in JUDGED} | OTHERS)

    def test_a_number_at_its_bar_passes_and_one_just_beyond_it_fails(self):
        for script in JUDGED:
            self.assertTrue(script.BARS)
            for cell, bars_of in script.BARS.items():
                at_the_bars = {name: bar.number for name, bar in bars_of.items()}
                self.assertEqual(bars.faults_of(at_the_bars, bars_of), [], f"{script.__name__}: {cell}")
                for name, bar in bars_of.items():
                    for value in (beyond(bar, STEP), float("nan")):
                        faults = bars.faults_of({**at_the_bars, name: value}, bars_of)
                        self.assertEqual(len(faults), 1, f"{script.__name__}: {cell}: {name}")

    def test_each_cell_has_a_bar(self):
        for script in (agents, multi_agent):
            self.assertEqual(script.BARS.keys(), script.CELLS.keys(), script.__name__)
        self.assertEqual(guests.BARS.keys(), guests.RUNS.keys())

    def test_each_algorithm_with_an_example_has_a_page_that_is_run(self):
        """The others are language models, which have scripts of their own, and a learner without a command."""
        found = {path.stem for path in (page.ROOT / "docs/algorithms").glob("*.md")}
        others = {"index", "results", "grpo", "sft", "q_learning"}
        self.assertEqual({page.PAGES.get(algorithm, algorithm) for algorithm in pages.BARS}, found - others)


class Planted(unittest.TestCase):
    """Results that are too bad are measured as such."""

    def assert_fails(self, script, measured, cells):
        self.assertEqual(set(measured), set(cells))
        for cell in cells:
            self.assertFalse(quietly(bars.print_faults, cell, measured[cell], script.BARS[cell]), f"{script.__name__}: {cell}")

    def assert_passes(self, script, measured):
        for cell, measures in measured.items():
            self.assertEqual(bars.faults_of(measures, script.BARS[cell]), [], f"{script.__name__}: {cell}")

    def test_cartpole(self):
        def run(mode, seed, mean):
            staleness = 1.0 if mode == "async" else 0.0
            return {"mode": mode, "seed": seed, "eval_mean": mean, "staleness_mean": staleness, "overlap_fraction": 0.5}
        sample = [run(mode, seed, 475) for mode, seed in cartpole.SAMPLE]
        self.assert_passes(cartpole, {"sample": cartpole.measures_of_sample(sample)})
        sample[1]["eval_mean"] -= STEP
        self.assert_fails(cartpole, {"sample": cartpole.measures_of_sample(sample)}, ["sample"])
        for mode in ("sync", "async"):
            nine = [run(mode, seed, 475 if seed > 1 else 22) for seed in cartpole.SEEDS]
            self.assert_passes(cartpole, {mode: cartpole.measures_of(mode, nine)})
            nine[1]["eval_mean"] -= STEP
            self.assert_fails(cartpole, {mode: cartpole.measures_of(mode, nine)}, [mode])

    def test_backends(self):
        def curves(fused, libtorch):
            return {"fused": [{1: 22, 2: mean} for mean in fused], "libtorch": [{1: 22, 2: mean} for mean in libtorch]}
        self.assert_passes(backends, {"backends": quietly(backends.measures_of, curves([90, 100, 120], [100, 100, 150]))})
        for fused, libtorch in (([90, 99, 120], [100, 100, 150]), ([100, 110, 120], [121, 122, 123])):
            self.assert_fails(backends, {"backends": quietly(backends.measures_of, curves(fused, libtorch))}, ["backends"])

    def test_blackjack(self):
        def rates(table, ppo):
            each = {"q_learning_win_rate": table, "ppo_win_rate": ppo}
            return {"blackjack": blackjack.measures_of(dict.fromkeys(blackjack.SEEDS, each))}
        self.assert_passes(blackjack, rates(0.425, 0.43))
        self.assert_fails(blackjack, rates(0.425, 0.42), ["blackjack"])
        self.assert_fails(blackjack, rates(0.42, 0.43), ["blackjack"])

    def test_agents(self):
        for cell in agents.CELLS:
            rows = [{"before": 0.2, "after": 0.4 + STEP, "cpu_minutes": 1.0} for _ in agents.SEEDS]
            self.assert_passes(agents, {cell: agents.measures_of(cell, rows)})
            learned_nothing = [{**row, "after": 0.2} for row in rows]
            self.assert_fails(agents, {cell: agents.measures_of(cell, learned_nothing)}, [cell])
            for fault in ({"before": 0.61, "after": 0.9}, {"cpu_minutes": 31.0}):
                self.assert_fails(agents, {cell: agents.measures_of(cell, [*rows[:2], {**rows[2], **fault}])}, [cell])

    def test_grpo(self):
        good = {"sync": [0.95, 0.97, 0.98], "stale": [0.95, 0.96, 0.99]}
        self.assert_passes(grpo, grpo.measures_of_grpo(good))
        self.assert_fails(grpo, grpo.measures_of_grpo({mode: [*shares[:2], 0.94] for mode, shares in good.items()}),
                          ["grpo sync", "grpo stale"])
        good = {"sync": [0.8, 0.95, 1.0], "corrected": [0.8, 0.94, 1.0], "uncorrected": [0.3, 0.4, 0.5]}
        self.assert_passes(grpo, quietly(grpo.measures_of_rloo, good))
        for fault in ({"corrected": [0.92] * 3}, {"uncorrected": [0.75] * 3}):
            measured = quietly(grpo.measures_of_rloo, {**good, **fault})
            self.assert_fails(grpo, {"rloo corrected": measured["rloo corrected"]}, ["rloo corrected"])
        measured = quietly(grpo.measures_of_rloo, {"sync": [0.8, 0.89, 1.0]})
        self.assert_fails(grpo, measured, ["rloo sync"])

    def test_guests(self):
        good = {"doorkey": [0.9, 0.95, 0.96], "two_keys": [7.5] * 3, "two_keys_image_alone": [3.0] * 3,
                "two_keys_vector_alone": [2.0] * 3, "cartpole": [500.0] * 3, "cartpole_built_in": [475.0] * 3}
        self.assert_passes(guests, guests.measures_of(good))
        for name, mean in {"doorkey": 0.94, "two_keys": 7.4, "two_keys_image_alone": 3.1, "two_keys_vector_alone": 3.1,
                           "cartpole": 420.0, "cartpole_built_in": 470.0}.items():
            measured = guests.measures_of({**good, name: [mean] * 3})
            self.assert_fails(guests, {name: measured[name]}, [name])

    def test_collapses(self):
        good = [{"lowest": 0.5, "deterministic": 0.955}] * 3
        self.assert_passes(collapses, collapses.measures_of({"troupe": good, "stable_baselines3": good}))
        for fault in ({"lowest": 0.29}, {"lowest": None}, {"deterministic": 0.0}):
            self.assert_fails(collapses, collapses.measures_of({"troupe": [{**one, **fault} for one in good]}), ["troupe"])
        self.assert_fails(collapses, collapses.measures_of({"troupe": [*good[:2], {**good[2], "lowest": None}]}), ["troupe"])
        beside = collapses.measures_of({"troupe": good, "stable_baselines3": [{**one, "lowest": 0.51} for one in good]})
        self.assert_fails(collapses, {"beside": beside["beside"]}, ["beside"])

    def test_images_and_pages_are_judged_by_a_median(self):
        for script in (images, pages):
            for bars_of in script.BARS.values():
                self.assertEqual(list(bars_of), ["median"])


class OfNumbers(unittest.TestCase):
    def test_a_number_without_a_bar_and_a_bar_without_a_number_are_refused(self):
        some = {"a": bars.at_least(1)}
        for measures, bars_of in (({"a": 1, "b": 1}, some), ({}, some), ({"b": 1}, some), ({}, {})):
            with self.assertRaisesRegex(ValueError, "expected a number for each of the bars"):
                bars.faults_of(measures, bars_of)

    def test_a_fault_says_what_was_expected(self):
        self.assertEqual(bars.faults_of({"mean": 0.5}, {"mean": bars.at_least(0.8)}), ["mean: expected at least 0.8, got 0.5"])
        self.assertEqual(bars.faults_of({"apart": 2}, {"apart": bars.at_most(1)}), ["apart: expected at most 1, got 2"])

    def test_a_median_is_that_of_three_seeds_or_more(self):
        self.assertEqual(bars.median_of([1, 9, 2]), 2)
        with self.assertRaisesRegex(ValueError, "at least 3 seeds, got 2"):
            bars.median_of([1, 9])

    def test_fewer_than_three_seeds_are_no_argument(self):
        self.assertEqual((bars.seeds_of("7,8,9"), bars.count_of_seeds("3")), ([7, 8, 9], 3))
        for parse, texts in ((bars.seeds_of, ("1", "1,2", "1,2,2", "1,2,3,3")), (bars.count_of_seeds, ("0", "2"))):
            for text in texts:
                with self.assertRaisesRegex(argparse.ArgumentTypeError, "at least 3"):
                    parse(text)

    def test_the_seeds_of_every_script_are_at_least_three(self):
        for script in (agents, backends, blackjack, cartpole, grpo, images, multi_agent, pages):
            self.assertGreaterEqual(len(set(script.SEEDS)), bars.FEWEST_SEEDS, script.__name__)


class OfPages(unittest.TestCase):
    PAGE = """# A page

```sh
./dev build && troupe train --algo a -n 5 --seed 7 \\
  'env.options={"x":1}'   # a comment
troupe eval runs/a
```

```sh by-hand
A=b troupe train --algo b
```

```cpp
troupe train --algo c
```
"""

    def test_the_commands_are_those_of_the_shell_as_words(self):
        self.assertEqual(page.commands_in(self.PAGE), [["--algo", "a", "-n", "5", "--seed", "7", 'env.options={"x":1}'],
                                                       ["--algo", "b"]])

    def test_an_option_and_its_value_are_found_and_left_out(self):
        words = ["--algo", "a", "--seed", "7", "x=1"]
        self.assertEqual((page.value_of(words, "--algo"), page.value_of(words, "-n", "5")), ("a", "5"))
        self.assertEqual((page.without(words, "--seed"), page.without(words, "-n")), (["--algo", "a", "x=1"], words))

    def test_a_command_that_a_page_lacks_is_an_error(self):
        with self.assertRaisesRegex(LookupError, "docs/algorithms/dqn.md: expected one command with --env Lost-v0, got 0"):
            page.command_of("algorithms/dqn", "--env", "Lost-v0")
        with self.assertRaisesRegex(LookupError, "expected one command with --algo grpo, got"):
            page.command_of("algorithms/grpo", "--algo", "grpo")

    def test_each_page_has_its_example_without_a_seed(self):
        for algorithm in pages.BARS:
            words = page.example_of(algorithm)
            self.assertNotIn("--seed", words)
            self.assertIsNotNone(page.value_of(words, "--env"), algorithm)
        with self.assertRaisesRegex(LookupError, "maddpg.md: expected an example of maddpg, got --algo matd3"):
            page.example_of("maddpg")

    def test_the_scripts_find_their_commands(self):
        for algorithm in images.PAGES:
            self.assertEqual(page.value_of(images.words_of(algorithm), "--algo", "ppo"), algorithm)
        self.assertEqual(page.command_of("guides/environment", "--env", "CatchSmall-v0"), images.words_of("ppo"))
        found = {name: guests.words_of(name, "py") for name in guests.RUNS}
        self.assertEqual(found["cartpole_built_in"], ["--env", "CartPole-v1"])
        self.assertEqual(found["cartpole"], ["--env", "gymnasium:CartPole-v1", "env.python=py"])
        self.assertEqual(found["two_keys_image_alone"][-2:], ['env.options={"keys": ["image"]}', "env.python=py"])


if __name__ == "__main__":
    outcome = unittest.main(argv=["bars_test"], exit=False, verbosity=0).result
    failed = len(outcome.failures) + len(outcome.errors)
    print(f"{max(outcome.testsRun - failed, 0)} passed, {failed} failed")
    sys.exit(1 if failed else 0)
