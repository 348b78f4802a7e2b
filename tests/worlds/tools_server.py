"""A server made with the real OpenEnv package whose actions are calls of MCP tools, as those of OpenEnv's own echo
environment.

python3 tools_server.py --port 8000 [--sessions 64]
"""
from typing import Any, Optional
from uuid import uuid4

from fastmcp import FastMCP
from openenv.core.env_server.mcp_environment import MCPEnvironment
from openenv.core.env_server.mcp_types import CallToolAction, CallToolObservation
from openenv.core.env_server.types import Action, Observation, State

from serving import read_options, serve


class ToolsEnvironment(MCPEnvironment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        tools = FastMCP("echo")

        @tools.tool
        def echo_message(message: str) -> str:
            """Echo a message back."""
            return message

        @tools.tool
        def echo_with_length(message: str, times: int = 1) -> dict:
            """Echo a message with its length."""
            return {"message": message * times, "length": len(message) * times}

        super().__init__(tools)
        self._state = State(episode_id=str(uuid4()), step_count=0)

    def reset(self, seed: Optional[int] = None, episode_id: Optional[str] = None, **kwargs: Any):
        self._state = State(episode_id=episode_id or str(uuid4()), step_count=0)
        return Observation(done=False, reward=0.0, metadata={"status": "ready"})

    def step(self, action: Action, timeout_s: Optional[float] = None, **kwargs: Any):
        self._state.step_count += 1
        return super().step(action, timeout_s=timeout_s, **kwargs)

    async def step_async(self, action: Action, timeout_s: Optional[float] = None, **kwargs: Any):
        self._state.step_count += 1
        return await super().step_async(action, timeout_s=timeout_s, **kwargs)

    def _step_impl(self, action: Action, timeout_s: Optional[float] = None, **kwargs: Any):
        return Observation(done=False, reward=0.0, metadata={"error": f"unknown action {type(action).__name__}"})

    @property
    def state(self) -> State:
        return self._state


if __name__ == "__main__":
    serve(ToolsEnvironment, CallToolAction, CallToolObservation, read_options())
