"""PPO learns the same whoever works out its gradients: backends.py BUILD_DIR

Trains CartPole-v1 for 40,000 steps on seeds 1 to 5, with the fused kernels and with libtorch's
autograd, and prints the mean return of training after each update: mean (lowest to highest) of the
five. The curves must overlap: at no update may one backend's lowest be above the other's highest. The
median of each backend's last mean returns must be at least 100, where random play has 22: curves of
runs that learn nothing overlap, too. Closes with `N passed, N failed`.
"""
import csv
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import bars

SEEDS = range(1, 6)
BACKENDS = ("fused", "libtorch")
BARS = {"backends": {"updates apart": bars.at_most(0), **{backend: bars.at_least(100) for backend in BACKENDS}}}


def train(build, backend, seed, runs):
    """The mean returns of training, by environment steps."""
    command = [build / "deploy/troupe/troupe", "train", "--env", "CartPole-v1", "-n", "40000",
               "--seed", str(seed), "--runs", runs, "--json", "--metrics-port", "0",
               f"policy.backend={backend}", "evaluation.every_steps=0",
               "evaluation.final_episodes=1"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    run = pathlib.Path(json.loads(done.stdout.splitlines()[-1])["run_directory"])
    with open(run / "progress.csv") as file:
        return {int(float(row["time/total_timesteps"])): float(row["rollout/ep_rew_mean"])
                for row in csv.DictReader(file) if row["train/n_updates"]}


def measures_of(curves):
    """Prints the curves. Each backend's is a list with those of its seeds."""
    apart = 0
    print("    steps" + "".join(f"{backend:>30}" for backend in BACKENDS))
    for step in curves["fused"][0]:
        at = {b: [curve[step] for curve in curves[b]] for b in BACKENDS}
        overlap = (min(at["fused"]) <= max(at["libtorch"]) and
                   min(at["libtorch"]) <= max(at["fused"]))
        apart += not overlap
        cells = (f"{statistics.mean(v):8.1f} ({min(v):6.1f} to {max(v):6.1f})" for v in at.values())
        print(f"{step:9}" + "".join(f"{cell:>30}" for cell in cells) +
              ("" if overlap else "  APART"), flush=True)
    return {"updates apart": apart,
            **{b: bars.median_of([curve[max(curve)] for curve in curves[b]]) for b in BACKENDS}}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as runs:
        curves = {b: [train(build, b, seed, runs) for seed in SEEDS] for b in BACKENDS}
    bars.close({"backends": measures_of(curves)}, BARS)


if __name__ == "__main__":
    main()
