"""The lines of docs/coming_from/stable_baselines3.md that read a model in Python, and torch's own layers with a model's tensors:
torch_check.py PROBE FOLDER. torch.load is called with its defaults."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
TROUPE = pathlib.Path(sys.argv[1]).parents[2] / "deploy/troupe/troupe"
BRIEF = ("--deterministic", "--json", "--metrics-port", "0", "evaluation.final_episodes=1", "evaluation.every_steps=0")
RUNS = {"ppo": ("--env", "CartPole-v1", "-n", "64", "rollout.n_steps=64", "env.normalize_obs=true"),
        "sac": ("--env", "Pendulum-v1", "-n", "120", "collection.learning_starts=100"),
        "td3": ("--env", "Pendulum-v1", "-n", "120", "collection.learning_starts=100"),
        "dqn": ("--env", "CartPole-v1", "-n", "120")}
EXPECTED = {"ppo": ("critic.2.weight", "obs_mean", "obs_inverse_scale"), "sac": ("qf1.2.weight", "log_ent_coef"),
            "td3": ("qf0.2.weight", "qf1.2.weight"), "dqn": ("q_net.2.weight",)}


def documented_lines():
    text = (ROOT / "docs/coming_from/stable_baselines3.md").read_text()
    return re.search(r"```python\n(import torch\n.*?)```", text, re.S)[1]


def train(algo, folder):
    done = subprocess.run([TROUPE, "train", "--algo", algo, *BRIEF, *RUNS[algo]], cwd=folder, text=True, capture_output=True,
                          check=True)
    return folder / json.loads(done.stdout.splitlines()[-1])["run_directory"]


def main():
    lines = documented_lines()
    named = re.search(r'"([^"]*best_model)"', lines)[1]
    with tempfile.TemporaryDirectory() as folder:
        for algo in RUNS:
            run = train(algo, pathlib.Path(folder))
            known = {}
            exec(lines.replace(named, os.fspath(run / "best_model")), known)
            tensors = known["tensors"]
            for name in EXPECTED[algo]:
                assert name in tensors, (algo, name, sorted(tensors))
            for name, tensor in tensors.items():
                if name.endswith(".weight") and tensor.dim() == 2:
                    layer = torch.nn.Linear(tensor.shape[1], tensor.shape[0])
                    layer.load_state_dict({"weight": tensor, "bias": tensors[name.removesuffix("weight") + "bias"]})
            print(f"torch: {algo}: {len(tensors)} tensors")
    return 0


if __name__ == "__main__":
    sys.exit(main())
