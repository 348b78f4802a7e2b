"""Environments that Troupe steps: the commands to them, and a step of them all."""

import functools
import math
import mmap
import os
import random
import time

import numpy as np

from troupe_worker import masks, notices
from troupe_worker.agents import JointEnvironment
from troupe_worker.channel import MEMORY, Refused, failure_of, kind_of_result
from troupe_worker.environments import holder_of, levels_of, maker_of, spec_of
from troupe_worker.spaces import (
    action_sizes,
    change_text,
    describe,
    flag,
    flat_size,
    left_out,
    reader_of,
    real_number,
    writer_of,
)

# The bits of a row's flags.
TERMINATED, TRUNCATED, FAILED, BEGUN = 1, 2, 4, 8

STEP_RESULT = "(observation, reward, terminated, truncated, info)"
INFO_MAX = 256  # numbers of an episode's last info that are told
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def _private_mb():
    """Returns the resident memory in MiB that this process does not share by files."""
    with open("/proc/self/statm") as file:
        resident, shared = (int(pages) for pages in file.read().split()[1:3])
    return (resident - shared) * _PAGE_BYTES >> 20


class Environments:
    """Hosts environments and carries out the commands to them."""

    def __init__(self):
        self.envs = []
        self.make_one = self.failure = None  # what `prepare` has found
        self.options = None  # of all resets
        self.begins_next = True  # whether a step that ends an episode begins the next one
        self.level = None  # that of the next episodes; None means the last one

    def prepare(self, request):
        """Imports what the environments need. `do_make` raises the error of it."""
        try:
            self.make_one, self.failure = maker_of(request), None
        except BaseException as error:
            self.failure = error

    # ---- commands

    def do_make(self, request):
        """Makes the first environment, and tells its spaces."""
        self.request = request
        self.info = request["info"]
        if self.make_one is None and self.failure is None:
            self.prepare(request)
        if self.failure is not None:
            raise self.failure
        self.tells_memory = request["tells_memory"]
        self.envs = [self.make_one()]
        first = self.envs[0]
        self.joint = first if isinstance(first, JointEnvironment) else None  # has several agents
        self.spaces = first.observation_space, first.action_space
        self.described = described = self.describe(first)
        self.levels = levels_of(first)
        self.known = [None]  # each environment's observation space that was compared
        self.sizes = flat_size(self.spaces[0]), *action_sizes(self.spaces[1])
        self.tell_mask_of_one(first)
        return {
            "observation_space": described[0],
            "action_space": described[1],
            "obs_size": self.sizes[0],
            "integers": self.sizes[1],
            "floats": self.sizes[2],
            "levels": self.levels,
            "left_out": self.joint.left_out() if self.joint else left_out(self.spaces[0]),
            "several": self.joint.describe_agents() if self.joint else None,
            "notices": notices.take(),
            **spec_of(first),
        }

    def tell_mask_of_one(self, env):
        """Tells that an environment of a single agent has masks of actions."""
        place = None if self.joint else masks.place_of_one(env)
        if place is not None:
            notices.tell("masks", f"{place}: {masks.UNUSED}")

    def do_make_another(self):
        self.envs.append(self.make_one())
        self.known.append(None)
        return {}

    def do_share(self, bytes, at):
        """Maps the shared memory. `at` has the offset of each array in it."""
        size, (width, integers, floats) = len(self.envs), self.sizes
        memory = mmap.mmap(MEMORY, bytes)

        def array(name, dtype, *shape):
            count = int(np.prod(shape))
            return np.frombuffer(memory, dtype, count, at[name]).reshape(shape)

        actions = array("integers", np.int64, size, integers), array("floats", np.float32, size, floats)
        self.obs = array("obs", np.float32, size, width)
        self.final = array("final", np.float32, size, width)
        agents = len(self.joint.agents) if self.joint else 0
        self.agent_reward = array("agent_reward", np.float64, size, agents)
        self.agent_ended = array("agent_ended", np.uint8, size, agents)
        self.reward = array("reward", np.float64, size)
        self.flags = array("flags", np.uint8, size)
        self.mark = array("mark", np.int64, 1)  # tells Troupe that a step begins or ends a reset
        observation_space, action_space = self.spaces
        self.read = [reader_of(action_space, actions[0][i], actions[1][i]) for i in range(size)]
        writer_into = self.joint.writer_into if self.joint else functools.partial(writer_of, observation_space)
        self.write = [writer_into(self.obs[i]) for i in range(size)]
        self.write_final = [writer_into(self.final[i]) for i in range(size)]
        self.hosted = list(range(size))
        return {}

    def do_host(self, rows):
        """Steps these environments alone from now on, while another process has the other rows of the
        arrays. The others are closed with the last one, since a close that hangs ends this process."""
        self.hosted = rows
        return {}

    def do_close(self):
        """Closes all environments, none of which is needed any more."""
        for row in range(len(self.envs)):
            self.close(row)
        return {"notices": notices.take()}

    def do_reset(self, rows, seeds):
        """Resets some environments, each with its seed or None. Answers their errors, or None."""
        if seeds and seeds[0] is not None:  # for environments that use the global generators
            random.seed(seeds[0])
            np.random.seed(seeds[0] % (1 << 32))
        memory = {"memory_mb": _private_mb()} if self.tells_memory else {}
        errors = [self.reset(row, seed) for row, seed in zip(rows, seeds)]
        return {"errors": errors, "notices": notices.take(), **memory}

    def do_replace(self, row):
        """Puts a newly made environment in the place of another one."""
        self.close(row)
        self.envs[row] = self.make_one()
        return {"notices": notices.take()}

    def do_set_level(self, level):
        self.level = level
        return {}

    def do_set_options(self, options):
        self.options = options or None
        return {}

    def do_set_attr(self, name, value):
        for env in self.envs:
            holder = holder_of(env.env if self.joint else env, name)
            if holder is None:
                raise Refused(f"expected an attribute of the environment, got {name!r}")
            setattr(holder, name, value)
        return {}

    def do_set_begins_next(self, on):
        self.begins_next = on
        return {}

    def do_render(self, row):
        """Answers a picture, or nothing where there is none."""
        render = getattr(self.envs[row], "render", None)
        try:
            picture = render() if render is not None else None
        except NotImplementedError:  # that of gymnasium.Env
            picture = None
        if picture is None:
            return {}
        if isinstance(picture, list):
            picture = picture[-1] if picture else None
        picture = np.asarray(picture)
        if picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[2] != 3:
            raise Refused(
                "render: expected an array of bytes of shape (height, width, 3), got "
                f"{picture.dtype} of shape {picture.shape}"
            )
        return {
            "height": picture.shape[0],
            "width": picture.shape[1],
            "rgb": np.ascontiguousarray(picture).tobytes().hex(),
        }

    # ---- episodes

    def close(self, row):
        """Closes an environment. One that can't be closed is told, and is given up as well."""
        try:
            close = getattr(self.envs[row], "close", None)
            if close is not None:
                close()
        except BaseException as error:  # also SystemExit
            notices.tell("close", f"close: expected no exception, got {failure_of(error)}")
        self.envs[row] = None

    def reset(self, row, seed=None):
        """Begins an episode. Returns None or the text of an error."""
        env = self.envs[row]
        try:
            if self.levels > 1:
                holder = holder_of(env.env if self.joint else env, "set_level")
                holder.set_level(self.levels - 1 if self.level is None else self.level)
            # Some environments of one's own take no options.
            args = {} if self.options is None else {"options": self.options}
            result = env.reset(seed=seed, **args)
            if not isinstance(result, tuple) or len(result) != 2:
                raise Refused(f"reset: expected (observation, info), got {kind_of_result(result)}")
            spaces = env.observation_space, env.action_space
            known = self.known[row]
            if known is None or spaces[0] is not known[0] or spaces[1] is not known[1]:
                self.require_spaces(env)
                self.known[row] = spaces
            self.write[row](result[0])
            if not self.joint and masks.of_info(result[1]) is not None:
                notices.tell("masks", f"{masks.IN_INFO}: {masks.UNUSED}")
        except BaseException as error:
            return failure_of(error)
        return None

    def describe(self, env):
        return (
            describe(env.observation_space, "observation space"),
            describe(env.action_space, "action space", is_action=True),
            env.describe_agents() if isinstance(env, JointEnvironment) else None,
        )

    def require_spaces(self, env):
        """Raises Refused if the environment's spaces differ from those that were told."""
        for what, now, before in zip(("observation space", "action space"), self.describe(env), self.described):
            if now != before:
                before, now = change_text(before, now)
                raise Refused(f"its {what} has changed from {before} to {now}")
        self.require_agents(env)

    def require_agents(self, env):
        """Raises Refused if what is told of the agents beside their joint spaces differs, as it may for an
        environment that was made anew."""
        if not self.joint:
            return
        before, now = self.described[2], env.describe_agents()
        names = [", ".join(agent[0] for agent in told["agents"]) for told in (before, now)]
        if names[0] != names[1]:
            raise Refused(f"its agents have changed from {names[0]} to {names[1]}")
        for what in before:
            if now[what] != before[what]:
                raise Refused(f"its agents have another {what} than before")

    def step(self):
        """Takes a step of each environment, and begins the next episode where one has ended."""
        events = None
        flags, reward = self.flags, self.reward
        for row in self.hosted:
            env = self.envs[row]
            flags[row] = 0
            try:
                result = env.step(self.read[row]())
                if not isinstance(result, (tuple, list)) or len(result) != 5:
                    raise Refused(f"step: expected {STEP_RESULT}, as Gymnasium has it, got {kind_of_result(result)}")
                obs, gained, terminated, truncated, info = result
                if type(terminated) is not bool or type(truncated) is not bool:
                    terminated, truncated = flag(terminated, "terminated"), flag(truncated, "truncated")
                if terminated or truncated:
                    # The environment may reuse the memory of `obs`, so it is copied before reset.
                    self.write_final[row](obs)
                    flags[row] = (TERMINATED if terminated else 0) | (TRUNCATED if truncated else 0)
                else:
                    self.write[row](obs)
                reward[row] = gained if isinstance(gained, (float, int)) else real_number(gained)
                if self.joint:
                    self.agent_reward[row], self.agent_ended[row] = env.gained, env.ends
                info_numbers = self.numbers_of(info) if flags[row] else None
            except BaseException as error:
                flags[row] = FAILED
                events = events or []
                events.append({"row": row, "error": failure_of(error)})
                continue
            if terminated or truncated:
                events = events or []
                event = {"row": row, "info": info_numbers}
                if self.tells_memory:
                    event["memory_mb"] = _private_mb()
                events.append(event)
                if not self.begins_next:
                    continue
                self.mark[0] = ~time.monotonic_ns()
                failure = self.reset(row)
                self.mark[0] = time.monotonic_ns()
                if failure is None:
                    flags[row] |= BEGUN
                else:
                    event["reset_error"] = failure
        told = notices.take()
        return events if not told else [*(events or []), *({"notice": one} for one in told)]

    def numbers_of(self, info):
        """Returns the numbers of an episode's last info: with several agents, the mean of those that the
        agents' last infos have."""
        if not self.joint:
            return self.numbers_of_one(info)
        all_numbers = [self.numbers_of_one(one) for one in info.values()]
        return {
            name: float(np.mean([numbers[name] for numbers in all_numbers if name in numbers]))
            for name in {name for numbers in all_numbers for name in numbers}
        }

    def numbers_of_one(self, info):
        numbers = {}
        if not isinstance(info, dict):
            return numbers
        chosen = ("is_success", *self.info)
        # Others are told, too, so that a name that no episode has can be compared with them.
        others = [name for name, value in info.items() if type(name) is str and _is_plain(value)]
        for name in (*chosen, *(name for name in others[:INFO_MAX] if name != "success")):
            value = info.get("success") if name == "is_success" and name not in info else info.get(name)
            try:
                number = float(value)
            except Exception:  # it is no number
                continue
            if math.isfinite(number):
                numbers[name] = number
        return numbers


def _is_plain(value):
    """Whether the value is a number, and no text or array that could be read as one."""
    return isinstance(value, (bool, int, float, np.bool_, np.number)) and not isinstance(value, np.complexfloating)
