"""The messages between a worker and Troupe, and the texts of errors."""

import json
import os
import socket
import struct
import sys
import traceback

SOCKET = 3  # the inherited socket
MEMORY = 4  # the inherited shared memory
BYTES_MAX = 64 << 20  # of one message
TEXT_MAX = 8192  # of the text of an error

_HEADER = struct.Struct("<cI")  # the kind of the message, and the bytes that follow

_STEP, _STEPPED = _HEADER.pack(b"S", 0), _HEADER.pack(b"R", 0)

# What `pip install` calls a module that has another name, or that comes as a part of a larger package.
_PACKAGES = {
    "ale_py": "gymnasium[atari]",
    "Box2D": "gymnasium[box2d]",
    "cv2": "opencv-python",
    "gym": "gymnasium",
    "jax": "gymnasium[jax]",
    "multi_agent_ale_py": "pettingzoo[atari]",
    "mujoco": "gymnasium[mujoco]",
    "OpenGL": "PyOpenGL",
    "PIL": "pillow",
    "pygame": "pygame-ce",
    "pyspiel": "open_spiel",
    "rlcard": "pettingzoo[classic]",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}


def _encoded(value):
    """Returns JSON in UTF-8. A text with half a character, as undecodable names of files have it, is no UTF-8."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


class Closed(Exception):
    """Troupe has closed the socket."""


class Refused(Exception):
    """A fault that is told without a traceback."""


class Channel:
    """Reads commands and writes answers. A message is a kind, a length and JSON."""

    def __init__(self):
        self._socket = socket.socket(fileno=SOCKET)
        self._bytes = b""
        self.stays_in_fork = False  # whether the next forked process takes the channel over
        os.set_inheritable(SOCKET, False)
        os.set_inheritable(MEMORY, False)
        # A process that an environment forks must not answer in the worker's place.
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self):
        if self.stays_in_fork:
            self.stays_in_fork = False
            return
        for number in (SOCKET, MEMORY):
            try:
                os.close(number)
            except OSError:
                pass

    def read(self):
        """Returns the kind of the next message and its JSON text."""
        if not self._bytes:
            self._receive()
            if self._bytes == _STEP:  # by far the most frequent message
                self._bytes = b""
                return b"S", b""
        while len(self._bytes) < _HEADER.size:
            self._receive()
        kind, length = _HEADER.unpack_from(self._bytes)
        end = _HEADER.size + length
        while len(self._bytes) < end:
            self._receive()
        text = self._bytes[_HEADER.size : end]
        self._bytes = self._bytes[end:]
        return kind, text

    def _receive(self):
        try:
            part = self._socket.recv(8192)
        except OSError:
            raise Closed from None
        if not part:
            raise Closed
        self._bytes += part

    def answer(self, value):
        """Answers a command."""
        self._send(b"J", _encoded(value))

    def stepped(self, events):
        """Answers a step. `events` has an entry for each ended or failed episode."""
        if events:
            self._send(b"R", _encoded(events))
        else:
            self._send_bytes(_STEPPED)

    def _send(self, kind, text):
        self._send_bytes(_HEADER.pack(kind, len(text)) + text)

    def _send_bytes(self, message):
        try:
            self._socket.sendall(message)
        except OSError:
            raise Closed from None


def install_command(package):
    return f"{sys.executable} -m pip install '{_PACKAGES.get(package, package)}'"


def _shortened(text):
    return text if len(text) <= TEXT_MAX else text[: TEXT_MAX // 2] + "\n...\n" + text[-TEXT_MAX // 2 :]


def kind_of_result(value):
    """Says what a function has returned in place of a tuple of values."""
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    return "None" if value is None else f"a value of type {type(value).__name__}"


def failure_of(error):
    """Returns the text of an exception: its traceback without the worker's own frames."""
    if isinstance(error, Refused):
        return _shortened(str(error))
    if isinstance(error, SystemExit):
        code = error.code if isinstance(error.code, (int, str)) else type(error.code).__name__
        return f"it called sys.exit({code!r})"
    own = os.path.dirname(__file__)
    trace = traceback.TracebackException(type(error), error, error.__traceback__)
    part = trace
    while part is not None:  # causes and contexts have the same frames
        frames = [f for f in part.stack if os.path.dirname(f.filename) != own]
        part.stack = traceback.StackSummary.from_list(
            [f for f in frames if not f.filename.startswith("<frozen importlib")]
        )
        part = part.__cause__ or part.__context__
    text = _shortened("".join(trace.format()).strip())
    missing = getattr(error, "package", None) or missing_module(error)
    if missing:
        text += f"\nIf the package is missing, install it: {install_command(missing)}"
    if lacks_display(error):
        text += f"\n{DISPLAY_HINT}"
    return text


# Packages that draw, whose errors tell that this machine has nothing to draw on.
_DRAWING = ("OpenGL", "glfw", "mujoco", "pyglet")
DISPLAY_HINT = (
    "If this machine has no display, pictures need MUJOCO_GL=egl or MUJOCO_GL=osmesa for MuJoCo, and xvfb-run for others."
)


def lacks_display(error):
    """Whether a package that draws has raised the error, which tells of displays or OpenGL."""
    package = type(error).__module__.partition(".")[0]
    words = f"{type(error).__name__} {error}".lower()
    return package in _DRAWING and any(word in words for word in ("display", "opengl", "context", "egl", "glx"))


def missing_module(error):
    """Returns the first name of the module whose absence the error or one of its causes tells, or None."""
    for _ in range(10):
        if isinstance(error, ModuleNotFoundError) and error.name:
            return error.name.split(".")[0]
        error = None if error is None else error.__cause__ or error.__context__
    return None
