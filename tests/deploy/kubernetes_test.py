#!/usr/bin/python3
"""The overlays as kubectl renders them, and what every object in them has to be: kubernetes_test.py BUILD_DIR"""
import functools
import importlib.util
import json
import pathlib
import re
import shutil
import tempfile
import unittest

import yaml

import deployment

KUBERNETES = deployment.DEPLOY / "kubernetes"
OVERLAYS = ["plain", "prometheus-operator", "sandbox"]
NODE_POOLS = {"trainer": "StatefulSet", "replay": "StatefulSet", "policy": "Deployment", "env": "Deployment"}


def for_old_kubectl(folder):
    """A copy for kubectl before 1.21, whose kustomize calls folders among the resources bases, and takes patches from
    files, with the whole kind of their target."""
    for path in folder.rglob("kustomization.yaml"):
        read = yaml.safe_load(path.read_text())
        read["bases"] = [name for name in read["resources"] if not name.endswith(".yaml")]
        read["resources"] = [name for name in read["resources"] if name.endswith(".yaml")]
        read["patchesJson6902"] = []
        for number, patch in enumerate(read.pop("patches", [])):
            file = path.parent / f"patch_{number}.yaml"
            file.write_text(patch["patch"])
            target = {"group": "apps", "version": "v1", **patch["target"]}
            read["patchesJson6902"].append({"target": target, "path": file.name})
        path.write_text(yaml.safe_dump(read))


@functools.cache
def render(overlay):
    """Every object of an overlay."""
    result = deployment.run("kubectl", "kustomize", KUBERNETES / "overlays" / overlay)
    if result.returncode != 0 and ("must be a file" in result.stdout or "patchesStrategicMerge" in result.stdout):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder) / "kubernetes"
            shutil.copytree(KUBERNETES, copy)
            for_old_kubectl(copy)
            result = deployment.run("kubectl", "kustomize", copy / "overlays" / overlay)
    if result.returncode != 0:
        raise AssertionError(result.stdout)
    return list(yaml.safe_load_all(result.stdout))


def matches(labels, selector):
    """Whether labels are what a label selector means."""
    for rule in selector.get("matchExpressions", []):
        assert rule["operator"] == "In", rule
        if labels.get(rule["key"]) not in rule["values"]:
            return False
    return all(labels.get(key) == value for key, value in selector.get("matchLabels", {}).items())


class Rendered(unittest.TestCase):
    def setUp(self):
        deployment.require(self, "kubectl", "kubernetes-client")

    def objects(self, kind, overlay="plain"):
        found = {each["metadata"]["name"]: each for each in render(overlay) if each["kind"] == kind}
        self.assertTrue(found, f"no {kind}")
        return found

    def workloads(self):
        return {**self.objects("StatefulSet"), **self.objects("Deployment")}

    def templates(self):
        """(name, pod template, its only container)"""
        for name, workload in self.workloads().items():
            template = workload["spec"]["template"]
            (container,) = template["spec"]["containers"]
            yield name, template, container

    def network(self, direction):
        """(the labels it is for, peer, ports) of each rule of the policies of a direction."""
        side = {"Ingress": "from", "Egress": "to"}[direction]
        for policy in self.objects("NetworkPolicy").values():
            for rule in policy["spec"].get(direction.lower(), []):
                for peer in rule[side]:
                    yield policy["spec"]["podSelector"], peer, rule.get("ports")


class Objects(Rendered):
    def test_each_overlay_renders_with_every_object_in_the_namespace(self):
        for overlay in OVERLAYS:
            for each in render(overlay):
                with self.subTest(f"{overlay}: {each['kind']} {each['metadata']['name']}"):
                    if each["kind"] == "Namespace":
                        self.assertEqual(each["metadata"]["name"], "troupe")
                    else:
                        self.assertEqual(each["metadata"]["namespace"], "troupe")
                    self.assertIn("apiVersion", each)

    def test_field_names_are_ones_that_kubernetes_knows(self):
        known = set((pathlib.Path(__file__).parent / "kubernetes_fields.txt").read_text().split())

        def judge(value, where):
            if isinstance(value, dict):
                for key, inner in value.items():
                    # Labels, selectors of them, annotations and a ConfigMap's data have names of their own.
                    if where.rsplit(".", 1)[-1] in ("labels", "matchLabels", "annotations", "data", "selector") \
                            and not isinstance(inner, dict) and key not in ("matchExpressions",):
                        continue
                    self.assertIn(key, known, f"{where}.{key}")
                    judge(inner, f"{where}.{key}")
            elif isinstance(value, list):
                for inner in value:
                    judge(inner, where)

        for overlay in OVERLAYS:
            for each in render(overlay):
                judge(each, each["kind"])

    def test_selectors_select_their_own_pods(self):
        for name, workload in self.workloads().items():
            with self.subTest(name):
                labels = workload["spec"]["template"]["metadata"]["labels"]
                self.assertEqual(workload["spec"]["selector"]["matchLabels"], labels)
                self.assertEqual(labels["app.kubernetes.io/component"], name)
        for kind in ("Service", "PodDisruptionBudget"):
            for name, each in self.objects(kind).items():
                selector = each["spec"]["selector"]
                labels = selector.get("matchLabels", selector)
                self.assertEqual(labels, self.workloads()[name]["spec"]["template"]["metadata"]["labels"])

    def test_controller_and_pools_are_of_their_kinds_each_with_a_budget(self):
        for name, kind in {**NODE_POOLS, "controller": "StatefulSet"}.items():
            self.assertEqual(self.workloads()[name]["kind"], kind)
            self.assertIn(name, self.objects("PodDisruptionBudget"))
        self.assertEqual(set(self.workloads()), {*NODE_POOLS, "controller"})

    def test_stateful_sets_have_a_headless_service(self):
        for name, each in self.objects("StatefulSet").items():
            service = self.objects("Service")[each["spec"]["serviceName"]]
            self.assertEqual(service["spec"]["clusterIP"], "None", name)

    def test_services_name_ports_that_their_pods_have(self):
        ports = {name: {port["name"] for port in container["ports"]} for name, _, container in self.templates()}
        for name, service in self.objects("Service").items():
            self.assertLessEqual({port["targetPort"] for port in service["spec"]["ports"]}, ports[name])

    def test_the_controller_keeps_its_runs_on_a_volume(self):
        controller = self.workloads()["controller"]["spec"]
        (claim,) = controller["volumeClaimTemplates"]
        (container,) = controller["template"]["spec"]["containers"]
        (mount,) = [each for each in container["volumeMounts"] if each["name"] == claim["metadata"]["name"]]
        runs = next(word for word in container["args"] if word.startswith("--runs="))
        self.assertTrue(runs.removeprefix("--runs=").startswith(mount["mountPath"] + "/"))

    def test_the_controller_waits_for_as_many_nodes_as_there_are(self):
        nodes = sum(self.workloads()[name]["spec"]["replicas"] for name in NODE_POOLS)
        (container,) = self.workloads()["controller"]["spec"]["template"]["spec"]["containers"]
        self.assertIn(f"--wait-for-nodes={nodes}", container["args"])

    def test_nodes_are_named_by_their_pods(self):
        for name, _, container in self.templates():
            if name in NODE_POOLS:
                self.assertEqual(container["args"][0], "node")
                self.assertIn("--name=$(POD_NAME)", container["args"])
                self.assertIn({"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                              [{**each, "valueFrom": {"fieldRef": {"fieldPath":
                                each["valueFrom"]["fieldRef"]["fieldPath"]}}} for each in container["env"]])

    def test_the_training_configuration_is_one_that_the_command_takes(self):
        config = json.loads((KUBERNETES / "base/train.json").read_text())
        self.assertGreater(config["checkpoint"]["every_updates"], 0)
        deployment.train_briefly(self, KUBERNETES / "base/train.json")


class Posture(Rendered):
    def test_no_pod_is_root_or_may_become_more_than_it_is(self):
        for name, template, container in self.templates():
            with self.subTest(name):
                pod, own = template["spec"]["securityContext"], container["securityContext"]
                self.assertTrue(pod["runAsNonRoot"])
                self.assertEqual((pod["runAsUser"], pod["runAsGroup"]), (10001, 10001))
                self.assertEqual(pod["seccompProfile"], {"type": "RuntimeDefault"})
                self.assertFalse(own["allowPrivilegeEscalation"])
                self.assertTrue(own["readOnlyRootFilesystem"])
                self.assertEqual(own["capabilities"], {"drop": ["ALL"]})
                for shared in ("hostNetwork", "hostPID", "hostIPC"):
                    self.assertNotIn(shared, template["spec"])
                self.assertNotIn("privileged", own)
                for volume in template["spec"]["volumes"]:
                    self.assertNotIn("hostPath", volume)
                for port in container["ports"]:
                    self.assertNotIn("hostPort", port)

    def test_the_sandbox_overlay_grants_the_controller_what_bubblewrap_needs_and_nobody_anything_else(self):
        plain, sandbox = ({(each["kind"], each["metadata"]["name"]): each for each in render(overlay)}
                          for overlay in ("plain", "sandbox"))
        spec = plain["StatefulSet", "controller"]["spec"]["template"]["spec"]
        spec["hostUsers"] = False
        spec["securityContext"]["seccompProfile"] = {"type": "Localhost", "localhostProfile": "profiles/troupe-sandbox.json"}
        spec["containers"][0]["securityContext"]["procMount"] = "Unmasked"
        self.assertEqual(plain, sandbox)

    def test_no_pod_has_a_token(self):
        for name, template, _ in self.templates():
            self.assertFalse(template["spec"]["automountServiceAccountToken"], name)
            self.assertEqual(template["spec"]["serviceAccountName"], "troupe")
        self.assertFalse(self.objects("ServiceAccount")["troupe"]["automountServiceAccountToken"])
        self.assertFalse([each for each in render("plain") if "Role" in each["kind"]])

    def test_the_namespace_refuses_what_is_not_restricted(self):
        self.assertEqual(self.objects("Namespace")["troupe"]["metadata"]["labels"]
                         ["pod-security.kubernetes.io/enforce"], "restricted")

    def test_memory_is_limited_to_what_is_asked_for_and_holds_what_is_kept_in_it(self):
        unit = {"Mi": 1 << 20, "Gi": 1 << 30}

        def count(text):
            return int(text[:-2]) * unit[text[-2:]]

        for name, template, container in self.templates():
            with self.subTest(name):
                resources = container["resources"]
                self.assertEqual(resources["requests"]["memory"], resources["limits"]["memory"])
                self.assertIn("cpu", resources["requests"])
                for volume in template["spec"]["volumes"]:
                    if "emptyDir" in volume:
                        self.assertIn("sizeLimit", volume["emptyDir"])
                        if volume["emptyDir"].get("medium") == "Memory":
                            self.assertLessEqual(count(volume["emptyDir"]["sizeLimit"]),
                                                 count(resources["limits"]["memory"]) / 2)

    def test_probes_ask_pages_that_the_command_serves(self):
        for name, _, container in self.templates():
            with self.subTest(name):
                asked = {kind: container[kind]["httpGet"] for kind in ("startupProbe", "readinessProbe", "livenessProbe")}
                self.assertEqual({kind: get["path"] for kind, get in asked.items()}, {
                    "startupProbe": "/livez", "readinessProbe": "/readyz", "livenessProbe": "/livez"})
                self.assertEqual({get["port"] for get in asked.values()}, {"metrics"})
                (port,) = [each["containerPort"] for each in container["ports"] if each["name"] == "metrics"]
                self.assertIn(f"--metrics-port={port}", container["args"])

    def test_images_have_a_version(self):
        for name, _, container in self.templates():
            self.assertRegex(container["image"], r":\d+\.\d+\.\d+$", name)

    def test_each_pod_has_the_certificates_of_its_own_pool_for_reading(self):
        for name, template, container in self.templates():
            (volume,) = [each for each in template["spec"]["volumes"] if "secret" in each]
            self.assertEqual(volume["secret"]["secretName"], f"troupe-certs-{name}")
            self.assertEqual(volume["secret"]["defaultMode"], 0o440)
            (mount,) = [each for each in container["volumeMounts"] if each["name"] == volume["name"]]
            self.assertTrue(mount["readOnly"])
            self.assertIn(f"--certs={mount['mountPath']}", container["args"])
        self.assertFalse([each for each in render("plain") if each["kind"] == "Secret"])


class Network(Rendered):
    def test_what_is_not_allowed_is_refused(self):
        refuses = self.objects("NetworkPolicy")["default-deny"]["spec"]
        self.assertEqual(refuses, {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]})

    def reachable(self, source, target):
        """The ports of `target` that pods of `source` may open, [None] where it is all of them."""
        labels = {name: template["metadata"]["labels"] for name, template, _ in self.templates()}

        def ports(direction, own, other):
            found = []
            for selector, peer, allowed in self.network(direction):
                if matches(labels[own], selector) and "namespaceSelector" not in peer and \
                        matches(labels[other], peer["podSelector"]):
                    found += [port["port"] for port in allowed] if allowed else [None]
            return found

        numbers = {port["name"]: port["containerPort"] for name, _, container in self.templates()
                   if name == target for port in container["ports"]}
        let_in = [numbers.get(port, port) for port in ports("Ingress", target, source)]
        return [port for port in ports("Egress", source, target) if port in let_in]

    def test_nodes_reach_the_controller_and_nobody_anything_else(self):
        for source in [*NODE_POOLS, "controller"]:
            for target in [*NODE_POOLS, "controller"]:
                expected = []
                if source in NODE_POOLS and target == "controller":
                    expected = [7700]
                with self.subTest(f"{source} to {target}"):
                    self.assertEqual(self.reachable(source, target), expected)

    def test_only_prometheus_comes_from_outside_and_only_for_metrics(self):
        outside = [(peer, ports) for _, peer, ports in self.network("Ingress") if "namespaceSelector" in peer]
        self.assertEqual(len(outside), 1)
        self.assertEqual([port["port"] for port in outside[0][1]], ["metrics"])

    def test_only_names_are_asked_for_outside(self):
        outside = [(peer, ports) for _, peer, ports in self.network("Egress") if "namespaceSelector" in peer]
        self.assertEqual([{port["port"] for port in ports} for _, ports in outside], [{53}])


class Monitoring(Rendered):
    def test_the_monitor_selects_every_service_and_a_port_that_it_has(self):
        (monitor,) = self.objects("ServiceMonitor", "prometheus-operator").values()
        (endpoint,) = monitor["spec"]["endpoints"]
        for name, service in self.objects("Service").items():
            self.assertTrue(matches(service["metadata"]["labels"], monitor["spec"]["selector"]), name)
            self.assertIn(endpoint["port"], [port["name"] for port in service["spec"]["ports"]])
            # What the rules call the job is the value of this label.
            self.assertEqual(service["metadata"]["labels"][monitor["spec"]["jobLabel"]], "troupe")

    def test_the_operators_rules_are_those_of_prometheus(self):
        path = KUBERNETES / "write_prometheus_rule.py"
        spec = importlib.util.spec_from_file_location("write_prometheus_rule", path)
        writer = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(writer)
        self.assertEqual(writer.OBJECT.read_text(), writer.text(), f"run {path.relative_to(deployment.ROOT)}")
        (rule,) = self.objects("PrometheusRule", "prometheus-operator").values()
        self.assertEqual(rule["spec"], yaml.safe_load(writer.RULES.read_text()))

    def test_the_limit_of_samples_is_that_of_the_alert(self):
        (monitor,) = self.objects("ServiceMonitor", "prometheus-operator").values()
        limit = monitor["spec"]["sampleLimit"]
        rules = (deployment.DEPLOY / "prometheus/rules.yaml").read_text()
        self.assertEqual(int(re.search(r"limit is ([\d,]+),", rules).group(1).replace(",", "")), limit)


if __name__ == "__main__":
    deployment.main()
