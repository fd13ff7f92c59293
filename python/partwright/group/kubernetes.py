"""How Kubernetes replaces the pods of a Deployment or a StatefulSet, step by step, and what their YAML says of it.

>>> roll = StatefulSet(replicas=3).roll(lambda: PodTimes(start_ms=10_000, ready_ms=5000, stop_ms=2000))
>>> [(each.pod, each.stops_at_ms, each.starts_at_ms) for each in roll]
[(2, 0, 12000), (1, 17000, 29000), (0, 34000, 46000)]
"""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from partwright._check import Fields, counted, enumeration, refused, shown, unknown, whole
from partwright._text import plain
from partwright.errors import PartwrightError

_PERCENT = re.compile(r"([0-9]{1,4})%")
_COUNT = re.compile(r"[0-9]{1,6}")
_MOST_REPLICAS = 10_000
_KINDS = ("Deployment", "StatefulSet")
# Strimzi's, and Argo's.
_STRIMZI = ("KafkaConnect", "KafkaMirrorMaker2")
_ROLLED = {*_KINDS, *_STRIMZI, "Rollout"}
# What scales a workload: its bounds' names, and the lower one's default.
_SCALERS = {
    "HorizontalPodAutoscaler": ("minReplicas", "maxReplicas", 1),
    "ScaledObject": ("minReplicaCount", "maxReplicaCount", 0),
}
_MOST_S = 86_400


class PodTimes(NamedTuple):
    """How long one pod takes, in milliseconds.

    Attributes:
        start_ms: From its creation until its consumer subscribes.
        ready_ms: From then until Kubernetes takes it for available.
        stop_ms: From SIGTERM, at which its consumer closes, until it is gone.
    """

    start_ms: int
    ready_ms: int
    stop_ms: int


class Replaced(NamedTuple):
    """A pod's times in a roll.

    Attributes:
        pod: Its number, from 0.
        stops_at_ms: When its consumer closes.
        starts_at_ms: When the consumer of a new pod subscribes.
    """

    pod: int
    stops_at_ms: int
    starts_at_ms: int


@dataclass(frozen=True, slots=True)
class Deployment:
    """A Deployment with the strategy RollingUpdate, or Recreate.

    Attributes:
        replicas: How many pods.
        max_surge: How many pods more there may be during a roll.
        max_unavailable: How many of the replicas may be missing during a roll.
        recreate: Whether all pods stop before new ones start.
    """

    replicas: int
    max_surge: int = 1
    max_unavailable: int = 0
    recreate: bool = False

    kind = "Deployment"

    @property
    def surge(self) -> int:
        """How many pods more there are at once in a roll, at most."""
        return 0 if self.recreate else min(self.max_surge, self.replicas)

    def roll(self, times: Callable[[], PodTimes]) -> list[Replaced]:
        """The roll, as the Deployment's controller makes it, in the order in which pods stop.

        It creates pods while there are fewer than `replicas + max_surge` (a pod that is stopping does not count), and
        stops old ones while `replicas - max_unavailable` are available.

        Args:
            times: Called once for each new pod.
        """
        if self.recreate:
            drawn = [times() for _ in range(self.replicas)]
            gone = max(each.stop_ms for each in drawn)
            return [Replaced(pod, 0, gone + each.start_ms) for pod, each in enumerate(drawn)]
        old, new, ready = self.replicas, 0, 0
        stops: list[int] = []
        starts: list[int] = []
        waiting: list[int] = []
        now = 0
        while old or new < self.replicas:
            create = min(self.replicas - new, self.replicas + self.max_surge - old - new)
            for _ in range(create):
                pod = times()
                starts.append(now + pod.start_ms)
                heapq.heappush(waiting, starts[-1] + pod.ready_ms)
            new += max(create, 0)
            stop = max(0, min(old, old + ready - (self.replicas - self.max_unavailable)))
            stops += [now] * stop
            old -= stop
            if create <= 0 and not stop:
                now = heapq.heappop(waiting)
                ready += 1
        return [Replaced(pod, *both) for pod, both in enumerate(zip(stops, starts, strict=True))]


@dataclass(frozen=True, slots=True)
class StatefulSet:
    """A StatefulSet with the strategy RollingUpdate.

    Attributes:
        replicas: How many pods.
        max_unavailable: How many pods are replaced at a time.
        partition: Pods with a lower number are not replaced.
    """

    replicas: int
    max_unavailable: int = 1
    partition: int = 0

    kind = "StatefulSet"
    max_surge = surge = 0
    recreate = False

    def roll(self, times: Callable[[], PodTimes]) -> list[Replaced]:
        """The roll, as the StatefulSet's controller makes it: from the highest number down.

        A new pod is created when the old one of its name is gone; the next is stopped when it is available.

        Args:
            times: Called once for each new pod.
        """
        replaced = []
        free = [0] * self.max_unavailable
        for pod in range(self.replicas - 1, self.partition - 1, -1):
            now = heapq.heappop(free)
            drawn = times()
            starts = now + drawn.stop_ms + drawn.start_ms
            replaced.append(Replaced(pod, now, starts))
            heapq.heappush(free, starts + drawn.ready_ms)
        return replaced


def read_workload(
    kind: object = "Deployment",
    replicas: object = None,
    max_surge: object = None,
    max_unavailable: object = None,
    *,
    recreate: bool = False,
    partition: int = 0,
) -> Deployment | StatefulSet:
    """A workload from a deployment's settings, with Kubernetes' defaults and its rules of rounding.

    Args:
        kind: Deployment or StatefulSet.
        replicas: How many pods, 1 to 10,000.
        max_surge: A number or a percentage of the replicas, which is rounded up; 25% by default.
        max_unavailable: The same; of a Deployment it is rounded down, and 25% by default, of a StatefulSet it is
            rounded up, and 1 by default.
        recreate: Whether the Deployment's strategy is Recreate.
        partition: The StatefulSet's `rollingUpdate.partition`.

    Raises:
        PartwrightError: A value is invalid, or nothing could ever be replaced.

    Examples:
        >>> read_workload("Deployment", 10)
        Deployment(replicas=10, max_surge=3, max_unavailable=2, recreate=False)
        >>> read_workload("StatefulSet", 10, max_unavailable="25%").max_unavailable
        3
        >>> read_workload("Deployment", 10, 0, 0)
        Traceback (most recent call last):
        partwright.errors.PartwrightError: max surge and max unavailable are both 0, so that no pod could be replaced: let one be at least 1
    """  # noqa: E501 - an example is one line
    if kind not in _KINDS:
        raise refused(kind, "the kind", f"is {' or '.join(_KINDS)}, not {shown(kind)}")
    if replicas is None:
        raise PartwrightError("there are no replicas: say how many pods the deployment has", field="replicas")
    if type(replicas) is not int or not 1 <= replicas <= _MOST_REPLICAS:
        raise refused(
            replicas, "replicas", f"is a whole number from 1 to {_MOST_REPLICAS}, not {shown(replicas)}"
        )
    if kind == "StatefulSet":
        if max_surge not in (None, 0, "0", "0%"):
            raise PartwrightError(
                f"a StatefulSet has no max surge, and {shown(max_surge)} was given: leave it out, or roll a Deployment",
                field="max_surge",
                value=max_surge,
            )
        unavailable = _share("max unavailable", max_unavailable, 1, replicas, math.ceil)
        if not unavailable:
            raise refused(max_unavailable, "max unavailable", "of a StatefulSet cannot be 0: take 1 or more")
        if type(partition) is not int or not 0 <= partition < replicas:
            raise refused(
                partition,
                "the StatefulSet's partition",
                f"is {shown(partition)} of {counted(replicas, 'replica')}, so that no pod would be replaced",
            )
        return StatefulSet(replicas, min(unavailable, replicas), partition)
    surge = _share("max surge", max_surge, "25%", replicas, math.ceil)
    unavailable = _share("max unavailable", max_unavailable, "25%", replicas, math.floor)
    if not surge and not unavailable:
        if not _is_share(max_unavailable):
            raise PartwrightError(
                "max surge and max unavailable are both 0, so that no pod could be replaced: let one be at least 1",
                field="max_unavailable",
                value=max_unavailable,
            )
        # Percentages that are rounded to nothing are allowed, and Kubernetes then stops one pod at a time.
        unavailable = 1
    return Deployment(replicas, surge, min(unavailable, replicas), recreate)


def _is_share(value: object) -> bool:
    """Whether it is a percentage above 0, as the default is."""
    return value is None or (isinstance(value, str) and value.endswith("%") and value.strip("0") != "%")


def _share(
    what: str, value: object, default: int | str, replicas: int, rounded: Callable[[float], int]
) -> int:
    value = default if value is None else value
    text = str(value).strip() if isinstance(value, (int, str)) and not isinstance(value, bool) else ""
    if found := _PERCENT.fullmatch(text):
        return rounded(replicas * int(found[1]) / 100)
    if not _COUNT.fullmatch(text):
        raise refused(
            value, what, f"is a number of pods or a percentage, such as 1 or 25%, not {shown(value)}"
        )
    return int(text)


class KubernetesManifest(NamedTuple):
    """A manifest's settings; None where it has none.

    Attributes:
        kind: Deployment or StatefulSet, as which its pods are replaced.
        replicas: How many pods.
        max_surge: A number or a percentage.
        max_unavailable: The same.
        recreate: Whether all pods stop before new ones start.
        partition: The StatefulSet's `rollingUpdate.partition`.
        grace: `terminationGracePeriodSeconds` as the longest time that a pod may take to stop, as a range.
        ready: The time that the readiness probe and `minReadySeconds` need once the consumer runs, as a range.
        notes: What the manifest was taken for, and what of it is not played, a sentence each.
    """

    kind: str = "Deployment"
    replicas: int | None = None
    max_surge: object = None
    max_unavailable: object = None
    recreate: bool = False
    partition: int = 0
    grace: str | None = None
    ready: str | None = None
    notes: tuple[str, ...] = ()


def read_manifest(
    documents: Sequence[object], workload: str | None = None, *, replicas: int | None = None
) -> KubernetesManifest:
    """One workload among a manifest's documents: a Deployment, a StatefulSet, Argo's Rollout, or Strimzi's Connect.

    The replicas are within the bounds of a HorizontalPodAutoscaler or of KEDA's ScaledObject for it.

    Args:
        documents: Each as YAML or JSON has it; a `List` is looked into.
        workload: Its name, or `KIND/NAME`, if there are several.
        replicas: How many pods there are, whatever the manifest says.

    Raises:
        PartwrightError: There is no workload, or several; it is never rolled (`OnDelete`); it is a patch; a value is
            not one that Kubernetes takes.

    Examples:
        >>> manifest = read_manifest([{"kind": "StatefulSet", "spec": {"replicas": 3, "template": {}}}])
        >>> manifest.kind, manifest.replicas, manifest.grace
        ('StatefulSet', 3, None)
        >>> strategy = {"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 0}}
        >>> probe = {"readinessProbe": {"periodSeconds": 5}}
        >>> pod = {"spec": {"terminationGracePeriodSeconds": 45, "containers": [probe]}}
        >>> read_manifest([{"kind": "Deployment", "spec": {"replicas": 4, "strategy": strategy, "template": pod}}])
        KubernetesManifest(kind='Deployment', replicas=4, max_surge='25%', max_unavailable=0, recreate=False, partition=0, grace='0s..45s', ready='0s..5s', notes=('manifest: read as Deployment, 4 replicas',))
    """  # noqa: E501 - an example is one line
    everything = [each for document in documents for each in _items(document)]
    own = _named_workload(everything, workload)
    kind, spec = str(own["kind"]), _object(own, "spec", str(own["kind"]))
    notes: list[str] = []
    how, rolling = _strategy(kind, spec, notes)
    template = _object(spec, "template", "spec")
    pod = _object(template, "pod" if kind in _STRIMZI else "spec", "template")
    grace = _value(pod, "terminationGracePeriodSeconds", None)
    if grace is not None:
        grace = f"0s..{whole(grace, 'terminationGracePeriodSeconds', 0, _MOST_S)}s"
    if replicas is None:
        replicas = _replicas(own, spec, everything, notes)
    size = "" if replicas is None else f", {counted(replicas, 'replica')}"
    return KubernetesManifest(
        "StatefulSet" if kind == "StatefulSet" or kind in _STRIMZI else "Deployment",
        replicas,
        rolling.get("maxSurge"),
        rolling.get("maxUnavailable"),
        how == "Recreate",
        whole(_value(rolling, "partition", 0), "rollingUpdate.partition", 0, 1_000_000),
        grace,
        _ready([spec] if kind in _STRIMZI else pod.get("containers"), spec),
        (f"manifest: read as {_label(own)}{size}", *notes),
    )


def _items(document: object) -> list[Fields]:
    if isinstance(document, list) and any(isinstance(each, Mapping) and "op" in each for each in document):
        raise PartwrightError(
            "the manifest is a patch of Kustomize (JSON 6902): render it by kubectl kustomize DIR"
        )
    if not isinstance(document, Mapping):
        return []
    if str(document.get("kind")).endswith("List") and isinstance(document.get("items"), list):
        return [each for item in document["items"] for each in _items(item)]
    return [document]


def _named_workload(everything: Sequence[Fields], name: str | None) -> Fields:
    """The workload of this name, or the only one."""
    workloads = [each for each in everything if str(each.get("kind")) in _ROLLED]
    labels = [*map(_label, workloads)]
    if not workloads:
        is_kustomized = any(each.get("kind") == "Kustomization" or "resources" in each for each in everything)
        more = (
            ", but a Kustomization: render it by kubectl kustomize DIR"
            if is_kustomized
            else ": give one of them"
        )
        raise PartwrightError(f"the manifest has no {' and no '.join(_KINDS)}{more}")
    if name is not None:
        label_of_name = name.replace("/", " ").lower()
        fitting = [
            at for at, each in enumerate(labels) if label_of_name in {each.lower(), each.lower().split()[-1]}
        ]
        if len(fitting) != 1:
            why = (
                unknown(name, "workload", labels, "the manifest")
                if not fitting
                else f"{shown(name)} names several"
            )
            raise PartwrightError(f"{why}: give --workload KIND/NAME")
        workloads = [workloads[fitting[0]]]
    if len(workloads) > 1:
        raise PartwrightError(
            f"the manifest has {len(workloads)} workloads, {enumeration(labels)}: name one with --workload"
        )
    (own,) = workloads
    spec = _object(own, "spec", str(own["kind"]))
    is_part = own["kind"] in _KINDS and "apiVersion" in own and "template" not in spec
    if is_part or "$patch" in own or "$patch" in spec:
        raise PartwrightError(
            f"{_label(own)} is a patch of Kustomize, a part of a {own['kind']}: render it by kubectl kustomize DIR"
        )
    return own


def _label(workload: Fields) -> str:
    """Its kind and, if it has one, its name."""
    name = _object(workload, "metadata", str(workload["kind"])).get("name")
    return f"{workload['kind']}{'' if name is None else f' {plain(name)}'}"


def _strategy(kind: str, spec: Fields, notes: list[str]) -> tuple[object, Fields]:
    """How a workload's pods are replaced, and the settings of that."""
    if kind in _STRIMZI:
        deployment = _object(_object(spec, "template", "spec"), "deployment", "template")
        notes.append(
            f"a {kind}'s pods keep their names and are replaced one by one, as by Strimzi from 0.39 on"
        )
        return _value(deployment, "deploymentStrategy", "RollingUpdate"), {}
    update = _object(spec, "updateStrategy" if kind == "StatefulSet" else "strategy", "spec")
    if kind == "Rollout":
        if "blueGreen" in update:
            raise PartwrightError(
                "a Rollout with blueGreen is not rolled pod by pod: take canary, or a Deployment"
            )
        canary = _object(update, "canary", "strategy")
        if canary.get("steps"):
            notes.append("the Rollout's canary steps are not played: pods are replaced without a pause")
        return "RollingUpdate", canary
    how = _value(update, "type", "RollingUpdate")
    if how not in ("RollingUpdate", "Recreate")[: 2 if kind == "Deployment" else 1]:
        raise PartwrightError(
            f"a {kind} with the strategy {shown(how)} is not rolled by Kubernetes: take RollingUpdate"
        )
    return how, _object(update, "rollingUpdate", "the strategy")


def _replicas(own: Fields, spec: Fields, everything: Sequence[Fields], notes: list[str]) -> int | None:
    """The replicas, within the bounds of what scales the workload in the same file."""
    most = 1_000_000
    own_count = _value(spec, "replicas", None)
    replicas = None if own_count is None else whole(own_count, "the manifest's replicas", 0, most)
    for each in everything:
        if str(each.get("kind")) not in _SCALERS:
            continue
        least_name, most_name, default = _SCALERS[str(each["kind"])]
        bounds = _object(each, "spec", str(each["kind"]))
        target = _object(bounds, "scaleTargetRef", "spec")
        if target.get("name") != _object(own, "metadata", "workload").get("name"):
            continue
        if _value(target, "kind", "Deployment") != own["kind"]:
            continue
        low = whole(_value(bounds, least_name, default), least_name, 0, most)
        high = whole(_value(bounds, most_name, most), most_name, low, most)
        replicas = min(max(replicas or 0, low), high)
        notes.append(f"replicas: {replicas}, by {least_name} and {most_name} of the {_label(each)}")
    if replicas == 0:
        raise PartwrightError(
            f"{_label(own)} has 0 replicas, so that nothing rolls: say how many pods there are with --replicas"
        )
    return replicas


def _value(fields: Fields, name: str, default: Any) -> Any:
    """A field, or its default, also where a template has left null."""
    value = fields.get(name)
    return default if value is None else value


def _object(of: Fields, name: str, where: str) -> Fields:
    value: Any = of.get(name)
    if value is not None and not isinstance(value, Mapping):
        raise PartwrightError(f"{name} of the manifest's {where} is an object, not {shown(value)}")
    return value or {}


def _ready(containers: object, spec: Fields) -> str | None:
    """A pod is available when all probes have succeeded as often as they must, and `minReadySeconds` have passed."""
    probes = [
        _object(each, "readinessProbe", "container")
        for each in (containers if isinstance(containers, list) else [])
        if isinstance(each, Mapping) and each.get("readinessProbe") is not None
    ]
    least = whole(_value(spec, "minReadySeconds", 0), "minReadySeconds", 0, _MOST_S)
    if not probes:
        return None if spec.get("minReadySeconds") is None else f"{least}s"
    low = high = 0
    for probe in probes:
        period = whole(_value(probe, "periodSeconds", 10), "periodSeconds", 1, _MOST_S)
        times = whole(_value(probe, "successThreshold", 1), "successThreshold", 1, _MOST_S)
        low, high = max(low, (times - 1) * period), max(high, times * period)
    return f"{least + low}s..{least + high}s"
