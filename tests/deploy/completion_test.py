#!/usr/bin/python3
"""What a shell completes of the command line of troupe, and of a program with troupe::main, and what `describe` tells of
it: completion_test.py BUILD_DIR"""
import deployment
import fcntl
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

# Takes the words that are cut as bash cuts them, and prints what it completes, and how where that is not by words.
ASK_BASH = r"""
source "$1"
compopt() { [[ $2 == nosort ]] || echo "<$2>"; }
COMP_LINE=$2 COMP_POINT=${#2} COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
COMP_WORDS=("${@:3}") COMP_CWORD=$(($# - 3))
"_${NAME}_complete"
printf '%s\n' "${COMPREPLY[@]}"
"""


def cut(line):
    """The words of a line that is typed, cut at = and : as bash does."""
    words = re.findall(r"[=:]+|[^\s=:]+", line)
    return words if line[-1] not in " " else words + [""]


class Completion(unittest.TestCase):
    program = None  # the default is troupe

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        for run in ("runs/ppo/CartPole-v1_1", "runs/dqn/Acrobot-v1_2", "elsewhere/sac/Pendulum-v1_1"):
            (cls.folder / run).mkdir(parents=True)
            (cls.folder / run / "config.json").write_text("{}")
        (cls.folder / "runs/ppo/no_run").mkdir()
        # A shell would interpret these names, so that they are not offered.
        for run in ("$(touch pwned)_1", "a;b_1", "with space_1", "line\nbreak_1"):
            (cls.folder / "runs/ppo" / run).mkdir()
            (cls.folder / "runs/ppo" / run / "config.json").write_text("{}")
        cls.path = cls.program or deployment.troupe()
        cls.name = pathlib.Path(cls.path).name
        cls.script = cls.folder / "completion.bash"
        cls.script.write_text(cls.run_program("completion", "bash"))

    @classmethod
    def run_program(cls, *words):
        return subprocess.run([cls.path, *words], text=True, check=True, timeout=120, cwd=cls.folder,
                              stdout=subprocess.PIPE).stdout

    def complete(self, typed):
        """What bash puts in the place of the last word of `PROGRAM TYPED`."""
        words = [str(self.path), *(cut(typed) if typed else [""])]
        done = subprocess.run(["bash", "-c", ASK_BASH, "bash", str(self.script), f"{self.path} {typed}", *words],
                              text=True, capture_output=True, timeout=120, cwd=self.folder,
                              env={**os.environ, "NAME": self.name})
        self.assertEqual(done.stderr, "")
        return done.stdout.split()


class OfTroupe(Completion):
    def test_commands(self):
        self.assertEqual(self.complete("tra"), ["train"])
        self.assertLessEqual({"train", "eval", "serve-env", "certs", "completion"}, set(self.complete("")))
        self.assertNotIn("describe", self.complete(""))
        self.assertEqual(self.complete("certs re"), ["revoke"])
        self.assertEqual(self.complete("--log-level debug eva"), ["eval"])

    def test_options(self):
        self.assertEqual(self.complete("train --al"), ["--algo", "--allow-unsandboxed-code"])
        self.assertLessEqual({"--seed", "--log-level", "--metrics-port"}, set(self.complete("train -")))
        self.assertIn("--host", self.complete("certs add --"))
        self.assertEqual(self.complete("train --seed 1 --see"), [])
        self.assertEqual(self.complete("train --resume runs/ppo/CartPole-v1_1 --en"), [], "one that --resume excludes")
        self.assertEqual(self.complete("list --h"), ["--help"])

    def test_values_of_options(self):
        self.assertEqual(self.complete("train --algo t"), ["td3"])
        self.assertEqual(self.complete("train --algo=t"), ["td3"])
        self.assertEqual(self.complete("config gr"), ["grpo"])
        self.assertEqual(self.complete("train --env CartP"), ["CartPole-v0", "CartPole-v1"])
        self.assertEqual(self.complete("serve-env Acro"), ["Acrobot-v1"])
        self.assertEqual(self.complete("train --algo grpo --task sum"), ["sum_digits"])
        self.assertEqual(self.complete("train --mode "), ["sync", "async"])
        self.assertEqual(self.complete("eval --model be"), ["best_model"])
        self.assertEqual(self.complete("--log-level w"), ["warn"])
        self.assertEqual(self.complete("completion "), ["bash", "zsh", "fish"])
        self.assertEqual(self.complete("train --seed "), [])

    def test_options_of_the_algorithm_and_their_values(self):
        self.assertEqual(self.complete("train trainer.lr"), ["trainer.lr=", "trainer.lr_schedule="])
        self.assertEqual(self.complete("train trainer.gam"), ["<nospace>", "trainer.gamma="])
        self.assertEqual(self.complete("train trainer.lr_schedule="), ["constant", "linear"])
        self.assertEqual(self.complete("train trainer.lr_schedule=li"), ["linear"])
        self.assertEqual(self.complete("train env.normalize_obs=t"), ["true"])
        self.assertEqual(self.complete("train env.id=Acro"), ["Acrobot-v1"])
        self.assertEqual(self.complete("train --algo grpo task.name=sum"), ["sum_digits"])
        self.assertEqual(self.complete("train --algo dqn replay.cap"), ["<nospace>", "replay.capacity="])

    def test_runs_and_paths(self):
        runs = ["runs/dqn/Acrobot-v1_2", "runs/ppo/CartPole-v1_1"]
        self.assertEqual(self.complete("eval "), runs)
        self.assertEqual(self.complete("train --resume r"), runs)
        self.assertEqual(self.complete("train --runs elsewhere --init "), ["elsewhere/sac/Pendulum-v1_1"])
        self.assertEqual(self.complete("eval elsew"), ["<default>"])
        self.assertEqual(self.complete("train --config "), ["<default>"])
        self.assertEqual(self.complete("train --runs "), ["<dirnames>"])

    def test_an_interactive_bash_completes(self):
        """Through readline, which inserts what the script returns."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execve("/bin/bash", ["bash", "--norc", "--noprofile", "-i"],
                      {"PATH": f"{pathlib.Path(self.path).parent}:/usr/bin:/bin", "PS1": "$ ", "TERM": "dumb"})
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 500, 0, 0))  # a line is not cut
        lines = ("bind 'set enable-bracketed-paste off'", f"source {self.script}",
                 ": ; troupe tra\t--algo t\ttrainer.lr_schedule=l\t--config compl\t--help >/dev/null", "exit")
        os.write(terminal, "".join(line + "\n" for line in lines).encode())
        shown = b""
        try:
            while block := os.read(terminal, 4096):
                shown += block
        except OSError:
            pass  # the shell has ended
        os.waitpid(pid, 0)
        os.close(terminal)
        self.assertIn(b"troupe train --algo td3 trainer.lr_schedule=linear --config completion.bash ", shown)

    def test_scripts_of_all_shells(self):
        for shell, holds in ("bash", "complete -F _troupe_complete troupe"), ("zsh", "#compdef troupe"), \
                            ("fish", "complete -c troupe "):
            text = self.run_program("completion", shell)
            self.assertIn(holds, text)
            self.assertNotIn("@NAME@", text)
            self.assertNotIn("@ID@", text)

    def test_the_description_holds_each_command_and_option(self):
        told = json.loads(self.run_program("describe", "--json"))
        self.assertEqual(told["program"], "troupe")
        self.assertRegex(self.run_program("--version"), re.escape(told["version"]))
        commands = {one["name"]: one for one in told["commands"]}
        listed = re.findall(r"(?m)^  ([a-z][\w-]+) ", self.run_program("--help").split("Subcommands:")[1])
        self.assertEqual(sorted(commands), sorted(set(listed) & set(commands)))
        self.assertNotIn("describe", commands)
        options = {name: option for option in commands["train"]["options"] for name in option["names"]}
        self.assertEqual(options["--steps"]["names"], ["-n", "--steps"])
        self.assertEqual(options["--runs"]["default"], "runs")
        self.assertEqual(options["--mode"]["choices"], ["sync", "async"])
        self.assertEqual(options["--threads"]["range"], "0 - 1024")
        self.assertEqual(options["--faults"]["needs"], ["--deterministic"])
        self.assertIn("--resume", options["--env"]["excludes"])
        self.assertEqual(options["--metrics-address"]["environment"], "TROUPE_METRICS_ADDRESS")
        self.assertEqual(options["--json"]["argument"], "")
        self.assertEqual([one["names"] for one in commands["train"]["positionals"]], [["overrides"]])
        self.assertEqual([one["name"] for one in commands["certs"]["commands"]], ["init", "add", "revoke", "show"])

    def test_the_manual_page_holds_each_command_and_option(self):
        page = self.run_program("describe", "--man")
        told = json.loads(self.run_program("describe", "--json"))
        plain = re.sub(r"\\f[BIR]", "", page).replace("\\-", "-")
        for command in told["commands"]:
            self.assertIn(f'.SS "troupe {command["name"]}', plain)
            for option in command["options"]:
                self.assertIn(", ".join(option["names"]), plain)
        try:
            said = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=page, text=True, capture_output=True)
        except FileNotFoundError:
            self.skipTest("no groff")
        self.assertEqual(said.stderr, "")


class OfOwnProgram(Completion):
    program = deployment.build_folder() / "examples/own_program"

    def test_it_completes_what_it_has(self):
        self.assertEqual(self.complete("tra"), ["train"])
        self.assertEqual(self.complete("train --env Corr"), ["Corridor-v0"])
        self.assertEqual(self.complete("train --algo eag"), ["eager_ppo"])
        self.assertEqual(self.complete("train --algo eager_ppo mode=a"), ["async"])
        self.assertEqual(self.complete("train --tas"), [])
        self.assertEqual(self.complete("eval "), ["runs/dqn/Acrobot-v1_2", "runs/ppo/CartPole-v1_1"])


del Completion  # it has no tests of its own
if __name__ == "__main__":
    deployment.main()
