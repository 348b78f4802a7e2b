"""Blackjack learned on a real OpenEnv server: blackjack.py BUILD_DIR [--games N] [--seeds 1,2,3] [--json]

examples/openenv_games learns by a table and by PPO on servers made with the OpenEnv package over the real OpenSpiel
(tests/worlds/openspiel_server.py), and then plays N games (100,000) by each policy. The bar for the median of the seeds is
0.425 for both learned policies, where basic strategy wins 0.432 and random play 0.283. Pushes are no wins. Where the
packages can't be installed it says so and ends with 0.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import bars

WORLDS = pathlib.Path(__file__).resolve().parents[1] / "worlds"
SEEDS = (1, 2, 3)
BARS = {"blackjack": {"q_learning_win_rate": bars.at_least(0.425), "ppo_win_rate": bars.at_least(0.425)}}


def find_python(build):
    """The python that has the packages; ends the program where there can be none."""
    made = subprocess.run([WORLDS / "openenv_venv.py", build], capture_output=True, text=True, check=False)
    last = made.stdout.strip().splitlines()[-1]
    if made.returncode != 0:
        print(f"blackjack: skipped: {last}\n0 passed, 0 failed, 1 skipped")
        sys.exit(0)
    return pathlib.Path(last).absolute()


def learn(build, python, games, seed):
    """What the example prints as its last line; the lines before it are passed on."""
    server = f"{python} {WORLDS / 'openspiel_server.py'} --game blackjack --sessions 256 --port {{port}}"
    command = [build / "examples/openenv_games", "--game", "blackjack", "--server", server, "--games", str(games),
               "--seed", str(seed), "--metrics-port", "0", "--log-level", "warn", "--json"]
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
        lines = []
        for line in process.stdout:
            lines.append(line)
            if not line.startswith("{"):
                print(line, end="", flush=True)
    if process.wait() != 0:
        sys.exit(f"openenv_games ended with {process.returncode}")
    return json.loads(lines[-1])


def measures_of(results):
    """Of what the example prints, by seeds."""
    return {name: bars.median_of([result[name] for result in results.values()]) for name in BARS["blackjack"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--games", type=int, default=100_000)
    parser.add_argument("--seeds", type=bars.seeds_of, default=SEEDS)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    build = options.build.absolute()
    python = find_python(build)
    began = time.monotonic()
    results = {seed: learn(build, python, options.games, seed) for seed in options.seeds}
    medians = measures_of(results)
    print(f"medians: {', '.join(f'{name} {rate:.4f}' for name, rate in medians.items())}, in {time.monotonic() - began:.0f} s")
    passed = bars.print_faults("blackjack", medians, BARS["blackjack"])
    print(f"{int(passed)} passed, {int(not passed)} failed")
    if options.json:
        print(json.dumps({**medians, "trained_win_rate": min(medians.values()), "seeds": results}))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
