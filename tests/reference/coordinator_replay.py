"""Puts the golden files' scripts of requests to a coordinator; member IDs are those that Kafka drew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partwright.group.coordinator import ClassicGroup, ConsumerGroup, consumer_config

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["replay"]

_NOBODY = "nobody"
_BEFORE_IDS = ("INVALID_SESSION_TIMEOUT", "GROUP_MAX_SIZE_REACHED", "INCONSISTENT_GROUP_PROTOCOL")


def replay(question: Mapping[str, Any], ids: Sequence[Sequence[str]] = ()) -> dict[str, Any]:
    """A coordinator's answers to a script's requests, and the group after each.

    Args:
        question: `kind` (classic or consumer), `config`, `topics`, and `requests` in the order of their times.
        ids: The member IDs that the coordinator gives, in their order, each with the name of the member; only for the
            classic protocol, where Kafka draws them.

    Returns:
        `answers` and `states`.
    """
    if question["kind"] == "consumer":
        return _Consumer(question).run()
    return _Classic(question, ids).run()


class _Classic:
    """Names on the outside, IDs on the inside."""

    def __init__(self, question: Mapping[str, Any], ids: Sequence[Sequence[str]]) -> None:
        self.group = ClassicGroup(question.get("config"))
        self.requests = question["requests"]
        self.drawn = [member_id for _, member_id in ids]
        self.names = {member_id: name for name, member_id in ids}
        self.known: dict[str, str] = {}
        self.generations: dict[str, int] = {}
        self.answers: list[dict[str, Any]] = []
        self.states: list[dict[str, Any]] = []

    def run(self) -> dict[str, Any]:
        for place, request in enumerate(self.requests):
            self.ask(place, request)
            self.states.append(self.state())
        self.states.append(self.state())
        return {"answers": self.answers, "states": self.states}

    def ask(self, place: int, request: Mapping[str, Any]) -> None:
        # Requests that are due by then are answered first, because another request may depend on them.
        self.step({"at_ms": request["at_ms"], "request": "wait"})
        event = {"at_ms": request["at_ms"], "tag": place, **self.translated(request)}
        drawn = request["request"] == "join" and not request.get("known")
        if drawn and self.drawn and not self.is_refused(event):
            self.known[request["member"]] = self.drawn.pop(0)
        self.step(event)

    def is_refused(self, event: dict[str, Any]) -> bool:
        """Whether a member without an ID is refused before it gets one."""
        _, answers = self.group.step(event)
        return any(answer["tag"] == event["tag"] and answer["error"] in _BEFORE_IDS for answer in answers)

    def step(self, event: dict[str, Any]) -> None:
        self.group, answers = self.group.step(event)
        # The one that asks is told last: the reference waits for its answer only when the coordinator has the request.
        for answer in sorted(answers, key=lambda answer: answer["tag"] == event.get("tag")):
            self.take(answer, self.requests[answer["tag"]])

    def translated(self, request: Mapping[str, Any]) -> dict[str, Any]:
        kind = request["request"]
        if kind in ("wait", "move"):
            return {"request": kind}
        if kind == "leave":
            members = [
                {
                    "member_id": "" if each["member"] is None else self.id_of(each["member"]),
                    "instance_id": each.get("instance_id"),
                }
                for each in request["members"]
            ]
            return {"request": kind, "members": members}
        name = request["member"]
        sent = {"request": kind, "member_id": self.id_of(name), "instance_id": request.get("instance_id")}
        if kind == "join":
            sent["member_id"] = self.id_of(name) if request.get("known") else ""
            sent["new_id"] = self.drawn[0] if self.drawn else _NOBODY
            for field in ("session_timeout_ms", "rebalance_timeout_ms", "protocols", "member_id_required"):
                sent[field] = request[field]
            sent["skip_assignment"] = request.get("can_skip_assignment", request["member_id_required"])
            return sent
        generation = request.get("generation")
        sent["generation"] = self.generations.get(name, -1) if generation is None else generation
        if kind == "sync":
            assignments = request.get("assignments") or {}
            sent["protocol"] = request.get("protocol")
            sent["assignments"] = {self.id_of(other): said for other, said in assignments.items()}
        return sent

    def id_of(self, name: str) -> str:
        return self.known.get(name, _NOBODY)

    def name_of(self, member_id: str | None) -> str | None:
        return None if member_id is None else self.names.get(member_id, member_id)

    def take(self, answer: dict[str, Any], request: Mapping[str, Any]) -> None:
        kind = request["request"]
        told: dict[str, Any] = {"at_ms": answer["at_ms"], "of": answer["tag"], "error": answer["error"]}
        if kind == "join":
            if answer["error"] == "NONE":
                self.generations[request["member"]] = answer["generation"]
            told["member"] = self.name_of(answer["member"])
        if kind == "join" and answer["error"] == "NONE":
            told |= {
                "generation": answer["generation"],
                "protocol": answer["protocol"],
                "leader": self.name_of(answer["leader"]),
                "skip_assignment": answer["skip_assignment"],
                "members": [
                    [self.name_of(each), instance_id, said] for each, instance_id, said in answer["members"]
                ],
            }
        elif kind == "sync" and answer["error"] == "NONE":
            told |= {"protocol": answer["protocol"], "assignment": answer["assignment"]}
        elif kind == "leave" and answer["error"] == "NONE":
            told["members"] = answer["errors"]
        self.answers.append(told)

    def state(self) -> dict[str, Any]:
        state = self.group.state
        return {
            **state,
            "leader": self.name_of(state["leader"]),
            "members": [self.name_of(member) for member in state["members"]],
        }


class _Consumer:
    """Members choose their IDs here: a name is one."""

    def __init__(self, question: Mapping[str, Any]) -> None:
        self.group = ConsumerGroup(question.get("config"), question.get("topics"))
        self.interval_ms = consumer_config(question.get("config"))["heartbeat_interval_ms"]
        self.requests = question["requests"]
        self.epochs: dict[str, int] = {}
        self.assigned: dict[str, dict[str, list[int]]] = {}

    def run(self) -> dict[str, Any]:
        answers: list[dict[str, Any]] = []
        states: list[dict[str, Any]] = []
        for place, request in enumerate(self.requests):
            event = {"at_ms": request["at_ms"], "tag": place, **self.translated(request)}
            self.group, told = self.group.step(event)
            answers.extend(self.take(answer, self.requests[answer["tag"]]) for answer in told)
            states.append(self.state())
        return {"answers": answers, "states": [*states, self.state()]}

    def translated(self, request: Mapping[str, Any]) -> dict[str, Any]:
        kind = request["request"]
        if kind in ("wait", "move"):
            return {"request": kind}
        if kind == "topics":
            return {"request": kind, "topics": request["topics"]}
        name, epoch = request["member"], request.get("epoch")
        sent = {
            "request": kind,
            "member_id": name,
            "epoch": self.epochs.get(name, 0) if epoch is None else epoch,
        }
        if kind == "heartbeat":
            owned, timeout_ms = request.get("owned"), request.get("rebalance_timeout_ms", -1)
            sent |= {
                "instance_id": request.get("instance_id"),
                "rack_id": request.get("rack_id"),
                "rebalance_timeout_ms": None if timeout_ms == -1 else timeout_ms,
                "topics": request.get("topics"),
                "assignor": request.get("assignor"),
                "owned": self.assigned.get(name, {}) if owned == "last" else owned,
            }
        if kind == "commit":
            sent["partitions"] = request.get("partitions") or {"t": [0]}
        return sent

    def take(self, answer: dict[str, Any], request: Mapping[str, Any]) -> dict[str, Any]:
        if request["request"] == "heartbeat" and answer["error"] == "NONE":
            # A member that has left begins anew.
            self.epochs[request["member"]] = max(answer["epoch"], 0)
            if answer["epoch"] < 0:
                self.assigned.pop(request["member"], None)
            if answer["assignment"] is not None:
                self.assigned[request["member"]] = answer["assignment"]
        told = {"at_ms": answer["at_ms"], "of": answer["tag"], "error": answer["error"]}
        if request["request"] == "heartbeat" and answer["error"] == "NONE":
            told |= {
                "epoch": answer["epoch"],
                "assignment": answer["assignment"],
                "heartbeat_interval_ms": self.interval_ms if answer["epoch"] >= 0 else 0,
            }
        return told

    def state(self) -> dict[str, Any]:
        state = self.group.state
        members = {each.pop("id"): each for each in state.pop("members")}
        return {**state, "members": members}
