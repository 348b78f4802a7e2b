"""The checks of an environment, which `troupe check-env` makes.

They cover those of Gymnasium's and of Stable-Baselines3's ``check_env``, go on after the first
fault, and need neither package. A fault is what breaks Gymnasium's contract; a warning is what
works here and may not work with other libraries, or what is probably not meant.
"""

import copy
import functools
import inspect
import itertools
import math
import numbers
import sys
import time

import numpy as np

from troupe_worker.agents import AgentFault, JointEnvironment
from troupe_worker.channel import DISPLAY_HINT, Refused, failure_of, lacks_display
from troupe_worker.check_spaces import SpaceChecks
from troupe_worker.environments import holder_of, levels_of, maker_of, spec_of
from troupe_worker import masks
from troupe_worker.spaces import FLOAT_MAX, FLOAT_TEXT, change_text, describe
from troupe_worker.values import (
    ROUNDING,
    check_value,
    difference,
    differs_slightly,
    extreme_of,
    sampler_of,
    shares_memory,
    short,
)

BROKEN_MAX = 5  # calls that may throw in one part of the checks
LEVELS_PLAYED, STEPS_OF_LEVEL = 16, 50


class Broken(Exception):
    """A part of the checks can't go on. The fault has been told."""


class Checker(SpaceChecks):
    """Checks one environment. `run` is a generator that yields before each call of its code, so
    that a call which never returns, or ends the process, can be told."""

    def __init__(self, request, steps, seed, seconds=math.inf):
        self.request, self.steps, self.seed, self.seconds = request, steps, seed, seconds
        self.found, self.skipped = [], []
        self.failed = set()  # the checks that found a fault
        self.warned = set()  # the checks whose warning is told once
        self.other_infos = set()  # the calls whose infos were found to differ
        self.usable = True  # false if the spaces are so wrong that nothing can be played

    # ---- findings

    def take(self):
        """Returns what was found since the last time."""
        taken = {"findings": self.found[:], "skipped": self.skipped[:]}
        self.found.clear()
        self.skipped.clear()
        return taken

    def tell(self, is_fault, check, where, expected, got, at="", key=""):
        if is_fault:
            self.failed.add(check)
        self.found.append(
            {
                "fault": is_fault,
                "check": check,
                "where": where,
                "at": at,
                "key": key,
                "expected": expected,
                "got": got,
            }
        )

    def fault(self, check, where, expected, got, at="", key=""):
        self.tell(True, check, where, expected, got, at, key)

    def warn(self, check, where, expected, got, at="", key=""):
        self.tell(False, check, where, expected, got, at, key)

    def prefer(self, check, where, expected, got, at="", key=""):
        """Warns of what libraries for a single agent take no other way."""
        self.warn(check, where, expected, got, at, key)

    def skip(self, check, reason):
        self.skipped.append({"check": check, "reason": reason})

    def call(self, where, at, function, *args, **named):
        """Calls the environment. Raises Broken if it throws."""
        yield {"where": where, "at": at}
        try:
            return function(*args, **named)
        except AgentFault as error:
            self.fault("agents", where, f"{error.what}: {error.expected}", str(error.got), at, error.agent)
            raise Broken from None
        except Exception as error:
            text = failure_of(error)
        except SystemExit as error:
            text = f"a call of sys.exit({error.code!r})"
        self.fault("exceptions", where, "no exception", text, at)
        raise Broken

    # ---- the parts

    def run(self):
        request = dict(self.request)
        if request["id"].startswith("gymnasium:"):  # its own checks end at the first fault
            request["options"] = {"disable_env_checker": True, **request["options"]}
        make_one = maker_of(request)

        def make():
            return prepared(make_one(), request)

        yield {"where": "making it", "at": ""}
        try:
            env = make()
        except Exception as error:
            if is_missing(error) or isinstance(error, Refused):
                raise  # the request is wrong, and not the environment
            self.fault("exceptions", "making it", "no exception", failure_of(error))
            return
        yield from (self.of_agents() if isinstance(env, JointEnvironment) else self).check(env, make)

    def of_agents(self):
        """Returns a checker of environments with several agents, which tells what it finds to this one."""
        from troupe_worker.check_agents import AgentsChecker

        checker = AgentsChecker(self.request, self.steps, self.seed, self.seconds)
        checker.found, checker.skipped = self.found, self.skipped
        return checker

    def check(self, env, make):
        """Checks an environment that was made, with others that `make` makes."""
        self.check_object(env)
        if not self.usable:
            self.skip("reset, step", "without known spaces nothing can be played")
            return
        yield from self.part(self.check_reset(env))
        first = yield from self.part(self.check_episodes(env))
        yield from self.part(self.check_bounds(env))
        yield from self.part(self.check_levels(env))
        if first is None:
            self.skip("determinism", "its calls fail")
        elif self.is_nondeterministic(env):
            self.skip("determinism", "its spec says that it is not deterministic")
        elif not self.takes_seed(env):
            self.skip("determinism", "reset takes no seed")
        else:
            yield from self.part(self.check_repetition(env, first))
            yield from self.part(self.check_instances(make, first))
            yield from self.part(self.check_seeds(env, first))
        yield from self.part(self.check_pictures(env))
        yield from self.part(self.check_close(env))

    def part(self, steps):
        """Makes one part of the checks. Returns None if it broke off."""
        try:
            return (yield from steps)
        except Broken:
            return None

    # ---- the object and its spaces

    def unusable(self, check, where, expected, got, key=""):
        """Tells a fault with which nothing can be played."""
        self.fault(check, where, expected, got, key=key)
        self.usable = False

    def check_object(self, env):
        for name in ("reset", "step"):
            if not callable(getattr(env, name, None)):
                self.unusable("methods", name, "a method", "none")
        self.check_class(env)
        for name in ("observation_space", "action_space"):
            place = name.replace("_", " ")
            if getattr(env, name, None) is None:
                self.unusable("spaces", place, "a space", "none")
            else:
                self.check_space(getattr(env, name), place)
        if self.usable:
            self.told = self.describe(env)

    def check_class(self, env):
        modules = [base.__module__.split(".")[0] for base in type(env).__mro__]
        gymnasium = sys.modules.get("gymnasium")
        if "gym" in modules:
            self.warn("class", "class", "a subclass of gymnasium.Env", "one of the older package gym")
        elif gymnasium is not None and not isinstance(env, gymnasium.Env):
            self.warn(
                "class",
                "class",
                "a subclass of gymnasium.Env, which wrappers of Gymnasium and Stable-Baselines3 need",
                type(env).__name__,
            )
        if callable(getattr(inner_of(env), "seed", None)):
            self.warn("seed method", "seed", "no method, as reset(seed=...) takes its place", "a method")

    def describe(self, env):
        return [
            describe(env.observation_space, "observation space"),
            describe(env.action_space, "action space", is_action=True),
        ]

    def check_unchanged(self, env, at):
        try:
            now = self.describe(env)
        except Exception as error:
            self.fault("unchanged spaces", "reset", "the spaces that it had before", failure_of(error), at)
            raise Broken from None
        for space, before, place in zip(now, self.told, ("observation space", "action space")):
            if space != before:
                before, space = change_text(before, space)
                self.fault("unchanged spaces", place, f"the space that it had before, {before}", space, at)
                raise Broken

    # ---- resets

    def check_signature(self, env):
        """Returns the names of the arguments that reset does not take."""
        try:
            takes = inspect.signature(inner_of(env).reset).parameters
        except (TypeError, ValueError):
            return []
        anything = any(p.kind == p.VAR_KEYWORD for p in takes.values())
        missing = [name for name in ("seed", "options") if name not in takes and not anything]
        for name in missing:
            self.fault("signature", "reset", "reset(*, seed=None, options=None)", f"no argument {name}")
        if "seed" in takes and takes["seed"].default is not None:
            default = takes["seed"].default
            got = "no default" if default is inspect.Parameter.empty else repr(default)
            self.warn("signature", "reset", "seed=None, so that episodes differ", got)
        if "return_info" in takes:
            self.warn("signature", "reset", "no argument return_info, which is obsolete", "return_info")
        return missing

    def check_reset(self, env):
        missing = self.check_signature(env)
        if "options" not in missing:
            result = yield from self.call("reset", "options={}", env.reset, options={})
            self.check_reset_result(env, result, "options={}")
        if "seed" not in missing and not self.is_nondeterministic(env):
            yield from self.check_seeded_resets(env)

    def check_seeded_resets(self, env):
        seen, generators = [], []
        calls = ({"seed": self.seed}, {}, {"seed": self.seed}, {}, {"seed": self.seed + 333})
        for args in calls:
            at = f"seed={args['seed']}" if args else "without a seed"
            result = yield from self.call("reset", at, env.reset, **args)
            if not self.check_reset_result(env, result, at):
                return
            seen.append(frozen(result[0]))
            generators.append(generator_state(env))
        self.compare("determinism", "reset", f"seed={self.seed}", "observation", seen[0], seen[2])
        at = f"without a seed, after seed={self.seed}"
        self.compare("determinism", "reset", at, "observation", seen[1], seen[3])
        if generators[0] is MISSING:
            return
        expected = "a generator np_random that super().reset(seed=seed) seeds"
        if generators[0] is None or generators[0] != generators[2]:
            got = "none" if generators[0] is None else "other states for one seed"
            self.fault("np_random", "reset", expected, got)
        elif generators[0] == generators[4]:
            self.fault("np_random", "reset", expected, "the same state for two seeds")

    def check_reset_result(self, env, result, at):
        """Returns False unless the result is (observation, info)."""
        self.check_unchanged(env, at)
        if not is_tuple(result, 2):
            self.fault("result", "reset", "a tuple (observation, info)", kind_text(result), at)
            return False
        if not isinstance(result[1], dict):
            self.fault("info", "reset", "a dict", kind_text(result[1]), at)
        self.check_masks(env, result[1])
        self.check_observation(env, result[0], "reset", at)
        return True

    def check_masks(self, env, info):
        """Warns of masks of actions, which nothing reads."""
        place = masks.IN_INFO if masks.of_info(info) is not None else masks.place_of_one(env)
        if place is not None and "masks" not in self.warned:
            self.warned.add("masks")
            self.warn("masks", "reset", f"no mask of actions: {masks.UNUSED}", place)

    def check_observation(self, env, value, where, at):
        self.check_part(env.observation_space, value, where, at)

    def check_part(self, space, value, where, at, key=""):
        before = len(self.found)
        check_value(self, space, value, where, at, key)
        contains = getattr(space, "contains", None)
        if contains is None or len(self.found) > before:
            return
        try:
            inside = bool(contains(value))
        except Exception as error:
            self.fault("contains", where, "a value that the space can test", failure_of(error), at, key)
            return
        if not inside:
            self.fault("contains", where, "an observation that its space contains", short(value), at, key)

    # ---- steps

    def check_step_result(self, env, result, at):
        """Returns False unless the result has the five values."""
        if not is_tuple(result, 5):
            got = kind_text(result)
            if is_tuple(result, 4):
                got += ", the old form with `done`"
            self.fault("result", "step", "a tuple (observation, reward, terminated, truncated, info)", got, at)
            return False
        obs, reward, terminated, truncated, info = result
        self.check_observation(env, obs, "step", at)
        self.check_outcome(reward, terminated, truncated, info, at)
        self.check_goal(env, obs, reward, info, at)
        return True

    def check_outcome(self, reward, terminated, truncated, info, at, key=""):
        self.check_reward(reward, at, key)
        for name, flag in (("terminated", terminated), ("truncated", truncated)):
            if isinstance(flag, np.bool_):
                self.prefer(name, "step", "bool, which Stable-Baselines3 needs", "numpy.bool", at, key)
            elif not isinstance(flag, bool):
                self.fault(name, "step", "a bool", f"{flag!r} of type {type(flag).__name__}", at, key)
        if not isinstance(info, dict):
            self.fault("info", "step", "a dict", kind_text(info), at, key)

    def check_reward(self, reward, at, key=""):
        name = type(reward).__name__
        if isinstance(reward, np.ndarray) and reward.size == 1 and reward.dtype.kind in "fiub":
            self.warn("reward", "step", "a float", f"an array of shape {reward.shape}", at, key)
            reward = reward.item()
        elif isinstance(reward, (bool, np.bool_)):
            self.warn("reward", "step", "a float", name, at, key)
        elif not isinstance(reward, numbers.Real) and not isinstance(reward, (np.integer, np.floating)):
            self.fault("reward", "step", "a float", f"{short(reward)} of type {name}", at, key)
            return
        elif not isinstance(reward, (int, float)):
            self.prefer("reward", "step", "a float, which Stable-Baselines3 needs", name, at, key)
        if not isinstance(reward, int) and not math.isfinite(reward):
            self.fault("reward", "step", "a finite number", str(float(reward)), at, key)
        elif abs(reward) > FLOAT_MAX:
            self.fault("reward", "step", f"a number {FLOAT_TEXT}", str(reward)[:40], at, key)

    def check_goal(self, env, obs, reward, info, at):
        """Checks compute_reward of environments with goals, as Stable-Baselines3 does."""
        compute = getattr(inner_of(env), "compute_reward", None)
        if compute is None:
            return
        keys = ("observation", "achieved_goal", "desired_goal")
        if not isinstance(obs, dict) or any(key not in obs for key in keys):
            expected = f"the keys {list(keys)}, for it has compute_reward"
            self.fault("goal", "step", expected, short(obs), at)
            return
        achieved, desired = np.asarray(obs["achieved_goal"]), np.asarray(obs["desired_goal"])
        try:
            single = float(compute(obs["achieved_goal"], obs["desired_goal"], info))
            pairs = np.stack([achieved, achieved]), np.stack([desired, desired])
            both = np.asarray(compute(*pairs, np.array([info, info])))
        except Exception as error:
            self.fault("goal", "compute_reward", "no exception", failure_of(error), at)
            return
        # Sums of several numbers have other rounding errors than those of one.
        if not np.allclose(single, reward, rtol=ROUNDING, atol=ROUNDING):
            self.fault("goal", "compute_reward", "the reward of step", f"{single} and not {reward}", at)
        if both.shape != (2,) or not np.allclose(both, single, rtol=ROUNDING, atol=ROUNDING):
            expected = "an array of two rewards for two goals"
            self.fault("goal", "compute_reward", expected, f"{short(both)} for two times {single}", at)

    def play(self, env, seed, steps, learn=None, compare=None, watch=False):
        """Plays `steps` steps of random actions, which the seed draws. Calls `learn` or `compare`
        with each outcome. If `watch` is true, it checks each, and ends early when the time is over.
        Returns the number of ended episodes."""
        until = time.monotonic() + self.seconds if watch else math.inf
        sample = self.sampler(env, np.random.default_rng(seed))
        episodes, length, begins, broken, last = 0, 0, True, 0, None
        seeded = {"seed": seed} if self.takes_seed(env) else {}
        for taken in range(steps):
            if taken > 0 and time.monotonic() >= until:
                self.end_early(taken)
                break
            try:
                if begins:
                    at = f"episode {episodes + 1}"
                    result = yield from self.call("reset", at, env.reset, **seeded)
                    seeded, begins, length = {}, False, 0
                    require(self.check_reset_result(env, result, at) if watch else is_tuple(result, 2))
                    if watch:
                        last = self.check_shared(last, ("reset", result[0], result[1]))
                    self.see(learn, compare, at, ("reset", *result))
                at = f"episode {episodes + 1}, step {length + 1}"
                action = sample()
                given = copy.deepcopy(action)
                result = yield from self.call("step", at, env.step, action)
                length += 1
                require(self.check_step_result(env, result, at) if watch else is_tuple(result, 5))
                if watch:
                    if difference(action, given) is not None:
                        self.warn("action", "step", "an action that it leaves as it is", short(action), at)
                    last = self.check_shared(last, ("step", result[0], result[4]))
                self.see(learn, compare, at, ("step", *result))
                if has_ended(result):
                    if watch:
                        self.check_end(result, length, at)
                    episodes, begins = episodes + 1, True
            except Broken:
                broken, begins = broken + 1, True
                if broken == BROKEN_MAX:
                    raise
        return episodes

    def end_early(self, taken):
        """Tells that the time was over after so many steps, and makes the parts after it as short."""
        self.skip("steps", f"{self.seconds:g} s had passed after {taken} of {self.steps} (--seconds)")
        self.steps = taken

    def sampler(self, env, random):
        """Returns a function that draws the next action."""
        return sampler_of(env.action_space, random)

    def extreme(self, env, highest):
        """Returns the lowest or the highest action."""
        return extreme_of(env.action_space, highest)

    def see(self, learn, compare, at, outcome):
        if learn is not None:
            learn.append(frozen(outcome))
        if compare is not None:
            compare(at, outcome)

    def check_shared(self, last, now):
        """Warns if two calls in a row return the same memory."""
        if last is not None:
            for what, before, after in (("observation", last[1], now[1]), ("info", last[2], now[2])):
                if shares_memory(before, after):
                    self.warn(
                        "reused memory",
                        now[0],
                        f"a new {what} each time, as most libraries keep it (this one copies it)",
                        f"the memory of the {what} before",
                    )
        return now

    def check_end(self, result, length, at):
        """Checks the last step of an episode."""
        info = result[4]
        if length == 1 and is_true(result[3]):
            self.warn("truncated", "step", "more than one step before truncation", "one", at)
        for name in self.request["info"]:
            value = info.get(name) if isinstance(info, dict) else None
            try:
                known = math.isfinite(float(value))
            except (TypeError, ValueError):
                known = False
            if not known:
                got = short(value)
                if isinstance(info, dict) and name not in info:
                    got = f"none; it has {', '.join(sorted(map(str, info))) or 'nothing'}"
                self.warn("info", "step", f"a number {name} in the last info (env.info)", got, at)

    def check_episodes(self, env):
        """Plays, and checks all that comes back. Returns the outcomes."""
        outcomes = []
        ended = yield from self.play(env, self.seed, self.steps, learn=outcomes, watch=True)
        if ended == 0 and spec_of(env)["max_episode_steps"] is None:
            self.warn(
                "end",
                "step",
                "terminated or truncated, or a time limit (env.max_episode_steps)",
                f"neither in {self.steps} steps",
            )
        return outcomes

    def check_bounds(self, env):
        """Plays with the extreme actions alone."""
        for highest in (False, True):
            at = f"with the {'highest' if highest else 'lowest'} action"
            try:
                result = yield from self.call("reset", at, env.reset)
                require(self.check_reset_result(env, result, at))
                for _ in range(min(self.steps, 20)):
                    result = yield from self.call("step", at, env.step, self.extreme(env, highest))
                    if not self.check_step_result(env, result, at) or has_ended(result):
                        break
            except Broken:
                continue

    def check_levels(self, env):
        """Plays a few steps of each level, and ends with the last one, which is the task itself."""
        levels = levels_of(env)
        if levels == 1:
            return
        sample = self.sampler(env, np.random.default_rng(self.seed))
        for level in [*range(min(levels, LEVELS_PLAYED)), levels - 1]:
            at = f"level {level}"
            yield from self.call("set_level", at, setter_of(env).set_level, level)
            result = yield from self.call("reset", at, env.reset)
            require(self.check_reset_result(env, result, at))
            for _ in range(min(self.steps, STEPS_OF_LEVEL)):
                result = yield from self.call("step", at, env.step, sample())
                if not self.check_step_result(env, result, at) or has_ended(result):
                    break

    # ---- determinism

    def check_repetition(self, env, first):
        yield from self.play(env, self.seed, self.steps, compare=self.comparer("determinism", first))

    def check_instances(self, make, first):
        """Plays again in a new environment, in turn with another one."""
        mine = yield from self.call("making it", "a second time", make)
        other = yield from self.call("making it", "a third time", make)
        if "determinism" in self.failed:
            self.skip("instances", "one instance is not deterministic by itself")
            return
        compare = self.comparer("instances", first)
        steps = min(self.steps, 200)
        games = [
            self.play(mine, self.seed, steps, compare=compare),
            self.play(other, self.seed + 1, steps),
        ]
        while games:
            for game in list(games):
                try:
                    yield next(game)
                except (StopIteration, Broken):
                    games.remove(game)
        for env in (mine, other):
            yield from self.part(self.close(env))

    def check_seeds(self, env, first):
        """Warns if other seeds give the same episodes."""
        steps = min(self.steps, 100)
        for seed in range(self.seed + 1, self.seed + 4):
            # The actions are those of the first seed, so a difference comes from the environment.
            seen = []
            outcome = yield from self.call("reset", f"seed={seed}", env.reset, seed=seed)
            require(is_tuple(outcome, 2))
            seen.append(frozen(("reset", *outcome)))
            sample = self.sampler(env, np.random.default_rng(self.seed))
            for index in range(steps):
                outcome = yield from self.call("step", f"seed={seed}, step {index + 1}", env.step, sample())
                require(is_tuple(outcome, 5))
                seen.append(frozen(("step", *outcome)))
                if has_ended(outcome):
                    break
            if any(difference(a, b, numbers_only=True) is not None for a, b in zip(first, seen)):
                return
        self.warn("seeds", "reset", "episodes that depend on the seed", "the same for four seeds")

    def comparer(self, check, first):
        """Returns a function that compares outcomes with earlier ones, until they differ."""
        told_of_info = {"reset", "step"} if "info" in self.failed else self.other_infos
        state = {"next": 0, "ended": False}
        names = ("", "observation", "reward", "terminated", "truncated", "info")

        def compare(at, outcome):
            index = state["next"]
            state["next"] += 1
            if state["ended"] or index >= len(first):
                return
            before = first[index]
            state["ended"] = before[0] != outcome[0]
            if state["ended"]:
                self.fault(check, outcome[0], "an episode of the same length for the same seed", "another", at)
                return
            kinds = ("", "observation", "info") if outcome[0] == "reset" else names
            for name, old, new in zip(kinds[1:], before[1:], outcome[1:]):
                if name != "info":
                    state["ended"] = not self.compare(check, outcome[0], at, name, old, new)
                elif outcome[0] not in told_of_info:  # it is told once, and does not end the comparison
                    if not self.compare("info", outcome[0], at, name, old, new):
                        told_of_info.add(outcome[0])
                if state["ended"]:
                    return

        return compare

    def compare(self, check, where, at, what, before, now):
        """Returns False if the two differ."""
        found = difference(before, now)
        if found is None:
            return True
        key, old, new = found
        if differs_slightly(before, now):
            self.warn(check, where, f"exactly the same {what} for the same seed and actions", "a rounding error", at)
            return True
        # Gymnasium has no rule for the info of a reset, and training does not use it.
        tell = self.warn if (check, where) == ("info", "reset") else self.fault
        tell(
            check,
            where,
            f"the same {what} for the same seed and actions, "
            + ("in each instance" if check == "instances" else "each time"),
            f"{short(old)} and then {short(new)}",
            at,
            key,
        )
        return False

    def is_nondeterministic(self, env):
        return bool(getattr(getattr(env, "spec", None), "nondeterministic", False))

    def takes_seed(self, env):
        try:
            takes = inspect.signature(inner_of(env).reset).parameters
        except (TypeError, ValueError):
            return True
        return "seed" in takes or any(p.kind == p.VAR_KEYWORD for p in takes.values())

    # ---- pictures and the end

    def check_pictures(self, env):
        metadata = getattr(env, "metadata", None)
        if metadata is None:
            return
        modes = metadata.get("render_modes") if isinstance(metadata, dict) else None
        if not isinstance(modes, (list, tuple)) or not all(isinstance(m, str) for m in modes):
            self.warn("render", "metadata", "a list of names as render_modes", short(modes))
            return
        fps = metadata.get("render_fps")
        if modes and not (isinstance(fps, (int, float)) and fps > 0):
            self.warn("render", "metadata", "a number > 0 as render_fps", short(fps))
        mode = getattr(env, "render_mode", None)
        if mode is not None and mode not in modes:
            self.fault("render", "render_mode", f"None or one of {list(modes)}", repr(mode))
        if "rgb_array" not in modes:
            return
        options = {**self.request["options"], "render_mode": "rgb_array"}
        yield {"where": "making it", "at": "with render_mode=rgb_array"}
        try:
            shown = prepared(maker_of({**self.request, "options": options})(), self.request)
        except Exception as error:
            self.skip("render", f"it was not made with render_mode=rgb_array: {short_failure(error)}")
            return
        yield from self.call("reset", "with render_mode=rgb_array", shown.reset)
        yield {"where": "render", "at": ""}
        try:
            picture = shown.render()
        except Exception as error:
            if is_missing(error):
                self.skip("render", short_failure(error))
            elif lacks_display(error):
                self.skip("render", f"{short_failure(error)}. {DISPLAY_HINT}")
            else:
                self.fault("render", "render", "no exception", failure_of(error))
            return
        self.check_picture(picture)
        yield from self.close(shown)

    def check_picture(self, picture):
        expected = "an array of bytes of shape (height, width, 3)"
        if not isinstance(picture, np.ndarray):
            self.fault("render", "render", expected, kind_text(picture))
        elif picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[2] != 3:
            self.fault("render", "render", expected, f"dtype {picture.dtype} of shape {picture.shape}")

    def close(self, env):
        if callable(getattr(env, "close", None)):
            yield from self.call("close", "", env.close)

    def check_close(self, env):
        if not callable(getattr(env, "close", None)):
            return
        yield from self.call("close", "", env.close)
        yield {"where": "close", "at": "a second time"}
        try:
            env.close()
        except Exception as error:
            self.warn("close", "close", "no exception where it is called again", short_failure(error))


MISSING = object()


def require(held):
    if not held:
        raise Broken


def is_tuple(result, length):
    return isinstance(result, tuple) and len(result) == length


def is_true(flag):
    """True for a flag that is set; a flag of a wrong type, such as an array, counts as not set."""
    try:
        return bool(flag)
    except Exception:
        return False


def has_ended(result):
    return is_true(result[2]) or is_true(result[3])


def is_missing(error):
    """True for an error that says that a package is not installed."""
    names = isinstance(error, ImportError) or type(error).__name__ == "DependencyNotInstalled"
    return names or getattr(error, "package", None) is not None  # see environments.py


def setter_of(env):
    """Returns the part of an environment with levels that has the method set_level."""
    return holder_of(env.env if isinstance(env, JointEnvironment) else env, "set_level")


def prepared(env, request):
    """Returns the environment at its last level, at which it is played without a curriculum, and with
    the reset options of the request."""
    levels = levels_of(env)
    if levels > 1:
        setter_of(env).set_level(levels - 1)
    options = request.get("reset_options")
    if options:
        env.reset = with_options(env.reset, options)
    return env


def with_options(reset, options):
    """Returns the method reset with these options where it is called with none."""

    @functools.wraps(reset)
    def with_them(*more, **named):
        return reset(*more, **{**named, "options": named.get("options") or options})

    return with_them


def inner_of(env):
    """Returns the environment inside its wrappers."""
    return getattr(env, "unwrapped", env)


def generator_state(env):
    """Returns the state of np_random; None before it exists; MISSING for a class without one."""
    inner = inner_of(env)
    if not hasattr(inner, "_np_random"):
        return MISSING
    generator = inner._np_random
    return None if generator is None else copy.deepcopy(generator.bit_generator.state)


def frozen(outcome):
    """Returns a copy, of which an environment that reuses its memory changes nothing."""
    try:
        return copy.deepcopy(outcome)
    except Exception:
        return outcome


def kind_text(value):
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}"
    return f"{short(value)} of type {type(value).__name__}"


def short_failure(error):
    return f"{type(error).__name__}: {error}"


class Checks:
    """Carries out the commands that check an environment."""

    def do_check(self, request, steps, seed, seconds):
        """Begins the checks of an environment, up to its first call."""
        self.checker = Checker(request, steps, seed, seconds)
        self.checks = self.checker.run()
        return self.do_check_next()

    def do_check_next(self):
        """Makes the call that was told before, and goes on to the next one."""
        call = next(self.checks, None)
        return {**self.checker.take(), "next": call}

    def do_measure(self, request, copies, steps, seconds, seed):
        """Steps environments in turn with random actions, without Troupe, until they have taken so many
        steps together or so many seconds have passed. Answers what that took."""
        make = maker_of(request)
        envs = [prepared(make(), request) for _ in range(copies)]
        first = envs[0]
        checker = Checker(request, steps, seed)
        checker = checker.of_agents() if isinstance(first, JointEnvironment) else checker
        samples = [checker.sampler(env, np.random.default_rng(seed + i)) for i, env in enumerate(envs)]
        for i, env in enumerate(envs):
            env.reset(seed=seed + i) if checker.takes_seed(env) else env.reset()
        taken = episodes = 0
        begin = time.monotonic()
        until = begin + seconds
        for env, sample in itertools.cycle(zip(envs, samples)):
            if taken >= steps or time.monotonic() >= until:
                break
            if has_ended(env.step(sample())):
                episodes += 1
                env.reset()
            taken += 1
        took = time.monotonic() - begin
        for env in envs:
            getattr(env, "close", lambda: None)()
        return {"steps": taken, "episodes": episodes, "seconds": took}
