"""Masks of actions: flags that say which choices are allowed."""

import numpy as np

from troupe_worker.spaces import kind_of, parts_of

NAME = "action_mask"  # PettingZoo's, for a key of an observation and of an info


def choices_of(space):
    """Returns the number of choices of each integer of an action."""
    kind = kind_of(space)
    if kind == "Discrete":
        return [int(space.n)]
    if kind == "MultiDiscrete":
        return [int(n) for n in np.asarray(space.nvec).ravel()]
    if kind == "MultiBinary":
        return [2] * int(np.prod(space.shape))
    if kind == "Box":
        return []
    return [n for _, part in parts_of(space) for n in choices_of(part)]


def flags_of(space, given):
    """Returns a mask as one array of flags. It is an array, or has an array for each part of the space, as the masks of
    Gymnasium's `sample` have."""
    if isinstance(given, dict) and kind_of(space) == "Dict":
        given = [flags_of(part, given[name]) for name, part in parts_of(space) if choices_of(part)]
    elif isinstance(given, (tuple, list)) and kind_of(space) == "Tuple":
        parts = [(part, one) for (_, part), one in zip(parts_of(space), given) if choices_of(part)]
        given = [flags_of(part, one) for part, one in parts]
    if isinstance(given, (tuple, list)) and any(np.ndim(one) for one in given):
        given = np.concatenate([np.asarray(one).ravel() for one in given])
    return np.asarray(given).ravel() != 0


def of_info(info):
    """Returns the mask in an info, or None."""
    return info.get(NAME) if isinstance(info, dict) else None


def place_of_one(env):
    """Returns where an environment of a single agent says that it has masks, or None: a key of its observations, or
    the method action_masks, which is that of sb3-contrib."""
    space = env.observation_space
    if kind_of(space) == "Dict" and NAME in space.spaces:
        return f'the key "{NAME}" of its observations'
    if callable(getattr(getattr(env, "unwrapped", env), "action_masks", None)):
        return "its method action_masks()"
    return None


IN_INFO = f'info["{NAME}"]'
UNUSED = "no algorithm for a single agent uses masks of actions, so actions that they forbid are chosen, too"
