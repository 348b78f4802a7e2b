#!/usr/bin/python3
"""What docs/generate.py --check finds wrong in the pages for newcomers and in the table of algorithms: claims_test.py BUILD_DIR

The program is a stub here, which has two algorithms; docs_test.sh asks the real one about the real pages.
"""
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "docs/reference")]

import claims  # noqa: E402

SCHEMA = {"properties": {"mode": {}, "env": {"properties": {"id": {}}}, "trainer": {"properties": {"lr": {}}}}}
INDEX = """# Algorithms

| algorithm | action spaces | modes | paper | example |
|---|---|---|---|---|
| [PPO](ppo.md) | any | sync, async | Schulman | `troupe train` |
| [QMIX](qmix.md) | discrete, of several agents | sync, async | Rashid | `troupe train --algo qmix` |
"""
PAGE = """# Coming from Other

```sh by-hand
troupe train --algo ppo --env CartPole-v1 trainer.lr=1e-3 --seed N
```

| Other | Troupe |
|---|---|
| `trainer.fit()`, `--learning-rate`, `trainer.max_steps` | `trainer.lr`, half of `--learning-rate` |

`trainer.lr=3e-4` and `--seed 7` are options. `trainer.fit` is a call there, and `config.trainer.lr` a member.
"""


class Program:
    """Accepts every environment with PPO, and those with several agents and discrete actions with QMIX."""

    def __init__(self, root):
        self.root, self.algorithms = root, ["ppo", "qmix"]
        self.schemas = {name: SCHEMA for name in self.algorithms}
        train = {"name": "train", "commands": [], "options": [{"names": [name]} for name in ("--algo", "--env", "--seed")]}
        self.tree = {"commands": [train], "options": []}

    def file_in_folder(self, name):
        return "/a/" + name

    def try_command(self, words):
        is_known = all(word.split("=")[0] in ("trainer.lr", "env.options") for word in words if "=" in word)
        fits = "qmix" not in words or ("simple_spread_v3" in words and not any("continuous" in word for word in words))
        return 2, "/a/no_folder: expected a folder" if is_known and fits else "refused"


class Claims(unittest.TestCase):
    def problems(self, page=PAGE, index=INDEX, change=lambda told: None):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in (("coming_from/other.md", page), ("algorithms/index.md", index)):
                (root / "docs" / name).parent.mkdir(parents=True)
                (root / "docs" / name).write_text(text)
            told = Program(root)
            change(told)
            return [problem.split(": ", 1)[1] for problem in claims.find_problems(told)]

    def test_what_is_so_is_no_problem(self):
        self.assertEqual(self.problems(), [])

    def test_an_option_that_no_algorithm_has(self):
        self.assertEqual(self.problems(PAGE + "\n`trainer.clip=1`\n"), ["`trainer.clip` is no option of any algorithm"])
        row = "| `rate` | `trainer.rate` |\n\n`trainer.lr=3e-4`"
        self.assertEqual(self.problems(PAGE.replace("\n`trainer.lr=3e-4`", row)), ["`trainer.rate` is no option of any algorithm"])

    def test_a_flag_that_no_command_has(self):
        self.assertEqual(self.problems(PAGE + "\n`train --sead 7`\n"), ["`--sead` is no option of any command"])

    def test_a_command_that_is_refused(self):
        self.assertRegex(self.problems(PAGE.replace("trainer.lr=1e-3", "trainer.no=1e-3"))[0], "troupe train .*trainer.no=1e-3.*refused")
        self.assertRegex(self.problems(PAGE.replace("--algo ppo --env", "--algo pppo --env"))[0], "there is no algorithm pppo")

    def test_an_algorithm_that_is_missing_or_too_much(self):
        self.assertEqual(self.problems(change=lambda told: told.algorithms.append("sac")), ["sac is not in the table"])
        self.assertEqual(self.problems(index=INDEX + "| [DQN](dqn.md) | any | sync, async | Mnih | `troupe` |\n"),
                         ["dqn is no algorithm of the program"])

    def test_action_spaces_that_are_not_taken_or_not_told(self):
        for told, expected in (("any, of several agents", "with continuous actions: exit code 2: refused"),
                               ("continuous, of several agents", "with discrete actions: accepted"),
                               ("discrete", "with discrete actions: exit code 2: refused")):
            found = self.problems(index=INDEX.replace("discrete, of several agents", told))
            self.assertTrue(any(problem.endswith(expected) for problem in found), found)
        self.assertRegex(self.problems(index=INDEX.replace("| any |", "| any, of several agents |"))[0], "ppo: told to be for several")

    def test_modes(self):
        self.assertEqual(self.problems(index=INDEX.replace("| any | sync, async |", "| any | sync |")),
                         ["ppo: the modes are told as 'sync'"])


if __name__ == "__main__":
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
