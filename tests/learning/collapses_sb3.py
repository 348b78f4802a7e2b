"""Stable-Baselines3's side of `./dev learning collapses`: collapses_sb3.py ENVIRONMENT SEED STEPS FOLDER NORMALIZE_ADVANTAGE

Trains PPO with its defaults on what examples/gymnasium_server.py shows of the environment, by one thread, and leaves its
progress.csv in FOLDER. Closes with the final policy's mean return over 100 deterministic episodes. Run in a virtual
environment by collapses.py.
"""
import json
import sys

import gymnasium
import minigrid  # noqa: F401: it registers its environments
import numpy
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.logger import configure
from stable_baselines3.common.monitor import Monitor


class Flat(gymnasium.ObservationWrapper):
    """The image's bytes as numbers, not scaled."""

    def __init__(self, env):
        super().__init__(env)
        size = int(numpy.prod(env.observation_space["image"].shape))
        self.observation_space = gymnasium.spaces.Box(-numpy.inf, numpy.inf, (size,), numpy.float32)

    def observation(self, observation):
        return numpy.asarray(observation["image"], numpy.float32).ravel()


def main():
    environment, seed, steps, folder = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    torch.set_num_threads(1)
    model = PPO("MlpPolicy", Monitor(Flat(gymnasium.make(environment))), seed=seed, device="cpu",
                normalize_advantage=json.loads(sys.argv[5]))
    model.set_logger(configure(folder, ["csv"]))
    model.learn(steps)
    mean, _ = evaluate_policy(model, model.get_env(), n_eval_episodes=100, deterministic=True)
    print(mean)


main()
