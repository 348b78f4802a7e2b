#!/usr/bin/python3
"""The checks that a worker makes of environments in Python, without its process: check_test.py BUILD_DIR

Each world of worlds/unsound.py has one flaw, of which the checks tell that fault, or that warning, and no other fault.
So do the worlds of worlds/zoo.py, which have several agents.
"""
import math
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/deploy"), str(ROOT / "actors/python"), str(ROOT / "tests/actors/python/worlds")]

import deployment  # noqa: E402
from troupe_worker.channel import Refused  # noqa: E402
from troupe_worker.check import Checker, Checks as Checks_of_worker  # noqa: E402

# World, check, where, key, what was expected, what was there. The last two are beginnings of texts.
FAULTS = [
    ("Raises", "exceptions", "step", "", "no exception", "Traceback"),
    ("RaisesInInit", "exceptions", "making it", "", "no exception", "Traceback"),
    ("Exits", "exceptions", "step", "", "no exception", "a call of sys.exit(3)"),
    ("OldStep", "result", "step", "", "a tuple (observation, reward", "a tuple of 4, the old form"),
    ("OldReset", "result", "reset", "", "a tuple (observation, info)", "["),
    ("OtherDtype", "dtype", "step", "", "dtype float32", "dtype float64"),
    ("OtherShape", "shape", "step", "", "shape (2,)", "shape (3,)"),
    ("NoArray", "type", "step", "", "a NumPy array", "a list"),
    ("NaNObservation", "nan", "step", "", "finite numbers", "nan at [1]"),
    ("OutOfBounds", "bounds", "step", "", "numbers from -1.0 to 1.0", "1.5 at [1]"),
    ("NaNReward", "reward", "step", "", "a finite number", "nan"),
    ("TextReward", "reward", "step", "", "a float", "'1' of type str"),
    ("IntTerminated", "terminated", "step", "", "a bool", "0 of type int"),
    ("NoneTruncated", "truncated", "step", "", "a bool", "None of type NoneType"),
    ("NoInfo", "info", "step", "", "a dict", "None of type NoneType"),
    ("NoResetInfo", "info", "reset", "", "a dict", "None of type NoneType"),
    ("FloatImage", "dtype", "step", "image", "dtype uint8", "dtype float32"),
    ("WrongLevel", "bounds", "step", "level", "an integer from 0 to 3", "4"),
    ("FloatLevel", "type", "step", "level", "an int", "3.0 of type float"),
    ("WrongBits", "bounds", "step", "bits", "integers from 0 to 1", "2 at [2]"),
    ("WrongPair", "bounds", "step", "pair", "integers from 0 to 2", "3 at [1]"),
    ("ExtraKey", "keys", "step", "", "the keys ['bits', 'image', 'level', 'pair']", "['bits', 'image', 'level', 'more'"),
    ("MissingKey", "keys", "step", "", "the keys ['bits'", "['image'"),
    ("WrongWord", "bounds", "step", "0", "characters of the space", "['d']"),
    ("ShortTuple", "keys", "step", "", "2 values", "1"),
    ("Contradicts", "contains", "step", "", "an observation that its space contains", "["),
    ("UnknownSpace", "spaces", "observation space", "1", "a space of kind Box", "Graph"),
    ("ObservesSequence", "spaces", "observation space", "", "a space of kind Box", "Sequence"),
    ("ActsOneOf", "spaces", "action space", "second", "a space of kind Box", "OneOf"),
    ("WordsForLetters", "spaces", "observation space", "", "a charset of single characters", "'go'"),
    ("HugeNumber", "range", "step", "", "numbers that a 32-bit float has (at most 3.4e+38)", "1e+40 at [1]"),
    ("HugeReward", "reward", "step", "", "a number that a 32-bit float has (at most 3.4e+38)", "1e+40"),
    ("HugeAction", "bounds", "action space", "", "high of numbers that a 32-bit float has", "1e+40 at [0]"),
    ("UnknownParts", "spaces", "observation space", "", "a part of a known kind", "only parts of other kinds"),
    ("NoSpace", "spaces", "action space", "", "a space", "none"),
    ("BoundsOfAnotherShape", "bounds", "observation space", "", "low of shape (2,)", "shape (3,)"),
    ("EmptyDict", "spaces", "observation space", "", "a part of a known kind", "an empty Dict"),
    ("EmptyDiscrete", "spaces", "action space", "", "n > 0", "0"),
    ("TextAction", "spaces", "action space", "", "a space without Text", "Text"),
    ("UnboundedAction", "bounds", "action space", "", "finite bounds", "an infinite bound"),
    ("ChangesSpaces", "unchanged spaces", "observation space", "", "the space that it had before, Box(-1.0, 1.0, (2,), float32)", "Box(-2.0, 2.0, (2,), float32)"),
    ("NoSeed", "signature", "reset", "", "reset(*, seed=None, options=None)", "no argument seed"),
    ("NoOptions", "signature", "reset", "", "reset(*, seed=None, options=None)", "no argument options"),
    ("OfNoSeed", "determinism", "reset", "", "the same observation for the same seed", "["),
    ("UnseededGenerator", "np_random", "reset", "", "a generator np_random", "other states for one seed"),
    ("SharedState", "instances", "reset", "", "the same observation for the same seed", "["),
    ("OtherInfo", "info", "step", "total", "the same info for the same seed", "1 and then"),
    ("FailsAtHighest", "exceptions", "step", "", "no exception", "Traceback"),
    ("NoPicture", "render", "render", "", "an array of bytes of shape (height", "None of type NoneType"),
    ("FloatPicture", "render", "render", "", "an array of bytes of shape (height", "dtype float64 of shape (8, 8, 3)"),
    ("OddMode", "render", "render_mode", "", "None or one of ['rgb_array']", "'video'"),
    ("FailsToClose", "exceptions", "close", "", "no exception", "Traceback"),
    ("WrongGoal", "goal", "compute_reward", "", "the reward of step", "-"),
    ("OneGoal", "goal", "compute_reward", "", "an array of two rewards for two goals", "-"),
    ("NoGoal", "goal", "step", "", "the keys ['observation', 'achieved_goal', 'desired_goal']", "["),
]
# World of several agents, check, where, key, what was expected, what was there.
AGENT_FAULTS = [
    ("NaNReward", "agents", "step", "bob", "reward: a finite number", "nan"),
    ("TextReward", "agents", "step", "cid", "reward: a real number", "'much'"),
    ("OtherShape", "shape", "step", "bob", "shape (2,)", "shape (3,)"),
    ("OtherType", "dtype", "step", "cid", "dtype float32", "dtype float64"),
    ("NoObservation", "agents", "step", "cid", "observations: an entry of each agent that acts", "none"),
    ("Vanishes", "agents", "step", "ann", "terminations: True there or in truncations, for `agents` is empty", "False"),
    ("Stays", "agents", "step", "cid", "agents: no agent that ends with this step", "it"),
    ("AllForbiddenInInfo", "agents", "reset", "cid", "action_mask: a choice or more", "none"),
    ("Strange", "agents", "step", "dan", "agents: one of possible_agents", "another agent"),
    ("OldForm", "agents", "step", "", "step: (observations, rewards", "a tuple of 4"),
    ("IntTermination", "terminated", "step", "ann", "a bool", "0 of type int"),
    ("Immortal", "agents", "step", "ann", "step(None): an agent that leaves `agents`", "["),
    ("AllForbidden", "agents", "step", "cid", "action_mask: a choice or more", "none"),
    ("Renamed", "agents", "reset", "eve", "possible_agents: one of", "another agent"),
    ("Resized", "agents", "reset", "ann", "action space: the one that it had before, Discrete(3)", "Discrete(4)"),
]
WARNINGS = [
    ("ArrayReward", "reward", "step", "", "a float", "an array of shape (1,)"),
    ("Float32Reward", "reward", "step", "", "a float, which Stable-Baselines3 needs", "float32"),
    ("NumpyTerminated", "terminated", "step", "", "bool, which Stable-Baselines3 needs", "numpy.bool"),
    ("TruncatesAtOnce", "truncated", "step", "", "more than one step before truncation", "one"),
    ("Int32Pair", "dtype", "step", "pair", "dtype int64", "dtype int32"),
    ("UnknownPart", "spaces", "observation space", "mission", "a space of kind Box", "Graph, which is left out"),
    ("ListForTuple", "type", "step", "", "a tuple", "a list"),
    ("WideAction", "bounds", "action space", "", "bounds -1 and 1", "-2.0 and 2.0"),
    ("DoubleAction", "dtype", "action space", "", "float32", "float64"),
    ("ShiftedAction", "start", "action space", "", "start 0", "1"),
    ("GridAction", "shape", "action space", "", "one dimension", "shape (2, 2)"),
    ("SmallImage", "image", "observation space", "", "at least 36x36 pixels", "shape (8, 8, 3)"),
    ("FlatImage", "image", "observation space", "", "at least 36x36 pixels", "shape (20, 30)"),
    ("ByteBoard", "image", "observation space", "", "bytes with bounds 0 and 255 for an image", "uint8 of shape (8, 8, 12)"),
    ("FlatBoard", "image", "observation space", "", "bytes with bounds 0 and 255 for an image", "uint8 of shape (9, 9)"),
    ("FloatImageSpace", "image", "observation space", "", "bytes with bounds 0 and 255 for an image", "float32"),
    ("Times", "range", "step", "", "numbers that a 32-bit float tells apart", "1700000123 and 1700000143, which are one"),
    ("WideFloats", "range", "step", "position", "numbers that a 32-bit float tells apart", "16777217.0 and 16777216.0"),
    ("MaskInInfo", "masks", "reset", "", "no mask of actions", 'info["action_mask"]'),
    ("MaskInDict", "masks", "reset", "", "no mask of actions", 'the key "action_mask" of its observations'),
    ("MaskMethod", "masks", "reset", "", "no mask of actions", "its method action_masks()"),
    ("SeedByDefault", "signature", "reset", "", "seed=None", "7"),
    ("SameSeed", "seeds", "reset", "", "episodes that depend on the seed", "the same for four seeds"),
    ("Rounds", "determinism", "step", "", "exactly the same observation", "a rounding error"),
    ("ReusesMemory", "reused memory", "step", "", "a new observation each time", "the memory of the observation"),
    ("NeverEnds", "end", "step", "", "terminated or truncated, or a time limit", "neither in 60 steps"),
    ("OtherResetInfo", "info", "reset", "total", "the same info for the same seed", "7 and then"),
    ("ChangesActions", "action", "step", "", "an action that it leaves as it is", ""),
    ("NoRenderModes", "render", "metadata", "", "a list of names as render_modes", "None"),
    ("ClosesOnce", "close", "close", "", "no exception where it is called again", "AttributeError"),
    ("SeedMethod", "seed method", "seed", "", "no method", "a method"),
]


def check(world, steps=60, seconds=math.inf, calls=None, **request):
    """Returns what the checks tell of a world: the findings, and what was skipped. Adds the calls to `calls`."""
    plain = {"id": world, "options": {}, "wrappers": [], "info": [], "max_episode_steps": None, "render": False}
    checker = Checker({**plain, **request}, steps, seed=4, seconds=seconds)
    for call in checker.run():
        assert set(call) == {"where", "at"}, call
        if calls is not None:
            calls.append(call)
    return checker.take()


def faults_of(told):
    return {(f["check"], f["where"], f["key"]) for f in told["findings"] if f["fault"]}


class Checks(unittest.TestCase):
    def assert_told(self, told, is_fault, check, where, key, expected, got):
        alike = [
            f
            for f in told["findings"]
            if (f["fault"], f["check"], f["where"], f["key"]) == (is_fault, check, where, key)
            and f["expected"].startswith(expected)
            and f["got"].startswith(got)
        ]
        self.assertTrue(alike, told)

    def test_a_sound_world_has_no_finding(self):
        for world in ("Sound", "Kinds", "Goal", "RoundedGoal"):
            with self.subTest(world):
                self.assertEqual(check(f"unsound:{world}"), {"findings": [], "skipped": []})

    def test_each_fault_is_told_and_no_other(self):
        for world, *fault in FAULTS:
            with self.subTest(world):
                told = check(f"unsound:{world}")
                self.assert_told(told, True, *fault)
                # A wrong observation of a step may be one of a reset, too.
                others = {(c, w, k) for c, w, k in faults_of(told) if (c, k) != (fault[0], fault[2])}
                self.assertEqual(others, set())

    def test_each_warning_is_told_and_no_fault(self):
        for world, *warning in WARNINGS:
            with self.subTest(world):
                told = check(f"unsound:{world}")
                self.assert_told(told, False, *warning)
                self.assertEqual(faults_of(told), set())

    def test_sound_worlds_with_several_agents_have_no_fault(self):
        for world in (
            "Team",
            "Together",
            "Stateful",
            "Chess",
            "Waits",
            "WaitsToTheEnd",
            "Returns",
            "InfoMasks",
            "ChessOfInfos",
        ):
            with self.subTest(world):
                found = check(f"zoo:{world}", steps=200)["findings"]
                self.assertLessEqual({(f["fault"], f["check"]) for f in found}, {(False, "reused memory")})

    def test_each_fault_of_an_agent_is_told_with_its_name_and_no_other(self):
        for world, *fault in AGENT_FAULTS:
            with self.subTest(world):
                told = check(f"zoo:{world}", steps=200)
                self.assert_told(told, True, *fault)
                self.assertEqual({(c, k) for c, _, k in faults_of(told)}, {(fault[0], fault[2])})

    def test_another_info_of_a_reset_hides_none_of_a_step(self):
        told = check("unsound:OtherInfos")
        self.assert_told(told, False, "info", "reset", "total", "the same info for the same seed", "7 and then")
        self.assert_told(told, True, "info", "step", "total", "the same info for the same seed", "8 and then")
        self.assertEqual(sum(f["where"] == "reset" for f in told["findings"]), 1)

    def test_actions_obey_masks(self):
        # Where a mask forbids what is done, the world raises an error.
        self.assertEqual(faults_of(check("zoo:Strict", steps=300)), set())

    def test_bounds_that_are_turned_over(self):
        told = check("unsound:TurnedOver")
        self.assert_told(told, True, "bounds", "observation space", "", "low <= high", "3.0 and 1.0 at [1]")

    def test_a_number_of_the_info_that_is_asked_for(self):
        told = check("unsound:Sound", info=["steps", "keys"])
        self.assertEqual([f["expected"] for f in told["findings"]][0], "a number keys in the last info (env.info)")
        self.assertEqual(faults_of(told), set())

    def test_a_name_that_the_info_lacks_is_told_with_those_that_it_has(self):
        told = check("unsound:Sound", info=["keys"])
        self.assertRegex([f["got"] for f in told["findings"]][0], "^none; it has .*steps")

    def test_a_machine_without_a_display_is_no_fault(self):
        told = check("unsound:NoDisplay")
        self.assertEqual(faults_of(told), set())
        self.assertRegex(told["skipped"][0]["reason"], "FatalError: an OpenGL .*MUJOCO_GL=egl")
        self.assertEqual(faults_of(check("unsound:DrawsWrongly")), {("render", "render", "")})

    def test_each_level_is_played(self):
        self.assertEqual(faults_of(check("good:Levels")), set())
        self.assertEqual(faults_of(check("unsound:FailsAtALevel")), {("exceptions", "set_level", "")})
        self.assertEqual(faults_of(check("good:OfItsOwnLevels")), set())

    def test_reset_options_come_with_each_reset(self):
        self.assertEqual(faults_of(check("unsound:NeedsAnOption")), {("exceptions", "reset", "")})
        self.assertEqual(faults_of(check("unsound:NeedsAnOption", reset_options={"size": 3})), set())

    def test_the_speed_is_of_as_many_steps_as_asked(self):
        for world, copies in (("good:Counter", 1), ("good:Counter", 4), ("zoo:Strict", 2)):
            plain = {"id": world, "options": {}, "wrappers": [], "info": [], "max_episode_steps": None, "render": False}
            told = Checks_of_worker().do_measure(plain, copies, steps=100, seconds=60, seed=1)
            self.assertEqual(told["steps"], 100)
            if world == "good:Counter":
                self.assertEqual(told["episodes"], 20)

    def test_slow_steps_shorten_the_sequence_and_what_repeats_it(self):
        for world in ("unsound:Sound", "zoo:Team"):
            with self.subTest(world):
                calls = []
                told = check(world, seconds=0, calls=calls)
                self.assertEqual(faults_of(told), set())
                self.assertIn({"check": "steps", "reason": "0 s had passed after 1 of 60 (--seconds)"}, told["skipped"])
                self.assertLess(sum(call["where"] == "step" for call in calls), 20)

    def test_a_measurement_ends_in_the_middle_of_a_round_when_its_time_is_over(self):
        plain = {"id": "good:Counter", "options": {}, "wrappers": [], "info": [], "max_episode_steps": None, "render": False}
        told = Checks_of_worker().do_measure(plain, copies=4, steps=10, seconds=60, seed=1)
        self.assertEqual(told["steps"], 10)
        told = Checks_of_worker().do_measure(plain, copies=4, steps=10, seconds=0, seed=1)
        self.assertEqual(told["steps"], 0)

    def test_a_wrapper_is_checked_with_its_environment(self):
        for wrapper in ("good.Halve", "good.Scale(factor=2)"):
            self.assertEqual(faults_of(check("good:Counter", wrappers=[wrapper])), {("info", "step", "keys")})

    def test_a_reward_of_several_numbers_is_refused_unless_a_wrapper_makes_one_of_it(self):
        with self.assertRaisesRegex(Refused, r"expected one number as the reward of a step, got a reward_space of shape \(2,\)"):
            check("unsound:VectorReward")
        self.assertEqual(faults_of(check("unsound:VectorReward", wrappers=["unsound.FirstReward"])), set())

    def test_arguments_that_a_wrapper_does_not_take_are_told(self):
        with self.assertRaisesRegex(Refused, r"good.Scale takes \['factor', 'plus'\], got 'by'"):
            check("good:Counter", wrappers=["good.Scale(by=2)"])

    def test_what_is_no_environment(self):
        told = check("faulty:nothing")
        self.assertEqual(
            faults_of(told),
            {(c, w, "") for c, w in [("methods", "reset"), ("methods", "step"), ("spaces", "observation space"), ("spaces", "action space")]},
        )

    def test_missing_packages_and_names_are_no_findings(self):
        with self.assertRaisesRegex(ModuleNotFoundError, "a_package_that_is_missing"):
            check("misses:World")
        with self.assertRaisesRegex(Exception, "module unsound has no 'Nothing'"):
            check("unsound:Nothing")


if __name__ == "__main__":
    deployment.main()
