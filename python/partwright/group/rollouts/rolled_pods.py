"""`rollout`: what a deployment's restart costs a consumer group, and which settings would make it cheaper."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

from partwright._check import MOST_INT, Json, counted, listed, options, refuse_many, refused, shown, whole
from partwright.answer import Question
from partwright.errors import PartwrightError
from partwright.group.durations import Duration, read_duration
from partwright.group.kubernetes import (
    KubernetesManifest,
    PodTimes,
    StatefulSet,
    read_manifest,
    read_workload,
)
from partwright.group.member_client import JAVA, check_member_client, speaks_kip_848
from partwright.group.rollouts.answer import Rollout, Tried, recommended
from partwright.group.rollouts.candidates import Candidate, Client, all_candidates, covering, lacking
from partwright.group.rollouts.play import Lived, Pods, play_roll, play_surge
from partwright.group.script_state import ScriptTopics

if TYPE_CHECKING:
    from partwright.group.kubernetes import Deployment

# By name, what is assumed, and what it is.
_TIMES = {
    "start": ("10s", "from a pod's creation until its consumer subscribes"),
    "ready": ("10s", "from its consumer's first poll until the pod is available"),
    "grace": ("2s", "from SIGTERM until the pod is gone"),
    "poll": ("500ms", "from one poll to the next"),
    "latency": ("10ms", "for an answer of the coordinator"),
}
_MOST_PLAYS = 10_000
_MOST_NUMBER = 1e15


@dataclass(frozen=True, slots=True)
class _Times:
    """How long things take, each a time or a distribution to draw from."""

    start: Duration
    ready: Duration
    grace: Duration
    poll: Duration
    latency: Duration

    def pod(self, drawn: random.Random) -> PodTimes:
        """The times of one new pod."""
        return PodTimes(self.start.draw(drawn), self.ready.draw(drawn), self.grace.draw(drawn))

    @property
    def away_ms(self) -> int:
        """The longest time from an old consumer's end to the new one's start, for a pod that keeps its name."""
        return self.grace.most_ms + self.start.most_ms


@dataclass(frozen=True, slots=True)
class RolledPods:
    """The pods of a rollout, and how Kubernetes replaces them.

    A time is a number of seconds, text such as `20s` or `1m30s`, a range (`20s..40s`), or a list of measured seconds.

    Attributes:
        replicas: The number of pods, each with one consumer; required unless a manifest says it.
        kind: Deployment (the default) or StatefulSet.
        max_surge: A number of pods or a percentage, as Kubernetes takes and rounds it; 25% by default, and none for a
            StatefulSet.
        max_unavailable: The same; 25% of a Deployment by default, and 1 of a StatefulSet.
        start: How long a pod takes from its creation until its consumer subscribes; 10 s by default.
        ready: How long from then until it is available; 10 s by default.
        grace: How long it takes from SIGTERM, at which its consumer closes, until it is gone; 2 s by default.
        manifest: A Deployment, a StatefulSet, Argo's Rollout or Strimzi's KafkaConnect or KafkaMirrorMaker2, as its
            YAML has it, or all documents of the file; the other fields override it.
        workload: Which of several workloads in the manifest, by its name or `KIND/NAME`.
    """

    replicas: int | None = None
    kind: str | None = None
    max_surge: int | str | None = None
    max_unavailable: int | str | None = None
    start: object = None
    ready: object = None
    grace: object = None
    manifest: Mapping[str, object] | Sequence[Mapping[str, object]] | None = None
    workload: str | None = None


@dataclass(frozen=True, slots=True)
class PodConsumers:
    """The consumers in the pods of a rollout. Times are as in `RolledPods`.

    Attributes:
        client: The pods' client, or one for each pod: java, librdkafka, sarama, kafka-go, franz-go, kafkajs,
            kafka-python or aiokafka, with `@VERSION` if it is an older one. By default pods are played as Java's
            consumers, and the answer has the settings of every client.
        config: Today's settings under Kafka's keys, of members and of the broker, `group.protocol`,
            `partition.assignment.strategy` and `group.instance.id` among them: the answer is compared with these.
        subscriptions: For each pod the topics that it reads; all of them by default.
        poll: The application's time from one poll to the next, for each pod; 500 ms by default.
        latency: How long an answer of the coordinator takes; 10 ms by default.
        records_per_s: How many records a second arrive in each partition; without it none are counted.
    """

    client: str | Sequence[str] | None = None
    config: Mapping[str, object] | None = None
    subscriptions: Sequence[Sequence[str]] | None = None
    poll: object = None
    latency: object = None
    records_per_s: float | None = None


def rollout(
    topics: Mapping[str, int],
    pods: int | RolledPods | None = None,
    consumers: PodConsumers | None = None,
    *,
    plays: int = 20,
    seed: int = 0,
    time_limit_s: float = 60,
    played: Callable[[int, int], None] | None = None,
) -> Rollout:
    """Calculate what a deployment's restart costs a consumer group, and which settings would make it cheaper.

    Each candidate (each assignor of the classic protocol and of KIP-848, with dynamic and with static members, as far
    as the pods' client has them) goes through `plays` rolls in `partwright.group.play`, in which Kubernetes replaces
    the pods as its controllers do. Rolls differ in what is drawn from the seed: the moment at which the roll begins,
    members' IDs, and each time that is a range. All candidates go through the same rolls. The group's start before a
    roll is not counted.

    Args:
        topics: By name, how many partitions.
        pods: The pods and how they are replaced, or their number alone.
        consumers: The consumers in them; by default Java's, with Kafka's default settings.
        plays: How many rolls each candidate goes through, 1 to 10,000.
        seed: The seed of all draws.
        time_limit_s: The seconds after which no new roll begins; each candidate gets at least one.
        played: Called before each play: with the number of plays done, and of all plays.

    Returns:
        The candidates with their results, and the recommended one.

    Raises:
        PartwrightError: A value is invalid; there are no replicas; nothing could be replaced, because surge and
            unavailable are both 0; a StatefulSet has a surge; the client lacks what `config` sets, or the clients have
            no assignor in common.

    Examples:
        >>> pods = RolledPods(4, "StatefulSet", start="20s", grace="5s")
        >>> answer = rollout({"orders": 12}, pods, plays=2)
        >>> len(answer.tried), answer.best is answer.tried[answer.recommended]
        (12, True)
        >>> static = next(each for each in answer.tried if each.candidate.static)
        >>> static.rebalances, static.moved, round(static.longest_unread_s.median)
        (0, 0, 25)
        >>> answer = rollout({"orders": 12}, 4, PodConsumers("kafka-go"), plays=1)
        >>> [each.candidate.label for each in answer.tried], answer.left_out[0]
        (['range, dynamic members', 'roundrobin, dynamic members'], 'KIP-848: kafka-go does not have it')
    """
    if isinstance(pods, (Mapping, list, tuple)):
        raise PartwrightError(
            "pods is how many there are, as in pw.rollout({'orders': 12}, 4), or a partwright.group.RolledPods(...), "
            f"not {shown(pods)}",
            field="pods",
        )
    rolled = pods if isinstance(pods, RolledPods) else RolledPods(pods)
    consumers = options(consumers, PodConsumers, "consumers")
    manifest = KubernetesManifest()
    if rolled.manifest is not None:
        documents = [rolled.manifest] if isinstance(rolled.manifest, Mapping) else rolled.manifest
        manifest = read_manifest(documents, rolled.workload, replicas=rolled.replicas)
    workload = _workload(manifest, rolled)
    assumed = [*manifest.notes]
    times = _times(manifest, assumed, rolled, consumers)
    of_pods = _clients(consumers.client, workload.replicas)
    clients = tuple(dict.fromkeys(of_pods))
    today = _today(consumers.config, clients or (JAVA,), times, assumed)
    rate = None if consumers.records_per_s is None else _number(consumers.records_per_s, "records_per_s")
    subscribed = _subscribed(consumers.subscriptions, workload.replicas)
    all_pods = Pods(_topics(topics), workload.replicas, subscribed, of_pods)
    whole(plays, "plays", 1, _MOST_PLAYS)
    whole(seed, "the seed", 0, MOST_INT)
    until = time.monotonic() + _number(time_limit_s, "time_limit_s")
    sensible, left_out = _sensible_candidates(today, clients or (JAVA,), times.away_ms)
    rolls = _CandidateRolls(all_pods, workload, times, today, seed, has_records=rate is not None)
    lived: list[list[Lived]] = [[] for _ in sensible]
    for number, (phase, place) in enumerate(product(range(plays), range(len(sensible)))):
        if phase and time.monotonic() > until:
            break
        if played is not None:
            played(number, plays * len(sensible))
        lived[place].append(rolls.play(sensible[place], phase))
    tried = tuple(
        Tried(each, _rolled(each, workload), tuple(those), rate)
        for each, those in zip(sensible, lived, strict=True)
    )
    place_today = today.place(sensible)
    best = recommended(tried, place_today)
    drawn = random.Random(f"{seed}/surge")  # noqa: S311 - plays are repeatable, not secret
    surge = play_surge(all_pods, workload.surge, rolls.settings(sensible[best], drawn), drawn)
    answer = Rollout(
        tried, best, place_today, workload, tuple(assumed), tuple(left_out), plays, clients, surge=surge
    )
    return answer.with_question(Question((rolled, consumers)))


def _workload(manifest: KubernetesManifest, pods: RolledPods) -> Deployment | StatefulSet:
    names = ("kind", "replicas", "max_surge", "max_unavailable")
    own = {name: value for name in names if (value := getattr(pods, name)) is not None}
    fields = {name: getattr(manifest, name) for name in names} | own
    return read_workload(**fields, recreate=manifest.recreate, partition=manifest.partition)


def _times(
    manifest: KubernetesManifest, assumed: list[str], pods: RolledPods, consumers: PodConsumers
) -> _Times:
    """The given times, those of a manifest, or assumed ones."""
    times = {}
    for name, (default, what) in _TIMES.items():
        own = getattr(pods if hasattr(pods, name) else consumers, name)
        if own is not None:
            times[name] = read_duration(own, name)
            continue
        of_manifest = getattr(manifest, name, None)
        times[name] = read_duration(default if of_manifest is None else of_manifest, name)
        source = "" if of_manifest is None else " by the manifest"
        assumed.append(f"{name}: {times[name]} {what}{source}")
    return _Times(**times)


def _clients(value: object, replicas: int) -> tuple[str, ...]:
    """Each pod's client; none if nobody named one."""
    if value is None:
        return ()
    if isinstance(value, str):
        return (_client_of(value),) * replicas
    if not isinstance(value, (list, tuple)):
        raise refused(value, "client", f"is a name, or a list with one for each pod, not {shown(value)}")
    clients = tuple(map(_client_of, value))
    if len(clients) != replicas:
        counts = f"{counted(len(clients), 'client')} for {counted(replicas, 'replica')}"
        raise refused(value, "client", f"is one for all pods or one for each, and there are {counts}")
    return clients


def _client_of(value: object) -> str:
    """A pod's client."""
    client = check_member_client(value, "classic", "a rollout")
    # With the protocol classic each version of Java's is `java`, but with KIP-848 they live differently.
    return check_member_client(value, "consumer", "a rollout") if client == JAVA else client


def _today(
    config: Mapping[str, object] | None, clients: Sequence[str], times: _Times, assumed: list[str]
) -> Client:
    settings = config or {}
    silent = next((each for each in clients if not speaks_kip_848(each)), None)
    if silent is not None and str(settings.get("group.protocol")).lower() == "consumer":
        raise PartwrightError(
            f"group.protocol is consumer, and {silent} does not speak KIP-848: let it be classic, or take another "
            "client",
            value=silent,
        )
    today = Client.read(config, clients)
    longest = today.members.max_poll_interval_ms
    if times.poll.most_ms >= longest:
        raise PartwrightError(
            f"poll may take {times.poll.most_ms} ms, and max.poll.interval.ms is {longest}: whoever polls less often "
            "is removed from the group each time, so raise it or poll more often"
        )
    is_java = today.members.client.partition("@")[0] == JAVA
    whose = "Kafka" if is_java else today.members.client
    if not {"group.protocol", "partition.assignment.strategy", "group.remote.assignor"} & set(settings):
        assumed.append(f"today: {today.assignor} and dynamic members, {whose}'s default")
    if not is_java and "session.timeout.ms" not in settings:
        assumed.append(f"session.timeout.ms: {today.members.session_timeout_ms}, {whose}'s default")
    return today


def _number(value: object, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= _MOST_NUMBER:
        raise refused(value, what, f"is a number from 0 to {_MOST_NUMBER:g}, not {shown(value)}")
    return float(value)


def _topics(topics: object) -> dict[str, int]:
    if isinstance(topics, Mapping) and not topics:
        raise PartwrightError("there are no topics: name at least one, with its number of partitions")
    counts = {name: count or 0 for name, count in ScriptTopics(topics).first.items()}
    refuse_many(sum(counts.values()), "a rollout")
    return counts


def _subscribed(subscriptions: object, replicas: int) -> tuple[tuple[str, ...], ...]:
    if subscriptions is None:
        return ()
    lists = tuple(
        listed(each, "a pod's subscription", str) for each in listed(subscriptions, "subscriptions")
    )
    if len(lists) != replicas:
        raise PartwrightError(
            f"there are subscriptions of {counted(len(lists), 'pod')}, and {counted(replicas, 'replica')}: give "
            "one for each"
        )
    return lists


def _sensible_candidates(
    today: Client, clients: Sequence[str], away_ms: int
) -> tuple[list[Candidate], list[str]]:
    """The candidates that make sense, and why others do not."""
    sensible, left_out = [], lacking(clients)
    for each in all_candidates(clients):
        covered = covering(each, today, away_ms)
        if covered is None:
            left_out.append(
                f"{each.label}: a pod is away for {away_ms / 1000:,.0f} s, longer than any session timeout "
                "that a broker allows by default"
            )
        else:
            sensible.append(covered)
    return sensible, left_out


def _rolled(candidate: Candidate, workload: Deployment | StatefulSet) -> Deployment | StatefulSet:
    """The workload to roll: static members need pods that keep their names."""
    if not candidate.static or isinstance(workload, StatefulSet):
        return workload
    return StatefulSet(workload.replicas, max(1, min(workload.max_unavailable, workload.replicas)))


@dataclass(frozen=True, slots=True)
class _CandidateRolls:
    """The rolls of one workload: of a phase, all candidates go through the same one."""

    pods: Pods
    workload: Deployment | StatefulSet
    times: _Times
    today: Client
    seed: int
    has_records: bool

    def play(self, candidate: Candidate, phase: int) -> Lived:
        """One candidate's roll of a phase."""
        drawn = random.Random(f"{self.seed}/{phase}")  # noqa: S311 - plays are repeatable, not secret
        rolled = _rolled(candidate, self.workload)
        roll = rolled.roll(partial(self.times.pod, drawn))
        settings = self.settings(candidate, drawn)
        return play_roll(
            self.pods,
            roll,
            settings,
            same_names=isinstance(rolled, StatefulSet),
            poll=self.times.poll,
            drawn=drawn,
            has_records=self.has_records,
        )

    def settings(self, candidate: Candidate, drawn: random.Random) -> Json:
        """The script's own settings."""
        return {
            "protocol": candidate.protocol,
            "assignor": candidate.assignor,
            "static": candidate.static,
            "config": {**self.today.config, **candidate.config},
            "client": self.today.members.client,
            "latency_ms": self.times.latency.draw(drawn),
        }
