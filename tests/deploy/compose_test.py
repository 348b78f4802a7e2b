#!/usr/bin/python3
"""The Compose file: what it names is there, and its containers may do no more than they must: compose_test.py BUILD_DIR"""
import json
import unittest

import yaml

import deployment

COMPOSE = deployment.DEPLOY / "compose"
FILE = COMPOSE / "compose.yaml"
OWN = ["controller", "node-1", "node-2"]


def services():
    return yaml.safe_load(FILE.read_text())["services"]


def mounts(service):
    """(source, target, mode) of a service's volumes."""
    return [(volume.split(":") + [""])[:3] for volume in service.get("volumes", [])]


class Compose(unittest.TestCase):
    def test_the_cast_is_a_controller_two_nodes_prometheus_and_grafana(self):
        self.assertEqual(list(services()), [*OWN, "prometheus", "grafana"])

    def test_files_that_are_mounted_or_built_from_exist(self):
        for name, service in services().items():
            for source, _, mode in mounts(service):
                if source.startswith("."):
                    self.assertEqual(mode, "ro", f"{name}: {source}")
                    if not source.startswith("./certs/"):  # which `troupe certs` makes
                        self.assertTrue((COMPOSE / source).exists(), source)
        build = services()["controller"]["build"]
        self.assertTrue((COMPOSE / build["context"] / build["dockerfile"]).exists())

    def test_volumes_and_networks_are_declared(self):
        file = yaml.safe_load(FILE.read_text())
        named = {source for service in services().values() for source, _, _ in mounts(service) if source[0] not in "./"}
        self.assertEqual(named, set(file["volumes"]))
        self.assertEqual({name for service in services().values() for name in service["networks"]}, set(file["networks"]))
        self.assertTrue(file["networks"]["cluster"]["internal"])

    def test_no_container_may_do_more_than_it_must(self):
        for name, service in services().items():
            with self.subTest(name):
                self.assertTrue(service["read_only"])
                self.assertEqual(service["cap_drop"], ["ALL"])
                self.assertEqual(service["security_opt"], ["no-new-privileges:true"])
                self.assertIn("mem_limit", service)
                self.assertLessEqual(service["pids_limit"], 1024)
                for forbidden in ("privileged", "network_mode", "pid", "ipc", "cap_add", "devices", "user"):
                    self.assertNotIn(forbidden, service)

    def test_sandboxes_let_the_controller_make_namespaces_and_nobody_anything_else(self):
        beside = yaml.safe_load((COMPOSE / "sandbox.yaml").read_text())
        self.assertEqual(list(beside), ["services"])
        self.assertEqual(list(beside["services"]), ["controller"])
        options = beside["services"]["controller"].pop("security_opt")
        self.assertEqual(beside["services"]["controller"], {})
        self.assertIn("no-new-privileges:true", options)
        (profile,) = [each.partition("=")[2] for each in options if each.startswith("seccomp=")]
        refused = {name for rule in json.loads((COMPOSE / profile).read_text())["syscalls"] for name in rule["names"]}
        self.assertLessEqual({"bpf", "ptrace", "init_module", "kexec_load", "io_uring_setup"}, refused)
        self.assertFalse({"unshare", "clone", "mount", "umount2", "pivot_root"} & refused)

    def test_images_have_a_version(self):
        for name, service in services().items():
            self.assertRegex(service["image"], r":v?\d+\.\d+\.\d+$", name)
        self.assertEqual({services()[name]["image"] for name in OWN}, {"troupe:0.1.0"})

    def test_ports_are_for_this_machine_alone(self):
        for name, service in services().items():
            for port in service.get("ports", []):
                self.assertTrue(port.startswith("127.0.0.1:"), f"{name}: {port}")

    def test_each_process_has_certificates_and_a_name_of_its_own(self):
        for name in OWN:
            certs = [source for source, target, _ in mounts(services()[name]) if target == "/certs"]
            self.assertEqual(certs, [f"./certs/{name}"])
            self.assertIn("--certs=/certs", services()[name]["command"])
        nodes = [name for name in OWN if services()[name]["command"][0] == "node"]
        for name in nodes:
            self.assertIn(f"--name={name}", services()[name]["command"])
            self.assertIn("--join=controller:7700", services()[name]["command"])
        self.assertIn(f"--wait-for-nodes={len(nodes)}", services()["controller"]["command"])

    def test_prometheus_scrapes_every_process(self):
        config = yaml.safe_load((deployment.DEPLOY / "prometheus/prometheus.yaml").read_text())
        (job,) = [each for each in config["scrape_configs"] if each["job_name"] == "troupe"]
        self.assertEqual(job["static_configs"][0]["targets"], [f"{name}:9464" for name in OWN])
        for name in OWN:
            self.assertIn("--metrics-port=9464", services()[name]["command"])
            self.assertIn("metrics", services()[name]["networks"])

    def test_grafana_finds_its_data_source_and_dashboards(self):
        provisioning = deployment.DEPLOY / "grafana/provisioning"
        (source,) = yaml.safe_load((provisioning / "datasources/prometheus.yaml").read_text())["datasources"]
        self.assertEqual(source["url"], "http://prometheus:9090")
        (provider,) = yaml.safe_load((provisioning / "dashboards/troupe.yaml").read_text())["providers"]
        mounted = {target: source for source, target, _ in mounts(services()["grafana"])}
        self.assertEqual(mounted[provider["options"]["path"]], "../grafana/dashboards")
        self.assertEqual(mounted["/etc/grafana/provisioning"], "../grafana/provisioning")

    def test_the_controller_trains_with_the_configuration_that_a_cluster_has(self):
        mounted = {target: source for source, target, _ in mounts(services()["controller"])}
        (option,) = [word for word in services()["controller"]["command"] if word.startswith("--config=")]
        self.assertEqual(mounted[option.removeprefix("--config=")], "../kubernetes/base/train.json")

    def test_a_compose_program_reads_it(self):
        for command in (["docker", "compose"], ["docker-compose"], ["podman-compose"]):
            if deployment.is_there(*command, "version"):
                result = deployment.run(*command, "-f", FILE, "config")
                self.assertEqual(result.returncode, 0, result.stdout)
                return
        self.skipTest("neither docker compose nor podman-compose is here")


if __name__ == "__main__":
    deployment.main()
