"""A run of `troupe train` with environments in Python on the nodes: what ./dev chaos --net --train runs. The controller is
the training run. When it has been killed, it is started again by --continue and by --resume in turn."""
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading

import network
import processes
import run
import training_record

METRICS_PORT = 9464
REPLICAS = 4
# Updates that are in progress.csv since a fault has ended: the first of them may have begun before.
UPDATES_AFTER = 2
# Roles are made anew from each checkpoint, in less time than this.
PAUSE_LIMIT = 2
# A checkpoint waits for lost replicas for at most 10 s, and the segment after it for their sessions as long.
CHECKPOINT_WAIT = 10
OPTIONS = ("--algo", "ppo", "--env", "paced:Paced", "--steps", "1000000000", "env.placement=node:*",
           f"env.replicas={REPLICAS}", f"rollout.batch={REPLICAS}", "env.n_envs=1", "rollout.n_steps=32",
           "trainer.batch_size=64", "trainer.n_epochs=1", "policy.hidden=[16]", "checkpoint.every_updates=20",
           "evaluation.every_steps=2560", "evaluation.episodes=1", "evaluation.final_episodes=1",
           # The recorder keeps 20,000 episodes of the learning curve. With few in an hour its memory stays, too.
           'env.options={"length": 200}')


class Training(run.Run):
    recovery_limit = run.RECOVERY_LIMIT + CHECKPOINT_WAIT

    def __init__(self, options, folder, networked):
        super().__init__(options, folder, networked)
        self.program = str(options.build / "deploy/troupe/troupe")
        self.runs = folder / "runs"
        self.directory = self.runs / "ppo/paced-Paced_1"
        self.metrics_port = METRICS_PORT
        self.metrics = None
        self.before_life = []  # The newest checkpoint when each controller was started.
        self.best_scores = []
        self.basis = (0, 0)  # A time, and the fewest updates in progress.csv that were seen since.
        self.served = 0
        self.recoveries = []
        self.samples = {}  # By the name of a process: its figures, one after each recovery.
        self.sampled = threading.Event()
        self.sampler = threading.Thread(target=self.sample_often, daemon=True)

    # ---- processes

    def call(self, *words):
        subprocess.run([self.program, *map(str, words)], check=True, timeout=60, stdout=subprocess.DEVNULL)

    def make_secrets(self, hosts):
        self.call("certs", "init", self.secrets)
        self.call("certs", "add", self.secrets, "--name", "controller", "--role", "controller",
                  *(word for host in hosts for word in ("--host", host)))
        for number in range(1, run.NODES + 1):
            self.call("certs", "add", self.secrets, "--name", f"node-{number}")

    def controller_words(self):
        words = ("--continue", "--runs", self.runs, *OPTIONS)
        if self.life % 2 == 0 and self.before_life[-1] > 0:  # Without a checkpoint there is nothing to resume.
            words = ("--resume", self.directory)
        return ("train", "--listen", self.place_of_controller(), *self.known_by("controller"), "--wait-for-nodes", run.NODES,
                "--threads", "2", "--stop-limit", "60", "--metrics-port", self.metrics_port, *words)

    def start_controller(self):
        self.before_life.append(training_record.newest_checkpoint(self.directory))
        self.note_best_score()
        super().start_controller()

    def start_all(self):
        if not self.networked:
            [self.metrics_port] = run.free_ports(1)
        self.metrics = self.start("scrape", network.namespace(0), sys.executable, run.HERE / "scrape.py",
                                  f"http://127.0.0.1:{self.metrics_port}/metrics", stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE)
        super().start_all()
        self.recoveries.clear()  # The start is none.
        self.sampler.start()

    # ---- what serves

    def progress(self):
        with contextlib.suppress(OSError):
            return (self.directory / "progress.csv").read_text()
        return ""

    def trains_since(self, healed):
        """Whether an update that began after `healed` has ended."""
        updates = self.progress().count("\n")
        if self.basis[0] != healed:
            self.basis = healed, updates
        self.basis = healed, min(self.basis[1], updates)  # A controller that goes on takes some back.
        return updates >= self.basis[1] + UPDATES_AFTER

    def all_serve(self):
        self.metrics.stdin.write(b"\n")
        self.metrics.stdin.flush()
        values = json.loads(self.metrics.stdout.readline()) or {}
        ready = values.get('troupe_replicas_ready{service="environments"}', 0)
        return int(float(values.get("troupe_nodes", 0))) == run.NODES and int(float(ready)) == REPLICAS

    def serves_at(self, healed):
        """When it was seen that all nodes and replicas are there and that training goes on; None: that is not so."""
        if self.all_serve():
            self.served = run.now()
        trains = self.trains_since(healed)
        return run.now() if trains and self.served > max(healed, run.now() - PAUSE_LIMIT) else None

    def await_recovery(self, healed, limit, settling):
        recovered = super().await_recovery(healed, limit, settling)
        self.note_best_score()
        if recovered is not None:
            self.recoveries.append(recovered - healed)
            self.keep_figures()
        return recovered

    def note_best_score(self):
        best = self.directory / "best_model"
        if best.exists():
            self.best_scores.append(training_record.score_of(best))

    # ---- figures

    def read_figures(self):
        """Of the controller, of each node and of all processes of the run together, by name. The relay is no part of the
        run: it keeps the sockets of each link that it has forgotten."""
        named = {self.controller.pid: f"controller-{self.life}",
                 **{node.pid: f"node-{number} ({node.pid})" for number, node in list(self.nodes.items())}}
        found = {pid: training_record.read_figures(pid) for pid in processes.descendants(os.getpid())
                 if pid not in (self.relay.pid, self.metrics.pid)}
        found = {pid: figures for pid, figures in found.items() if figures}
        return {**{name: found[pid] for pid, name in named.items() if pid in found},
                "all processes": training_record.add_up(found.values())}

    def keep_figures(self):
        """Everything serves, so there are as many processes as before."""
        for name, figures in self.read_figures().items():
            self.samples.setdefault(name, []).append(figures)

    def sample_often(self):
        """For people who look into the folder: what a fault leaves for a moment is in these figures, too."""
        with open(self.folder / "figures.jsonl", "a", encoding="utf-8") as file:
            while not self.sampled.wait(self.options.sample_every):
                file.write(json.dumps({"at": run.now(), **self.read_figures()}) + "\n")
                file.flush()

    # ---- the end

    def ask_to_end(self):
        self.sampled.set()
        if self.sampler.is_alive():
            self.sampler.join()
        self.controller.send_signal(signal.SIGTERM)

    def end_helpers(self):
        super().end_helpers()
        self.metrics.kill()
        self.metrics.wait()

    def check_lives(self):
        """Each controller has gone on from the newest checkpoint that was whole when the one before was killed."""
        wrong = []
        for life, expected in enumerate(self.before_life, 1):
            [log] = self.logs.glob(f"*-controller-{life}.log")
            got = training_record.step_gone_on_from(log.read_text(errors="replace"))
            if got != expected:
                wrong.append(f"controller {life} has gone on from step {got}, expected the newest checkpoint's, {expected}")
        return wrong

    def check_best_scores(self):
        pairs = zip(self.best_scores, self.best_scores[1:])
        return [f"the best model's score has fallen from {one} to {next_one}" for one, next_one in pairs if next_one < one]

    def check_end(self):
        wrong = [f"{name} is missing" for name in ("last_model", "best_model") if not (self.directory / name).exists()]
        newest = training_record.newest_checkpoint(self.directory)
        if newest < self.before_life[-1]:
            wrong.append(f"the newest checkpoint, {newest}, is older than {self.before_life[-1]}, from which the last "
                         "controller has gone on")
        return wrong

    def check_recoveries(self):
        limit = run.RECOVERY_FACTOR * self.recovery_limit
        return [f"recovered late: training went on {took:.1f} s after a fault, expected at most {limit} s"
                for took in self.recoveries if took > limit]

    def judged_growth(self):
        """The names of those whose figures must not grow: there for half of the run, which is long enough."""
        if self.options.seconds < training_record.FLAT_FROM:
            return []
        everything = len(self.samples.get("all processes", []))
        return [name for name, samples in self.samples.items() if len(samples) >= max(4, everything / 2)]

    def judge(self):
        """The verdict as text, its figures, and whether everything was as promised."""
        progress = self.progress()
        wrong = [*self.check_lives(), *self.check_best_scores(), *self.check_end(), *self.check_recoveries(),
                 *training_record.check_progress(progress)]
        for name in self.judged_growth():
            wrong += training_record.check_growth(name, self.samples[name], name == "all processes")
        figures = {"updates": training_record.updates_of(progress), "controllers": self.life,
                   "checkpoint": training_record.newest_checkpoint(self.directory), "faults": len(self.recoveries),
                   "recovery_max_s": max(self.recoveries, default=None), "breaches": wrong, "figures": {}}
        text = [f"{figures['updates']} updates by {self.life} controllers, the last checkpoint is of step "
                f"{figures['checkpoint']}",
                f"recoveries: {len(self.recoveries)}, the longest took {max(self.recoveries, default=0):.1f} s (at most "
                f"{run.RECOVERY_FACTOR * self.recovery_limit})"]
        everything = len(self.samples.get("all processes", []))
        for name, samples in self.samples.items():
            if len(samples) >= max(2, everything / 2):
                text.append(training_record.describe_growth(name, samples))
                figures["figures"][name] = training_record.quarters(samples)
        text += [f"NOT AS PROMISED: {sentence}" for sentence in wrong]
        text.append("everything was as promised" if not wrong else "NOT everything was as promised")
        return "\n".join(text), figures, not wrong
