"""A server made with the real OpenEnv package whose observations are numbers and a picture in a dictionary, and whose
actions are a named direction and a speed.

python3 rover_server.py --port 8000 [--sessions 64]
"""
import random
from enum import Enum
from typing import Any, Dict, List, Optional
from uuid import uuid4

from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State
from pydantic import BaseModel, Field

from serving import read_options, serve

SIDE = 40
STEPS = 20


class Direction(str, Enum):
    left = "left"
    right = "right"
    up = "up"
    down = "down"


class RoverAction(Action):
    direction: Direction
    speed: float = Field(..., ge=0, le=1)
    comment: str = ""


class Position(BaseModel):
    x: float
    y: float


class RoverObservation(Observation):
    position: Position
    battery: float = 1.0
    camera: List[List[List[int]]] = Field(default_factory=list)
    message: str = ""
    last_direction: Optional[str] = None


MOVES: Dict[str, Any] = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}


class RoverEnvironment(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        super().__init__()
        self._random = random.Random()
        self._state = State(episode_id=str(uuid4()), step_count=0)
        self._at = [SIDE / 2, SIDE / 2]

    def reset(self, seed: Optional[int] = None, episode_id: Optional[str] = None, **kwargs: Any):
        if seed is not None:
            self._random.seed(seed)
        self._state = State(episode_id=episode_id or str(uuid4()), step_count=0)
        self._at = [self._random.uniform(10, SIDE - 10), self._random.uniform(10, SIDE - 10)]
        return self._observe(None, None, False)

    def step(self, action: RoverAction, timeout_s: Optional[float] = None, **kwargs: Any):
        self._state.step_count += 1
        for axis in (0, 1):
            self._at[axis] += 2 * action.speed * MOVES[action.direction.value][axis]
            self._at[axis] = min(max(self._at[axis], 0), SIDE - 1)
        return self._observe(action.direction.value, self._at[0] / SIDE, self._state.step_count >= STEPS)

    @property
    def state(self) -> State:
        return self._state

    def _observe(self, direction, reward, done):
        camera = [[[0, 0, 0] for _ in range(SIDE)] for _ in range(SIDE)]
        camera[int(self._at[1])][int(self._at[0])] = [255, 128, 0]
        return RoverObservation(position=Position(x=self._at[0], y=self._at[1]), camera=camera,
                                battery=1 - self._state.step_count / STEPS, message="driving",
                                last_direction=direction, reward=reward, done=done)


if __name__ == "__main__":
    serve(RoverEnvironment, RoverAction, RoverObservation, read_options())
