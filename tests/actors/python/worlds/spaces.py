"""The spaces of the test worlds, which have no Gymnasium: classes of the same names."""

import numpy as np


class Box:
    def __init__(self, low, high, shape, dtype=np.float32):
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)
        self.low = np.full(self.shape, low, dtype)
        self.high = np.full(self.shape, high, dtype)


class Discrete:
    def __init__(self, n, start=0):
        self.n, self.start = n, start


class MultiDiscrete:
    def __init__(self, nvec, start=None):
        self.nvec = np.asarray(nvec)
        self.start = np.zeros_like(self.nvec) if start is None else np.asarray(start)
        self.dtype = np.dtype(np.int64)


class MultiBinary:
    def __init__(self, n):
        self.n, self.shape, self.dtype = n, (n,), np.dtype(np.int8)


class Text:
    def __init__(self, max_length, charset):
        self.max_length, self.min_length = max_length, 0
        self.character_list = tuple(sorted(charset))


class Dict:
    def __init__(self, **spaces):
        self.spaces = spaces


class Tuple:
    def __init__(self, *spaces):
        self.spaces = spaces


class Sequence:
    """Another one, whose values differ in length."""


class OneOf:
    """Another one, whose values are of one of several spaces."""


class Graph:
    """A kind of space that Troupe does not know."""
