#!/usr/bin/python3
"""The Dockerfile, its run stage's packages against what the binaries ask for, and the health check: image_test.py BUILD_DIR

The image itself is built and tried by `./dev image`, which takes podman and minutes."""
import fnmatch
import json
import pathlib
import re
import tempfile
import unittest

import deployment

IMAGE = deployment.DEPLOY / "image"


def instructions():
    """The Dockerfile's lines, continued ones joined: (stage, instruction, arguments)."""
    text = re.sub(r"^\s*#.*\n", "", (IMAGE / "Dockerfile").read_text(), flags=re.MULTILINE)
    stage, found = -1, []
    for line in text.replace("\\\n", " ").splitlines():
        if line.strip():
            word, arguments = line.strip().split(maxsplit=1)
            stage += word == "FROM"
            found.append((stage, word, arguments))
    return found


def packages(path):
    lines = (line.split("#")[0].strip() for line in path.read_text().splitlines())
    return {line for line in lines if line}


class Dockerfile(unittest.TestCase):
    def of_run_stage(self, word):
        last = instructions()[-1][0]
        return [arguments for stage, instruction, arguments in instructions() if (stage, instruction) == (last, word)]

    def test_each_stage_begins_with_debian_12_by_tag(self):
        bases = [arguments.split()[0] for _, word, arguments in instructions() if word == "FROM"]
        self.assertEqual(bases, ["debian:12-slim"] * 2)

    def test_it_runs_as_a_numeric_user_that_is_not_root(self):
        (user,) = self.of_run_stage("USER")
        self.assertRegex(user, r"^[1-9]\d*:[1-9]\d*$")

    def test_commands_are_in_exec_form(self):
        (entry,) = self.of_run_stage("ENTRYPOINT")
        self.assertEqual(json.loads(entry), ["troupe"])
        (health,) = self.of_run_stage("HEALTHCHECK")
        self.assertEqual(json.loads(health.split("CMD")[1]), ["troupe", "health"])
        self.assertEqual(self.of_run_stage("STOPSIGNAL"), ["SIGTERM"])

    def test_package_lists_are_removed_in_the_layer_that_fetched_them(self):
        for _, word, arguments in instructions():
            if word == "RUN" and "apt-get" in arguments:
                self.assertIn("--no-install-recommends", arguments)
                self.assertIn("apt-get clean", arguments)
                self.assertIn("/var/lib/apt/lists/*", arguments)

    def test_what_it_copies_is_there_and_let_through(self):
        patterns = [line for line in (deployment.ROOT / ".dockerignore").read_text().splitlines()
                    if line and not line.startswith("#")]
        self.assertEqual(patterns[0], "*")
        let_through = [pattern.removeprefix("!") for pattern in patterns[1:]]
        for name in let_through:
            self.assertTrue((deployment.ROOT / name).exists(), name)
        for _, word, arguments in instructions():
            if word == "COPY" and "--from" not in arguments:
                for source in arguments.split()[:-1]:
                    self.assertTrue((deployment.ROOT / source).exists(), source)
                    self.assertTrue(source == "." or any(source == name or source.startswith(name + "/")
                                                         for name in let_through), source)

    def test_its_version_is_the_projects(self):
        version = re.search(r"project\(troupe VERSION ([\d.]+)", (deployment.ROOT / "CMakeLists.txt").read_text())
        (labels,) = self.of_run_stage("LABEL")
        self.assertIn(f'version="{version.group(1)}"', labels)


class Libraries(unittest.TestCase):
    """What `cmake --install` installs of the command."""

    def setUp(self):
        if 'VERSION_ID="12"' not in pathlib.Path("/etc/os-release").read_text():
            self.skipTest("the image's packages are those of Debian 12, and this is another system")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        result = deployment.run("cmake", "--install", deployment.build_folder(), "--prefix", folder.name,
                                "--component", "command")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.binaries = [f"{folder.name}/bin/troupe", f"{folder.name}/libexec/troupe/troupe",
                         f"{folder.name}/libexec/troupe/serve-env", f"{folder.name}/libexec/troupe/env-host",
                         f"{folder.name}/libexec/troupe/language-model"]

    def asked_for(self):
        """Each library that a binary names itself, with the file the loader takes for it."""
        found = {}
        for binary in self.binaries:
            needed = re.findall(r"\(NEEDED\).*\[(.*)\]", deployment.run("readelf", "-d", binary).stdout)
            loaded = dict(re.findall(r"^\s*(\S+) => (\S+)", deployment.run("ldd", binary).stdout, re.MULTILINE))
            found.update({name: loaded.get(name) for name in needed})
        return found

    def owner(self, path):
        """The Debian package that brings the file."""
        if path is None:
            self.fail("a library is not found")
        for candidate in (path, path.removeprefix("/usr"), deployment.run("readlink", "-f", path).stdout.strip()):
            result = deployment.run("dpkg-query", "-S", candidate)
            if result.returncode == 0:
                return result.stdout.split(":")[0]
        self.skipTest(f"{path} is of no Debian package")

    def test_the_image_installs_the_packages_that_the_binaries_ask_for(self):
        listed = packages(IMAGE / "packages.txt")
        essential = {"libc6", "libgcc-s1"}  # every Debian has them
        owners = {self.owner(path) for path in self.asked_for().values()} - essential
        self.assertEqual(owners - listed, set(), "deploy/image/packages.txt lacks these")
        for_blas = {"libopenblas0-pthread"}
        for_sandboxes = {"bubblewrap", "python3-minimal"}  # programs that are executed
        self.assertEqual(listed - owners - for_blas - for_sandboxes, set(), "no binary asks for these")

    def test_nothing_of_the_unused_libraries_is_loaded(self):
        unused = re.search(r"^Provides: (.*?)^Description", (IMAGE / "unused.control").read_text(),
                           re.MULTILINE | re.DOTALL).group(1)
        unused = {name.split()[0] for name in unused.replace("\n", " ").split(",")}
        loaded = deployment.run("ldd", self.binaries[1]).stdout
        outside = [path for path in re.findall(r"=> (/\S+)", loaded) if "/unused/" not in path]
        for pattern in ("*/libopencv*", "*/libav*", "*/libsw*"):
            self.assertEqual(fnmatch.filter(outside, pattern), [])
        provided = {name for name in unused if re.match(r"lib(opencv|av|sw)", name)}
        self.assertEqual(provided, unused)


class Health(unittest.TestCase):
    def health(self, *arguments):
        return deployment.run(deployment.troupe(), "health", *arguments)

    def test_a_run_is_well_and_nobody_is_not(self):
        # Each service is unready while it starts: until all have, and in each segment of a run with
        # checkpoints.
        with deployment.training("checkpoint.every_updates=0") as port:
            deployment.await_page(f"http://127.0.0.1:{port}/metrics", "^troupe_env_steps_total.* [1-9]")
            self.assertTrue(deployment.await_page(f"http://127.0.0.1:{port}/readyz", "^ok"))
            for arguments in [(), ("--ready",)]:
                result = self.health("--port", port, *arguments)
                self.assertEqual((result.returncode, result.stdout), (0, ""))
        result = self.health("--port", port)
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"http://127.0.0.1:{port}/livez: Connection refused", result.stdout)

    def test_a_server_that_is_silent_or_says_no_is_not_well(self):
        with deployment.answering(b"") as port:
            result = self.health("--port", port, "--timeout", "1")
            self.assertEqual(result.returncode, 1)
            self.assertIn("timeout", result.stdout)
        with deployment.answering(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 3\r\n\r\nno\n") as port:
            result = self.health("--port", port, "--ready")
            self.assertEqual((result.returncode, result.stdout), (1, "troupe health: /readyz says no\n"))
        with deployment.answering(b"SSH-2.0-OpenSSH_9.2\r\n\r\n") as port:
            result = self.health("--port", port)
            self.assertEqual(result.returncode, 1)
            self.assertIn("bad version", result.stdout)

    def test_what_is_no_port_is_refused(self):
        for port in ("0", "65536", "x"):
            self.assertEqual(self.health("--port", port).returncode, 2)


if __name__ == "__main__":
    deployment.main()
