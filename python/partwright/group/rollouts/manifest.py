"""Read a roll's settings from the YAML of a Deployment or a StatefulSet.

>>> told = read_manifest([{"kind": "StatefulSet", "spec": {"replicas": 3, "template": {}}}])
>>> told.kind, told.replicas, told.grace
('StatefulSet', 3, None)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from partwright._check import shown, whole
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright._check import Fields

__all__ = ["KubernetesManifest", "read_manifest"]

_KINDS = ("Deployment", "StatefulSet")
_MOST_S = 86_400


class KubernetesManifest(NamedTuple):
    """A manifest's settings; None where it has none.

    Attributes:
        kind: Deployment or StatefulSet.
        replicas: How many pods.
        max_surge: A number or a percentage.
        max_unavailable: The same.
        recreate: Whether all pods stop before new ones start.
        partition: The StatefulSet's `rollingUpdate.partition`.
        grace: `terminationGracePeriodSeconds` as the longest time that a pod may take to stop, as a range.
        ready: The time that the readiness probe and `minReadySeconds` need once the consumer runs, as a range.
    """

    kind: str
    replicas: int | None
    max_surge: object = None
    max_unavailable: object = None
    recreate: bool = False
    partition: int = 0
    grace: str | None = None
    ready: str | None = None


def read_manifest(documents: Sequence[object]) -> KubernetesManifest:
    """The one Deployment or StatefulSet among a manifest's documents.

    Args:
        documents: Each as YAML or JSON has it; a `List` is looked into.

    Raises:
        PartwrightError: There is no manifest, or several; it is never rolled (`OnDelete`); a value is not one that
            Kubernetes takes.

    Examples:
        >>> strategy = {"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 0}}
        >>> probe = {"readinessProbe": {"periodSeconds": 5}}
        >>> pod = {"spec": {"terminationGracePeriodSeconds": 45, "containers": [probe]}}
        >>> read_manifest([{"kind": "Deployment", "spec": {"replicas": 4, "strategy": strategy, "template": pod}}])
        KubernetesManifest(kind='Deployment', replicas=4, max_surge='25%', max_unavailable=0, recreate=False, partition=0, grace='0s..45s', ready='0s..5s')
    """  # noqa: E501 - an example is one line
    found = [each for document in documents for each in _items(document) if each.get("kind") in _KINDS]
    if len(found) != 1:
        told = (
            "no Deployment and no StatefulSet" if not found else f"{len(found)} Deployments and StatefulSets"
        )
        raise PartwrightError(f"the manifest has {told}: give one of them")
    kind = str(found[0]["kind"])
    spec = _object(found[0], "spec", kind)
    update = _object(spec, "updateStrategy" if kind == "StatefulSet" else "strategy", "spec")
    how = update.get("type", "RollingUpdate")
    if how not in ("RollingUpdate", "Recreate")[: 2 if kind == "Deployment" else 1]:
        raise PartwrightError(
            f"a {kind} with the strategy {shown(how)} is not rolled by Kubernetes: take RollingUpdate"
        )
    rolling = _object(update, "rollingUpdate", "the strategy")
    replicas = spec.get("replicas")
    pod = _object(_object(spec, "template", "spec"), "spec", "template")
    grace = pod.get("terminationGracePeriodSeconds")
    if grace is not None:
        grace = f"0s..{whole(grace, 'terminationGracePeriodSeconds', 0, _MOST_S)}s"
    return KubernetesManifest(
        kind,
        None if replicas is None else whole(replicas, "the manifest's replicas", 0, 1_000_000),
        rolling.get("maxSurge"),
        rolling.get("maxUnavailable"),
        how == "Recreate",
        whole(rolling.get("partition", 0), "rollingUpdate.partition", 0, 1_000_000),
        grace,
        _ready(pod, spec),
    )


def _items(document: object) -> list[Fields]:
    if not isinstance(document, Mapping):
        return []
    if document.get("kind") == "List" and isinstance(document.get("items"), list):
        return [each for each in document["items"] if isinstance(each, Mapping)]
    return [document]


def _object(of: Fields, name: str, where: str) -> Fields:
    given: Any = of.get(name)
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise PartwrightError(f"{name} of the manifest's {where} is an object, not {shown(given)}")
    return given


def _ready(pod: Fields, spec: Fields) -> str | None:
    """A pod is available when all probes have succeeded as often as they must, and `minReadySeconds` have passed."""
    containers = pod.get("containers")
    probes = [
        _object(each, "readinessProbe", "container")
        for each in (containers if isinstance(containers, list) else [])
        if isinstance(each, Mapping) and each.get("readinessProbe") is not None
    ]
    least = whole(spec.get("minReadySeconds", 0), "minReadySeconds", 0, _MOST_S)
    if not probes:
        return f"{least}s" if "minReadySeconds" in spec else None
    low = high = 0
    for probe in probes:
        period = whole(probe.get("periodSeconds", 10), "periodSeconds", 1, _MOST_S)
        times = whole(probe.get("successThreshold", 1), "successThreshold", 1, _MOST_S)
        low, high = max(low, (times - 1) * period), max(high, times * period)
    return f"{least + low}s..{least + high}s"
