"""The checks of spaces, which a Checker makes before anything is played."""

import numpy as np

from troupe_worker.spaces import KINDS_TEXT, channels_are_last, faults_of, is_image, kind_of, parts_of
from troupe_worker.values import short

NO_IMAGE = (
    "bytes with bounds 0 and 255 for an image; policy.kind=auto takes others, such as a board, as plain numbers, and "
    "policy.kind=cnn gives them convolutions"
)


def join(key, name):
    return f"{key}/{name}" if key else str(name)


class SpaceChecks:
    """Tells what is wrong with a space, or unusual about it, by the methods `unusable`, `fault`, `warn` and
    `prefer` of the Checker that derives from it."""

    def check_space(self, space, place, key=""):
        """Tells why a space can't be used, or else what is unusual about it."""
        faults = list(faults_of(space, place == "action space", key))
        for check, part, expected, got in faults:
            self.unusable(check, place, expected, got, part)
        if not faults:
            self.check_parts(space, place, key)

    def check_parts(self, space, place, key):
        kind = kind_of(space)
        check = getattr(self, "check_" + kind.lower(), None)
        if check is not None:
            check(space, place, key)
        if kind == "Dict":
            for name, part in sorted(space.spaces.items()):
                if kind_of(part) is None:
                    got = f"{type(part).__name__}, which is left out"
                    self.warn("spaces", place, KINDS_TEXT, got, key=join(key, name))
        if kind in ("Dict", "Tuple"):
            for name, part in parts_of(space):
                self.check_parts(part, place, join(key, name))

    def check_box(self, space, place, key):
        low, high, shape = np.asarray(space.low), np.asarray(space.high), tuple(space.shape)
        dtype = np.dtype(space.dtype)
        if np.any(low > high):
            at = tuple(int(i) for i in np.argwhere(low > high)[0])
            self.fault(
                "bounds", place, "low <= high", f"{low[at]} and {high[at]} at {list(at)}", key=key
            )
        elif np.any(low == high):
            self.prefer("bounds", place, "low < high", "a low bound that equals its high bound", key=key)
        unbounded = not (np.all(np.isfinite(low)) and np.all(np.isfinite(high)))
        if place == "action space":
            self.check_action_box(low, high, dtype, unbounded, key)
            return
        if unbounded:
            self.prefer("bounds", place, "finite bounds", "an infinite bound", key=key)
        if len(shape) >= 3 or (len(shape) == 2 and dtype == np.uint8):
            self.check_image(space, place, key)
        elif len(shape) != 1:
            self.prefer("shape", place, "a vector or an image", f"shape {shape}", key=key)

    def check_action_box(self, low, high, dtype, unbounded, key):
        place = "action space"
        if unbounded:
            self.fault("bounds", place, "finite bounds", "an infinite bound", key=key)
        elif low.size and not (np.all(low == -1) and np.all(high == 1)):
            self.prefer(
                "bounds",
                place,
                "bounds -1 and 1, for which policies are made (env.rescale_action=true scales them)",
                f"{short(low)} and {short(high)}",
                key=key,
            )
        if dtype != np.float32:
            self.prefer("dtype", place, "float32", str(dtype), key=key)

    def check_image(self, space, place, key):
        """Tells whether the policy takes the array for an image, where that may not be meant."""
        shape = tuple(space.shape)
        if not is_image(space):
            bounds = f"{space.dtype} of shape {shape} with bounds {short(space.low)} and {short(space.high)}"
            self.warn("image", place, NO_IMAGE, bounds, key=key)
            return
        sides = shape[-3:-1] if len(shape) > 2 and channels_are_last(shape[-3:]) else shape[-2:]
        if min(sides) < 36:
            expected = "at least 36x36 pixels for usual convolutions (policy.kind=mlp takes images of any size)"
            self.warn("image", place, expected, f"shape {shape}", key=key)

    def check_discrete(self, space, place, key):
        if getattr(space, "start", 0) != 0:
            self.prefer("start", place, "start 0, which Stable-Baselines3 needs", str(space.start), key=key)

    def check_multidiscrete(self, space, place, key):
        nvec = np.asarray(space.nvec)
        if nvec.ndim > 1:
            self.prefer("shape", place, "one dimension, which Stable-Baselines3 needs", f"shape {nvec.shape}", key=key)
        if np.any(np.asarray(getattr(space, "start", 0)) != 0):
            self.prefer("start", place, "start 0, which Stable-Baselines3 needs", short(space.start), key=key)

    def check_dict(self, space, place, key):
        if place == "action space":
            self.prefer("spaces", place, "no Dict, which Stable-Baselines3 refuses", "Dict", key=key)
        elif key:
            self.prefer("spaces", place, "one level of keys, as Stable-Baselines3 needs", "a Dict in a Dict", key=key)

    def check_tuple(self, space, place, key):
        self.prefer("spaces", place, "no Tuple, which Stable-Baselines3 refuses", "Tuple", key=key)
