"""Gymnasium's spaces: their descriptions for Troupe, and values as rows of numbers.

A space is recognised by the name of its class, so a package with equal spaces serves as well as
Gymnasium. An observation is a row of 32-bit floats, as Gymnasium's ``flatten`` makes it: dictionaries
in the order of their keys, discrete parts one-hot. Images get their channels first. An action is a
row of integers, the discrete parts in order, and a row of floats, the parts of kind Box in order.
"""

import math
import sys

import numpy as np

from troupe_worker import notices
from troupe_worker.channel import Refused

ELEMENTS_MAX = 1 << 26  # of a space
KINDS = ("Box", "Discrete", "MultiDiscrete", "MultiBinary", "Text", "Dict", "Tuple")
KINDS_TEXT = "a space of kind " + ", ".join(KINDS)
FLOAT_MAX = float(np.finfo(np.float32).max)
FLOAT_TEXT = f"that a 32-bit float has (at most {FLOAT_MAX:.3g})"
WHOLE_MAX = 1 << 24  # up to here a 32-bit float has every integer


def kind_of(space):
    """Returns the name of the space's kind, or None."""
    for base in type(space).__mro__:
        if base.__name__ in KINDS:
            return base.__name__
    return None


def parts_of(space):
    """Returns the parts of a Dict in the order of their keys, or of a Tuple, with their names. A
    Dict's parts of unknown kinds are left out."""
    if kind_of(space) == "Dict":
        return sorted((name, part) for name, part in space.spaces.items() if kind_of(part))
    return [(str(i), part) for i, part in enumerate(space.spaces)]


def left_out(space, place=""):
    """Returns the names and kinds of the parts that `parts_of` leaves out."""
    if kind_of(space) not in ("Dict", "Tuple"):
        return []
    found = []
    if kind_of(space) == "Dict":
        for name, part in sorted(space.spaces.items()):
            if kind_of(part) is None:
                found.append(f"{place}{name} of kind {type(part).__name__}")
    for name, part in parts_of(space):
        found += left_out(part, f"{place}{name}: ")
    return found


def is_image(space):
    """True for bytes 0 .. 255 with two dimensions or more. Bytes with other bounds, such as a board, are plain numbers."""
    return (
        kind_of(space) == "Box"
        and len(space.shape) >= 2
        and space.dtype == np.uint8
        and np.all(space.low == 0)
        and np.all(space.high == 255)
    )


def channels_are_last(shape):
    """True for three dimensions that are [height, width, channels], and not [channels, height, width]. Two neighbours
    of one size are the height and the width; otherwise the smallest dimension is that of the channels, as
    Stable-Baselines3 decides."""
    first, second, third = shape
    if (first == second) != (second == third):
        return first == second
    return int(np.argmin(shape)) == 2


def has_channels_last(space):
    """True for an image of three dimensions whose channels are its last dimension."""
    return is_image(space) and len(space.shape) == 3 and channels_are_last(space.shape)


def characters_of(space):
    """Returns the characters of a Text space in an order that is the same in every process. Before 1.4, Gymnasium kept
    those of a set in the order of their hashes, which differs between processes."""
    listed = getattr(space, "character_list", None)
    if listed is None or _keeps_order_of_hashes(space):
        return sorted(space.character_set)
    return list(dict.fromkeys(listed))


def _keeps_order_of_hashes(space):
    modules = {base.__module__.split(".")[0] for base in type(space).__mro__}
    version = getattr(sys.modules.get("gymnasium"), "__version__", None) if "gymnasium" in modules else None
    if version is None:
        return False
    first, second = (int("".join(filter(str.isdigit, part)) or 0) for part in (version + ".0").split(".")[:2])
    return (first, second) < (1, 4)


# ---- what can't be used


class SpaceFault(Refused):
    """A space that can't be used. `check` names the check of `troupe check-env` that tells it, and `key` the part."""

    def __init__(self, place, check, key, expected, got):
        super().__init__(f"{place}: {key + ': ' if key else ''}expected {expected}, got {got}")
        self.check, self.key, self.expected, self.got = check, key, expected, got


def faults_of(space, is_action, key=""):
    """Yields why a space of observations or of actions can't be used: check, key, what was expected, what was there."""
    kind = kind_of(space)
    if kind is None:
        yield "spaces", key, f"{KINDS_TEXT}; a wrapper can replace it", type(space).__name__
    elif kind in ("Dict", "Tuple"):
        yield from _faults_of_parts(space, is_action, key)
    else:
        yield from ((check, key, *texts) for check, *texts in _FAULTS[kind](space, is_action))


def _faults_of_parts(space, is_action, key):
    is_dict = kind_of(space) == "Dict"
    if is_dict and not all(isinstance(name, str) for name in space.spaces):
        yield "spaces", key, "keys that are texts", str(list(space.spaces))
        return
    parts = sorted(space.spaces.items()) if is_dict else enumerate(space.spaces)
    if is_dict and not is_action:  # parts of other kinds are left out
        parts = parts_of(space)
    parts = list(parts)
    if not parts and not is_dict:
        yield "spaces", key, "a part", "an empty Tuple"
    elif not parts:
        yield "spaces", key, "a part of a known kind", "only parts of other kinds" if space.spaces else "an empty Dict"
    for name, part in parts:
        yield from faults_of(part, is_action, f"{key}/{name}" if key else str(name))


def _faults_of_box(space, is_action):
    shape, dtype = tuple(space.shape), np.dtype(space.dtype)
    if dtype.kind not in "fiub":
        yield "spaces", "a Box of numbers", f"dtype {dtype}"
        return
    if np.prod(shape, dtype=float) > ELEMENTS_MAX:
        yield "spaces", f"at most {ELEMENTS_MAX} numbers", f"shape {shape}"
        return
    for name, bound in (("low", np.asarray(space.low)), ("high", np.asarray(space.high))):
        if bound.shape != shape:
            yield "bounds", f"{name} of shape {shape}", f"shape {bound.shape}"
            continue
        if np.any(np.isnan(bound.astype(np.float64))):
            yield "bounds", "bounds that are numbers", "nan"
        wide = is_action and too_wide(bound)
        if wide:
            yield "bounds", f"{name} of numbers {FLOAT_TEXT}", wide


def _faults_of_discrete(space, is_action):
    n, start = int(space.n), int(getattr(space, "start", 0))
    if n <= 0:
        yield "spaces", "n > 0", str(n)
    elif n > ELEMENTS_MAX or abs(start) > 2**53:
        yield "spaces", f"1 to {ELEMENTS_MAX} integers", f"Discrete({n}, start={start})"


def _faults_of_multi_discrete(space, is_action):
    nvec = np.asarray(space.nvec)
    if tuple(getattr(space, "shape", None) or nvec.shape) != nvec.shape:
        yield "spaces", f"the shape of nvec {nvec.shape}", f"shape {space.shape}"
    if not np.all(nvec > 0):
        yield "spaces", "every n > 0", str(nvec.tolist())
    elif np.sum(nvec, dtype=float) > ELEMENTS_MAX:
        yield "spaces", f"at most {ELEMENTS_MAX} choices", str(int(np.sum(nvec, dtype=float)))


def _faults_of_multi_binary(space, is_action):
    if not np.all(np.asarray(space.shape) > 0):
        yield "spaces", "sizes > 0", f"shape {tuple(space.shape)}"


def _faults_of_text(space, is_action):
    if is_action:
        yield "spaces", "a space without Text", "Text"
        return
    if not 0 <= space.min_length <= space.max_length:
        yield "spaces", "0 <= min_length <= max_length", f"{space.min_length} and {space.max_length}"
    longer = [one for one in characters_of(space) if not isinstance(one, str) or len(one) != 1]
    if longer:
        yield "spaces", "a charset of single characters", repr(longer[0])


_FAULTS = {
    "Box": _faults_of_box,
    "Discrete": _faults_of_discrete,
    "MultiDiscrete": _faults_of_multi_discrete,
    "MultiBinary": _faults_of_multi_binary,
    "Text": _faults_of_text,
}


# ---- descriptions


def _bounds(values):
    """Returns bounds as JSON: one number if all are equal. Infinities, and numbers that no 32-bit float has, are None."""
    with np.errstate(over="ignore"):
        flat = np.asarray(values, np.float64).astype(np.float32).ravel()
    numbers = [float(v) if math.isfinite(v) else None for v in flat.tolist()]
    return numbers[0] if numbers and all(n == numbers[0] for n in numbers) else numbers


def describe(space, place, is_action=False):
    """Returns the description of a space. Raises SpaceFault for one that can't be used."""
    for fault in faults_of(space, is_action):
        raise SpaceFault(place, *fault)
    return _described(space)


def _described(space):
    kind = kind_of(space)
    if kind == "Box":
        shape = [int(n) for n in space.shape]
        low, high = np.asarray(space.low), np.asarray(space.high)
        if has_channels_last(space):
            shape = [shape[2], shape[0], shape[1]]
            low, high = low.transpose(2, 0, 1), high.transpose(2, 0, 1)
        return {
            "kind": "box",
            "shape": shape,
            "low": _bounds(low),
            "high": _bounds(high),
            "bytes": np.dtype(space.dtype) == np.uint8,
        }
    if kind == "Discrete":
        return {"kind": "discrete", "n": int(space.n), "start": int(getattr(space, "start", 0))}
    if kind == "MultiDiscrete":
        nvec = np.asarray(space.nvec)
        start = np.asarray(getattr(space, "start", np.zeros_like(nvec)))
        return {
            "kind": "multi_discrete",
            "n": [int(n) for n in nvec.ravel()],
            "start": [int(n) for n in start.ravel()],
        }
    if kind == "MultiBinary":
        return {"kind": "multi_binary", "n": int(np.prod(space.shape))}
    if kind == "Text":
        return {
            "kind": "text",
            "max": int(space.max_length),
            "min": int(space.min_length),
            "charset": "".join(characters_of(space)),
        }
    return {"kind": kind.lower(), "parts": [[name, _described(part)] for name, part in parts_of(space)]}


TEXT_MAX = 300  # characters of a space in a message


def text_of(described):
    """Returns a description as Gymnasium prints such a space."""
    kind = described["kind"]
    if kind == "box":
        low, high = (_bound_text(described[name], none) for name, none in (("low", "-inf"), ("high", "inf")))
        return f"Box({low}, {high}, {tuple(described['shape'])}, {'uint8' if described['bytes'] else 'float32'})"
    if kind == "discrete":
        return f"Discrete({described['n']}{_start_text(described['start'])})"
    if kind == "multi_discrete":
        return f"MultiDiscrete({described['n']}{_start_text(described['start'])})"
    if kind == "multi_binary":
        return f"MultiBinary({described['n']})"
    if kind == "text":
        return f"Text({described['min']}, {described['max']}, charset={described['charset']})"
    named = kind == "dict"
    parts = ", ".join((f"{name!r}: " if named else "") + text_of(part) for name, part in described["parts"])
    return f"{kind.capitalize()}({parts})"


def _start_text(start):
    return f", start={start}" if np.any(start) else ""


def _bound_text(bound, none):
    if isinstance(bound, list):
        return f"[{' '.join(_bound_text(each, none) for each in bound)}]"
    return none if bound is None else repr(bound)


def change_text(before, now):
    """Returns two descriptions that differ as texts. Long ones begin shortly before the place where they differ."""
    texts = text_of(before), text_of(now)
    if max(map(len, texts)) <= TEXT_MAX:
        return texts
    same = next((i for i, (a, b) in enumerate(zip(*texts)) if a != b), min(map(len, texts)))
    first = max(0, same - TEXT_MAX // 2)
    return tuple(
        ("..." if first else "") + text[first : first + TEXT_MAX] + ("..." if first + TEXT_MAX < len(text) else "")
        for text in texts
    )


# ---- numbers that a 32-bit float does not have


def too_wide(value):
    """Returns the first finite number that is too large for a 32-bit float, with its place, or None."""
    value = np.asarray(value)
    if value.dtype.kind != "f" or value.dtype.itemsize <= 4:
        return None
    outside = np.isfinite(value) & (np.abs(value) > FLOAT_MAX)
    if not np.any(outside):
        return None
    place = tuple(int(i) for i in np.argwhere(outside)[0])
    return f"{value[place]} at {list(place)}" if place else str(value[place])


def lost_digits(value):
    """Returns two numbers, as a text, that are one number to a 32-bit float: two of the array if there are such, else a
    number of it and the one that a 32-bit float makes of it. Returns None if each number is kept."""
    flat = np.asarray(value).ravel()
    large = np.unique(flat[(flat > WHOLE_MAX) | (flat < -WHOLE_MAX)])
    large = large[np.isfinite(large) & (large >= -FLOAT_MAX) & (large <= FLOAT_MAX)]
    kept = large.astype(np.float32)
    same = np.flatnonzero(kept[1:] == kept[:-1])
    if same.size:
        return f"{large[same[0]]} and {large[same[0] + 1]}"
    for number, rounded in zip(large.tolist(), kept.tolist()):
        if number != rounded:  # Python compares integers and floats exactly
            return f"{number} and {type(number)(rounded)}"
    return None


def may_be_wide(space):
    """True for a Box that may have numbers which a 32-bit float does not have, or not exactly."""
    dtype = np.dtype(space.dtype)
    if dtype.itemsize < 4 or dtype == np.float32:
        return False
    low, high = np.asarray(space.low), np.asarray(space.high)
    return bool(np.any(low < -WHOLE_MAX) or np.any(high > WHOLE_MAX))


TOLD_APART = "numbers that a 32-bit float tells apart (above 2^24 it does not have every integer)"


def real_number(value):
    """Returns a reward as a float. Raises Refused for what is no real number."""
    number = np.asarray(value)
    if number.size != 1 or number.dtype.kind not in "fiub":
        raise Refused(f"reward: expected a real number, got {value!r}")
    return float(number.reshape(()))


def flag(value, what):
    """Returns a flag as a bool. Raises Refused for what is none."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    number = np.asarray(value)
    if number.size == 1 and number.dtype.kind in "biu" and number.reshape(()) in (0, 1):
        return bool(number.reshape(()))
    raise Refused(f"{what}: expected True or False, got {value!r}")


def flat_size(space):
    """Returns the number of floats of an observation."""
    kind = kind_of(space)
    if kind in ("Box", "MultiBinary"):
        return int(np.prod(space.shape))
    if kind == "Discrete":
        return int(space.n)
    if kind == "MultiDiscrete":
        return int(np.sum(space.nvec))
    if kind == "Text":
        return int(space.max_length)
    return sum(flat_size(part) for _, part in parts_of(space))


def _require_shape(value, shape, what):
    if value.shape != shape:
        raise Refused(f"{what}: expected an array of shape {shape}, got shape {value.shape}")


class _Array:
    """Copies an array into its place in a row, which may be transposed."""

    def __init__(self, space, row, what):
        self.shape = tuple(space.shape)
        self.dtype = np.dtype(space.dtype)
        self.fits = self.dtype  # the dtype that was last found to fit
        self.what = what
        self.may_be_wide = kind_of(space) == "Box" and may_be_wide(space)
        self.tells_lost_digits = True
        if has_channels_last(space):
            height, width, channels = self.shape
            self.place = row.reshape(channels, height, width).transpose(1, 2, 0)
        else:
            self.place = row.reshape(self.shape)

    def __call__(self, value):
        if type(value) is not np.ndarray:
            value = np.asarray(value)
        if value.shape != self.shape:
            _require_shape(value, self.shape, self.what)
        if value.dtype is not self.fits:
            if not np.can_cast(value.dtype, self.dtype, "same_kind"):
                raise Refused(
                    f"{self.what}: expected dtype {self.dtype}, got dtype {value.dtype}"
                )
            self.fits = value.dtype
        if self.may_be_wide and value.size and (value.max() > WHOLE_MAX or value.min() < -WHOLE_MAX):
            self.require_fitting(value)
        self.place[...] = value

    def require_fitting(self, value):
        """Refuses numbers that no 32-bit float has, and tells those that it can't tell apart."""
        wide = too_wide(value)
        if wide:
            raise Refused(f"{self.what}: expected numbers {FLOAT_TEXT}, got {wide}")
        lost = self.tells_lost_digits and lost_digits(value)
        if lost:
            self.tells_lost_digits = False
            notices.tell(self.what, f"{self.what}: expected {TOLD_APART}, got {lost}, which are one number to it")


class _OneHot:
    """Writes an integer as a row of zeros and a one."""

    def __init__(self, space, row, what):
        self.row, self.what = row, what
        self.n, self.start = int(space.n), int(getattr(space, "start", 0))

    def __call__(self, value):
        index = int(value) - self.start
        if not 0 <= index < self.n or index + self.start != value:
            last = self.start + self.n - 1
            raise Refused(
                f"{self.what}: expected an integer from {self.start} to {last}, got {value!r}"
            )
        self.row[:] = 0
        self.row[index] = 1


class _OneHots:
    """Writes several integers as one-hot rows."""

    def __init__(self, space, row, what):
        nvec = np.asarray(space.nvec)
        self.shape, self.row, self.what = nvec.shape, row, what
        self.n = nvec.ravel().astype(np.int64)
        self.start = np.asarray(getattr(space, "start", np.zeros_like(nvec))).ravel()
        self.first = np.concatenate([[0], np.cumsum(self.n)[:-1]])

    def __call__(self, value):
        value = np.asarray(value)
        _require_shape(value, self.shape, self.what)
        index = value.ravel() - self.start
        if np.any(index < 0) or np.any(index >= self.n):
            raise Refused(f"{self.what}: expected integers of the space, got {value!r}")
        self.row[:] = 0
        self.row[self.first + index.astype(np.int64)] = 1


class _Text:
    """Writes a text as the indices of its characters, padded with the number of characters."""

    def __init__(self, space, row, what):
        self.row, self.what = row, what
        self.index = {c: i for i, c in enumerate(characters_of(space))}

    def __call__(self, value):
        if not isinstance(value, str) or len(value) > len(self.row):
            raise Refused(
                f"{self.what}: expected a text of at most {len(self.row)} characters, got {value!r}"
            )
        unknown = set(value) - set(self.index)
        if unknown:
            raise Refused(f"{self.what}: expected characters of the space, got {sorted(unknown)}")
        self.row[:] = len(self.index)
        self.row[: len(value)] = [self.index[c] for c in value]


class _Named:
    """Writes the values of a dictionary."""

    def __init__(self, parts, what):
        self.parts, self.what = parts, what

    def __call__(self, value):
        try:
            for name, write in self.parts:
                write(value[name])
        except (KeyError, TypeError, IndexError) as error:
            if isinstance(value, dict) and all(name in value for name, _ in self.parts):
                raise
            names = [name for name, _ in self.parts]
            got = sorted(value) if isinstance(value, dict) else type(value).__name__
            raise Refused(f"{self.what}: expected the keys {names}, got {got}") from error


class _Ordered:
    """Writes the values of a tuple."""

    def __init__(self, parts, what):
        self.parts, self.what = parts, what

    def __call__(self, value):
        if not isinstance(value, (tuple, list)) or len(value) != len(self.parts):
            raise Refused(f"{self.what}: expected {len(self.parts)} values, got {value!r}")
        for write, part in zip(self.parts, value):
            write(part)


def writer_of(space, row, what="observation"):
    """Returns a function that writes values of the space into `row`, [flat_size(space)]."""
    kind = kind_of(space)
    if kind in ("Box", "MultiBinary"):
        return _Array(space, row, what)
    if kind in ("Dict", "Tuple"):
        parts, first = [], 0
        for name, part in parts_of(space):
            size = flat_size(part)
            parts.append((name, writer_of(part, row[first : first + size], f"{what}: {name}")))
            first += size
        return _Named(parts, what) if kind == "Dict" else _Ordered([w for _, w in parts], what)
    return {"Discrete": _OneHot, "MultiDiscrete": _OneHots, "Text": _Text}[kind](space, row, what)


def action_sizes(space):
    """Returns the numbers of integers and of floats of an action, whose space was described."""
    kind = kind_of(space)
    if kind == "Discrete":
        return 1, 0
    if kind == "MultiDiscrete":
        return int(np.asarray(space.nvec).size), 0
    if kind == "MultiBinary":
        return int(np.prod(space.shape)), 0
    if kind == "Box":
        return 0, int(np.prod(space.shape))
    sizes = [action_sizes(part) for _, part in parts_of(space)]
    return sum(s[0] for s in sizes), sum(s[1] for s in sizes)


def reader_of(space, integers, floats):
    """Returns a function that makes the action of a row of integers and a row of floats."""
    kind = kind_of(space)
    if kind == "Discrete":
        return lambda: integers[0]
    if kind in ("MultiDiscrete", "MultiBinary"):
        shape = np.asarray(space.nvec).shape if kind == "MultiDiscrete" else tuple(space.shape)
        dtype = np.dtype(getattr(space, "dtype", np.int64) or np.int64)
        return lambda: integers.reshape(shape).astype(dtype)
    if kind == "Box":
        shape, dtype = tuple(space.shape), np.dtype(space.dtype)
        if dtype.kind in "iu":  # a Box of whole numbers
            return lambda: np.rint(floats).astype(dtype).reshape(shape)
        return lambda: floats.astype(dtype).reshape(shape)
    readers, i, f = [], 0, 0
    for name, part in parts_of(space):
        di, df = action_sizes(part)
        readers.append((name, reader_of(part, integers[i : i + di], floats[f : f + df])))
        i, f = i + di, f + df
    if kind == "Dict":
        return lambda: {name: read() for name, read in readers}
    return lambda: tuple(read() for _, read in readers)
