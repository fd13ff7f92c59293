"""Scripts of a group's life by hand: each thing in which real consumers live otherwise than one would think."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

Events = list[dict[str, Any]]
ASSIGNORS = {"classic": ["range", "cooperative-sticky"], "consumer": ["uniform"]}
SHORT = {"max.poll.interval.ms": 60_000}


def scripts(protocol: str) -> Iterator[dict[str, Any]]:
    """Those of a protocol, each with its name; under an eager assignor and the cooperative one where it is classic."""
    stories = {**_stories(), **(_classic() if protocol == "classic" else _consumer())}
    for name, story in stories.items():
        topics = {"topics": {"t": 4}}
        for assignor in [story["assignor"]] if "assignor" in story else ASSIGNORS[protocol]:
            script = {"protocol": protocol, **topics, **story, "assignor": assignor}
            yield {"name": f"{name}, {assignor}", "script": script}


def _joins(*names: str, at_ms: int = 0, **own: Any) -> Events:
    return [{"at_ms": at_ms, "join": name, **own} for name in names]


def _stories() -> dict[str, dict[str, Any]]:
    """What is asked of either protocol."""
    two = _joins("c1", "c2")
    beside = {
        f"a joiner beside {len(there)} busy members that poll every {poll_ms} ms": {
            "topics": {"t": 12},
            "poll_ms": poll_ms,
            "events": [*_joins(*there), *_joins("j", at_ms=60_000)],
            "until_ms": 200_000,
        }
        for there in (("c1",), ("c1", "c2", "c3"))
        for poll_ms in (500, 5000, 10_000)
    }
    return {
        **beside,
        "a leaver's partitions": {
            "poll_ms": 5000,
            "events": [*two, {"at_ms": 61_000, "leave": "c2"}],
            "until_ms": 120_000,
        },
        "a crashed one's partitions": {
            "events": [*two, {"at_ms": 61_000, "crash": "c2"}],
            "until_ms": 140_000,
        },
        "a stall within max.poll.interval.ms, while another leaves and returns": {
            "config": SHORT,
            "events": [
                *two,
                {"at_ms": 30_000, "stall": "c1", "for_ms": 30_000},
                {"at_ms": 31_000, "leave": "c2"},
                {"at_ms": 43_000, "join": "c2"},
            ],
            "until_ms": 200_000,
        },
        "a stall beyond max.poll.interval.ms": {
            "config": SHORT,
            "events": [*two, {"at_ms": 30_000, "stall": "c1", "for_ms": 90_000}],
            "until_ms": 200_000,
        },
        "a stall beyond max.poll.interval.ms, with a listener": {
            "config": SHORT,
            "listener": True,
            "events": [*two, {"at_ms": 30_000, "stall": "c1", "for_ms": 90_000}],
            "until_ms": 200_000,
        },
        "polls more seldom than max.poll.interval.ms, idle for long": {
            "config": {"max.poll.interval.ms": 20_000},
            "poll_ms": 30_000,
            "poll_timeout_ms": 5000,
            "events": _joins("c1"),
            "until_ms": 200_000,
        },
        "polls more seldom than max.poll.interval.ms": {
            "config": {"max.poll.interval.ms": 20_000},
            "poll_ms": 30_000,
            "events": two,
            "until_ms": 300_000,
        },
        "a slow roll": {
            "topics": {"t": 6},
            "poll_ms": 5000,
            "events": [
                *_joins("c1", "c2", "c3"),
                {"at_ms": 60_000, "restart": "c1", "down_ms": 5000},
                {"at_ms": 75_000, "restart": "c2", "down_ms": 5000},
                {"at_ms": 90_000, "restart": "c3", "down_ms": 5000},
            ],
            "until_ms": 240_000,
        },
        "a roll of static members": {
            "topics": {"t": 6},
            "static": True,
            "events": [
                *_joins("c1", "c2", "c3"),
                {"at_ms": 60_000, "restart": "c1", "down_ms": 5000},
                {"at_ms": 75_000, "restart": "c2", "down_ms": 5000},
                {"at_ms": 90_000, "restart": "c3", "down_ms": 70_000},
            ],
            "until_ms": 240_000,
        },
        "closes in each way": {
            "topics": {"t": 6},
            "events": [
                *_joins("c1", "c2", "c3", "c4"),
                {"at_ms": 30_000, "leave": "c4", "operation": "LEAVE_GROUP"},
                {"at_ms": 60_000, "leave": "c3", "operation": "REMAIN_IN_GROUP"},
                {"at_ms": 150_000, "leave": "c2"},
            ],
            "until_ms": 200_000,
        },
        "static members close in each way": {
            "topics": {"t": 6},
            "static": True,
            "events": [
                *_joins("c1", "c2", "c3", "c4"),
                {"at_ms": 30_000, "leave": "c4", "operation": "LEAVE_GROUP"},
                {"at_ms": 60_000, "leave": "c3", "operation": "REMAIN_IN_GROUP"},
                {"at_ms": 150_000, "leave": "c2"},
            ],
            "until_ms": 240_000,
        },
        "an instance that two members have": {
            "events": [*_joins("c1", instance_id="i"), *_joins("c2", at_ms=30_000, instance_id="i")],
            "until_ms": 120_000,
        },
        "listeners that take their time": {
            "listener": 3000,
            "events": [*two, *_joins("c3", at_ms=60_000)],
            "until_ms": 150_000,
        },
        "no automatic commits": {
            "config": {"enable.auto.commit": False},
            "poll_ms": 5000,
            "events": [*two, *_joins("c3", at_ms=60_000)],
            "until_ms": 200_000,
        },
        "no automatic commits, an assignment that is withdrawn in a stall": {
            "config": {"enable.auto.commit": False, **SHORT},
            "events": [
                *two,
                {"at_ms": 30_000, "stall": "c1", "for_ms": 30_000},
                {"at_ms": 31_000, "leave": "c2"},
                {"at_ms": 43_000, "join": "c2"},
            ],
            "until_ms": 200_000,
        },
        "other topics": {
            "topics": {"t": 4, "u": 2},
            "poll_ms": 2000,
            "events": [
                *_joins("c1", topics=["t"]),
                *_joins("c2"),
                {"at_ms": 60_000, "subscribe": "c1", "topics": ["t", "u"]},
                {"at_ms": 90_000, "subscribe": "c2", "topics": ["u"]},
            ],
            "until_ms": 150_000,
        },
        "new partitions, and a topic that is made": {
            "topics": {"t": 4},
            "config": {"metadata.max.age.ms": 30_000},
            "events": [
                *_joins("c1", "c2", topics=["t", "u"]),
                {"at_ms": 60_000, "add_partitions": {"t": 4}},
                {"at_ms": 120_000, "create_topic": {"u": 3}},
                {"at_ms": 180_000, "delete_topic": "t"},
            ],
            "until_ms": 260_000,
        },
        "topics without records": {
            "idle_topics": ["t"],
            "poll_ms": 10_000,
            "poll_timeout_ms": 10_000,
            "events": [*two, *_joins("c3", at_ms=60_000)],
            "until_ms": 200_000,
        },
        "a slow network": {
            "latency_ms": 400,
            "events": [*two, *_joins("c3", at_ms=60_000), {"at_ms": 90_000, "leave": "c1"}],
            "until_ms": 150_000,
        },
        "polls without a pause": {
            "poll_ms": 0,
            "poll_timeout_ms": 100,
            "idle_topics": ["t"],
            "events": [*two, *_joins("c3", at_ms=30_000)],
            "until_ms": 60_000,
        },
        "a full group": {
            "config": {"group.max.size": 1, "group.consumer.max.size": 1},
            "events": [*_joins("c1"), *_joins("c2", at_ms=10_000)],
            "until_ms": 60_000,
        },
        "everybody crashes, and others come": {
            "events": [
                *two,
                {"at_ms": 30_000, "crash": "c1"},
                {"at_ms": 30_000, "crash": "c2"},
                *_joins("c3", "c4", at_ms=40_000),
            ],
            "until_ms": 160_000,
        },
    }


def _classic() -> dict[str, dict[str, Any]]:
    return {
        "polls more seldom than its session, until another joins": {
            "assignor": "range",
            "poll_ms": 60_000,
            "events": [*_joins("c1"), *_joins("c2", at_ms=840_000, poll_ms=500)],
            "until_ms": 1_200_000,
        },
        "the assignor of all is changed by a roll": {
            "assignor": ["range", "cooperative-sticky"],
            "events": [
                *_joins("c1", "c2"),
                {"at_ms": 60_000, "restart": "c1", "assignor": "cooperative-sticky"},
                {"at_ms": 90_000, "restart": "c2", "assignor": "cooperative-sticky"},
                *_joins("c3", at_ms=120_000, assignor="cooperative-sticky"),
            ],
            "until_ms": 180_000,
        },
    }


def _consumer() -> dict[str, dict[str, Any]]:
    slow = {
        "poll_ms": 2000,
        "events": [*_joins("c1", "c2"), *_joins("c3", at_ms=60_000)],
        "until_ms": 150_000,
    }
    return {
        "the network thread is quicker": {"race": "fast", **slow},
        "the network thread is as quick as it is": slow,
        "the broker's range": {**slow, "assignor": "range"},
    }
