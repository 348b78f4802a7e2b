"""What peers.py runs side by side: the pairs, what each is measured against, and the bar.

`kind` is `ratio` (our CPU time over the peer's; the bar is its upper limit) or `speedup` (the peer's over
ours, for the same number of steps; the bar is its lower limit). Both sides of a pair do the same work: the
same environment, hyperparameters, network and number of steps. `fewest` are the steps of an empty start: one
rollout, or the 100 random steps before the first update and a few.

RL-tools' Pendulum takes actions of [-1, 1] and doubles them; Gymnasium's, and so ours, takes torques of [-2, 2].
Its initial standard deviation of 2 is one of 4 here (log_std_init 1.386): with 2, one of ten seeds didn't learn.

How far a speedup can go: an update of SAC with 256-256 and batches of 256 is 16 products of 256x256 matrices, 0.54 GFLOP
of its hidden layers alone, so 4 ms at 136 GFLOP/s (one core, OpenBLAS, Intel Xeon with AVX-512). Stable-Baselines3 took
16.5 ms a step there: nobody is 15 times faster with its defaults on that core. Hence the pairs with 64-64 beside them.
"""
import collections

Pair = collections.namedtuple("Pair", "name key kind bar algorithm config fewest peer job work")

PAIRS = (
    Pair("ppo_pendulum", "ppo_pendulum_vs_rltools", "ratio", 1.2, "ppo", "ppo_pendulum.json", 1, "rl_tools", "ppo",
         "PPO, Pendulum, RL-tools' settings, 307,200 steps"),
    Pair("sac_pendulum", "sac_pendulum_vs_rltools", "ratio", 1.2, "sac", "sac_pendulum.json", 110, "rl_tools", "sac",
         "SAC, Pendulum, RL-tools' settings (64-64, batch 100), 10,000 steps"),
    Pair("td3_pendulum", "td3_pendulum_vs_rltools", "ratio", 1.2, "td3", "td3_pendulum.json", 110, "rl_tools", "td3",
         "TD3, Pendulum, RL-tools' settings (64-64, batch 100), 20,000 steps"),
    Pair("ppo_cartpole", "ppo_cartpole_speedup_vs_sb3", "speedup", 30, "ppo", "ppo_cartpole_sb3.json", 1, "sb3",
         "ppo_cartpole", "PPO, CartPole, Stable-Baselines3's defaults, 100,352 steps"),
    Pair("dqn_cartpole", "dqn_cartpole_speedup_vs_sb3", "speedup", 15, "dqn", "dqn_cartpole_sb3.json", 110, "sb3",
         "dqn_cartpole", "DQN, CartPole, Stable-Baselines3's defaults, 50,000 steps"),
    Pair("sac_sb3", "sac_pendulum_speedup_vs_sb3", "speedup", 15, "sac", "sac_pendulum_sb3.json", 110, "sb3",
         "sac_pendulum", "SAC, Pendulum, Stable-Baselines3's defaults (256-256, batch 256), 5,000 steps"),
    Pair("td3_sb3", "td3_pendulum_speedup_vs_sb3", "speedup", 15, "td3", "td3_pendulum_sb3.json", 110, "sb3",
         "td3_pendulum", "TD3, Pendulum, Stable-Baselines3's defaults (400-300, batch 256), 5,000 steps"),
    Pair("sac_sb3_64", "sac_pendulum_64_speedup_vs_sb3", "speedup", 15, "sac", "sac_pendulum.json", 110, "sb3",
         "sac_pendulum_64", "SAC, Pendulum, RL-tools' settings (64-64, batch 100), 5,000 steps"),
    Pair("td3_sb3_64", "td3_pendulum_64_speedup_vs_sb3", "speedup", 15, "td3", "td3_pendulum.json", 110, "sb3",
         "td3_pendulum_64", "TD3, Pendulum, RL-tools' settings (64-64, batch 100), 5,000 steps"),
)
