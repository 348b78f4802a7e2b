"""A server made with the real OpenEnv package over the real TextArena: a game of one player, or one of two players against
an opponent of OPPONENTS. Its messages are those of OpenEnv's own textarena environment. Unlike that environment, it honours
the seed, and it leaves out what the player said itself.

python3 textarena_server.py --port 8000 [--game Secretary-v0] [--sessions 64]
"""
import random
import threading
from typing import Any, Dict, List, Optional
from uuid import uuid4

import textarena
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State
from pydantic import BaseModel, Field

from serving import read_options, serve

PLAYER = 0
# TextArena draws from Python's own generator, which all sessions share.
DEALING = threading.Lock()


def often_rock(draw):
    """An opponent who plays rock six times in ten."""
    return draw.choices(["[rock]", "[paper]", "[scissors]"], [6, 2, 2])[0]


def often_heads(draw):
    """An opponent who plays heads seven times in ten."""
    return draw.choices(["[heads]", "[tails]"], [7, 3])[0]


# The opponents in games of two.
OPPONENTS = {"IteratedRockPaperScissors-v0": often_rock, "IteratedMatchingPennies-v0": often_heads}


class TextArenaMessage(BaseModel):
    sender_id: int
    content: str
    category: str


class TextArenaAction(Action):
    message: str


class TextArenaObservation(Observation):
    prompt: str = ""
    messages: List[TextArenaMessage] = Field(default_factory=list)
    current_player_id: int = PLAYER
    legal_players: List[int] = Field(default_factory=lambda: [PLAYER])
    info: Dict[str, Any] = Field(default_factory=dict)


class TextArenaEnvironment(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True
    game = "Secretary-v0"  # Set by main.

    def __init__(self):
        super().__init__()
        self._state = State(episode_id=str(uuid4()), step_count=0)
        self._play = textarena.make(f"{self.game}-raw")

    def reset(self, seed: Optional[int] = None, episode_id: Optional[str] = None, **kwargs: Any):
        self._state = State(episode_id=episode_id or str(uuid4()), step_count=0)
        self._opponent = random.Random(seed)
        with DEALING:
            self._play.reset(num_players=2 if self.game in OPPONENTS else 1, seed=seed)
        self._prompt = ""
        return self._observe(False)

    def step(self, action: TextArenaAction, timeout_s: Optional[float] = None, **kwargs: Any):
        ended, _ = self._play.step(action.message)
        while not ended and self._play.state.current_player_id != PLAYER:
            ended, _ = self._play.step(OPPONENTS[self.game](self._opponent))
        self._state.step_count += 1
        return self._observe(ended)

    @property
    def state(self) -> State:
        return self._state

    def _observe(self, ended):
        seen = self._play.state.observations
        said, seen[PLAYER] = seen[PLAYER], []
        messages = [TextArenaMessage(sender_id=sender, content=text, category=kind.name)
                    for sender, text, kind in said if sender != PLAYER]
        if not self._prompt:
            self._prompt = messages[0].content
        return TextArenaObservation(prompt=self._prompt, messages=messages, done=ended,
                                    reward=float(self._play.close()[0][PLAYER]) if ended else 0.0)


def main():
    options = read_options(game=TextArenaEnvironment.game)
    TextArenaEnvironment.game = options.game
    serve(TextArenaEnvironment, TextArenaAction, TextArenaObservation, options)


if __name__ == "__main__":
    main()
