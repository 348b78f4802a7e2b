"""What the program tells: its command line, its schemas, the columns of short runs, and its metrics."""
import concurrent.futures
import csv
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request

ON_POLICY = ["ppo", "a2c", "impala", "reinforce", "ippo", "mappo"]
OFF_POLICY = ["dqn", "sac", "td3", "ddpg", "iql", "vdn", "qmix", "maddpg", "matd3"]
LIMIT_S = 400  # of one question; a machine may be busy

_SMALL = ["policy.hidden=[8]", "evaluation.final_episodes=1"]
_ROLLOUTS = ["-n", "600", "rollout.n_steps=200", "log.every_updates=1", *_SMALL]
_COLLECTIONS = ["-n", "300", "collection.learning_starts=100", "log.episodes=1", *_SMALL]
_ANSWERS = ["-n", "2", "evaluation.final_problems=1", "evaluation.problems=1", "rollout.prompts=2", "rollout.group=2",
            "warm_start.batches=1", "warm_start.batch_size=8"]
_TASKS = ["env.tasks=" + json.dumps([{"id": "CartPole-v1", "target": 100}, {"id": "MountainCar-v0", "floor": -200, "target": -110}])]
_AGENTS = ["-n", "1600", "rollout.n_steps=25", "env.n_envs=16", "trainer.batch_size=64", "log.every_updates=1", *_SMALL]
_TABLES = ["-n", "2000", "log.episodes=1", "evaluation.final_episodes=1"]
# For each algorithm its short run.
RUNS = {**{algo: _ROLLOUTS for algo in ON_POLICY}, **{algo: _COLLECTIONS for algo in OFF_POLICY},
        **{algo: _AGENTS for algo in ("ippo", "mappo", "coma")},
        **{algo: [*_COLLECTIONS, 'env.options={"continuous_actions": true}'] for algo in ("maddpg", "matd3")}, "grpo": _ANSWERS,
        "q_learning": _TABLES, "sft": ["-n", "2", "task.data=examples.jsonl"]}
# Runs that write columns which the algorithm's short run doesn't: what is special in them, as docs/metrics.md calls it.
SPECIAL_RUNS = {
    ("ppo", "continuous actions"): ["--env", "Pendulum-v1", *_ROLLOUTS],
    ("ppo", "`env.tasks`"): [*_ROLLOUTS, *_TASKS],
    ("ippo", "at most 36 joint actions"): ["--env", "climbing-v0", *_AGENTS],
    ("grpo", "games"): ["--task", "tic_tac_toe", *_ANSWERS[:4], *_ANSWERS[5:], "rollout.prompts=1"],
}
# Metrics of a run that are there only after its first update.
_LATE = {"troupe_train_loss", "troupe_train_kl", "troupe_train_entropy", "troupe_train_grad_norm", "troupe_train_clip_ratio",
         "troupe_train_learning_rate", "troupe_policy_version", "troupe_weight_sync_duration_seconds", "troupe_requests_total"}
_JUDGED = {"troupe_reward_value", "troupe_llm_steps_total"}
_SERVED = {"troupe_openenv_server_sessions"}
# Programs that serve metrics, and the metrics to wait for.
SERVERS = [
    (["train", "-n", "1000000000", "rollout.n_steps=64", "checkpoint.every_updates=1", "evaluation.every_steps=0",
      "--listen", "127.0.0.1:0", "--join-secret", "{folder}/secret", "--runs", "{folder}/runs"], _LATE),
    (["train", "--algo", "grpo", *_ANSWERS[2:], "-n", "1000000", "--runs", "{folder}/runs"], _JUDGED),
    (["serve-env", "CartPole-v1", "--port", "0"], _SERVED),
]


class Unknown(Exception):
    """What was asked for does not exist."""


class Program:
    def __init__(self, build, root):
        self.root = root
        self._troupe = build / "deploy/troupe/troupe"
        self._folder = tempfile.TemporaryDirectory()
        examples = [json.dumps({"prompt": str(number), "answer": str(number + 1)}) for number in range(20)]
        pathlib.Path(self._folder.name, "examples.jsonl").write_text("\n".join(examples))
        self._environment = {name: value for name, value in os.environ.items() if not name.startswith("TROUPE_")}
        self._environment["XDG_STATE_HOME"] = self._folder.name

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    def ask_all(self):
        """Asks the program everything, several things at a time."""
        self.tree = json.loads(self._run(["describe", "--json"]))
        self.version = self.tree["version"]
        known = self._run(["list"]).split("tasks of language models")[0]
        self.algorithms = re.findall(r"^  (\w+) ", known, re.MULTILINE)
        with concurrent.futures.ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
            schemas = {algo: pool.submit(self._run, ["config", algo, "--json"]) for algo in self.algorithms}
            columns = {algo: pool.submit(self._read_columns, algo, RUNS[algo]) for algo in self.algorithms if algo in RUNS}
            special = {key: pool.submit(self._read_columns, key[0], words) for key, words in SPECIAL_RUNS.items()}
            scraped = [pool.submit(self._scrape, words, wanted) for words, wanted in SERVERS]
            self.schemas = {algo: json.loads(text.result()) for algo, text in schemas.items()}
            self.columns = {algo: names.result() for algo, names in columns.items()}
            self.special_columns = {key: names.result() for key, names in special.items()}
            self.families = {}
            for answer in scraped:
                for name, family in answer.result().items():
                    self.families.setdefault(name, family)

    def file_in_folder(self, name):
        """The path of an empty file that ends with this program."""
        path = pathlib.Path(self._folder.name, name)
        path.touch()
        return str(path)

    def try_command(self, words):
        """The exit code of a command that may fail, and what it wrote to stderr."""
        result = subprocess.run([self._troupe, *words], cwd=self._folder.name, env=self._environment, text=True,
                                capture_output=True, stdin=subprocess.DEVNULL, timeout=LIMIT_S, check=False)
        return result.returncode, result.stderr

    def _run(self, words):
        result = subprocess.run([self._troupe, *words], cwd=self._folder.name, env=self._environment, text=True,
                                capture_output=True, stdin=subprocess.DEVNULL, timeout=LIMIT_S, check=False)
        if result.returncode != 0:
            raise SystemExit(f"troupe {' '.join(words)}: exit code {result.returncode}\n{result.stderr}")
        return result.stdout

    def _read_columns(self, algo, words):
        """The columns of progress.csv that this run writes."""
        with tempfile.TemporaryDirectory(dir=self._folder.name) as runs:
            self._run(["train", "--algo", algo, "--deterministic", "--seed", "1", "--metrics-port", "0", "--log-level", "error",
                       "--runs", runs, *words])
            [path] = pathlib.Path(runs).rglob("progress.csv")
            with open(path, newline="") as file:
                return next(csv.reader(file))

    def _scrape(self, words, wanted):
        """The metrics of a program that is ended once it has those wanted."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        words = [word.format(folder=self._folder.name) for word in words]
        with open(pathlib.Path(self._folder.name) / f"{port}.log", "w+b") as log:
            process = subprocess.Popen([self._troupe, *words, "--metrics-port", str(port)], cwd=self._folder.name,
                                       env=self._environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            try:
                deadline, families = time.monotonic() + LIMIT_S, {}
                while not wanted <= families.keys():
                    if process.poll() is not None or time.monotonic() > deadline:
                        log.seek(0)
                        raise SystemExit(f"troupe {' '.join(words)}: has no {', '.join(sorted(wanted - families.keys()))}\n"
                                         + log.read().decode(errors="replace"))
                    time.sleep(0.1)
                    try:
                        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
                            families = read_exposition(answer.read().decode())
                    except OSError:
                        pass  # it has not begun to serve
                return families
            finally:
                process.send_signal(signal.SIGKILL)
                process.wait()


def read_exposition(text):
    """{name: {"type", "help", "labels"}} of Prometheus's text format."""
    families = {}
    for name, what in re.findall(r"^# HELP (\w+) (.*)$", text, re.MULTILINE):
        families[name] = {"help": what, "labels": []}
    for name, what in re.findall(r"^# TYPE (\w+) (\w+)$", text, re.MULTILINE):
        families[name]["type"] = what
    for name, labels in re.findall(r"^(\w+)(?:\{(.*)\})? \S+$", text, re.MULTILINE):
        family = families.get(name) or families.get(re.sub(r"_(bucket|sum|count)$", "", name))
        for label in re.findall(r'(\w+)="(?:[^"\\]|\\.)*"', labels):
            # `process` and `node` say of any metric whose it is.
            if label not in family["labels"] and label not in ("le", "process", "node"):
                family["labels"].append(label)
    return families
