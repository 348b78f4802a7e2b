"""Runs of `troupe train` whose results are kept, a file a seed, and not made again unless their options or the algorithm's
defaults have changed since."""
import hashlib
import json
import os
import pathlib
import resource
import subprocess
import tempfile

import bars
import page

KEPT = pathlib.Path(__file__).resolve().parents[2] / "runs/learning"


class Missing(Exception):
    """What a cell needs and is not there."""


def judge(cells, result_of, bars_of, describe, as_json):
    """Judges the cells one after the other and prints `N passed, N failed, N skipped`; returns the exit code. result_of(cell)
    returns a result and its measures, and describe(cell, result, measures) is what is printed of them. A cell is skipped if
    something is missing."""
    results, counts = {}, {"passed": 0, "failed": 0, "skipped": 0}
    for cell in cells:
        try:
            results[cell], measures = result_of(cell)
        except Missing as missing:
            print(f"{cell}: skipped: {missing}", flush=True)
            counts["skipped"] += 1
            continue
        print(f"{cell}: {describe(cell, results[cell], measures)}", flush=True)
        counts["passed" if bars.print_faults(cell, measures, bars_of[cell]) else "failed"] += 1
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    if as_json:
        print(json.dumps(results))
    return 1 if counts["failed"] else 0


def measured(command):
    """What a command prints, and the CPU seconds of its process and of its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stderr[-800:]}")
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Runs:
    """Those of a folder below runs/learning. With only_kept nothing is run, and what is not done yet is missing."""

    def __init__(self, build, folder, only_kept):
        self.build = build.resolve()
        self.troupe = self.build / "deploy/troupe/troupe"
        self.folder, self.only_kept = folder, only_kept
        self.defaults = {}

    def defaults_of(self, algorithm):
        """The defaults of the algorithm's options, on which a result depends, too."""
        if algorithm not in self.defaults:
            done = subprocess.run([self.troupe, "config", algorithm, "--json"], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True, check=False)
            if done.returncode != 0:
                raise Missing(f"troupe has no {algorithm}")
            properties = json.loads(done.stdout)["properties"]
            self.defaults[algorithm] = {name: each.get("default") for name, each in properties.items()}
        return self.defaults[algorithm]

    def kept(self, cell, seed, told, work):
        """What `work` returned before for what it is told, or returns now."""
        digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]
        path = KEPT / self.folder / cell / f"seed_{seed}_{digest}.json"
        if path.exists():
            result = json.loads(path.read_text())
        elif self.only_kept:
            raise Missing("not done yet")
        else:
            result = work()
            path.parent.mkdir(parents=True, exist_ok=True)
            beside = path.with_suffix(".part")
            beside.write_text(json.dumps(result))
            os.replace(beside, path)
        print(f"{cell:18} seed {seed:2}: {result['eval_mean']:8.2f}  {result['steps']} steps  {result['cpu_s']:.1f} CPU s",
              flush=True)
        return result

    def train(self, cell, words, seed):
        """What a run has come to: `troupe train` with these words and this seed, on one thread."""
        def work():
            with tempfile.TemporaryDirectory() as folder:
                printed, cpu_s = measured([self.troupe, "train", *words, "--seed", str(seed), "--runs", folder, "--json",
                                           "--threads", "1", "--metrics-port", "0"])
            summary = json.loads(printed.splitlines()[-1])
            return {"eval_mean": summary["eval_mean"], "eval_std": summary["eval_std"], "steps": summary["steps"],
                    "cpu_s": cpu_s, "options": words}
        return self.kept(cell, seed, [words, seed, self.defaults_of(page.value_of(words, "--algo", "ppo"))], work)
