"""A server made with the real OpenEnv package: it echoes messages, and misbehaves when told to.

python3 echo_server.py --port 8000 [--host 127.0.0.1] [--sessions 64]
"""
import time
from typing import Any, Optional
from uuid import uuid4

from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State
from pydantic import Field

from serving import read_options, serve


class EchoAction(Action):
    message: str = Field(..., description="What to echo")
    delay_ms: int = Field(default=0, ge=0, description="How long the step takes")


class EchoObservation(Observation):
    echoed_message: str = ""
    message_length: int = 0


class EchoEnvironment(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        super().__init__()
        self._state = State(episode_id=str(uuid4()), step_count=0)

    def reset(self, seed: Optional[int] = None, episode_id: Optional[str] = None, **kwargs: Any):
        self._state = State(episode_id=episode_id or str(uuid4()), step_count=0)
        return EchoObservation(echoed_message=f"ready, seed {seed}", reward=0.0)

    def step(self, action: EchoAction, timeout_s: Optional[float] = None, **kwargs: Any):
        if action.message == "raise":
            raise RuntimeError("the echo was told to raise")
        time.sleep(action.delay_ms / 1000)
        self._state.step_count += 1
        reward = float("nan") if action.message == "nan" else 0.1 * len(action.message)
        return EchoObservation(echoed_message=action.message, message_length=len(action.message),
                               reward=reward, done=action.message == "bye",
                               metadata={"step": self._state.step_count})

    @property
    def state(self) -> State:
        return self._state


if __name__ == "__main__":
    serve(EchoEnvironment, EchoAction, EchoObservation, read_options())
