"""A server made with the real OpenEnv package: CartPole-v1, with the messages of `troupe serve-env`.

python3 cartpole_server.py --port 8000 [--sessions 64]
"""
import math
import random
from typing import Any, List, Optional
from uuid import uuid4

from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State
from pydantic import Field

from serving import read_options, serve

# Barto, Sutton and Anderson 1983, as Gymnasium has it.
GRAVITY, MASS, POLE_MASS, HALF_LENGTH, FORCE, SECONDS = 9.8, 1.1, 0.1, 0.5, 10.0, 0.02
STEPS_MAX = 500


class CartPoleAction(Action):
    action: int = Field(..., ge=0, le=1)


class CartPoleObservation(Observation):
    obs: List[float] = Field(default_factory=list)
    terminated: bool = False
    truncated: bool = False


class CartPoleEnvironment(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        super().__init__()
        self._random = random.Random()
        self._state = State(episode_id=str(uuid4()), step_count=0)
        self._now = [0.0] * 4

    def reset(self, seed: Optional[int] = None, episode_id: Optional[str] = None, **kwargs: Any):
        if seed is not None:
            self._random.seed(seed)
        self._state = State(episode_id=episode_id or str(uuid4()), step_count=0)
        self._now = [self._random.uniform(-0.05, 0.05) for _ in range(4)]
        return CartPoleObservation(obs=self._now)

    def step(self, action: CartPoleAction, timeout_s: Optional[float] = None, **kwargs: Any):
        x, speed, angle, turn = self._now
        force = FORCE if action.action == 1 else -FORCE
        push = (force + POLE_MASS * HALF_LENGTH * turn * turn * math.sin(angle)) / MASS
        turning = (GRAVITY * math.sin(angle) - math.cos(angle) * push) / (
            HALF_LENGTH * (4.0 / 3.0 - POLE_MASS * math.cos(angle) ** 2 / MASS))
        speeding = push - POLE_MASS * HALF_LENGTH * turning * math.cos(angle) / MASS
        self._now = [x + SECONDS * speed, speed + SECONDS * speeding,
                     angle + SECONDS * turn, turn + SECONDS * turning]
        self._state.step_count += 1
        terminated = abs(self._now[0]) > 2.4 or abs(self._now[2]) > 12 * math.pi / 180
        truncated = self._state.step_count >= STEPS_MAX
        return CartPoleObservation(obs=self._now, terminated=terminated, truncated=truncated,
                                   reward=1.0, done=terminated or truncated)

    @property
    def state(self) -> State:
        return self._state


if __name__ == "__main__":
    serve(CartPoleEnvironment, CartPoleAction, CartPoleObservation, read_options())
