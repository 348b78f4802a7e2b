"""Troupe beside Stable-Baselines3 on preprocessed Pong, doing the same work: atari.py BUILD_DIR [options]

    --only ALGORITHM   dqn or ppo; both without it
    --steps N          environment steps that are measured, beside those before the first update; 8192 by default
    --repeats N        runs of each side, 3 by default; seeds 1 to N
    --json             close with one JSON object

The two sides run in turn, on one thread each, with the same networks, batches and environment: ALE/Pong-v5 in Gymnasium's
AtariPreprocessing (84x84, grey, a skip of 4, up to 30 no-ops), four stacked frames and clipped rewards, with the settings
of docs/guides/atari.md but for a shorter start. What is compared is CPU time, user and system, of the steps after the
first update:

- Stable-Baselines3's is the process's CPU clock between the first update and the end.
- Ours is the CPU time of two runs of `troupe train`, with the Python process that hosts the environment: that of the run
  with all steps, less that of a run which ends after its first update. Loading and the last evaluation, of one episode,
  are in both. Episodes are cut after 2,000 frames on both sides, so that these evaluations are of the same length: a
  game of Pong takes more frames than that, whoever plays.

The work of the networks is computed from their layers, as two operations for a product: one pass forward for each action
and for each drawn observation, and the passes of the gradient. The emulator's time is that of the same environment with
random actions and without a network, with its preprocessing.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
from typing import NamedTuple

import set_up
import virtual_environment
from peers import run_child
from set_up import Unavailable

ENV_OPTIONS = {"frameskip": 1, "repeat_action_probability": 0.0, "max_episode_steps": 2000}
PACKAGES = (("torch==2.13.0",), ("stable-baselines3==2.9.2", "gymnasium[atari]", "ale-py", "opencv-python-headless"))
FOLDER = set_up.PLACE / "atari_venv"
PYTHON = FOLDER / "bin/python"
EMULATED = 2000  # steps without a network
GOAL = 1.2


class Layer(NamedTuple):
    """The products of a layer for one observation, and whether its inputs have a gradient."""
    products: int
    passes_back: bool


# Mnih et al. 2015 on 4x84x84: three convolutions, a layer of 512, and six outputs.
NETWORK = (Layer(20 * 20 * 32 * 4 * 8 * 8, False), Layer(9 * 9 * 64 * 32 * 4 * 4, True),
           Layer(7 * 7 * 64 * 64 * 3 * 3, True), Layer(3136 * 512, True), Layer(512 * 6, True))


def forward_flop():
    return 2 * sum(layer.products for layer in NETWORK)


def gradient_flop():
    """A pass forward, the gradient of the weights, and that of the inputs of all layers but the first."""
    return 2 * sum((3 if layer.passes_back else 2) * layer.products for layer in NETWORK)


class Work(NamedTuple):
    """An algorithm's settings in the words of both sides."""
    algorithm: str
    n_envs: int
    fewest: int           # steps up to the first update
    per_step: float       # operations of the networks for an environment step
    troupe: tuple
    sb3: dict


def works():
    batch, train_freq, starts = 32, 4, 1000
    dqn = forward_flop() + batch / train_freq * (gradient_flop() + forward_flop())
    n_envs, n_steps, epochs = 8, 128, 4
    ppo = forward_flop() + epochs * gradient_flop()
    return (
        Work("dqn", 1, starts + train_freq, dqn,
             (f"collection.learning_starts={starts}", f"collection.train_freq={train_freq}", "replay.capacity=100000",
              "policy.hidden=[]", "trainer.lr=1e-4", f"trainer.batch_size={batch}", "trainer.target_update_interval=1000",
              "exploration.final=0.01"),
             {"learning_starts": starts, "train_freq": train_freq, "buffer_size": 100_000, "learning_rate": 1e-4,
              "batch_size": batch, "target_update_interval": 1000, "exploration_final_eps": 0.01,
              "optimize_memory_usage": False}),
        Work("ppo", n_envs, n_envs * n_steps, ppo,
             (f"env.n_envs={n_envs}", f"rollout.n_steps={n_steps}", "trainer.batch_size=256",
              f"trainer.n_epochs={epochs}", "trainer.lr=2.5e-4", "trainer.lr_schedule=linear", "trainer.clip_range=0.1",
              "trainer.clip_schedule=linear", "trainer.vf_coef=0.5", "trainer.ent_coef=0.01", "policy.hidden=[]"),
             {"n_steps": n_steps, "batch_size": 256, "n_epochs": epochs, "learning_rate": 2.5e-4, "clip_range": 0.1,
              "vf_coef": 0.5, "ent_coef": 0.01, "linear": ["learning_rate", "clip_range"]}))


class Troupe:
    def __init__(self, build):
        self.command = build / "deploy/troupe/troupe"
        # The command starts this program, which does its work.
        self.program = build / "deploy/libexec/troupe/troupe"

    def libtorch(self):
        """The libtorch that the program loads."""
        loaded = subprocess.run(["ldd", self.program], capture_output=True, text=True, check=True).stdout
        found = re.search(r"libtorch_cpu\.so\S* => (\S+)", loaded)
        if not found:
            raise Unavailable(f"{self.program}: expected a program that loads libtorch_cpu.so")
        return str(pathlib.Path(found.group(1)).resolve())

    def train(self, work, seed, steps):
        with tempfile.TemporaryDirectory() as runs:
            command = [self.command, "train", "--algo", work.algorithm, "--env", "gymnasium:ALE/Pong-v5", "-n", steps,
                       "--seed", seed, "--threads", 1, "--metrics-port", 0, "--runs", runs, "--json",
                       f"env.python={PYTHON}", f"env.options={json.dumps(ENV_OPTIONS)}", "env.wrappers=[AtariPreprocessing]",
                       "env.frame_stack=4", "env.reward_clip=1", "evaluation.every_steps=0", "evaluation.final_episodes=1",
                       *work.troupe]
            return run_child(command, {})

    def run(self, work, seed, steps):
        start, start_cpu = self.train(work, seed, work.fewest)
        summary, cpu = self.train(work, seed, work.fewest + steps)
        return {"steps": summary["steps"] - start["steps"], "train_cpu_s": cpu - start_cpu}


class StableBaselines3:
    def run(self, work, seed, steps):
        job = {"algorithm": work.algorithm, "seed": seed, "fewest": work.fewest, "steps": work.fewest + steps,
               "n_envs": work.n_envs, "env_options": ENV_OPTIONS, "settings": work.sb3}
        return run_child([PYTHON, set_up.HERE / "atari_sb3.py", json.dumps(job)], {})[0]


def emulator_s():
    """CPU seconds of a step of the environment alone."""
    job = json.dumps({"steps": EMULATED, "env_options": ENV_OPTIONS})
    done, _ = run_child([PYTHON, set_up.HERE / "atari_sb3.py", "--emulator", job], {})
    return done["cpu_s"] / done["steps"]


def figures_of(runs, work, emulated):
    """The median of the runs' steps a CPU second, and what it means."""
    rate = statistics.median(run["steps"] / run["train_cpu_s"] for run in runs)
    share = emulated * rate
    return {"steps_per_cpu_s": rate, "emulator_share": share,
            "gflop_per_s": work.per_step * rate / max(1 - share, 1e-9) / 1e9}


def compare(work, troupe, peer, arguments, emulated):
    print(f"== {work.algorithm} on preprocessed Pong, {arguments.steps} steps, {work.per_step / 1e6:.0f} MFLOP of the "
          "networks for a step", flush=True)
    ours, theirs = [], []
    for seed in range(1, arguments.repeats + 1):
        for name, side, runs in (("sb3", peer, theirs), ("troupe", troupe, ours)):
            runs.append(side.run(work, seed, arguments.steps))
            print(f"  {name:6} seed {seed}: {runs[-1]['train_cpu_s']:7.2f} CPU s for {runs[-1]['steps']} steps",
                  flush=True)
    sides = {"troupe": figures_of(ours, work, emulated), "sb3": figures_of(theirs, work, emulated)}
    for name, of in sides.items():
        print(f"  {name:6} {of['steps_per_cpu_s']:7.1f} steps a CPU second, {of['gflop_per_s']:6.1f} GFLOP/s of the "
              f"networks outside of the emulator, which takes {100 * of['emulator_share']:.0f} %")
    ratio = sides["troupe"]["steps_per_cpu_s"] / sides["sb3"]["steps_per_cpu_s"]
    print(f"  ratio {ratio:.2f} (goal >= {GOAL})", flush=True)
    return {**{f"{side}_{name}": round(value, 3) for side, of in sides.items() for name, value in of.items()},
            "ratio": round(ratio, 3), "reached": ratio >= GOAL, "sb3_version": theirs[-1]["version"]}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--only", choices=("dqn", "ppo"))
    parser.add_argument("--steps", type=int, default=8192)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    for name in ("steps", "repeats"):
        if getattr(arguments, name) < 1:
            parser.error(f"--{name}: expected at least 1, got {getattr(arguments, name)}")
    return arguments


def main():
    arguments = parse_arguments()
    try:
        virtual_environment.make(FOLDER, PACKAGES, "torch, Stable-Baselines3, Gymnasium's Atari")
        troupe = Troupe(arguments.build.resolve())
        libtorch = troupe.libtorch()
        emulated = emulator_s()
        print(f"troupe loads {libtorch}; the emulator and its preprocessing take {1e3 * emulated:.2f} CPU ms a step",
              flush=True)
        chosen = [work for work in works() if arguments.only in (None, work.algorithm)]
        results = {work.algorithm: compare(work, troupe, StableBaselines3(), arguments, emulated) for work in chosen}
    except Unavailable as reason:
        sys.exit(f"compare-atari: {reason}")
    for name, of in results.items():
        print(f"{name}: {of['sb3_version']}")
    if arguments.json:
        flat = {f"atari_{name}_{key}": value for name, of in results.items() for key, value in of.items()}
        print(json.dumps({"libtorch": libtorch, "emulator_ms": round(1e3 * emulated, 3), **flat}))


if __name__ == "__main__":
    main()
