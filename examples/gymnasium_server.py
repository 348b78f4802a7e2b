"""Serves any environment of Gymnasium to OpenEnv clients, with the real OpenEnv package.

    pip install openenv gymnasium
    python3 examples/gymnasium_server.py CartPole-v1 [--port 8000] [--sessions 64]

ID is an id of Gymnasium, or MODULE:ID, which imports the module first. Each session has an environment of its own. The
messages are those of `troupe serve-env`: observations are a flat list of numbers, "obs", as gymnasium.spaces.flatten makes
them, beside "terminated" and "truncated"; actions are {"action": number or list}. /schema says how many there are, and
their bounds. It serves until it is stopped. docs/guides/gymnasium.md shows how Troupe trains on it.
"""
import argparse
import json
import socket
import sys
from typing import Any, List, Optional
from uuid import uuid4

try:
    import gymnasium
    import numpy
    import uvicorn
    from gymnasium import spaces
    from openenv.core.env_server.http_server import create_fastapi_app
    from openenv.core.env_server.interfaces import Environment
    from openenv.core.env_server.types import Action, Observation, State
    from pydantic import Field, create_model
except ImportError as error:
    sys.exit(f"gymnasium_server: {error}; `pip install openenv gymnasium` installs what it needs")


def integer(first, last):
    return {"type": "integer", "minimum": int(first), "maximum": int(last)}


def number(low, high):
    bounds = {"minimum": float(low), "maximum": float(high)}
    return {"type": "number", **{name: bound for name, bound in bounds.items() if numpy.isfinite(bound)}}


def list_of(kind, parts):
    """The type and the field of a list of numbers with a JSON Schema each."""
    return List[kind], Field(..., min_length=len(parts), max_length=len(parts), json_schema_extra={"prefixItems": parts})


def action_field(space):
    """The type and the field of the action. Raises ValueError for a space that has no list of numbers."""
    if isinstance(space, spaces.Discrete):
        return int, Field(..., ge=int(space.start), le=int(space.start + space.n - 1))
    if isinstance(space, spaces.MultiDiscrete):
        sizes, starts = space.nvec.ravel(), space.start.ravel()
        return list_of(int, [integer(start, start + size - 1) for start, size in zip(starts, sizes)])
    if isinstance(space, spaces.MultiBinary):
        return list_of(int, [integer(0, 1)] * int(numpy.prod(space.shape)))
    if isinstance(space, spaces.Box):
        return list_of(float, [number(low, high) for low, high in zip(space.low.ravel(), space.high.ravel())])
    raise ValueError(f"expected actions that are Discrete, MultiDiscrete, MultiBinary or Box, got {space}")


def to_action(space, sent):
    return sent if isinstance(space, spaces.Discrete) else numpy.asarray(sent, space.dtype).reshape(space.shape)


def shown_space(space, key):
    """The space that is shown: the part `key` of a dictionary, where one is named."""
    if key is None:
        return space
    if not isinstance(space, spaces.Dict) or key not in space.spaces:
        raise ValueError(f"--observation: expected a part of the observation, got {key!r}; the observation is {space}")
    return space[key]


def flat_bounds(space):
    """The flattened space, [D]. Raises ValueError for a space that has none of a fixed size."""
    try:
        flat = spaces.flatten_space(space)
    except NotImplementedError:
        flat = None
    if not isinstance(flat, spaces.Box):
        raise ValueError(f"expected an observation that is a list of numbers of a fixed size, got {space}; "
                         "of a dictionary, --observation KEY shows one part")
    return flat


def describe(make, key):
    """The classes of the environment, of its actions and of its observations."""
    env = make()
    actions = env.action_space
    shown = shown_space(env.observation_space, key)
    flat = flat_bounds(shown)
    env.close()
    action = create_model("GymnasiumAction", __base__=Action, action=action_field(actions))
    parts = [number(low, high) for low, high in zip(flat.low.ravel(), flat.high.ravel())]
    observation = create_model("GymnasiumObservation", __base__=Observation, obs=list_of(float, parts),
                               terminated=(bool, False), truncated=(bool, False))

    class GymnasiumEnvironment(Environment):
        SUPPORTS_CONCURRENT_SESSIONS = True

        def __init__(self):
            super().__init__()
            self._env = make()
            self._state = State(episode_id=str(uuid4()), step_count=0)

        def reset(self, seed: Optional[int] = None, episode_id: Optional[str] = None, **options: Any):
            self._state = State(episode_id=episode_id or str(uuid4()), step_count=0)
            seen, _ = self._env.reset(seed=seed, options=options or None)
            return observation(obs=self._flat(seen))

        def step(self, taken: action, timeout_s: Optional[float] = None, **_: Any):
            seen, reward, terminated, truncated, _ = self._env.step(to_action(actions, taken.action))
            self._state.step_count += 1
            return observation(obs=self._flat(seen), terminated=bool(terminated), truncated=bool(truncated),
                               reward=float(reward), done=bool(terminated or truncated))

        @property
        def state(self) -> State:
            return self._state

        def close(self):
            self._env.close()

        def _flat(self, seen):
            part = seen if key is None else seen[key]
            return numpy.asarray(spaces.flatten(shown, part), numpy.float32).ravel().tolist()

    return GymnasiumEnvironment, action, observation


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("id", help="CartPole-v1, or MODULE:ID: minigrid:MiniGrid-Empty-5x5-v0")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen at; 0.0.0.0 means every interface")
    parser.add_argument("--port", type=int, default=8000, help="0 means any free one")
    parser.add_argument("--sessions", type=int, default=64, help="the largest number of clients at the same time")
    parser.add_argument("--observation", metavar="KEY", help="of a dictionary, the part that is shown")
    parser.add_argument("--arguments", type=json.loads, default={}, metavar="JSON",
                        help="""arguments of gymnasium.make: '{"is_slippery": false}'""")
    return parser.parse_args()


def main():
    options = read_options()
    try:
        served = describe(lambda: gymnasium.make(options.id, **options.arguments), options.observation)
    except (gymnasium.error.Error, ImportError, TypeError, ValueError) as error:
        sys.exit(f"gymnasium_server: {options.id}: {error}")
    try:
        listener = socket.create_server((options.host, options.port))
    except OSError as error:
        sys.exit(f"gymnasium_server: {options.host}:{options.port}: {error.strerror}")
    app = create_fastapi_app(*served, max_concurrent_envs=options.sessions)
    host, port = listener.getsockname()[:2]
    print(f"serving {options.id} at http://{host}:{port}, at most {options.sessions} sessions", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])


if __name__ == "__main__":
    main()
