"""PPO on MiniGrid, ours beside Stable-Baselines3's: collapses.py BUILD_DIR [--seeds N] [--steps N] [--side SIDE]
[--raw-advantages] [--json]

Both have Stable-Baselines3's defaults and see the 147 bytes of the image as numbers; Stable-Baselines3 steps the environment
itself, ours is behind an OpenEnv server (examples/gymnasium_server.py). --side troupe or stable_baselines3: only that
one; --raw-advantages: they don't normalise advantages. What is done is kept below runs/learning/collapses and not done again;
an interrupted command goes on where it stood. It prints, for each seed, the mean return of the last 100 episodes at the end, the
lowest after it had come to 0.9, and the final policy's over 100 deterministic episodes; and how many runs had a collapse: below
0.3 after 0.9. The bars, of ours alone: all runs come to 0.9; the median of the lowest is above a collapse, and, where both were
trained, not below Stable-Baselines3's; the median of the final policies is 0.9. A run that never came to 0.9 counts as one with a
lowest of 0. Where the packages can't be installed it says so and ends with 0. Closes with `N passed, N failed`.
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
import bars  # noqa: E402
import virtual_environment  # noqa: E402

VENV = ROOT / "build/collapses/venv"
PYTHON = VENV / "bin/python"
# One after the other: without torch first, Stable-Baselines3 would bring its own choice of it.
PACKAGES = (("torch==2.13.0",), ("stable-baselines3==2.9.2", "minigrid==3.2.0", "openenv>=0.10,<0.11"))
ENVIRONMENT, OBS_SIZE, ACTIONS = "MiniGrid-Empty-5x5-v0", 147, 7
LEARNED, COLLAPSED = 0.9, 0.3
SIDES = ("troupe", "stable_baselines3")
BARS = {"troupe": {"learned": bars.at_least(1), "lowest": bars.at_least(COLLAPSED), "final": bars.at_least(LEARNED)},
        "beside": {"lead": bars.at_least(0)}}


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


def median_lowest(ran):
    return bars.median_of([one["lowest"] or 0 for one in ran])


def measures_of(results):
    """Of the runs of each side; the share of ours that learned is `learned`."""
    measured = {}
    if "troupe" in results:
        ours = results["troupe"]
        learned = sum(one["lowest"] is not None for one in ours) / len(ours)
        measured["troupe"] = {"learned": learned, "lowest": median_lowest(ours),
                              "final": bars.median_of([one["deterministic"] for one in ours])}
    if results.keys() == set(SIDES):
        measured["beside"] = {"lead": median_lowest(results["troupe"]) - median_lowest(results["stable_baselines3"])}
    return measured


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--seeds", type=bars.count_of_seeds, default=10)
    parser.add_argument("--steps", type=int, default=51_200)
    parser.add_argument("--side", choices=SIDES)
    parser.add_argument("--raw-advantages", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    try:
        virtual_environment.make(VENV, PACKAGES, "torch, Stable-Baselines3, MiniGrid, OpenEnv")
    except virtual_environment.Unavailable as why:
        print(f"collapses: skipped: {why}\n0 passed, 0 failed, 1 skipped")
        return 0
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
    passed = [bars.print_faults(cell, measures, BARS[cell]) for cell, measures in measures_of(results).items()]
    print(f"{sum(passed)} passed, {len(passed) - sum(passed)} failed")
    if options.json:
        print(json.dumps(results))
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
