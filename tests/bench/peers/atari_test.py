#!/usr/bin/python3
"""Tests atari.py's arithmetic; no peer is installed: atari_test.py BUILD_DIR"""
import unittest

import atari


class Figures(unittest.TestCase):
    def test_the_network_is_that_of_mnih_et_al(self):
        self.assertEqual(atari.forward_flop(), 2 * 9_346_048)
        # Three times the forward pass, but for the gradient of the first layer's inputs.
        self.assertEqual(atari.gradient_flop(), 3 * atari.forward_flop() - 2 * 3_276_800)

    def test_a_dqn_step_has_an_action_and_a_quarter_of_a_batch(self):
        dqn = atari.works()[0]
        self.assertEqual(dqn.per_step, atari.forward_flop() + 8 * (atari.gradient_flop() + atari.forward_flop()))

    def test_the_median_of_the_runs_counts_and_the_emulator_is_left_out_of_the_networks_time(self):
        work = atari.works()[1]._replace(per_step=1e9)
        runs = [{"steps": 100, "train_cpu_s": 2}, {"steps": 100, "train_cpu_s": 4}, {"steps": 100, "train_cpu_s": 100}]
        figures = atari.figures_of(runs, work, emulated=0.02)
        self.assertAlmostEqual(figures["steps_per_cpu_s"], 25)
        self.assertAlmostEqual(figures["emulator_share"], 0.5)
        self.assertAlmostEqual(figures["gflop_per_s"], 50)

    def test_both_sides_have_the_same_batches(self):
        for work in atari.works():
            self.assertIn(f"trainer.batch_size={work.sb3['batch_size']}", work.troupe)


if __name__ == "__main__":
    outcome = unittest.main(argv=["atari_test"], exit=False, verbosity=0).result
    failed = len(outcome.failures) + len(outcome.errors)
    print(f"{max(outcome.testsRun - failed, 0)} passed, {failed} failed")
    raise SystemExit(1 if failed else 0)
