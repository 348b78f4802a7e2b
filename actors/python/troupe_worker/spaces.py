"""Gymnasium's spaces: their descriptions for Troupe, and values as rows of numbers.

A space is recognised by the name of its class, so a package with equal spaces serves as well as
Gymnasium. An observation is a row of 32-bit floats, as Gymnasium's ``flatten`` makes it: dictionaries
in the order of their keys, discrete parts one-hot. Images get their channels first. An action is a
row of integers, the discrete parts in order, and a row of floats, the parts of kind Box in order.
"""

import math

import numpy as np

from troupe_worker.channel import Refused

ELEMENTS_MAX = 1 << 26  # of a space
KINDS = ("Box", "Discrete", "MultiDiscrete", "MultiBinary", "Text", "Dict", "Tuple")


def kind_of(space):
    """Returns the name of the space's kind, or None."""
    for base in type(space).__mro__:
        if base.__name__ in KINDS:
            return base.__name__
    return None


def require_kind(space, place):
    kind = kind_of(space)
    if kind is None:
        name = type(space).__name__
        raise Refused(
            f"{place}: expected a space of kind {', '.join(KINDS)}, got {name}; a wrapper can "
            "replace it"
        )
    return kind


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
    """True for bytes 0 .. 255 of shape [height, width, channels] or [channels, height, width]."""
    return (
        len(space.shape) == 3
        and space.dtype == np.uint8
        and np.all(space.low == 0)
        and np.all(space.high == 255)
    )


def has_channels_last(space):
    """True for an image whose smallest dimension is its last, as Stable-Baselines3 decides."""
    return is_image(space) and int(np.argmin(space.shape)) == 2


def _bounds(values):
    """Returns bounds as JSON: one number if all are equal. Infinities are None."""
    flat = np.asarray(values, np.float64).astype(np.float32).ravel()
    numbers = [float(v) if math.isfinite(v) else None for v in flat.tolist()]
    return numbers[0] if numbers and all(n == numbers[0] for n in numbers) else numbers


def describe(space, place):
    """Returns the description of a space. Raises Refused for one that is not known."""
    kind = require_kind(space, place)
    if kind == "Box":
        shape = [int(n) for n in space.shape]
        low, high = np.asarray(space.low), np.asarray(space.high)
        if np.dtype(space.dtype).kind not in "fiub":
            raise Refused(f"{place}: expected a Box of numbers, got dtype {space.dtype}")
        if np.prod(shape, dtype=float) > ELEMENTS_MAX:
            raise Refused(f"{place}: expected at most {ELEMENTS_MAX} numbers, got shape {shape}")
        if np.any(np.isnan(low)) or np.any(np.isnan(high)):
            raise Refused(f"{place}: expected bounds, got NaN")
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
        n, start = int(space.n), int(getattr(space, "start", 0))
        if not 0 < n <= ELEMENTS_MAX or abs(start) > 2**53:
            raise Refused(f"{place}: expected 1 to {ELEMENTS_MAX} integers, got Discrete({n}, start={start})")
        return {"kind": "discrete", "n": n, "start": start}
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
        charset = getattr(space, "character_list", None) or sorted(space.character_set)
        return {
            "kind": "text",
            "max": int(space.max_length),
            "min": int(space.min_length),
            "charset": "".join(charset),
        }
    if kind == "Dict" and not all(isinstance(name, str) for name in space.spaces):
        raise Refused(f"{place}: expected keys that are texts, got {list(space.spaces)}")
    parts = [[name, describe(part, f"{place}: {name}")] for name, part in parts_of(space)]
    if not parts:
        raise Refused(f"{place}: expected a part of kind {', '.join(KINDS)}, got none")
    return {"kind": kind.lower(), "parts": parts}


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
        if kind_of(space) == "Box" and has_channels_last(space):
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
        self.place[...] = value


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
        characters = getattr(space, "character_list", None) or sorted(space.character_set)
        self.index = {c: i for i, c in enumerate(characters)}

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
    """Returns the numbers of integers and of floats of an action."""
    kind = kind_of(space)
    missing = left_out(space)
    if missing:
        raise Refused(f"action space: expected parts of kind {', '.join(KINDS)}, got {missing[0]}")
    if kind == "Discrete":
        return 1, 0
    if kind == "MultiDiscrete":
        return int(np.asarray(space.nvec).size), 0
    if kind == "MultiBinary":
        return int(np.prod(space.shape)), 0
    if kind == "Box":
        return 0, int(np.prod(space.shape))
    if kind == "Text":
        raise Refused("action space: expected one without Text")
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
