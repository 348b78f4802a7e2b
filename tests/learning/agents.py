"""A small language model learns in worlds of many kinds: agents.py BUILD_DIR [CELL...] [--json] [--seeds 1,2,3]

Each cell is one command, which differs from the others by the task or the world that it names:

  arithmetic   sums of four digits, from a JSON Lines file
  blackjack    OpenSpiel's, on an OpenEnv server of the real packages
  tic_tac_toe  OpenSpiel's, against an opponent who plays at random, on such a server
  rock_paper   nine rounds of TextArena's rock, paper and scissors, against an opponent who plays rock six times in ten, on
               an OpenEnv server of the real packages
  pennies      ten rounds of TextArena's matching pennies, against an opponent who plays heads seven times in ten, on such a
               server
  gsm8k        skyrl-gym's environment of that name, on sums of four digits
  guess        examples/grpo_own_world: a number from 1 to 9 in three turns, of which best play finds 7 of 9

The models of bytes and of letters have 0.1 to 0.8 million random weights. The warm start shows them scripted answers and
moves (worlds/demonstrations.py, or the world's own), on problems and deals that are not held out, until they are right in at
most 60 % of the held-out ones. `before` is the share of held-out problems that are answered rightly, or of held-out deals that
are won, by the likeliest tokens after the warm start, and `after` that at the end, on others.

The bars: each seed gains 20 points or more within 30 CPU minutes, with the warm start and all evaluations. In blackjack, where
basic strategy wins 0.43, the median of the seeds must win 0.38 instead, as one does who always stands; at random it is 0.28.
What is done is kept in runs/learning/agents/, a file a run, and is not done again unless its options have changed since. --json
adds one JSON object. Closes with `N passed, N failed`.
"""
import argparse
import contextlib
import csv
import hashlib
import json
import os
import pathlib
import random
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import bars  # noqa: E402
import virtual_environment  # noqa: E402

KEPT = ROOT / "runs/learning/agents"
PACKAGES = (("openenv>=0.10,<0.11", "open-spiel>=2,<3", "textarena==0.7.4", "skyrl-gym==0.4.0"),)
SEEDS = (1, 2, 3)
BYTES = ["model.tokens=bytes", "model.layers=2", "model.hidden_size=64"]
EVALUATION = ["evaluation.problems=200", "evaluation.final_problems=500"]


def sums(numbers, count):
    """Different lists of numbers below `numbers` of that length, in an order of chance that is always the same."""
    lists = [[]]
    for _ in range(count):
        lists = [each + [n] for each in lists for n in range(numbers)]
    random.Random(7).shuffle(lists)
    return lists


def write_lines(path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def question(numbers):
    return f"What is {' + '.join(map(str, numbers))}?"


def arithmetic(made):
    lines = [{"question": question(each), "answer": sum(each)} for each in sums(10, 4)]
    return [f"task.data={write_lines(made.folder / 'sums.jsonl', lines)}", "task.prompt=question", "task.reward=[numeric]",
            "task.problems.held_out=300", "model.max_positions=64", "rollout.max_completion_tokens=6",
            "warm_start.batches=100", "warm_start.batch_size=256", "warm_start.lr=3e-3", "trainer.lr=6e-4",
            "rollout.prompts=128", "rollout.group=8", "-n", 400, *BYTES, "evaluation.problems=100",
            "evaluation.final_problems=200"]


def gsm8k(made):
    all_of_them = sums(10, 4)
    shown = [{"messages": [{"role": "user", "content": question(each)}, {"role": "assistant", "content": f"#### {sum(each)}"}]}
             for each in all_of_them[:2000]]
    lines = [{"prompt": [{"role": "user", "content": question(each)}], "reward_spec": {"ground_truth": str(sum(each))}}
             for each in all_of_them[2000:]]
    return ["task.world=skyrl:gsm8k", f"task.data={write_lines(made.folder / 'gsm8k.jsonl', lines)}",
            f"warm_start.data={write_lines(made.folder / 'shown.jsonl', shown)}", f"python.interpreter={made.python}",
            "world.replicas=2", "task.problems.held_out=300", "model.max_positions=64", "rollout.max_completion_tokens=10",
            "warm_start.batches=100", "warm_start.batch_size=256", "warm_start.lr=3e-3", "trainer.lr=6e-4",
            "trainer.kl_coef=0.02", "rollout.prompts=128", "rollout.group=8", "-n", 400, *BYTES, "evaluation.problems=100",
            "evaluation.final_problems=200"]


def textarena(made, game, port, options):
    made.serve("textarena_server.py", "--game", game, port=port)
    shown = made.folder / f"{game}.jsonl"
    subprocess.run([made.python, ROOT / "tests/learning/worlds/demonstrations.py", game, "6000", shown], check=True)
    return [f"task.world=openenv:http://127.0.0.1:{port}", f"warm_start.data={shown}", "warm_start.batch_size=32",
            "warm_start.lr=3e-3", "trainer.lr=6e-4", "trainer.kl_coef=0.05", "rollout.max_completion_tokens=32",
            "rollout.group=8", *options, *BYTES, *EVALUATION]


def rock_paper(made):
    return textarena(made, "IteratedRockPaperScissors-v0", 8721,
                     ["warm_start.batches=200", "model.max_positions=1536", "-n", 40, "rollout.prompts=16", "world.turns=12",
                      "trainer.warmup_updates=5", "trainer.lr=4e-4"])


def pennies(made):
    return textarena(made, "IteratedMatchingPennies-v0", 8725,
                     ["warm_start.batches=200", "model.max_positions=1536", "-n", 40, "rollout.prompts=16", "world.turns=12",
                      "trainer.warmup_updates=5", "trainer.lr=4e-4"])


def openspiel(made, game, port, options):
    made.serve("openspiel_server.py", "--game", game, "--sessions", "256", port=port)
    return [f"task.world=openenv:http://127.0.0.1:{port}", f'task.world_options={{"view": "{game}"}}', *options, *EVALUATION]


def blackjack(made):
    return openspiel(made, "blackjack", 8723, ["-n", 80])


def tic_tac_toe(made):
    return openspiel(made, "tic_tac_toe", 8724, ["-n", 40, "warm_start.batches=80"])


def guess(made):
    return ["-n", 160, "trainer.lr=6e-4", "trainer.kl_coef=0.02", *EVALUATION]


CELLS = {"arithmetic": arithmetic, "blackjack": blackjack, "tic_tac_toe": tic_tac_toe,
         "rock_paper": rock_paper, "pennies": pennies, "gsm8k": gsm8k, "guess": guess}
OF_EACH = {"highest before": bars.at_most(0.60), "most CPU minutes": bars.at_most(30)}
BARS = {cell: {"lowest gain": bars.at_least(0.20), **OF_EACH} for cell in CELLS if cell != "blackjack"}
BARS["blackjack"] = {"median after": bars.at_least(0.38), **OF_EACH}


class Made:
    """What the commands of the cells name: a folder for files, a Python with the packages, and servers."""

    def __init__(self, folder, python, stack):
        self.folder, self.python, self.stack = folder, python, stack
        self.ports = set()

    def told(self, word):
        """The word, in which a file's content stands for its path."""
        name, _, path = word.partition("=")
        if not path.startswith(str(self.folder)):
            return word
        return f"{name}={hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()}"

    def serve(self, script, *options, port):
        """Serves on that port until all is done."""
        if port in self.ports:
            return
        with socket.socket() as free:
            if free.connect_ex(("127.0.0.1", port)) == 0:
                raise RuntimeError(f"{script}: expected a free port, but another program listens on {port}")
        self.ports.add(port)
        process = subprocess.Popen([self.python, ROOT / "tests/worlds" / script, *options, "--port", str(port)])
        self.stack.callback(process.wait)
        self.stack.callback(process.kill)
        deadline = time.monotonic() + 300
        while process.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).close()
                return
            time.sleep(0.1)
        raise RuntimeError(f"{script} does not answer on port {port}")


def made_in(folder, stack):
    """Makes the Python environment, too. The servers end with the stack."""
    venv = ROOT / "build/agents/venv"
    virtual_environment.make(venv, PACKAGES, "OpenEnv, OpenSpiel, TextArena and skyrl-gym")
    folder.mkdir(parents=True, exist_ok=True)
    return Made(folder, venv / "bin/python", stack)


def values_of(run, column):
    """The values of a column of progress.csv, in order."""
    with open(run / "progress.csv", newline="") as file:
        return [float(row[column]) for row in csv.DictReader(file) if row.get(column)]


def train(build, cell, options, seed, folder):
    """What a run has come to."""
    program = build / ("examples/grpo_own_world" if cell == "guess" else "deploy/troupe/troupe")
    updates = str(options[options.index("-n") + 1])
    command = [program, "train", "--algo", "grpo", "--seed", seed, "--runs", folder, "--json", "--metrics-port", 0,
               "--log-level", "error", f"evaluation.every_updates={updates}", *options]
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, check=True)
    summary = json.loads(done.stdout.splitlines()[-1])
    run = pathlib.Path(summary["run_directory"])
    won = values_of(run, "eval/win_rate")
    before, after = (won[0], won[-1]) if won else (values_of(run, "eval/mean_reward")[0], summary["eval_mean"])
    sampled = values_of(run, "rollout/right_mean")
    return {"before": before, "after": after, "sampled_first_5": sum(sampled[:5]) / 5, "sampled_last_5": sum(sampled[-5:]) / 5,
            "updates": summary["steps"], "cpu_minutes": summary["cpu_s"] / 60}


def row_of(build, made, cell, seed):
    """The same, of a run that was done before where there is one by these options."""
    options = CELLS[cell](made)
    told = json.dumps([made.told(str(word)) for word in options])
    path = KEPT / f"{cell}_{hashlib.sha256(told.encode()).hexdigest()[:16]}_seed_{seed}.json"
    if not path.exists():
        row = {"cell": cell, "seed": seed, **train(build, cell, options, seed, made.folder / "runs")}
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_suffix(".part")
        beside.write_text(json.dumps(row))
        os.replace(beside, path)
    row = json.loads(path.read_text())
    print(f"{cell} seed {seed}: {row['before']:.3f} before, {row['after']:.3f} after {row['updates']} updates; sampled "
          f"{row['sampled_first_5']:.3f}, then {row['sampled_last_5']:.3f}; {row['cpu_minutes']:.1f} minutes of CPU", flush=True)
    return row


def measures_of(cell, rows):
    """Of the seeds of a cell."""
    measures = {"highest before": max(row["before"] for row in rows), "most CPU minutes": max(row["cpu_minutes"] for row in rows)}
    if cell == "blackjack":
        return {"median after": bars.median_of([row["after"] for row in rows]), **measures}
    return {"lowest gain": min(row["after"] - row["before"] for row in rows), **measures}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("cells", nargs="*", choices=[*CELLS, []], default=[])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seeds", type=bars.seeds_of, default=SEEDS)
    asked = parser.parse_intermixed_args()
    with contextlib.ExitStack() as stack:
        try:
            made = made_in(pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory())), stack)
        except virtual_environment.Unavailable as why:
            print(f"agents: skipped: {why}")
            return 0
        rows = {cell: [row_of(asked.build.resolve(), made, cell, seed) for seed in asked.seeds] for cell in asked.cells or CELLS}
    passed = [bars.print_faults(cell, measures_of(cell, each), BARS[cell]) for cell, each in rows.items()]
    print(f"{sum(passed)} passed, {len(passed) - sum(passed)} failed")
    if asked.json:
        print(json.dumps(rows))
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
