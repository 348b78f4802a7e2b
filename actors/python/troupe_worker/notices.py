"""What is told about environments once: sentences that go to the log of the run.

A worker has one list of them, because a notice can come from any part of an observation, and each answer
to Troupe takes along what has been told since the last one.
"""

_waiting = []
_known = set()


def tell(about, text):
    """Tells a sentence. `about` is what it is about: another sentence about the same is not told."""
    if about not in _known:
        _known.add(about)
        _waiting.append({"about": about, "text": text})


def take():
    """Returns what was told since the last time."""
    if not _waiting:
        return []
    taken = _waiting[:]
    _waiting.clear()
    return taken
