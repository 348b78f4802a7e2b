"""Convolution policies learn from pixels: images.py BUILD_DIR [ALGO...]

Trains each algorithm with the Nature network on CatchSmall-v0, two pictures stacked, on seeds 1 to 3, and evaluates the
last policy over 100 deterministic episodes. A paddle that moves at random returns about -0.6, a perfect one 1. The bar:
every seed reaches 0.8, nine balls of ten. About a minute of CPU in all. Closes with `N passed, N failed`.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

SEEDS = (1, 2, 3)
BAR = 0.8
SETTINGS = {
    "ppo": ["-n", "16384", "env.n_envs=8", "rollout.n_steps=128", "trainer.batch_size=256", "trainer.n_epochs=4",
            "trainer.lr=1e-3"],
    "a2c": ["-n", "24576", "env.n_envs=16", "rollout.n_steps=9", "trainer.lr=1e-3", "trainer.ent_coef=0.01"],
    "dqn": ["-n", "16384", "env.n_envs=4", "collection.train_freq=4", "collection.gradient_steps=2",
            "collection.learning_starts=500", "trainer.lr=5e-4", "trainer.target_update_interval=500",
            "exploration.fraction=0.5", "replay.capacity=20000"],
}


def train(build, algorithm, seed, runs):
    """The summary of a run."""
    command = [build / "deploy/troupe/troupe", "train", "--algo", algorithm, "--env", "CatchSmall-v0", "--seed",
               str(seed), "--runs", runs, "--json", "--metrics-port", "0", "env.frame_stack=2",
               "evaluation.every_steps=0", *SETTINGS[algorithm]]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main():
    if len(sys.argv) < 2 or not set(sys.argv[2:]) <= set(SETTINGS):
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).resolve()
    failed = passed = 0
    with tempfile.TemporaryDirectory() as runs:
        for algorithm in sys.argv[2:] or SETTINGS:
            for seed in SEEDS:
                summary = train(build, algorithm, seed, runs)
                reached = summary["eval_mean"] >= BAR
                passed += reached
                failed += not reached
                print(f"{algorithm} seed {seed}: {summary['eval_mean']:.2f} over {summary['eval_episodes']} episodes "
                      f"after {summary['steps']} steps, {summary['cpu_s']:.1f} s of CPU"
                      f"{'' if reached else f', expected {BAR}'}", flush=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
