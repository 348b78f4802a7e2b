#!/usr/bin/python3
"""The worker's reading of spaces, masks, notices and names, without its process: worker_test.py BUILD_DIR

The packages Gymnasium and PettingZoo are stood in for by modules with the same names, so that no package is needed.
"""
import pathlib
import sys
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/deploy"), str(ROOT / "actors/python"), str(ROOT / "tests/actors/python/worlds")]

import deployment  # noqa: E402
import numpy as np  # noqa: E402
from spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Tuple  # noqa: E402
from troupe_worker import masks, notices  # noqa: E402
from troupe_worker.channel import Refused, failure_of  # noqa: E402
from troupe_worker.environments import _packages_for, _pettingzoo  # noqa: E402
from troupe_worker.hosting import Environments  # noqa: E402
from troupe_worker.spaces import (  # noqa: E402
    change_text,
    channels_are_last,
    characters_of,
    describe,
    flat_size,
    lost_digits,
    too_wide,
    writer_of,
)


def written(space, value):
    """Returns the row of a value."""
    row = np.zeros(flat_size(space), np.float32)
    writer_of(space, row)(value)
    return row.tolist()


def text_of_gymnasium(version, character_list):
    """Returns a Text space as that version of Gymnasium makes it, with its characters in that order."""
    sys.modules["gymnasium"] = types.SimpleNamespace(__version__=version)
    kind = type("Text", (), {"__module__": "gymnasium.spaces.text"})
    space = kind()
    space.max_length, space.min_length = 4, 0
    space.character_list, space.character_set = tuple(character_list), frozenset(character_list)
    return space


class Texts(unittest.TestCase):
    def tearDown(self):
        sys.modules.pop("gymnasium", None)

    def test_before_1_4_characters_are_sorted_since_their_order_is_that_of_hashes(self):
        for version in ("0.29.1", "1.3.0", "1.3"):
            with self.subTest(version):
                space = text_of_gymnasium(version, "cab")
                self.assertEqual(characters_of(space), ["a", "b", "c"])
                self.assertEqual(describe(space, "")["charset"], "abc")
                self.assertEqual(written(space, "cb"), [2, 1, 3, 3])

    def test_from_1_4_on_the_given_order_is_kept(self):
        for version in ("1.4.0", "1.10.2", "2.0"):
            with self.subTest(version):
                self.assertEqual(written(text_of_gymnasium(version, "cab"), "cb"), [0, 2, 3, 3])

    def test_a_space_without_a_list_of_characters_is_sorted(self):
        space = types.SimpleNamespace(character_set={"z", "x", "y"})
        self.assertEqual(characters_of(space), ["x", "y", "z"])


class Images(unittest.TestCase):
    def test_the_channels_of_a_picture(self):
        last = [(84, 84, 3), (84, 84, 4), (84, 84, 1), (210, 160, 3), (8, 8, 12), (2, 2, 5)]
        first = [(3, 84, 84), (1, 84, 84), (4, 84, 84), (3, 210, 160), (12, 8, 8), (8, 8, 8)]
        for shape in last + first:
            with self.subTest(shape):
                self.assertEqual(channels_are_last(shape), shape in last)

    def test_channels_of_an_image_come_first_and_those_of_a_board_stay(self):
        for channels in (1, 3, 4):
            told = describe(Box(0, 255, (40, 50, channels), np.uint8), "")
            self.assertEqual(told["shape"], [channels, 40, 50])
        self.assertEqual(describe(Box(0, 1, (8, 8, 12), np.uint8), "")["shape"], [8, 8, 12])
        board = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
        self.assertEqual(written(Box(0, 12, (2, 2, 3), np.uint8), board), list(range(12)))


class Numbers(unittest.TestCase):
    def test_two_numbers_that_are_one_to_a_float(self):
        told = [
            (np.array([1_700_000_123, 5, 1_700_000_143]), "1700000123 and 1700000143"),
            (np.array([2**24 + 1], np.int32), "16777217 and 16777216"),
            (np.array([-(2.0**25) - 1]), "-33554433.0 and -33554432.0"),
            (np.array([2**63 + 1], np.uint64), "9223372036854775809 and 9223372036854775808"),
        ]
        for value, text in told:
            with self.subTest(text):
                self.assertEqual(lost_digits(value), text)
        for value in (np.array([2**24, -(2**24)]), np.array([0.1, 1e-30]), np.array([2.0**40]), np.array([np.nan, np.inf])):
            with self.subTest(str(value)):
                self.assertIsNone(lost_digits(value))

    def test_numbers_that_no_float_has(self):
        self.assertEqual(too_wide(np.array([1.0, -1e40])), "-1e+40 at [1]")
        self.assertEqual(too_wide(np.float64(1e40)), "1e+40")
        for value in (np.array([3e38]), np.array([np.inf, np.nan]), np.array([2**63], np.uint64)):
            with self.subTest(str(value)):
                self.assertIsNone(too_wide(value))

    def test_an_observation_names_the_number_and_tells_lost_digits_once(self):
        notices.take()
        space = Box(-np.inf, np.inf, (2,), np.float64)
        with self.assertRaisesRegex(Refused, r"observation: expected numbers that a 32-bit float has .*, got 1e\+40 at \[0\]"):
            written(space, np.array([1e40, 0.0]))
        write = writer_of(space, np.zeros(2, np.float32), "the times")
        for _ in range(3):
            write(np.array([2.0**24 + 1, 0.0]))
        self.assertEqual([one["about"] for one in notices.take()], ["the times"])
        self.assertEqual(written(space, np.array([np.inf, 0.0]))[1], 0)

    def test_bounds_of_actions_are_those_that_a_float_has(self):
        with self.assertRaisesRegex(Refused, r"action space: 0: expected low of numbers that a 32-bit float has .*-1e\+40"):
            describe(Tuple(Box(-1e40, 1, (1,), np.float64)), "action space", is_action=True)
        describe(Box(-1e40, 1e300, (1,), np.float64), "observation space")
        describe(Box(-np.inf, np.inf, (1,)), "action space", is_action=True)


class Changes(unittest.TestCase):
    def test_a_space_that_changes_is_told_as_gymnasium_prints_it(self):
        changes = [
            (Discrete(3), Discrete(3, 1), "Discrete(3)", "Discrete(3, start=1)"),
            (
                Dict(a=Box(-np.inf, 1, (2,)), b=MultiBinary(3)),
                Dict(a=Box(-1, 1, (2,)), b=MultiBinary(4)),
                "Dict('a': Box(-inf, 1.0, (2,), float32), 'b': MultiBinary(3))",
                "Dict('a': Box(-1.0, 1.0, (2,), float32), 'b': MultiBinary(4))",
            ),
            (
                Tuple(MultiDiscrete([2, 3])),
                Tuple(Box(0, 255, (4, 4, 3), np.uint8)),
                "Tuple(MultiDiscrete([2, 3]))",
                "Tuple(Box(0.0, 255.0, (3, 4, 4), uint8))",
            ),
        ]
        for before, now, *texts in changes:
            with self.subTest(texts[1]):
                self.assertEqual([*change_text(*(describe(each, "it") for each in (before, now)))], texts)

    def test_a_long_text_is_shown_where_it_differs(self):
        boxes = [Box(-1, 1, (400,)) for _ in range(2)]
        boxes[0].low[0] = boxes[1].low[0] = -2
        boxes[1].low[300] = -7
        before, now = change_text(*(describe(box, "it") for box in boxes))
        self.assertNotEqual(before, now)
        self.assertIn("-7.0", now)
        self.assertLess(max(len(before), len(now)), 400)

    def test_an_environment_that_is_made_anew_may_not_have_other_agents(self):
        hosted = Environments()
        hosted.joint = object()
        told = {"agents": [["ann"], ["bob"]], "state_space": None, "agents_vary": False, "action_masks": False}
        hosted.described = None, None, told
        for change, text in (
            ({"agents": [["ann"], ["eve"]]}, "its agents have changed from ann, bob to ann, eve"),
            ({"action_masks": True}, "its agents have another action_masks than before"),
        ):
            with self.subTest(text), self.assertRaisesRegex(Refused, text):
                hosted.require_agents(types.SimpleNamespace(describe_agents=lambda: {**told, **change}))
        hosted.require_agents(types.SimpleNamespace(describe_agents=lambda: dict(told)))


class Closing(unittest.TestCase):
    def test_an_environment_that_cannot_be_closed_is_told_once_and_given_up(self):
        notices.take()
        hosted = Environments()

        def leave():
            raise SystemExit(4)

        closed = []
        hosted.envs = [
            types.SimpleNamespace(close=leave),
            types.SimpleNamespace(),
            types.SimpleNamespace(close=lambda: closed.append(1)),
        ]
        told = hosted.do_close()["notices"]
        self.assertEqual([one["text"] for one in told], ["close: expected no exception, got it called sys.exit(4)"])
        self.assertEqual((closed, hosted.envs), ([1], [None] * 3))


class Masks(unittest.TestCase):
    def test_forms_of_masks(self):
        several = Tuple(Discrete(2), Box(0, 1, (3,)), MultiDiscrete([2, 3]))
        named = Dict(b=Discrete(2), a=MultiBinary(1))
        cases = [
            (Discrete(3), [1, 0, 1], [1, 0, 1]),
            (Discrete(3), np.array([True, False, True]), [1, 0, 1]),
            (MultiDiscrete([2, 3]), ([1, 0], [0, 1, 1]), [1, 0, 0, 1, 1]),
            (MultiDiscrete([2, 3]), np.array([1, 0, 0, 1, 1]), [1, 0, 0, 1, 1]),
            (several, ([1, 0], None, ([0, 1], [1, 1, 0])), [1, 0, 0, 1, 1, 1, 0]),
            (named, {"b": [0, 1], "a": [1, 0]}, [1, 0, 0, 1]),
        ]
        for space, given, flags in cases:
            with self.subTest(str(given)):
                self.assertEqual(masks.flags_of(space, given).tolist(), [flag == 1 for flag in flags])


class Registry:
    """A stand-in for PettingZoo 1.27."""

    __version__ = "1.27.0"

    def __init__(self):
        self.parallel_registry = {"classic/rps-v2": self.world}
        self.aec_registry = {"classic/rps-v2": None, "classic/connect_four-v3": self.world}

    def world(self, **options):
        return types.SimpleNamespace(possible_agents=["ann"], options=options)

    def spec(self, kind, name):
        registry = {"parallel": self.parallel_registry, "aec": self.aec_registry}[kind]
        return name.replace("_v", "-v"), registry[name.replace("_v", "-v")]

    def make(self, kind, spec, **options):
        if spec[0].startswith("classic/rps"):
            assert kind == "parallel", "the form at once comes first"
        return self.world(kind=kind, **options)


class Names(unittest.TestCase):
    def setUp(self):
        sys.modules["pettingzoo"] = Registry()

    def tearDown(self):
        sys.modules.pop("pettingzoo", None)

    def make(self, name):
        return _pettingzoo(name, {"render": False})({"rounds": 3}).options

    def test_a_name_is_looked_up_at_once_and_then_in_turn(self):
        self.assertEqual(self.make("pettingzoo:classic/rps-v2"), {"kind": "parallel", "rounds": 3})
        self.assertEqual(self.make("pettingzoo:classic/connect_four-v3"), {"kind": "aec", "rounds": 3})
        self.assertEqual(self.make("pettingzoo:classic/connect_four_v3"), {"kind": "aec", "rounds": 3})

    def test_a_module_may_register_the_name(self):
        with self.assertRaisesRegex(Refused, "No module named 'no_such_package'"):
            self.make("pettingzoo:no_such_package:classic/rps-v2")
        self.assertEqual(self.make("pettingzoo:spaces:classic/rps-v2")["kind"], "parallel")

    def test_names_that_are_not_there(self):
        for name, text in (
            ("classic/conect_four-v3", r"no environment 'classic/conect_four-v3'; did you mean 'classic/connect_four-v3'\?"),
            ("other/game-v1", "no environment 'other/game-v1'; if a package registers it, name that first: pettingzoo:my_pack"),
            ("mpe/simple_spread-v3", "it is in the package mpe2, as pettingzoo:mpe2.simple_spread_v3: .* install 'mpe2'"),
        ):
            with self.subTest(name), self.assertRaisesRegex(Refused, text):
                self.make("pettingzoo:" + name)

    def test_an_older_pettingzoo_has_no_registry(self):
        sys.modules["pettingzoo"] = types.SimpleNamespace(__version__="1.25.0")
        with self.assertRaisesRegex(Refused, "expected PettingZoo 1.27 or later for a name of its registry, got 1.25.0"):
            self.make("pettingzoo:classic/rps-v2")


class Advice(unittest.TestCase):
    def test_the_package_that_has_a_module(self):
        for module, package in (
            ("mpe2", "mpe2"),
            ("ale_py", "gymnasium[atari]"),
            ("mujoco", "gymnasium[mujoco]"),
            ("Box2D", "gymnasium[box2d]"),
            ("rlcard", "pettingzoo[classic]"),
            ("multi_agent_ale_py", "pettingzoo[atari]"),
            ("sklearn", "scikit-learn"),
        ):
            with self.subTest(module):
                error = ModuleNotFoundError(f"No module named {module!r}", name=module + ".part")
                self.assertTrue(failure_of(error).endswith(f" -m pip install '{package}'"), failure_of(error))

    def test_an_environment_of_pettingzoo_names_its_part_of_the_package(self):
        missing = ModuleNotFoundError("No module named 'pymunk'", name="pymunk")
        moved = ImportError("MPE has been moved into its own package")
        for name, error, package in (
            ("pettingzoo.butterfly.pistonball_v6", missing, "pettingzoo[butterfly]"),
            ("sisl/multiwalker-v9", missing, "pettingzoo[sisl]"),
            ("pettingzoo.mpe.simple_v3", moved, "mpe2"),
            ("my_games.arena", missing, "pymunk"),
        ):
            with self.subTest(name), self.assertRaises(ImportError) as caught:
                with _packages_for(name):
                    raise error
            self.assertIn(f"pip install '{package}'", failure_of(caught.exception))
            error.__dict__.pop("package", None)


if __name__ == "__main__":
    deployment.main()
