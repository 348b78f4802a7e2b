"""Plays on a Troupe server with the real OpenEnv client: play_served.py URL

1,000 steps of CartPole by one client; a seed twice, what a wrong action is told, and two sessions
that know nothing of one another.
"""
import sys

from openenv.core.generic_client import GenericEnvClient

STEPS = 1000


def play(url):
    with GenericEnvClient(base_url=url).sync() as env:
        result = env.reset(seed=7, episode_id="first")
        first = result.observation["obs"]
        assert len(first) == 4 and result.reward is None and not result.done, result
        assert env.state() == {"episode_id": "first", "step_count": 0}, env.state()
        episodes = 0
        for i in range(STEPS):
            result = env.step({"action": i % 2})
            assert result.reward == 1.0, result
            if result.done:
                assert result.observation["terminated"] or result.observation["truncated"], result
                episodes += 1
                env.reset()
        assert episodes > 10, episodes
        assert env.reset(seed=7).observation["obs"] == first
    print(f"{STEPS} steps, {episodes} episodes")


def refuse(url):
    with GenericEnvClient(base_url=url).sync() as env:
        env.reset()
        for wrong in ({"action": 7}, {"action": "left"}, {"nosuch": 1}, {}):
            try:
                env.step(wrong)
            except RuntimeError as error:
                assert "VALIDATION_ERROR" in str(error), error
            else:
                raise AssertionError(f"{wrong} was taken")
        assert env.step({"action": 1}).reward == 1.0  # the session goes on


def keep_apart(url):
    with GenericEnvClient(base_url=url).sync() as one, GenericEnvClient(base_url=url).sync() as other:
        assert one.reset(seed=1).observation == other.reset(seed=1).observation
        one.step({"action": 0})
        assert (one.state()["step_count"], other.state()["step_count"]) == (1, 0)


if __name__ == "__main__":
    for part in (play, refuse, keep_apart):
        part(sys.argv[1])
