"""PPO on MiniGrid, ours beside Stable-Baselines3's: collapses.py BUILD_DIR [--seeds N] [--steps N] [--side SIDE]
[--raw-advantages] [--json]

Both have Stable-Baselines3's defaults and see the 147 bytes of the image as numbers; Stable-Baselines3 steps the environment
itself, ours is behind an OpenEnv server (examples/gymnasium_server.py). --side troupe or stable_baselines3: only that
one; --raw-advantages: they don't normalise advantages. What is done is kept below runs/learning/collapses and not done again;
an interrupted command goes on where it stood. It judges nothing: it prints, for each seed, the mean return of the last 100
episodes at the end, the lowest after it had come to 0.9, and the final policy's over 100 deterministic episodes; and how many
runs had a collapse: below 0.3 after 0.9. Where the packages can't be installed it says so and ends with 0.
"""
import argparse
import csv
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import virtual_environment  # noqa: E402

VENV = ROOT / "build/collapses/venv"
PYTHON = VENV / "bin/python"
# One after the other: without torch first, Stable-Baselines3 would bring its own choice of it.
PACKAGES = (("torch==2.13.0",), ("stable-baselines3==2.9.2", "minigrid==3.2.0", "openenv>=0.10,<0.11"))
ENVIRONMENT, OBS_SIZE, ACTIONS = "MiniGrid-Empty-5x5-v0", 147, 7
LEARNED, COLLAPSED = 0.9, 0.3
SIDES = ("troupe", "stable_baselines3")


def serve():
    """The server's process and its URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [PYTHON, ROOT / "examples/gymnasium_server.py", f"minigrid:{ENVIRONMENT}", "--port", str(port),
               "--observation", "image"]
    server = subprocess.Popen(command)
    while server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return server, f"http://127.0.0.1:{port}"
        except ConnectionRefusedError:
            time.sleep(0.2)
    sys.exit(f"the server ended with {server.returncode}")


def train(side, build, url, seed, options, folder):
    """The mean return of the final policy, and the progress.csv."""
    normalised = json.dumps(not options.raw_advantages)
    if side == "troupe":
        command = [build / "tests/learning/served_ppo", url, OBS_SIZE, ACTIONS, folder, f"seed={seed}",
                   f"total_steps={options.steps}", "evaluation.every_steps=0", f"trainer.normalize_advantage={normalised}"]
    else:
        command = [PYTHON, ROOT / "tests/learning/collapses_sb3.py", ENVIRONMENT, seed, options.steps, folder,
                   normalised]
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, check=True,
                          env={**os.environ, "OMP_NUM_THREADS": "1"})
    said = json.loads(done.stdout.splitlines()[-1])
    mean = said["eval_mean"] if side == "troupe" else said
    return mean, next(folder.rglob("progress.csv"))


def read_curve(progress):
    """The mean return of the last 100 episodes after each rollout, by environment steps."""
    with open(progress, newline="") as file:
        rows = [(row["time/total_timesteps"], row["rollout/ep_rew_mean"]) for row in csv.DictReader(file)]
    return [[int(float(step)), float(mean)] for step, mean in rows if step and mean]


def lowest_after_learning(curve):
    """None: it never learned."""
    learned = next((i for i, (_, mean) in enumerate(curve) if mean >= LEARNED), None)
    return None if learned is None else min(mean for _, mean in curve[learned:])


def run(side, build, url, seed, options):
    kind = "raw" if options.raw_advantages else "normalised"
    kept = ROOT / f"runs/learning/collapses/{options.steps}_{kind}/{side}_{seed}.json"
    if not kept.exists():
        folder = kept.with_suffix(".run")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        mean, progress = train(side, build, url, seed, options, folder)
        kept.write_text(json.dumps({"eval_mean": mean, "curve": read_curve(progress)}))
        shutil.rmtree(folder)
    record = json.loads(kept.read_text())
    return {"seed": seed, "last": record["curve"][-1][1], "lowest": lowest_after_learning(record["curve"]),
            "deterministic": record["eval_mean"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--steps", type=int, default=51_200)
    parser.add_argument("--side", choices=SIDES)
    parser.add_argument("--raw-advantages", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    try:
        virtual_environment.make(VENV, PACKAGES, "torch, Stable-Baselines3, MiniGrid, OpenEnv")
    except virtual_environment.Unavailable as why:
        print(f"collapses: skipped: {why}")
        return
    server, url = serve()
    results = {side: [] for side in ([options.side] if options.side else SIDES)}
    try:
        for seed in range(1, options.seeds + 1):
            for side in results:
                one = run(side, options.build.absolute(), url, seed, options)
                results[side].append(one)
                lowest = "never learned" if one["lowest"] is None else f"lowest after {LEARNED}: {one['lowest']:.3f}"
                print(f"{side} seed {seed}: {one['last']:.3f} at the end, {lowest}, "
                      f"{one['deterministic']:.3f} deterministic", flush=True)
    finally:
        server.kill()
    for side, runs in results.items():
        learned = [one["lowest"] for one in runs if one["lowest"] is not None]
        print(f"{side}: {len(learned)} of {len(runs)} learned, {sum(low < COLLAPSED for low in learned)} collapsed after it")
    if options.json:
        print(json.dumps(results))


main()
