"""A server made with the real OpenEnv package: any environment of Gymnasium with discrete actions, whose observation
is a box or, as MiniGrid's, a dictionary with a box named "image"; in the messages of `troupe serve-env`.

python3 gymnasium_server.py --port 8000 [--id MiniGrid-Empty-5x5-v0] [--import_also minigrid] [--sessions 64]
"""
import importlib
from typing import Any, List, Optional
from uuid import uuid4

import gymnasium
import numpy
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State
from pydantic import Field

from serving import read_options, serve


class GymnasiumAction(Action):
    action: int = Field(..., ge=0)


class GymnasiumObservation(Observation):
    obs: List[float] = Field(default_factory=list)
    terminated: bool = False
    truncated: bool = False


def flat(observation):
    """The box as numbers, not scaled."""
    if isinstance(observation, dict):
        observation = observation["image"]
    return numpy.asarray(observation, numpy.float32).ravel()


class GymnasiumEnvironment(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True
    id = None  # Set by main.

    def __init__(self):
        super().__init__()
        self._env = gymnasium.make(self.id)
        self._state = State(episode_id=str(uuid4()), step_count=0)

    def reset(self, seed: Optional[int] = None, episode_id: Optional[str] = None, **kwargs: Any):
        self._state = State(episode_id=episode_id or str(uuid4()), step_count=0)
        observation, _ = self._env.reset(seed=seed)
        return GymnasiumObservation(obs=flat(observation).tolist())

    def step(self, action: GymnasiumAction, timeout_s: Optional[float] = None, **kwargs: Any):
        observation, reward, terminated, truncated, _ = self._env.step(action.action)
        self._state.step_count += 1
        return GymnasiumObservation(obs=flat(observation).tolist(), terminated=terminated, truncated=truncated,
                                    reward=float(reward), done=terminated or truncated)

    @property
    def state(self) -> State:
        return self._state


def main():
    options = read_options(id="MiniGrid-Empty-5x5-v0", import_also="minigrid")
    importlib.import_module(options.import_also)
    GymnasiumEnvironment.id = options.id
    serve(GymnasiumEnvironment, GymnasiumAction, GymnasiumObservation, options)


if __name__ == "__main__":
    main()
