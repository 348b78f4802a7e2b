#!/usr/bin/python3
"""Writes the PrometheusRule of the Prometheus operator from deploy/prometheus/rules.yaml: write_prometheus_rule.py

Kustomize can't put a file into an object, so the rules stand there a second time; tests/deploy/kubernetes_test.py
holds the two together."""
import pathlib
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
RULES = HERE.parent / "prometheus/rules.yaml"
OBJECT = HERE / "overlays/prometheus-operator/prometheus-rule.yaml"
HEAD = """\
# Written by deploy/kubernetes/write_prometheus_rule.py from deploy/prometheus/rules.yaml: change that.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: troupe
  namespace: troupe
  labels:
    app.kubernetes.io/name: troupe
spec:
"""


def text():
    return HEAD + textwrap.indent(RULES.read_text(), "  ")


if __name__ == "__main__":
    OBJECT.write_text(text())
