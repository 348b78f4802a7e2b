"""Stable-Baselines3's side of `./dev bench peers`: sb3.py JOB SEED

Trains once on one thread, evaluates over 100 deterministic episodes, and closes with one JSON object.
`train_cpu_s` is the process's CPU time, user and system, between the begin and the end of learn():
imports, the model's construction and the evaluation are not in it. Run by peers.py in its own
virtual environment.
"""
import json
import sys
import time

import gymnasium
import numpy
import stable_baselines3
import torch

# Settings of RL-tools' Pendulum examples, in Stable-Baselines3's words.
SMALL = {"policy_kwargs": {"net_arch": [64, 64]}, "batch_size": 100, "learning_rate": 1e-3}


def exploration_noise():
    return stable_baselines3.common.noise.NormalActionNoise(numpy.zeros(1), 0.1 * numpy.ones(1))


# The algorithm, the environment, environment steps, and what is not Stable-Baselines3's default.
JOBS = {
    "ppo_cartpole": (stable_baselines3.PPO, "CartPole-v1", 100_352, lambda: {}),
    "dqn_cartpole": (stable_baselines3.DQN, "CartPole-v1", 50_000, lambda: {}),
    "sac_pendulum": (stable_baselines3.SAC, "Pendulum-v1", 5_000, lambda: {}),
    "td3_pendulum": (stable_baselines3.TD3, "Pendulum-v1", 5_000, lambda: {}),
    "sac_pendulum_64": (stable_baselines3.SAC, "Pendulum-v1", 5_000, lambda: dict(SMALL)),
    "td3_pendulum_64": (stable_baselines3.TD3, "Pendulum-v1", 5_000,
                        lambda: dict(SMALL, action_noise=exploration_noise())),
}


def main():
    job, seed = sys.argv[1], int(sys.argv[2])
    algorithm, environment, steps, settings = JOBS[job]
    torch.set_num_threads(1)
    model = algorithm("MlpPolicy", gymnasium.make(environment), seed=seed, device="cpu", **settings())
    before = time.process_time()
    model.learn(total_timesteps=steps)
    spent = time.process_time() - before
    examination = stable_baselines3.common.monitor.Monitor(gymnasium.make(environment))
    examination.reset(seed=seed + 1000)
    mean, std = stable_baselines3.common.evaluation.evaluate_policy(
        model, examination, n_eval_episodes=100, deterministic=True)
    print(json.dumps({"steps": model.num_timesteps, "train_cpu_s": spent, "eval_mean": float(mean),
                      "eval_std": float(std),
                      "version": f"Stable-Baselines3 {stable_baselines3.__version__}, "
                                 f"torch {torch.__version__}"}))


main()
