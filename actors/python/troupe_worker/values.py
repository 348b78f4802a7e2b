"""Values of spaces: whether they fit, whether two are the same, and random and extreme ones."""

import numbers

import numpy as np

from troupe_worker.spaces import FLOAT_TEXT, TOLD_APART, characters_of, kind_of, lost_digits, may_be_wide, parts_of, too_wide

ROUNDING = 1e-5  # the relative and absolute differences that Gymnasium allows


def short(value, most=120):
    """Returns a value as a text of one line."""
    if isinstance(value, np.ndarray):
        if value.size and np.all(value == value.flat[0]):
            return f"{value.flat[0]} everywhere" if value.size > 1 else str(value.flat[0])
        value = value.tolist()
    text = " ".join(repr(value).split())
    return text if len(text) <= most else text[: most - 4] + " ..."


def _join(key, name):
    return f"{key}/{name}" if key else str(name)


# ---- whether a value fits


def check_value(to, space, value, where, at, key=""):
    """Tells each way in which a value is outside of a space by `to.fault` and `to.warn`."""
    _CHECKS[kind_of(space)](to, space, value, where, at, key)


def _check_box(to, space, value, where, at, key):
    shape, dtype = tuple(space.shape), np.dtype(space.dtype)
    if not isinstance(value, (np.ndarray, np.generic)):
        if shape or not isinstance(value, numbers.Real):
            to.fault("type", where, "a NumPy array", f"a {type(value).__name__}", at, key)
            return
        value = np.asarray(value, dtype)
    if value.dtype != dtype:
        to.fault("dtype", where, f"dtype {dtype}", f"dtype {value.dtype}", at, key)
        if value.dtype.kind not in "fiub":
            return
    if value.shape != shape:
        to.fault("shape", where, f"shape {shape}", f"shape {value.shape}", at, key)
        return
    numbers_ = np.asarray(value)
    if numbers_.dtype.kind == "f" and not np.all(np.isfinite(numbers_)):
        place = _first(~np.isfinite(numbers_))
        to.fault("nan", where, "finite numbers", f"{numbers_[place]} at {list(place)}", at, key)
    outside = (numbers_ < space.low) | (numbers_ > space.high)
    if np.any(outside):
        place = _first(outside)
        low, high = np.asarray(space.low)[place], np.asarray(space.high)[place]
        got = f"{numbers_[place]} at {list(place)}"
        if np.sum(outside) > 1:
            got += f", and {np.sum(outside) - 1} more outside of their bounds"
        to.fault("bounds", where, f"numbers from {low} to {high}", got, at, key)
    _check_width(to, space, numbers_, where, at, key)


def _check_width(to, space, value, where, at, key):
    """Tells numbers that a 32-bit float does not have, and those that it can't tell apart."""
    wide = too_wide(value)
    if wide:
        to.fault("range", where, f"numbers {FLOAT_TEXT}", wide, at, key)
    elif may_be_wide(space):
        lost = lost_digits(value)
        if lost:
            to.warn("range", where, TOLD_APART, f"{lost}, which are one number to it", at, key)


def _first(mask):
    return tuple(int(i) for i in np.argwhere(mask)[0])


def _check_discrete(to, space, value, where, at, key):
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if isinstance(value, np.ndarray) and value.shape == () and value.dtype.kind in "iu":
        to.warn("type", where, "an int", "an array of shape ()", at, key)
        whole, value = True, value.item()
    if not whole:
        to.fault("type", where, "an int", f"{short(value)} of type {type(value).__name__}", at, key)
        return
    if not isinstance(value, (int, np.int64)):
        to.warn("type", where, "an int or numpy.int64", type(value).__name__, at, key)
    start = int(getattr(space, "start", 0))
    last = start + int(space.n) - 1
    if not start <= value <= last:
        to.fault("bounds", where, f"an integer from {start} to {last}", str(value), at, key)


def _check_integers(to, space, value, where, at, key):
    multi = kind_of(space) == "MultiDiscrete"
    shape = np.asarray(space.nvec).shape if multi else tuple(space.shape)
    if not isinstance(value, np.ndarray):
        to.fault("type", where, "a NumPy array", f"a {type(value).__name__}", at, key)
        return
    dtype = np.dtype(getattr(space, "dtype", None) or (np.int64 if multi else np.int8))
    if value.dtype.kind not in "iub":
        to.fault("dtype", where, f"dtype {dtype}", f"dtype {value.dtype}", at, key)
        return
    if value.dtype != dtype:
        to.warn("dtype", where, f"dtype {dtype}", f"dtype {value.dtype}", at, key)
    if value.shape != shape:
        to.fault("shape", where, f"shape {shape}", f"shape {value.shape}", at, key)
        return
    first = np.asarray(getattr(space, "start", 0)) if multi else np.asarray(0)
    end = first + (np.asarray(space.nvec) if multi else 2)
    outside = (value < first) | (value >= end)
    if np.any(outside):
        place = _first(outside)
        first, end = np.broadcast_to(first, shape)[place], np.broadcast_to(end, shape)[place]
        got = f"{int(value[place])} at {list(place)}"
        to.fault("bounds", where, f"integers from {int(first)} to {int(end) - 1}", got, at, key)


def _check_text(to, space, value, where, at, key):
    if not isinstance(value, str):
        to.fault("type", where, "a str", f"a {type(value).__name__}", at, key)
        return
    if not space.min_length <= len(value) <= space.max_length:
        expected = f"from {space.min_length} to {space.max_length} characters"
        to.fault("bounds", where, expected, f"{len(value)}", at, key)
    unknown = sorted(set(value) - set(characters_of(space)))
    if unknown:
        to.fault("bounds", where, "characters of the space", short(unknown), at, key)


def _check_dict(to, space, value, where, at, key):
    if not isinstance(value, dict):
        to.fault("type", where, "a dict", f"a {type(value).__name__}", at, key)
        return
    names = sorted(space.spaces)
    if set(value) != set(names):
        to.fault("keys", where, f"the keys {names}", short(sorted(map(str, value))), at, key)
    for name, part in parts_of(space):
        if name in value:
            check_value(to, part, value[name], where, at, _join(key, name))


def _check_tuple(to, space, value, where, at, key):
    if isinstance(value, list):
        to.warn("type", where, "a tuple", "a list", at, key)
    elif not isinstance(value, tuple):
        to.fault("type", where, "a tuple", f"a {type(value).__name__}", at, key)
        return
    parts = parts_of(space)
    if len(value) != len(parts):
        to.fault("keys", where, f"{len(parts)} values", f"{len(value)}", at, key)
    for (name, part), one in zip(parts, value):
        check_value(to, part, one, where, at, _join(key, name))


_CHECKS = {
    "Box": _check_box,
    "Discrete": _check_discrete,
    "MultiDiscrete": _check_integers,
    "MultiBinary": _check_integers,
    "Text": _check_text,
    "Dict": _check_dict,
    "Tuple": _check_tuple,
}


# ---- whether two values are the same


def difference(a, b, numbers_only=False, key=""):
    """Returns the first place where two values differ, (key, a's, b's), or None. Objects of classes
    that can't be compared count as the same."""
    if isinstance(a, dict) and isinstance(b, dict):
        if set(a) != set(b):
            return key, sorted(map(str, a)), sorted(map(str, b))
        pairs = ((_join(key, name), a[name], b[name]) for name in a)
    elif isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        if len(a) != len(b):
            return key, f"{len(a)} values", f"{len(b)} values"
        pairs = ((key, x, y) for x, y in zip(a, b))
    else:
        return None if _same(a, b, numbers_only) else (key, a, b)
    for name, x, y in pairs:
        found = difference(x, y, numbers_only, name)
        if found is not None:
            return found
    return None


def _same(a, b, numbers_only):
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        if a.dtype.kind == "f":
            return np.array_equal(a, b, equal_nan=True)
        return a.dtype.kind == "O" or np.array_equal(a, b)
    if type(a) is not type(b):
        return False
    if numbers_only and not isinstance(a, (numbers.Number, np.generic, str)):
        return True
    if type(a).__eq__ is object.__eq__:
        return True
    try:
        return bool(a == b) or (a != a and b != b)
    except Exception:
        return True


def differs_slightly(a, b):
    """True if two values differ by rounding errors alone."""
    if isinstance(a, dict) and isinstance(b, dict):
        return set(a) == set(b) and all(differs_slightly(a[name], b[name]) for name in a)
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(differs_slightly(x, y) for x, y in zip(a, b))
    if _same(a, b, False):
        return True
    try:
        x, y = np.asarray(a), np.asarray(b)
        both = x.shape == y.shape and x.dtype.kind == "f" and y.dtype.kind == "f"
        return both and np.allclose(x, y, rtol=ROUNDING, atol=ROUNDING)
    except (TypeError, ValueError):
        return False


def shares_memory(a, b):
    """True if two results share an array or a dictionary that can be changed."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a is b or any(shares_memory(a[name], b[name]) for name in set(a) & set(b))
    if isinstance(a, tuple) and isinstance(b, tuple):
        return any(shares_memory(x, y) for x, y in zip(a, b))
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return bool(a.size and np.shares_memory(a, b))
    return False


# ---- actions


def sampler_of(space, random):
    """Returns a function that draws elements of the space by a generator of NumPy."""
    kind = kind_of(space)
    if kind == "Discrete":
        start = int(getattr(space, "start", 0))
        return lambda: np.int64(start + random.integers(int(space.n)))
    if kind == "MultiDiscrete":
        nvec, start = np.asarray(space.nvec), np.asarray(getattr(space, "start", 0))
        dtype = np.dtype(getattr(space, "dtype", None) or np.int64)
        return lambda: (start + random.integers(nvec)).astype(dtype)
    if kind == "MultiBinary":
        dtype = np.dtype(getattr(space, "dtype", None) or np.int8)
        return lambda: random.integers(0, 2, tuple(space.shape)).astype(dtype)
    if kind == "Box":
        return _box_sampler(space, random)
    samplers = [(name, sampler_of(part, random)) for name, part in parts_of(space)]
    if kind == "Dict":
        return lambda: {name: sample() for name, sample in samplers}
    return lambda: tuple(sample() for _, sample in samplers)


def _box_sampler(space, random):
    dtype, shape = np.dtype(space.dtype), tuple(space.shape)
    low, high = np.asarray(space.low, np.float64), np.asarray(space.high, np.float64)
    first = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 1, -1.0))
    last = np.where(np.isfinite(high), high, first + 1)
    if dtype.kind in "iub":
        return lambda: np.floor(random.uniform(first, last + 1, shape)).clip(first, last).astype(dtype)

    def sample():
        drawn = np.asarray(random.uniform(first, last, shape)).astype(dtype)
        return np.clip(drawn, space.low, space.high)

    return sample


def extreme_of(space, highest):
    """Returns the lowest or the highest element of a space of actions."""
    kind = kind_of(space)
    if kind == "Discrete":
        return np.int64(int(getattr(space, "start", 0)) + (int(space.n) - 1 if highest else 0))
    if kind == "MultiDiscrete":
        nvec, start = np.asarray(space.nvec), np.asarray(getattr(space, "start", 0))
        dtype = np.dtype(getattr(space, "dtype", None) or np.int64)
        return (start + (nvec - 1 if highest else np.zeros_like(nvec))).astype(dtype)
    if kind == "MultiBinary":
        dtype = np.dtype(getattr(space, "dtype", None) or np.int8)
        return np.full(tuple(space.shape), int(highest), dtype)
    if kind == "Box":
        bound = np.asarray(space.high if highest else space.low)
        return np.where(np.isfinite(bound), bound, 1 if highest else -1).astype(space.dtype)
    parts = {name: extreme_of(part, highest) for name, part in parts_of(space)}
    return parts if kind == "Dict" else tuple(parts.values())
