"""Blackjack learned on a real OpenEnv server: blackjack.py BUILD_DIR [--games N] [--seed S] [--json]

examples/openenv_games learns by a table and by PPO on servers made with the OpenEnv package over the real OpenSpiel
(tests/worlds/openspiel_server.py), and then plays N games (100,000) by each policy. `trained_win_rate` is that of the
worse of the two learned ones; the bar is 0.425, where basic strategy wins 0.432 and random play 0.283. Pushes are no
wins. Where the packages can't be installed it says so and ends with 0.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

WORLDS = pathlib.Path(__file__).resolve().parents[1] / "worlds"
BAR = 0.425
LEARNED = ("q_learning_win_rate", "ppo_win_rate")


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--games", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    build = options.build.absolute()
    python = find_python(build)
    began = time.monotonic()
    results = learn(build, python, options.games, options.seed)
    results["trained_win_rate"] = min(results[name] for name in LEARNED)
    results["wall_s"] = round(time.monotonic() - began, 1)
    reached = results["trained_win_rate"] >= BAR
    print(f"trained_win_rate {results['trained_win_rate']:.4f}, expected at least {BAR}, in {results['wall_s']:.0f} s")
    print(f"{int(reached)} passed, {int(not reached)} failed")
    if options.json:
        print(json.dumps(results))
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
