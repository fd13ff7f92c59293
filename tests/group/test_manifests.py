"""Kubernetes manifests as people have them: several workloads, lists, charts' output, autoscalers, operators' kinds.

The kinds' fields are those of Kubernetes 1.31, KEDA 2 (`keda.sh/v1alpha1`), Argo Rollouts 1 (`argoproj.io/v1alpha1`)
and Strimzi 0.39 to 0.45 (`kafka.strimzi.io/v1beta2`).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from partwright.errors import PartwrightError
from partwright.group.kubernetes import read_manifest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., tuple[int, bytes, str]]
    Refusal = Callable[..., str]


def workload(kind: str = "Deployment", name: str = "consumer", **spec: Any) -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": name}, "spec": spec}


def scaler(kind: str, target: dict[str, str], **bounds: int) -> dict[str, Any]:
    return workload(kind, "scales", scaleTargetRef=target, **bounds)


TWO = """# Source: chart/templates/api.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: api}
spec: {replicas: 2, template: {spec: {containers: [{name: a}]}}}
---
# Source: chart/templates/consumer.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: consumer
  annotations: null
spec:
  replicas: 6
  minReadySeconds: null
  strategy:
    rollingUpdate: null
  template:
    spec:
      terminationGracePeriodSeconds: null
      containers:
        - name: a
          readinessProbe: {periodSeconds: 5, successThreshold: null}
---
"""


def test_one_of_several_is_named_by_the_command(command: Command, refusal: Refusal, tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(TWO, encoding="utf-8")
    words = ("rollout", "--topic", "t=6", "--plays", "1", "--manifest", path)
    assert "2 workloads, Deployment api and Deployment consumer: name one with --workload" in refusal(*words)
    for name in ("consumer", "Deployment/consumer", "deployment/Consumer"):
        code, out, _ = command(*words, "--workload", name, "--json")
        assert (code, "manifest: read as Deployment consumer, 6 replicas" in out.decode()) == (0, True)
    assert "there is no workload 'consume' in the manifest: there are Deployment api" in refusal(
        *words, "--workload", "consume"
    )
    assert "--workload names one of a manifest" in refusal(
        "rollout", "--topic", "t=6", "--workload", "consumer"
    )


def test_a_charts_comments_and_nulls_are_nothing() -> None:
    yaml = pytest.importorskip("yaml")
    found = read_manifest(list(yaml.safe_load_all(TWO)), "consumer")
    assert (found.replicas, found.max_surge, found.grace, found.ready) == (6, None, None, "0s..5s")


def test_lists_are_looked_into() -> None:
    inside = {"kind": "DeploymentList", "items": [workload(replicas=3)]}
    assert read_manifest([{"kind": "List", "items": [workload("Service"), inside]}]).replicas == 3


@pytest.mark.parametrize(
    ("replicas", "bounds", "count"),
    [
        (None, {"minReplicas": 4, "maxReplicas": 10}, 4),
        (1, {"minReplicas": 3, "maxReplicas": 10}, 3),
        (6, {"minReplicas": 3, "maxReplicas": 10}, 6),
        (12, {"minReplicas": 3, "maxReplicas": 10}, 10),
        (None, {"maxReplicas": 10}, 1),
    ],
)
def test_an_autoscaler_bounds_the_replicas(replicas: int | None, bounds: dict[str, int], count: int) -> None:
    target = {"kind": "Deployment", "name": "consumer"}
    own = scaler("HorizontalPodAutoscaler", target, **bounds)
    found = read_manifest([own, workload(replicas=replicas)])
    assert found.replicas == count
    assert (
        f"replicas: {count}, by minReplicas and maxReplicas of the HorizontalPodAutoscaler scales"
        in found.notes
    )
    other = scaler("HorizontalPodAutoscaler", {**target, "name": "api"}, **bounds)
    assert read_manifest([other, workload(replicas=replicas)]).replicas == replicas
    kedas = {name.replace("Replicas", "ReplicaCount"): value for name, value in bounds.items()}
    if "minReplicas" in bounds:
        # Without a kind, KEDA scales a Deployment.
        assert (
            read_manifest(
                [scaler("ScaledObject", {"name": "consumer"}, **kedas), workload(replicas=replicas)]
            ).replicas
            == count
        )


def test_no_replicas_roll_nothing() -> None:
    with pytest.raises(
        PartwrightError, match="Deployment consumer has 0 replicas, so that nothing rolls: say how many"
    ):
        read_manifest([workload(replicas=0)])
    with pytest.raises(PartwrightError, match="has 0 replicas"):
        read_manifest([workload(), scaler("ScaledObject", {"name": "consumer"}, maxReplicaCount=9)])
    assert read_manifest([workload(replicas=0)], replicas=3).replicas == 3


def test_argos_canary_is_rolled() -> None:
    canary = {"maxSurge": "20%", "maxUnavailable": 1, "steps": [{"setWeight": 20}, {"pause": {}}]}
    found = read_manifest([workload("Rollout", replicas=5, strategy={"canary": canary})])
    assert (found.kind, found.replicas, found.max_surge, found.max_unavailable) == ("Deployment", 5, "20%", 1)
    assert found.notes == (
        "manifest: read as Rollout consumer, 5 replicas",
        "the Rollout's canary steps are not played: pods are replaced without a pause",
    )


@pytest.mark.parametrize("kind", ["KafkaConnect", "KafkaMirrorMaker2"])
def test_strimzis_pods_keep_their_names(kind: str) -> None:
    template = {"pod": {"terminationGracePeriodSeconds": 60}}
    found = read_manifest(
        [workload(kind, replicas=3, template=template, readinessProbe={"periodSeconds": 7})]
    )
    assert (found.kind, found.replicas, found.grace, found.ready) == ("StatefulSet", 3, "0s..60s", "0s..7s")
    assert found.notes[0] == f"manifest: read as {kind} consumer, 3 replicas"


@pytest.mark.parametrize(
    ("documents", "sentence"),
    [
        (
            [[{"op": "replace", "path": "/spec/replicas", "value": 3}]],
            "is a patch of Kustomize (JSON 6902): render it",
        ),
        (
            [{"kind": "Kustomization", "resources": ["a.yaml"]}],
            "but a Kustomization: render it by kubectl kustomize DIR",
        ),
        (
            [{**workload(), "$patch": "delete"}],
            "Deployment consumer is a patch of Kustomize, a part of a Deployment: render",
        ),
        (
            [workload("Rollout", strategy={"blueGreen": {}})],
            "a Rollout with blueGreen is not rolled pod by pod",
        ),
        (
            [workload(), workload("StatefulSet")],
            "Deployment consumer and StatefulSet consumer: name one with",
        ),
        (
            [{**workload(replicas=3), "apiVersion": "apps/v1"}],
            "Deployment consumer is a patch of Kustomize, a part of",
        ),
        (
            [{"resources": ["a.yaml"], "patches": []}],
            "but a Kustomization: render it by kubectl kustomize DIR",
        ),
        ([workload(), workload()], "2 workloads, Deployment consumer and Deployment consumer: name one with"),
        ([workload(name=["x"]), workload()], "name one with --workload"),
        ([{"kind": ["Deployment"]}], "the manifest has no Deployment and no StatefulSet: give one of them"),
        (
            [{"kind": "Deployment", "metadata": "x", "spec": {}}],
            "metadata of the manifest's Deployment is an object",
        ),
        (
            [
                workload(),
                scaler("HorizontalPodAutoscaler", {"kind": "Deployment", "name": "consumer"}, minReplicas=-1),
            ],
            "minReplicas is a whole number",
        ),
    ],
)
def test_what_is_refused(documents: list[Any], sentence: str) -> None:
    with pytest.raises(PartwrightError) as refused:
        read_manifest(documents)
    assert sentence in str(refused.value)


def test_json_is_read_as_well(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(json.dumps({"kind": "List", "items": [workload(replicas=2)]}))
    assert command("rollout", "--topic", "t=2", "--plays", "1", "--manifest", path)[0] == 0
