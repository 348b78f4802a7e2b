#!/usr/bin/python3
"""What a run's model files hold, read by Python's standard library alone, and runs that begin with one:
model_file_test.py BUILD_DIR. tests/llm_peers/torch_check.py reads them with torch."""
import array
import collections
import json
import pathlib
import pickle
import tempfile
import unittest
import zipfile

import deployment

Tensor = collections.namedtuple("Tensor", "key offset sizes strides")


class Unpickler(pickle.Unpickler):
    """Knows the names that torch.load allows with weights_only=True, of those that models have, and no other."""

    def find_class(self, module, name):
        known = {("torch._utils", "_rebuild_tensor_v2"): lambda key, offset, sizes, strides, *_: Tensor(key, offset, sizes, strides),
                 ("torch", "FloatStorage"): "float", ("collections", "OrderedDict"): collections.OrderedDict}
        return known[module, name]

    def persistent_load(self, told):
        kind, dtype, key, place, _ = told
        assert (kind, dtype, place) == ("storage", "float", "cpu"), told
        return key


def read(path):
    """The values of a model file, and the floats of each of its tensors by name."""
    with zipfile.ZipFile(path) as archive:
        root = next(name for name in archive.namelist() if name.endswith("/data.pkl")).removesuffix("data.pkl")
        with archive.open(f"{root}data.pkl") as file:
            values = Unpickler(file).load()
        tensors = {}
        for name, told in values.items():
            if isinstance(told, Tensor):
                floats = array.array("f", archive.read(f"{root}data/{told.key}"))
                indices = [told.offset]
                for size, stride in zip(told.sizes, told.strides):
                    indices = [i + k * stride for i in indices for k in range(size)]
                tensors[name] = [floats[i] for i in indices]
    return values, tensors


def shapes(values):
    return {name: told.sizes for name, told in values.items() if isinstance(told, Tensor) and name != "parameters"}


class Models(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def train(self, *arguments):
        return deployment.run(deployment.troupe(), "train", "--deterministic", "--json", "--metrics-port", 0,
                              "evaluation.final_episodes=1", "evaluation.every_steps=0", *arguments, cwd=self.folder)

    def run_of(self, *arguments):
        result = self.train(*arguments)
        self.assertEqual(result.returncode, 0, result.stdout)
        return self.folder / json.loads(result.stdout.splitlines()[-1])["run_directory"]

    def refusal(self, *arguments):
        result = self.train(*arguments)
        self.assertEqual(result.returncode, 2, result.stdout)
        return result.stdout

    def ppo(self, *arguments):
        return self.run_of("--env", "CartPole-v1", "-n", 64, "rollout.n_steps=64", "policy.hidden=[8]", *arguments)

    def sac(self, *arguments):
        return self.run_of("--algo", "sac", "--env", "Pendulum-v1", "-n", 120, "policy.hidden=[8]",
                           "collection.learning_starts=100", *arguments)

    def test_on_policy_models_have_actor_critic_and_normaliser(self):
        values, tensors = read(self.ppo("env.normalize_obs=true") / "last_model")
        self.assertEqual(shapes(values), {
            "actor.0.weight": (8, 4), "actor.0.bias": (8,), "actor.1.weight": (2, 8), "actor.1.bias": (2,),
            "critic.0.weight": (8, 4), "critic.0.bias": (8,), "critic.1.weight": (1, 8), "critic.1.bias": (1,),
            "obs_mean": (4,), "obs_inverse_scale": (4,)})
        self.assertEqual(values["steps"], 64)
        self.assertEqual(tensors["parameters"][-4:], tensors["obs_inverse_scale"])
        self.assertEqual(tensors["parameters"][:32:8], tensors["actor.0.weight"][:4])

    def test_off_policy_models_have_their_critics(self):
        values, _ = read(self.sac() / "last_model")
        critic = {"0.weight": (8, 4), "0.bias": (8,), "1.weight": (1, 8), "1.bias": (1,)}
        self.assertEqual(shapes(values), {
            "actor.0.weight": (8, 3), "actor.0.bias": (8,), "actor.1.weight": (2, 8), "actor.1.bias": (2,), "log_ent_coef": (1,),
            **{f"qf{i}.{name}": size for i in range(2) for name, size in critic.items()}})

    def test_a_run_begins_with_a_model(self):
        first = self.ppo("env.normalize_obs=true")
        second = self.ppo("env.normalize_obs=true", "--seed", 2, "--init", first / "last_model", "trainer.lr=1e-30")
        _, before = read(first / "last_model")
        values, after = read(second / "last_model")
        self.assertEqual(before["actor.0.weight"], after["actor.0.weight"])
        self.assertEqual(before["critic.1.bias"], after["critic.1.bias"])
        self.assertNotEqual(before["obs_mean"], after["obs_mean"])
        self.assertEqual(values["policy_version"], 1)

    def test_an_off_policy_run_begins_with_the_critics_too(self):
        first = self.sac()
        second = self.sac("--seed", 2, "--init", first, "trainer.lr=1e-30")
        _, before = read(first / "best_model")
        _, after = read(second / "last_model")
        for name in ("actor.0.weight", "qf0.0.weight", "qf1.1.bias", "log_ent_coef"):
            self.assertEqual(before[name], after[name], name)

    def test_what_does_not_fit_is_refused(self):
        first = self.ppo()
        model = first / "last_model"
        self.assertRegex(self.refusal("--env", "Acrobot-v1", "policy.hidden=[8]", "--init", model),
                         r"last_model: actor\.0\.weight is \[8, 4\], expected \[8, 6\] by ppo on Acrobot-v1")
        self.assertIn("activation is tanh, expected relu",
                      self.refusal("policy.hidden=[8]", "policy.activation=relu", "--init", model))
        of_another_algorithm = self.refusal("--algo", "dqn", "--init", model)
        self.assertIn("its kind of network is actor_critic, expected q_values", of_another_algorithm)
        self.assertIn("which was written by ppo", of_another_algorithm)
        self.assertIn("obs_mean is missing, expected [4]",
                      self.refusal("policy.hidden=[8]", "env.normalize_obs=true", "--init", model))
        self.assertIn("say model.path=", self.refusal("--algo", "grpo", "--init", model))
        self.assertIn("nowhere", self.refusal("--init", "nowhere"))
        both = deployment.run(deployment.troupe(), "train", "--resume", first, "--init", model, cwd=self.folder)
        self.assertEqual(both.returncode, 2)
        self.assertRegex(both.stdout, "--(init|resume) excludes --(init|resume)")


if __name__ == "__main__":
    deployment.main()
