"""TorchRL's MAPPO on mpe2's simple_spread_v3: multi_agent_torchrl.py STEPS SEED LR EPISODES

The parts are those of TorchRL's tutorial of multi-agent PPO: MultiAgentMLP with shared parameters, a central critic,
ClipPPOLoss and GAE. The numbers are those of Troupe's MAPPO: 1,600 environment steps a rollout, ten epochs of minibatches
of 200 environment steps, which are 600 rows of agents, two hidden layers of 64 tanh units, and the options below. The
learning rate is given, since another one may suit it better. Prints one JSON object: the mean return of an agent over
EPISODES episodes with the likeliest actions, the environment steps that were trained on, and CPU seconds.
"""
import json
import os
import sys
import time

import torch
from mpe2 import simple_spread_v3
from tensordict.nn import TensorDictModule
from torch.distributions import Categorical
from torchrl.envs import PettingZooWrapper, RewardSum, TransformedEnv
from torchrl.envs.utils import ExplorationType, set_exploration_type
from torchrl.modules import MultiAgentMLP, ProbabilisticActor
from torchrl.objectives import ClipPPOLoss, ValueEstimators

STEPS, SEED, LR, EPISODES = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
AGENTS, LENGTH, ROLLOUT, MINIBATCH, EPOCHS = 3, 25, 64, 200, 10
GROUP = "agents"


def make(seed):
    names = {GROUP: [f"agent_{i}" for i in range(AGENTS)]}
    world = PettingZooWrapper(simple_spread_v3.parallel_env(max_cycles=LENGTH), group_map=names, use_mask=False,
                              categorical_actions=True, seed=seed)
    return TransformedEnv(world, RewardSum(in_keys=[(GROUP, "reward")], out_keys=[(GROUP, "episode_reward")]))


def network(outputs, central):
    return MultiAgentMLP(n_agent_inputs=18, n_agent_outputs=outputs, n_agents=AGENTS, centralized=central, share_params=True,
                         depth=2, num_cells=64, activation_class=torch.nn.Tanh)


def roll(world, policy, how):
    with torch.no_grad(), set_exploration_type(how):
        return world.rollout(LENGTH, policy)


torch.manual_seed(SEED)
torch.set_num_threads(1)
world = make(SEED)
policy = ProbabilisticActor(
    TensorDictModule(network(5, False), in_keys=[(GROUP, "observation")], out_keys=[(GROUP, "logits")]),
    in_keys={"logits": (GROUP, "logits")}, out_keys=[(GROUP, "action")], distribution_class=Categorical,
    return_log_prob=True, log_prob_key=(GROUP, "sample_log_prob"))
critic = TensorDictModule(network(1, True), in_keys=[(GROUP, "observation")], out_keys=[(GROUP, "state_value")])
loss = ClipPPOLoss(actor_network=policy, critic_network=critic, clip_epsilon=0.2, entropy_coeff=0.003, critic_coeff=1.0,
                   normalize_advantage=True, normalize_advantage_exclude_dims=())
loss.set_keys(reward=(GROUP, "reward"), action=(GROUP, "action"), value=(GROUP, "state_value"), done=(GROUP, "done"),
              terminated=(GROUP, "terminated"), sample_log_prob=(GROUP, "sample_log_prob"))
loss.make_value_estimator(ValueEstimators.GAE, gamma=0.95, lmbda=0.95)
optimiser = torch.optim.Adam(loss.parameters(), LR, eps=1e-5)

trained, began = 0, time.monotonic()
while trained < STEPS:
    episodes = torch.stack([roll(world, policy, ExplorationType.RANDOM) for _ in range(ROLLOUT)])
    trained += episodes.numel()
    # Agents end together, with the world.
    for key in ("done", "terminated"):
        flags = episodes["next", key].unsqueeze(-1).expand(*episodes.shape, AGENTS, 1)
        episodes["next", GROUP, key] = flags.clone()
    with torch.no_grad():
        loss.value_estimator(episodes, params=loss.critic_network_params, target_params=loss.target_critic_network_params)
    rows = episodes.reshape(-1)
    for _ in range(EPOCHS):
        for batch in torch.randperm(rows.numel()).split(MINIBATCH):
            losses = loss(rows[batch])
            total = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
            optimiser.zero_grad()
            total.backward()
            torch.nn.utils.clip_grad_norm_(loss.parameters(), 10.0)
            optimiser.step()

returns = [roll(world, policy, ExplorationType.DETERMINISTIC)["next", GROUP, "episode_reward"][-1].mean().item()
           for _ in range(EPISODES)]
used = os.times()
print(json.dumps({"eval_mean": sum(returns) / len(returns), "steps": trained, "episodes": len(returns),
                  "cpu_s": used.user + used.system, "wall_s": time.monotonic() - began}))
