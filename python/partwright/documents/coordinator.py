"""Which partition has a group's offsets, which broker coordinates it, and what the group has committed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from partwright._check import LEAST_INT, Fields
from partwright._text import plain
from partwright.rendering.document import Document, Section, Verdict, answered, bounded, columns
from partwright.rendering.text import label

if TYPE_CHECKING:
    from partwright.keys.coordinators import Coordination


def document(coordination: Coordination) -> Document:
    """The partition and its leader, the rule and how far it is confirmed, then offsets and how to read them."""
    answer = coordination.to_dict()
    title = f"Where {label(answer['id'])} is coordinated"
    return answered(title, _verdicts(answer), _sections(answer), answer)


def _verdicts(answer: Fields) -> Iterator[Verdict | str]:
    leader, rule = answer.get("leader"), answer["rule"]
    at = "" if leader is None else plain(f"broker {leader['id']} at {leader['host']}:{leader['port']}")
    by_rule = f"{_by_rule(answer)} of {answer['topic']}"
    if answer["partition"] is None:
        yield f"{label(answer['id'])}: coordinated by {at}, as FindCoordinator answers."
        headline = "The rule is wrong here"
        text = (
            f"{headline}: {by_rule}, which another broker leads. Which partition has the group is unknown: if these "
            "brokers are not Kafka, try another --broker-kind."
        )
        yield Verdict("open", text, headline)
    else:
        where = f"partition {answer['partition']} of the {answer['n']:,} of {answer['topic']}"
        by = f", coordinated by {at}" if at else ""
        yield f"{label(answer['id'])}: {where}{by}."
        least = ", because Kafka's absolute value of the lowest int is 0"
        yield f"{_by_rule(answer)}{least if answer['hash'] == LEAST_INT else ''}."
        if "leader" not in answer:
            name = rule["broker_kind"].capitalize()
            yield Verdict(
                "open",
                f"This is {name}'s rule, {rule['evidence']}; brokers of another kind may have another (--broker-kind).",
            )
            yield "The broker that leads this partition is the coordinator: --broker asks which one."
        elif leader is None:
            headline = "No broker leads this partition"
            yield Verdict("open", f"{headline}, so there is no coordinator until one does.", headline)
        elif answer["rule_agrees"]:
            yield "The broker leads this partition, and FindCoordinator names it too."
        else:
            why = (
                "one broker leads all partitions, so its answer confirms nothing"
                if answer["leads_all"]
                else "no broker could be asked who coordinates this ID"
            )
            yield Verdict("open", f"The broker leads this partition. That is by the rule alone: {why}.")
    if answer.get("offsets") == []:
        yield "The group has committed no offset."


def _by_rule(answer: Fields) -> str:
    n, partition = answer["n"], answer.get("by_rule", answer["partition"])
    if answer["rule"]["broker_kind"] == "kafka":
        return f"abs(hashCode) % n: abs({answer['hash']}) % {n} = {partition}"
    return f"{answer['rule']['formula']} = {partition} for n = {n}"


def _sections(answer: Fields) -> Iterator[Section]:
    if offsets := answer.get("offsets"):
        yield Section(
            id="offsets",
            title="Committed offsets",
            columns=columns(
                topic="topic|text", partition="partition", offset="next offset", metadata="metadata|text"
            ),
            **bounded(offsets),
        )
    if answer["read"] is not None:
        yield Section(id="read", title="To read that partition (Kafka 3.9 and later)", code=(answer["read"],))
