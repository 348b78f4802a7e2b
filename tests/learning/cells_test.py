#!/usr/bin/python3
"""Tests cells.py: what can't be expressed is named, what is done stands until its settings change, and the median
is judged by a bar that no deviation over episodes widens; and the table beside the real `troupe`: cells_test.py BUILD_DIR"""
import json
import pathlib
import sys
import tempfile
import unittest

import cells
import page

SCHEMA = {"properties": {"env": {"properties": {"id": {}}}, "trainer": {"properties": {"lr": {}}}, "total_steps": {},
                         "evaluation": {"properties": {"every_steps": {}, "final_episodes": {}}}}}


class Scripted(cells.Command):
    """A `troupe` that knows Known-v0 and learns what it is told."""

    def __init__(self, returns=()):
        self.environments = "  Known-v0 box -> discrete\n"
        self.schemas = {"known": SCHEMA, "unknown": None}
        self.returns, self.trained = dict(enumerate(returns, 1)), []

    def train(self, cell, seed):
        self.trained.append(seed)
        return {"eval_mean": self.returns[seed], "eval_std": 0.0, "steps": 1, "cpu_s": 1.0}


def cell_of(algorithm="known", environment="Known-v0", std=20.0, seeds=cells.SEEDS, **options):
    """Published are 10.0, of which random play gives -30.0: the bar is 8.0."""
    return cells.Cell(algorithm, environment, {"published": {"mean": 10.0, "std": std}, "seeds": seeds,
                                               "config": {"env": {"id": environment}, **options}})


class CellCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        cells.KEPT = pathlib.Path(folder.name)
        for environment in ("Known-v0", "Other-v0"):
            cells.RANDOM_RETURNS[environment] = -30.0

    def train(self, returns, cell):
        command = Scripted(returns)
        cells.train_cell(command, cell)
        return command, cells.judge(command, cell)

    def test_the_median_keeps_95_percent_of_the_published_gain_over_random_play(self):
        _, row = self.train([8.0, 8.0, 8.0, 0.0, 0.0], cell_of())
        self.assertEqual((row["state"], row["median"], row["bar"]), ("reached", 8.0, 8.0))

    def test_a_median_below_it_does_not(self):
        _, row = self.train([9.0, 9.0, 7.9, 0.0, 0.0], cell_of())
        self.assertEqual(row["state"], "NOT reached")

    def test_a_smaller_deviation_over_episodes_raises_the_bar(self):
        _, row = self.train([9.4] * 5, cell_of(std=0.5))
        self.assertEqual((row["state"], row["bar"]), ("NOT reached", 9.5))

    def test_three_seeds_have_a_median_and_fewer_are_refused(self):
        _, row = self.train([9.0, 0.0, 8.5], cell_of(seeds=(1, 2, 3)))
        self.assertEqual((row["state"], row["median"]), ("reached", 8.5))
        for seeds in ((1,), (1, 2), (1, 2, 2)):
            with self.assertRaisesRegex(ValueError, "known/Known-v0: expected at least 3 seeds"):
                cell_of(seeds=seeds)

    def test_what_is_done_is_not_done_again(self):
        self.train([9.0] * 5, cell_of())
        command, row = self.train([], cell_of())
        self.assertEqual((command.trained, row["state"]), ([], "reached"))

    def test_changed_settings_are_trained_anew(self):
        self.train([9.0] * 5, cell_of())
        command, row = self.train([7.0] * 5, cell_of(trainer={"lr": 0.1}))
        self.assertEqual((command.trained, row["state"]), ([1, 2, 3, 4, 5], "NOT reached"))

    def test_without_all_its_seeds_a_cell_is_not_done(self):
        cell = cell_of()
        cells.keep(cell, 1, {"eval_mean": 10.0, "cpu_s": 1.0})
        self.assertEqual(cells.judge(Scripted(), cell)["state"], "not done")

    def test_what_is_missing_is_named(self):
        cell = cell_of(environment="Other-v0", trainer={"lr": 1, "sde": True}, noise={"std": 1})
        self.assertEqual(Scripted().missing(cell), ["environment Other-v0", "option trainer.sde", "option noise"])
        self.assertEqual(Scripted().missing(cell_of("unknown")), ["algorithm unknown"])
        self.assertEqual(cells.judge(Scripted(), cell)["state"], "can't be expressed")


class Table(unittest.TestCase):
    def test_each_cell_has_what_it_needs(self):
        table = list(cells.read_cells())
        self.assertGreaterEqual(len(table), 24)
        for cell in table:
            self.assertTrue(cell.key.startswith(cell.environment), cell.name)
            self.assertGreater(cell.config["total_steps"], 0, cell.name)
            self.assertGreaterEqual(cell.published["std"], 0, cell.name)
            self.assertLessEqual(cell.bar.number, cell.published["mean"], cell.name)
            self.assertGreater(cell.bar.number, cells.RANDOM_RETURNS[cell.environment], cell.name)

    def test_a_median_just_below_the_bar_of_a_cell_fails(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        cells.KEPT = pathlib.Path(folder.name)
        for cell in cells.read_cells():
            command = Scripted()
            command.missing = lambda _: []
            for below, state in ((0, "reached"), (1e-3, "NOT reached")):
                for seed in cell.seeds:
                    cells.keep(cell, seed, {"eval_mean": cell.bar.number - below, "cpu_s": 1.0})
                self.assertEqual(cells.judge(command, cell)["state"], state, cell.name)

    def test_the_example_on_a_page_has_the_settings_of_its_cell(self):
        """DQN's page says that its example has RL Zoo's settings."""
        words = page.example_of("dqn")
        cell = next(cell for cell in cells.read_cells() if cell.name == "dqn/CartPole-v1")
        self.assertEqual((page.value_of(words, "--env"), page.value_of(words, "-n")),
                         (cell.environment, str(cell.config["total_steps"])))
        options = dict(word.split("=", 1) for word in words if "=" in word)
        self.assertGreater(len(options), 5)
        for option, value in options.items():
            section, _, name = option.partition(".")
            self.assertEqual(json.loads(value), cell.config[section][name], option)

    def test_troupe_can_express_some_of_them(self):
        command = cells.Command(pathlib.Path(sys.argv[1]).resolve())
        missing = {cell.name: command.missing(cell) for cell in cells.read_cells()}
        self.assertIn([], missing.values(), json.dumps(missing))


if __name__ == "__main__":
    outcome = unittest.main(argv=["cells_test"], exit=False, verbosity=0).result
    failed = len(outcome.failures) + len(outcome.errors)
    print(f"{max(outcome.testsRun - failed, 0)} passed, {failed} failed")
    sys.exit(1 if failed else 0)
