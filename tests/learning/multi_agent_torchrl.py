"""TorchRL's MAPPO on mpe2's simple_spread_v3: multi_agent_torchrl.py NUMBERS

The parts are those of TorchRL's tutorial of multi-agent PPO: MultiAgentMLP with shared parameters and tanh units, a central critic
that sees all observations, ClipPPOLoss and GAE. NUMBERS is a JSON object of multi_agent.py, with the names of Troupe's options.
batch_size counts rows of agents; here the rows of the agents of one environment step stay together. Initial weights, Adam's
epsilon, the loss of the critic (smooth L1, of values that are not normalised) and what the critic sees are TorchRL's. Episodes are
gathered one after the other by the environment's own `rollout`. Prints one JSON object: the mean return of an agent in the final
episodes with the likeliest actions, and the environment steps that were trained on.
"""
import json
import sys

import torch
from mpe2 import simple_spread_v3
from tensordict.nn import TensorDictModule
from torch.distributions import Categorical
from torchrl.envs import PettingZooWrapper, RewardSum, TransformedEnv
from torchrl.envs.utils import ExplorationType, set_exploration_type
from torchrl.modules import MultiAgentMLP, ProbabilisticActor
from torchrl.objectives import ClipPPOLoss, ValueEstimators

NUMBERS = json.loads(sys.argv[1])
AGENTS, LENGTH = 3, 25
GROUP = "agents"


def make(seed):
    names = {GROUP: [f"agent_{i}" for i in range(AGENTS)]}
    world = PettingZooWrapper(simple_spread_v3.parallel_env(max_cycles=LENGTH), group_map=names, use_mask=False,
                              categorical_actions=True, seed=seed)
    return TransformedEnv(world, RewardSum(in_keys=[(GROUP, "reward")], out_keys=[(GROUP, "episode_reward")]))


def network(outputs, central):
    return MultiAgentMLP(n_agent_inputs=18, n_agent_outputs=outputs, n_agents=AGENTS, centralized=central, share_params=True,
                         depth=len(NUMBERS["hidden"]), num_cells=NUMBERS["hidden"], activation_class=torch.nn.Tanh)


def roll(world, policy, how):
    with torch.no_grad(), set_exploration_type(how):
        return world.rollout(LENGTH, policy)


torch.manual_seed(NUMBERS["seed"])
torch.set_num_threads(1)
world = make(NUMBERS["seed"])
policy = ProbabilisticActor(
    TensorDictModule(network(5, False), in_keys=[(GROUP, "observation")], out_keys=[(GROUP, "logits")]),
    in_keys={"logits": (GROUP, "logits")}, out_keys=[(GROUP, "action")], distribution_class=Categorical,
    return_log_prob=True, log_prob_key=(GROUP, "sample_log_prob"))
critic = TensorDictModule(network(1, True), in_keys=[(GROUP, "observation")], out_keys=[(GROUP, "state_value")])
loss = ClipPPOLoss(actor_network=policy, critic_network=critic, clip_epsilon=NUMBERS["clip_range"],
                   entropy_coeff=NUMBERS["ent_coef"], critic_coeff=NUMBERS["vf_coef"],
                   normalize_advantage=NUMBERS["normalize_advantage"], normalize_advantage_exclude_dims=())
loss.set_keys(reward=(GROUP, "reward"), action=(GROUP, "action"), value=(GROUP, "state_value"), done=(GROUP, "done"),
              terminated=(GROUP, "terminated"), sample_log_prob=(GROUP, "sample_log_prob"))
loss.make_value_estimator(ValueEstimators.GAE, gamma=NUMBERS["gamma"], lmbda=NUMBERS["gae_lambda"])
optimiser = torch.optim.Adam(loss.parameters(), NUMBERS["lr"])

trained = 0
while trained < NUMBERS["steps"]:
    episodes = torch.stack([roll(world, policy, ExplorationType.RANDOM) for _ in range(NUMBERS["n_envs"])])
    trained += episodes.numel()
    # Agents end together, with the world.
    for key in ("done", "terminated"):
        flags = episodes["next", key].unsqueeze(-1).expand(*episodes.shape, AGENTS, 1)
        episodes["next", GROUP, key] = flags.clone()
    with torch.no_grad():
        loss.value_estimator(episodes, params=loss.critic_network_params, target_params=loss.target_critic_network_params)
    rows = episodes.reshape(-1)
    for _ in range(NUMBERS["n_epochs"]):
        for batch in torch.randperm(rows.numel()).split(NUMBERS["batch_size"] // AGENTS):
            losses = loss(rows[batch])
            total = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
            optimiser.zero_grad()
            total.backward()
            torch.nn.utils.clip_grad_norm_(loss.parameters(), NUMBERS["max_grad_norm"])
            optimiser.step()

returns = [roll(world, policy, ExplorationType.DETERMINISTIC)["next", GROUP, "episode_reward"][-1].mean().item()
           for _ in range(NUMBERS["episodes"])]
print(json.dumps({"eval_mean": sum(returns) / len(returns), "steps": trained}))
