"""A server made with the real OpenEnv package over the real OpenSpiel: one player against the
game's dealer, or against an opponent that plays at random. Its messages are those of OpenEnv's own
openspiel environment; unlike that one it honours the seed.

python3 openspiel_server.py --port 8000 [--game blackjack] [--sessions 64]
"""
import random
from typing import Any, Dict, List, Optional
from uuid import uuid4

import pyspiel
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State
from pydantic import Field

from serving import read_options, serve

PLAYER = 0


class OpenSpielAction(Action):
    action_id: int
    game_name: str = "catch"
    game_params: Dict[str, Any] = Field(default_factory=dict)


class OpenSpielObservation(Observation):
    info_state: List[float] = Field(default_factory=list)
    legal_actions: List[int] = Field(default_factory=list)
    game_phase: str = "playing"
    current_player_id: int = 0
    opponent_last_action: Optional[int] = None


class OpenSpielState(State):
    game_name: str = ""


class OpenSpielEnvironment(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True
    game = None  # Set by main.

    def __init__(self):
        super().__init__()
        self._random = random.Random()
        self._count(None)
        self._begin()

    def reset(self, seed: Optional[int] = None, episode_id: Optional[str] = None, **kwargs: Any):
        if seed is not None:
            self._random.seed(seed)
        self._count(episode_id)
        self._begin()
        return self._observe("initial", None)

    def step(self, action: OpenSpielAction, timeout_s: Optional[float] = None, **kwargs: Any):
        if action.action_id not in self._play.legal_actions(PLAYER):
            raise ValueError(f"action_id: expected one of {self._play.legal_actions(PLAYER)}, "
                             f"got {action.action_id}")
        before = self._play.returns()[PLAYER]
        self._play.apply_action(action.action_id)
        self._state.step_count += 1
        self._advance()
        return self._observe("playing", self._play.returns()[PLAYER] - before)

    @property
    def state(self) -> State:
        return self._state

    def _count(self, episode_id):
        self._state = OpenSpielState(episode_id=episode_id or str(uuid4()), step_count=0,
                                     game_name=self.game.get_type().short_name)

    def _begin(self):
        self._play = self.game.new_initial_state()
        self._opponent_last = None
        self._advance()

    def _advance(self):
        """Chance and the opponent play until it is the player's turn, or the end."""
        while not self._play.is_terminal() and self._play.current_player() != PLAYER:
            if self._play.is_chance_node():
                actions, weights = zip(*self._play.chance_outcomes())
                self._play.apply_action(self._random.choices(actions, weights)[0])
            else:
                self._opponent_last = self._random.choice(self._play.legal_actions())
                self._play.apply_action(self._opponent_last)

    def _observe(self, phase, reward):
        ended = self._play.is_terminal()
        kind = self.game.get_type()
        tensor = (self._play.information_state_tensor(PLAYER)
                  if kind.provides_information_state_tensor
                  else self._play.observation_tensor(PLAYER))
        return OpenSpielObservation(
            info_state=tensor, legal_actions=[] if ended else self._play.legal_actions(PLAYER),
            game_phase="terminal" if ended else phase,
            current_player_id=self._play.current_player(),
            opponent_last_action=self._opponent_last, reward=reward, done=ended)


def main():
    options = read_options(game="blackjack")
    OpenSpielEnvironment.game = pyspiel.load_game(options.game)
    serve(OpenSpielEnvironment, OpenSpielAction, OpenSpielObservation, options)


if __name__ == "__main__":
    main()
