#!/usr/bin/python3
"""What docs/operations/deploy.md, Compose and Kubernetes have users and containers type: commands_test.py BUILD_DIR"""
import functools
import re
import shlex
import sys
import unittest

import yaml

import deployment

sys.path.insert(0, str(deployment.ROOT / "tests/checks"))
import readme  # noqa: E402

PAGE = deployment.ROOT / "docs/operations/deploy.md"
MADE_BY_HAND = ["deploy/compose/certs"]  # what the page has `troupe certs` make


def page_commands():
    for _, language, _, content in readme.read_blocks(PAGE.read_text()):
        if language in readme.SHELLS:
            yield from readme.read_commands(language, content)


def page_words():
    """The words of each simple command of the page."""
    for command in page_commands():
        for part in re.split(r"; (?:do|done)?|\|\|?|&&", command):
            words = shlex.split(part)
            while words and words[0] in ("do", "sudo"):
                words = words[1:]
            if words:
                yield words


def container_words():
    """The troupe commands that Compose and Kubernetes start, apart from the program's own name."""
    for name, service in yaml.safe_load((deployment.DEPLOY / "compose/compose.yaml").read_text())["services"].items():
        if service["image"].startswith("troupe:"):
            yield f"compose: {name}", service["command"]
    for path in sorted((deployment.DEPLOY / "kubernetes/base").glob("*.yaml")):
        for each in yaml.safe_load_all(path.read_text()):
            if each["kind"] in ("StatefulSet", "Deployment"):
                (container,) = each["spec"]["template"]["spec"]["containers"]
                yield f"kubernetes: {each['metadata']['name']}", container["args"]


@functools.cache
def help_text(*names):
    return deployment.run(deployment.troupe(), *names, "--help").stdout


class Commands(unittest.TestCase):
    def require_command(self, name):
        """Skips the test where this build does not have the command."""
        if not re.search(rf"^  {name}\b", help_text(), re.MULTILINE):
            self.skipTest(f"this build has no `troupe {name}`")

    def assert_known(self, words):
        """That the command has these options."""
        text = help_text(*words[:2 if words[0] == "certs" else 1])
        for word in words:
            if word.startswith("--"):
                self.assertRegex(text, rf"(?m)[ ,]{re.escape(word.split('=')[0])}\b", " ".join(words))

    def test_every_file_that_the_page_names_is_there(self):
        text = PAGE.read_text()
        named = {name.rstrip(".,") for name in re.findall(r"\b(?:deploy|tests|docs)/[\w./-]+", text)}
        self.assertGreater(len(named), 10)
        for name in named:
            if not any(name.startswith(made) for made in MADE_BY_HAND):
                self.assertTrue((deployment.ROOT / name).exists(), name)

    def test_every_dev_command_of_the_page_is_known(self):
        found = [words for words in page_words() if words[0] == "./dev"]
        self.assertTrue(found)
        for words in found:
            self.assertIn(words[1], readme.list_dev_commands(deployment.ROOT))

    def test_rendering_and_checking_do_what_the_page_says(self):
        for words in page_words():
            if words[0] == "promtool" or words[:2] == ["kubectl", "kustomize"]:
                with self.subTest(" ".join(words)):
                    deployment.require(self, words[0], {"promtool": "prometheus"}.get(words[0], "kubernetes-client"))
                    result = deployment.run(*words, cwd=deployment.ROOT)
                    if "must be a file" in result.stdout:
                        self.skipTest("kubectl before 1.21")
                    self.assertEqual(result.returncode, 0, result.stdout)

    def test_troupe_commands_of_the_page_have_their_options(self):
        self.require_command("certs")
        found = [words[1:] for words in page_words() if words[0] == "troupe"]
        self.assertTrue(found)
        for words in found:
            with self.subTest(" ".join(words)):
                self.assert_known(words)

    def test_containers_are_started_with_options_that_the_command_has(self):
        self.require_command("node")
        found = list(container_words())
        self.assertEqual(len(found), 8)
        for where, words in found:
            with self.subTest(where):
                self.assert_known(words)


if __name__ == "__main__":
    deployment.main()
