#!/usr/bin/python3
"""Tests multi_agent.py and runs.py: each cell passes with results at its bars and fails with results just beyond, both sides of
the comparison with TorchRL have the same trials, what is kept and for how long, and the options beside the real `troupe`:
multi_agent_test.py BUILD_DIR"""
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

import bars
import multi_agent
import page
import runs

DEFAULTS = {"env": {"n_envs": 64}, "policy": {"hidden": [64, 64]},
            "trainer": {"lr": 1e-3, "batch_size": 600, "n_epochs": 10, "gamma": 0.95, "gae_lambda": 0.95, "ent_coef": 0.003,
                        "clip_range": 0.2, "max_grad_norm": 10, "vf_coef": 1, "normalize_advantage": True}}
STEP = 1e-3


class Played(runs.Runs):
    """Runs that come to what `score` says of a cell, its words or numbers and its seed."""

    def __init__(self, score):
        super().__init__(pathlib.Path("."), "played", False)
        self.score, self.told = score, []

    def defaults_of(self, algorithm):
        return DEFAULTS

    def kept(self, cell, seed, told, work):
        self.told.append((cell, seed, told[0]))
        return {"eval_mean": self.score(cell, told[0], seed), "steps": 1, "cpu_s": 1.0}


def measured(cell, score):
    return multi_agent.CELLS[cell](Played(score))[1]


def faults(cell, score):
    return bars.faults_of(measured(cell, score), multi_agent.BARS[cell])


class Judged(unittest.TestCase):
    def test_each_algorithm_on_simple_spread_has_its_bar(self):
        for algorithm, least in {"vdn": -15.5, "qmix": -15.5, "ippo": -15.5, "mappo": -15.5, "iql": -18, "maddpg": -18,
                                 "matd3": -18, "coma": -20}.items():
            cell = f"{algorithm}_spread"
            self.assertEqual(faults(cell, lambda *_, least=least: least), [])
            self.assertIn(f"expected at least {least}", *faults(cell, lambda *_, least=least: least - STEP))

    def test_it_is_the_median_of_five_seeds_that_is_judged(self):
        means = {1: -30, 2: -15.6, 3: -8, 4: -9, 5: -15.5}
        self.assertEqual(faults("vdn_spread", lambda cell, words, seed: means[seed]), [])
        means[4] = -15.6
        self.assertEqual(len(faults("vdn_spread", lambda cell, words, seed: means[seed])), 1)

    def test_a_result_has_its_way_from_random_players_to_the_controller(self):
        for mean, way in ((-27.0, 0.0), (-7.9, 1.0)):
            result, _ = multi_agent.CELLS["iql_spread"](Played(lambda *_, mean=mean: mean))
            self.assertAlmostEqual(result["median_way"], way)

    def test_the_runs_have_the_defaults(self):
        played = Played(lambda *_: 0)
        for algorithm in multi_agent.SPREAD:
            multi_agent.CELLS[f"{algorithm}_spread"](played)
        for _, _, words in played.told:
            expected = {"evaluation.every_steps=0", "evaluation.final_episodes=500"}
            expected |= {multi_agent.CONTINUOUS} if words[1] in ("maddpg", "matd3") else set()
            self.assertEqual({word for word in words if "=" in word}, expected)
            self.assertEqual([page.value_of(words, option) for option in ("--env", "-n")], ["simple_spread_v3", "200000"])
            self.assertEqual(len(words), 6 + len(expected))

    def test_a_game_and_a_team_have_a_bar_for_each_algorithm(self):
        for name, least_of in {**multi_agent.GAMES, **multi_agent.TEAMS}.items():
            for algorithm in least_of:
                def score(cell, words, seed, below=0, algorithm=algorithm, least_of=least_of):
                    return least_of[words[1]] - (below if words[1] == algorithm else 0)
                self.assertEqual(faults(name, score), [])
                found = faults(name, lambda *told, score=score: score(*told, below=STEP))
                self.assertEqual([fault.split(":")[0] for fault in found], [algorithm])

    def test_the_two_step_game_is_judged_on_every_seed(self):
        for algorithm, value, wrong in (("qmix", 8, 7), ("vdn", 7, 0), ("vdn", 7, 8)):
            cell = f"two_step_{algorithm}"
            self.assertEqual(faults(cell, lambda *_, value=value: value), [])
            once = faults(cell, lambda cell, words, seed, value=value, wrong=wrong: wrong if seed == 10 else value)
            self.assertEqual(len(once), 1)

    def test_each_kind_of_reward_has_a_bar(self):
        def name_of(words):
            rewards = next(rewards for rewards, option in multi_agent.LEARNS_FROM.items() if option in words)
            return f"{words[1]}_{rewards}"
        for name in multi_agent.CREDIT:
            for below, count in ((0, 0), (STEP, 1)):
                found = faults("credit", lambda cell, words, seed, name=name, below=below:
                               multi_agent.CREDIT[name_of(words)] - (below if name_of(words) == name else 0))
                self.assertEqual(len(found), count, name)

    def test_speakers_and_listeners_are_judged_with_the_channel_and_without(self):
        def score(with_channel, without_channel):
            def of(cell, words, seed):
                rule = next((word for word in words if word.startswith("agents.scripted=")), None)
                if rule:
                    return -20.0 if "blind" in rule else -10.0 if "listener.speaker" in rule else -40.0
                return without_channel if multi_agent.SILENT in words else with_channel
            return of
        self.assertEqual(faults("speaker_listener", score(-12.99, -18.0)), [])
        self.assertIn("way", *faults("speaker_listener", score(-13.1, -18.0)))
        self.assertIn("above_blind", *faults("speaker_listener", score(-12.99, -17.9)))

    def test_chasers_are_judged_with_both_runners(self):
        def score(of_rule, of_random):
            def of(cell, words, seed):
                if any("adversary\":" in word for word in words):
                    return 1.0 if any('"adversary": "random"' in word for word in words) else 40.0
                return of_random if any('{"agent": "random"}' in word for word in words) else of_rule
            return of
        self.assertEqual(faults("tag", score(3.01, 3.01)), [])
        self.assertIn("times_random_of_simple_tag.runner", *faults("tag", score(2.9, 3.01)))
        self.assertIn("times_random_of_random", *faults("tag", score(3.01, 2.9)))

    def test_what_has_learned_nothing_passes_no_cell(self):
        nothing = {"two_step_qmix": 0, "two_step_vdn": 0, "credit": 0, "climbing": 0, "penalty": 0}
        for cell in multi_agent.CELLS:
            if cell in ("mappo_torchrl", "speaker_listener"):
                continue  # they compare with runs that have learned as little
            self.assertNotEqual(faults(cell, lambda *_, cell=cell: nothing.get(cell, multi_agent.RANDOM)), [], cell)


class Peer(unittest.TestCase):
    def test_mappo_with_its_defaults_must_not_be_below_torchrl_with_its_own(self):
        def score(ours):
            return lambda cell, told, seed: ours if cell == "mappo_spread" else -16.0
        self.assertEqual(faults("mappo_torchrl", score(-16.0)), [])
        self.assertEqual(len(faults("mappo_torchrl", score(-16.0 - STEP))), 1)

    def test_each_side_has_its_own_defaults_there(self):
        played = Played(lambda *_: 0)
        multi_agent.CELLS["mappo_torchrl"](played)
        for cell, seed, told in played.told:
            if cell == "mappo_spread":
                self.assertEqual(told, multi_agent.words_of_spread("mappo"))
            else:
                self.assertEqual(told, {**multi_agent.TORCHRL, "steps": 200_000, "seed": seed, "episodes": 500})
        self.assertEqual(len(played.told), 10)

    def test_both_sides_have_the_same_trials_and_seeds_that_do_not_judge(self):
        played = Played(lambda *_: 0)
        multi_agent.CELLS["mappo_torchrl_tuned"](played)
        numbers = [trial or multi_agent.numbers_of(DEFAULTS) for trial in multi_agent.TRIALS.values()]
        self.assertFalse(set(multi_agent.SEEDS) & set(multi_agent.TUNING_SEEDS))
        tried = {cell: [told for each, seed, told in played.told if each == cell and seed == 11]
                 for cell in ("mappo_spread", "mappo_torchrl")}
        self.assertEqual([{name: told[name] for name in numbers[0]} for told in tried["mappo_torchrl"]], numbers)
        own = [[], *(multi_agent.options_of(trial) for trial in multi_agent.TRIALS.values() if trial)]
        self.assertEqual(tried["mappo_spread"], [multi_agent.words_of_spread("mappo", options) for options in own])
        for cell in tried:
            seeds = [seed for each, seed, _ in played.told if each == cell]
            self.assertEqual(seeds, [*multi_agent.TUNING_SEEDS] * len(numbers) + [*multi_agent.SEEDS])

    def test_a_side_is_judged_by_its_best_trial(self):
        def score(best_at):
            def of(cell, told, seed):
                width = told["n_envs"] if isinstance(told, dict) else 240 if "env.n_envs=240" in told else 64
                return (-14.0 if seed > 10 else -16.0) if width == best_at[cell] else -18.0
            return of
        result, measures = multi_agent.CELLS["mappo_torchrl_tuned"](Played(score({"mappo_spread": 240, "mappo_torchrl": 64})))
        self.assertEqual([(side["trial"], side["median"]) for side in result.values()], [("torchrl", -16.0), ("troupe", -16.0)])
        self.assertEqual(result["torchrl"]["trials"]["troupe"], -14.0)
        self.assertEqual(bars.faults_of(measures, multi_agent.BARS["mappo_torchrl_tuned"]), [])

    def test_a_peer_that_learns_nothing_is_none(self):
        found = faults("mappo_torchrl_tuned", lambda cell, told, seed: -14.0 if cell == "mappo_spread" else -20 - STEP)
        self.assertIn("peer", *found)

    def test_the_options_of_a_trial_are_those_of_troupe(self):
        self.assertEqual(multi_agent.options_of(None), [])
        self.assertEqual(multi_agent.options_of({"n_envs": 240, "hidden": [256, 256], "lr": 3e-4, "normalize_advantage": False}),
                         ["env.n_envs=240", "policy.hidden=[256, 256]", "trainer.lr=0.0003", "trainer.normalize_advantage=false"])


class Kept(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for name, value in {"KEPT": pathlib.Path(folder.name), "measured": self.measure}.items():
            self.addCleanup(setattr, runs, name, getattr(runs, name))
            setattr(runs, name, value)
        self.commands = []

    def measure(self, command):
        """A command whose score says how many there were before it."""
        self.commands.append(command)
        return json.dumps({"eval_mean": float(len(self.commands)), "eval_std": 0.0, "steps": 10}), 0.5

    def kept(self, only_kept=False, lr=1):
        made = runs.Runs(pathlib.Path("."), "folder", only_kept)
        made.defaults = {"known": {"lr": lr}}
        return made

    def run_in(self, kept, seed=1, options=(), algorithm="known"):
        with contextlib.redirect_stdout(io.StringIO()):
            return kept.train("cell", ["--algo", algorithm, "--env", "Env-v0", *options], seed)["eval_mean"]

    def test_what_is_done_is_not_done_again(self):
        kept = self.kept()
        self.assertEqual([self.run_in(kept, 1), self.run_in(kept, 2), self.run_in(kept, 1)], [1.0, 2.0, 1.0])
        self.assertEqual(self.run_in(self.kept(only_kept=True), 2), 2.0)

    def test_a_run_has_its_words_and_its_seed(self):
        self.run_in(self.kept(), 7, ["-n", "5"])
        self.assertEqual(self.commands[0][1:10], ["train", "--algo", "known", "--env", "Env-v0", "-n", "5", "--seed", "7"])

    def test_other_options_and_other_defaults_are_done_anew(self):
        kept = self.kept()
        self.assertEqual([self.run_in(kept), self.run_in(kept, options=["trainer.lr=2"])], [1.0, 2.0])
        self.assertEqual(self.run_in(self.kept(lr=3)), 3.0)

    def test_a_list_of_what_is_kept_does_nothing(self):
        with self.assertRaisesRegex(runs.Missing, "not done yet"):
            self.run_in(self.kept(only_kept=True))
        self.assertEqual(self.commands, [])


class Command(unittest.TestCase):
    def test_cpu_seconds_are_those_of_the_process_and_its_children(self):
        busy = "import time\nwhile time.process_time() < 0.2: pass\nprint('over')"
        child = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {busy!r}])"
        printed, cpu_s = runs.measured([sys.executable, "-c", child])
        self.assertEqual(printed, "over\n")
        self.assertGreater(cpu_s, 0.2)

    def test_a_command_that_fails_says_why(self):
        with self.assertRaisesRegex(RuntimeError, "ended with 1: no"):
            runs.measured([sys.executable, "-c", "import sys; sys.exit('no')"])

    def test_the_commands_of_the_pages_are_there(self):
        for algorithm in ("qmix", "vdn"):
            self.assertEqual(page.command_of(f"algorithms/{algorithm}", "--env", "two_step-v0")[:2], ["--algo", algorithm])
        self.assertEqual(page.value_of(page.command_of(*multi_agent.SPEAKER), "--algo"), "mappo")
        self.assertEqual(page.value_of(page.command_of(*multi_agent.TAG), "--algo"), "mappo")

    def test_troupe_has_the_options_of_both_sides(self):
        kept = runs.Runs(pathlib.Path(sys.argv[1]), "none", True)
        self.assertEqual(multi_agent.numbers_of(kept.defaults_of("mappo")).keys(), multi_agent.TORCHRL.keys())
        with self.assertRaises(runs.Missing):
            kept.defaults_of("unknown")


if __name__ == "__main__":
    outcome = unittest.main(argv=["multi_agent_test"], exit=False, verbosity=0).result
    failed = len(outcome.failures) + len(outcome.errors)
    print(f"{max(outcome.testsRun - failed, 0)} passed, {failed} failed")
    sys.exit(1 if failed else 0)
