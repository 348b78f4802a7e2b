#!/usr/bin/python3
"""Tests the arithmetic of pairs.py on made figures and programs; no benchmark runs: pairs_test.py BUILD_DIR"""
import pathlib
import stat
import tempfile
import unittest

import pairs


class Flat(unittest.TestCase):
    def test_numbers_have_the_names_that_lead_to_them_and_nothing_else_counts(self):
        self.assertEqual(pairs.flat({"a": 1, "b": {"c": [2.5, {"d": 3}]}, "text": "x", "yes": True}),
                         {"a": 1.0, "b.c[0]": 2.5, "b.c[1].d": 3.0})


class Compare(unittest.TestCase):
    def test_ratios_are_of_now_over_then_and_of_the_medians(self):
        row = pairs.compare([({"x": 2}, {"x": 1}), ({"x": 9}, {"x": 10}), ({"x": 3}, {"x": 2})])["x"]
        self.assertEqual((row["now"], row["then"], row["ratio"]), (3, 2, 1.5))
        self.assertEqual((row["least"], row["greatest"]), (0.9, 2.0))

    def test_a_figure_of_one_side_has_no_ratio(self):
        rows = pairs.compare([({"new": 1}, {"old": 2})])
        self.assertEqual(rows, {"new": {"now": 1}, "old": {"then": 2}})

    def test_zeros_are_alike_and_what_was_zero_has_no_ratio(self):
        self.assertEqual(pairs.compare([({"x": 0}, {"x": 0})])["x"]["ratio"], 1)
        self.assertNotIn("ratio", pairs.compare([({"x": 1}, {"x": 0})])["x"])


class Run(unittest.TestCase):
    def program(self, text):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / "bench_made"
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def test_the_last_line_has_the_figures_and_the_cpu_time_of_its_children_counts(self):
        spin = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"
        figures = pairs.run(self.program(f"echo words\n(exec sh -c '{spin}')\necho '{{\"x\": 4}}'\n"))
        self.assertEqual(figures["x"], 4)
        self.assertGreater(figures[pairs.CPU], 0.01)

    def test_a_program_that_fails_ends_the_comparison_with_what_it_said(self):
        with self.assertRaisesRegex(SystemExit, "ended with 3: no such thing"):
            pairs.run(self.program("echo no such thing >&2; exit 3\n"))


if __name__ == "__main__":
    outcome = unittest.main(argv=["pairs_test"], exit=False, verbosity=0).result
    failed = len({case.id() for case, _ in outcome.failures + outcome.errors})
    print(f"{outcome.testsRun - failed} passed, {failed} failed")
    raise SystemExit(1 if failed else 0)
