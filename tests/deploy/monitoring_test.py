#!/usr/bin/python3
"""Rules and dashboards against Prometheus's own checker and a live scrape: monitoring_test.py BUILD_DIR"""
import json
import pathlib
import re
import tempfile
import unittest

import yaml

import deployment
import promql

RULES = deployment.DEPLOY / "prometheus/rules.yaml"
CASES = deployment.DEPLOY / "prometheus/rules_test.yaml"
DASHBOARDS = sorted((deployment.DEPLOY / "grafana/dashboards").glob("*.json"))

# What Prometheus adds: the labels of a target, and metrics of its own.
TARGET_LABELS = {"job", "instance", "namespace", "pod"}
OWN_METRICS = {"up": {}, "scrape_samples_scraped": {}, "ALERTS": {"alertname": set(), "alertstate": {"firing"}}}


def read_rules():
    return [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]


def alerts():
    return [rule["alert"] for rule in read_rules() if "alert" in rule]


def concrete(expression):
    """A dashboard's expression as Prometheus gets it, apart from variables inside of strings."""
    return expression.replace("$__rate_interval", "5m")


def read_panels():
    """(dashboard, panel) of all."""
    return [(path.stem, panel) for path in DASHBOARDS for panel in json.loads(path.read_text())["panels"]]


def read_expressions():
    """(where, expression, legend or None) of every rule, panel and annotation."""
    found = [(rule.get("alert") or rule["record"], rule["expr"], None) for rule in read_rules()]
    for dashboard, panel in read_panels():
        found += [(f"{dashboard}: {panel['title']}", concrete(target["expr"]), target["legendFormat"])
                  for target in panel.get("targets", [])]
    for path in DASHBOARDS:
        found += [(f"{path.stem}: annotation", note["expr"], None)
                  for note in json.loads(path.read_text())["annotations"]["list"]]
    return found


class Rules(unittest.TestCase):
    def promtool(self, *arguments):
        deployment.require(self, "promtool", "prometheus")
        result = deployment.run("promtool", *arguments)
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_promtool_accepts_the_rules(self):
        self.promtool("check", "rules", RULES)

    def test_promtool_accepts_the_configuration(self):
        self.promtool("check", "config", deployment.DEPLOY / "prometheus/prometheus.yaml")

    def test_the_cases_of_the_rules_hold(self):
        self.promtool("test", "rules", CASES)

    def test_each_alert_has_a_case_in_which_it_is_quiet_and_then_fires(self):
        cases = {case["name"]: case for case in yaml.safe_load(CASES.read_text())["tests"]}
        for alert in alerts():
            with self.subTest(alert):
                quiet, fires = cases[alert]["promql_expr_test"]
                self.assertNotIn("exp_samples", quiet)
                self.assertIn(f'alertname="{alert}"', fires["exp_samples"][0]["labels"])
                self.assertEqual(quiet["expr"], f'ALERTS{{alertname="{alert}", alertstate="firing"}}')

    def test_each_alert_has_a_severity_and_says_what_and_why(self):
        for rule in read_rules():
            if "alert" in rule:
                with self.subTest(rule["alert"]):
                    self.assertIn(rule["labels"]["severity"], ("page", "warning"))
                    self.assertEqual(set(rule["annotations"]), {"summary", "description"})
                    self.assertIn("{{ $labels.", rule["annotations"]["summary"])


class Dashboards(unittest.TestCase):
    def test_promtool_accepts_every_expression(self):
        deployment.require(self, "promtool", "prometheus")
        rules = [{"record": f"panel:{number}", "expr": expression}
                 for number, (_, expression, _) in enumerate(read_expressions())]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "rules.json"
            path.write_text(json.dumps({"groups": [{"name": "panels", "rules": rules}]}))
            result = deployment.run("promtool", "check", "rules", path)
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_there_are_five_with_names_of_their_own(self):
        read = [json.loads(path.read_text()) for path in DASHBOARDS]
        self.assertEqual(len(read), 5)
        for name in ("uid", "title"):
            self.assertEqual(len({dashboard[name] for dashboard in read}), 5)

    def test_panels_lie_side_by_side_and_ask_the_data_source_that_was_chosen(self):
        for path in DASHBOARDS:
            dashboard = json.loads(path.read_text())
            with self.subTest(path.stem):
                taken = set()
                for panel in dashboard["panels"]:
                    place = panel["gridPos"]
                    cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                             for y in range(place["y"], place["y"] + place["h"])}
                    self.assertFalse(taken & cells, panel["title"])
                    self.assertLessEqual(place["x"] + place["w"], 24, panel["title"])
                    taken |= cells
                    for asks in [panel, *panel.get("targets", [])]:
                        if panel["type"] != "row":
                            self.assertEqual(asks["datasource"]["uid"], "${datasource}", panel["title"])
                identifiers = [panel["id"] for panel in dashboard["panels"]]
                self.assertEqual(len(identifiers), len(set(identifiers)))
                declared = {variable["name"] for variable in dashboard["templating"]["list"]}
                used = set(re.findall(r"\$(\w+)", json.dumps(dashboard["panels"]))) - {"__rate_interval"}
                self.assertLessEqual(used, declared)


class LiveScrape(unittest.TestCase):
    """Every metric and label that a rule or a panel names is in the scrape of a run."""

    @classmethod
    def setUpClass(cls):
        cls.known = {**OWN_METRICS, **promql.read_scrape(deployment.live_scrape())}
        for rule in read_rules():
            if "record" in rule:
                cls.known[rule["record"]] = {label: set() for label in promql.grouping(rule["expr"]) - {"le"}}

    def test_metrics_and_their_labels_are_exported(self):
        for where, expression, _ in read_expressions():
            with self.subTest(where):
                found = promql.metrics(expression)
                self.assertTrue(found, expression)
                for name, matchers in found:
                    self.assertTrue(name in self.known, name)
                    for label, operator, value in matchers:
                        self.assertIn(label, TARGET_LABELS | set(self.known[name]), name)
                        if operator in ("=", "!=") and "$" not in value and value:
                            self.assertIn(value, self.known[name][label], f"{name}, {label}")

    def test_labels_that_are_grouped_by_or_shown_are_exported(self):
        for where, expression, legend in read_expressions():
            with self.subTest(where):
                exported = TARGET_LABELS.union(*(self.known.get(name, {}) for name, _ in promql.metrics(expression)))
                grouped = promql.grouping(expression)
                self.assertLessEqual(grouped or set(), exported)
                shown = set(re.findall(r"\{\{\s*(\w+)\s*\}\}", legend or ""))
                self.assertLessEqual(shown, exported if grouped is None else grouped)

    def test_variables_of_dashboards_are_exported(self):
        for path in DASHBOARDS:
            for variable in json.loads(path.read_text())["templating"]["list"]:
                with self.subTest(f"{path.stem}: {variable['name']}"):
                    if variable["type"] == "query":
                        asked, label = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]["query"]).groups()
                        (name, _), = promql.metrics(asked)
                        self.assertIn(label, TARGET_LABELS | set(self.known[name]))

    def test_rules_and_dashboards_leave_no_metric_of_ours_out(self):
        named = {name for _, expression, _ in read_expressions() for name, _ in promql.metrics(expression)}
        families = {re.sub("_(bucket|sum|count)$", "", name) for name in named}
        exported = {re.sub("_(bucket|sum|count)$", "", name) for name in self.known
                    if name.startswith("troupe_")}
        self.assertEqual(exported - families, set())


if __name__ == "__main__":
    deployment.main()
