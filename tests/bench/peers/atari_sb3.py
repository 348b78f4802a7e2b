"""Stable-Baselines3's side of `./dev compare-atari`: atari_sb3.py JOB, a JSON object, or
atari_sb3.py --emulator JOB

JOB has `algorithm`, `seed`, `fewest`, `steps`, `n_envs`, `env_options` and `settings`. It trains for `fewest` steps, and
then up to `steps`, on one thread. `train_cpu_s` is the CPU time, user and system, of the steps after the fewest.
With `--emulator` JOB has `steps` and `env_options`: it steps the same environment with random actions, without a network. Both close with one JSON object.
Run by atari.py in a virtual environment of its own.
"""
import json
import sys
import time

import ale_py
import gymnasium

ENVIRONMENT = "ALE/Pong-v5"
FRAMES = 4


def make(env_options):
    """The environment as troupe makes it: AtariPreprocessing with its defaults, four frames, clipped rewards."""
    gymnasium.register_envs(ale_py)
    env = gymnasium.make(ENVIRONMENT, **env_options)
    env = gymnasium.wrappers.AtariPreprocessing(env)
    env = gymnasium.wrappers.ClipReward(env, -1, 1)
    return gymnasium.wrappers.FrameStackObservation(env, FRAMES)


def emulate(steps, env_options):
    env = make(env_options)
    env.reset(seed=1)
    env.action_space.seed(1)
    began = time.process_time()
    for _ in range(steps):
        _, _, terminated, truncated, _ = env.step(env.action_space.sample())
        if terminated or truncated:
            env.reset()
    return {"steps": steps, "cpu_s": time.process_time() - began}


def settings_of(job):
    settings = dict(job["settings"])
    for name in settings.pop("linear", []):
        start = settings[name]
        settings[name] = lambda remaining, start=start: remaining * start
    return settings


def train(job):
    import stable_baselines3
    import torch
    from stable_baselines3.common.vec_env import DummyVecEnv

    torch.set_num_threads(1)
    envs = DummyVecEnv([lambda: make(job["env_options"])] * job["n_envs"])
    algorithm = {"dqn": stable_baselines3.DQN, "ppo": stable_baselines3.PPO}[job["algorithm"]]
    model = algorithm("CnnPolicy", envs, seed=job["seed"], device="cpu", **settings_of(job))
    model.learn(total_timesteps=job["fewest"])
    first, began = model.num_timesteps, time.process_time()
    model.learn(total_timesteps=job["steps"] - first, reset_num_timesteps=False)
    return {"steps": model.num_timesteps - first, "train_cpu_s": time.process_time() - began,
            "version": f"Stable-Baselines3 {stable_baselines3.__version__}, torch {torch.__version__}"}


if __name__ == "__main__":
    print(json.dumps(emulate(**json.loads(sys.argv[2])) if sys.argv[1] == "--emulator" else train(json.loads(sys.argv[1]))))
