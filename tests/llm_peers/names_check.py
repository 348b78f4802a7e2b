"""The options of Stable-Baselines3's six algorithms and of TRL's GRPOConfig, as the packages have them, beside the list that
Troupe's own test holds its table of names to: names_check.py [--write], or
with the arguments of the other checks."""
import dataclasses
import importlib.metadata
import inspect
import json
import pathlib
import sys

import stable_baselines3
import trl
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.dqn.policies import DQNPolicy
from stable_baselines3.sac.policies import SACPolicy
from stable_baselines3.td3.policies import TD3Policy

LIST = pathlib.Path(__file__).resolve().parents[1] / "fixtures/other_names/options.json"
POLICIES = {"A2C": ActorCriticPolicy, "PPO": ActorCriticPolicy, "DQN": DQNPolicy, "SAC": SACPolicy, "TD3": TD3Policy,
            "DDPG": TD3Policy}
PACKAGES = ("stable-baselines3", "trl", "transformers")


def parameters_of(kind):
    return [name for name in inspect.signature(kind.__init__).parameters if name != "self"]


def installed():
    names = {}
    for algorithm, policy in POLICIES.items():
        own = parameters_of(getattr(stable_baselines3, algorithm))
        names[algorithm.lower()] = own + [name for name in parameters_of(policy) if name not in own]
    names["grpo"] = [field.name for field in dataclasses.fields(trl.GRPOConfig)]
    return {"versions": {package: importlib.metadata.version(package) for package in PACKAGES}, "names": names}


def main():
    found = installed()
    if sys.argv[1:] == ["--write"]:
        LIST.write_text(json.dumps(found, indent=1) + "\n")
        return 0
    listed = json.loads(LIST.read_text())
    failed = 0
    if found["versions"] != listed["versions"]:
        print(f"names: the list is of {listed['versions']}, installed are {found['versions']}")
    for algorithm, names in found["names"].items():
        missing = sorted(set(names) - set(listed["names"][algorithm]))
        gone = sorted(set(listed["names"][algorithm]) - set(names))
        if missing or gone:
            print(f"names: {algorithm}: not in the list: {missing}; no option any more: {gone}")
            failed = 1
    if not failed:
        print(f"names: {sum(map(len, found['names'].values()))} options of {len(found['names'])} algorithms are those of the list")
    return failed


if __name__ == "__main__":
    sys.exit(main())
