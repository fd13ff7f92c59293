"""Groups in the forms in which people have them: each tool's sample, what chats and terminals add, and wrong pastes.

`consumer_groups/README.md` says where each sample is from.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from partwright.assignors.pasted_group import is_pasted, read_pasted

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., tuple[int, bytes, str]]
    Refusal = Callable[..., str]

TEXTS = Path(__file__).parent / "consumer_groups"
FIRST, SECOND = (
    "app 1-486e0676-2f28-4bc8-8b0b-1238ed591b1c",
    "billing-7b69de76-a095-496f-9ef1-1fa767eb13f4",
)
OF_PAGES = {
    FIRST: {"orders": [0, 1], "users": [0]},
    SECOND: {"orders": [2, 3], "users": [1]},
}
BY_HOST = {f"10.0.0.{18 - at}": owned for at, owned in enumerate(OF_PAGES.values())}
UNNAMED = {
    "app 1@10.0.0.18": {"orders": [2, 3], "users": [1]},
    "billing@10.0.0.17": {"orders": [0, 1], "users": [0]},
    "billing@10.0.0.19": {"orders": [4], "users": [2]},
}
HEADER = "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID\n"
ROW = "g t 0 5 5 0 c-1 /10.0.0.1 c\n"


def text(name: str) -> str:
    return (TEXTS / name).read_text(encoding="utf-8")


def owned(pasted: str, **more: object) -> dict[str, dict[str, list[int]]]:
    group = read_pasted(pasted, **more).group  # type: ignore[arg-type] # what a parameter takes
    return {each["id"]: each["owned"] for each in group["members"]}


@pytest.mark.parametrize(
    ("name", "tool", "members"),
    [
        ("kafka-ui-kafbat.txt", "kafka-ui, a group's page", OF_PAGES),
        ("kafka-ui-0.1.txt", "kafka-ui, a group's page", OF_PAGES),
        ("redpanda-console-3.txt", "Redpanda Console, a group's page", OF_PAGES),
        ("akhq-topics-0.26.txt", "AKHQ, a group's topics", BY_HOST),
        ("kafkactl-5.txt", "kafkactl describe consumer-group", UNNAMED),
        ("kafkactl-instances-5.txt", "kafkactl describe consumer-group", UNNAMED),
    ],
)
def test_each_tool_is_read_and_named(name: str, tool: str, members: dict[str, object]) -> None:
    assert is_pasted(text(name))
    assert owned(text(name)) == members
    assert read_pasted(text(name)).notes[0].startswith(f"read as {tool}: ")


def test_kaf_lists_members_by_client_and_host_also_those_that_read_nothing() -> None:
    group, notes, _ = read_pasted(text("kaf-0.2.txt"))
    assert group["assignor"] == "range"
    assert {each["id"]: each["owned"] for each in group["members"]} == {
        "billing@10.0.0.17": {"orders": [0, 1], "users": [0]},
        "app 1@10.0.0.18": {"orders": [2, 3], "users": [1]},
        "billing@10.0.0.19": {"orders": [4], "users": [2]},
        "billing@10.0.0.20": {},
    }
    assert notes[0] == "read as kaf group describe: 4 members"
    assert not any("are not in this text" in note for note in notes)
    noisy = "(0x0,0x0)\n" + text("kaf-0.2.txt").replace("  orders:", "(0x0,0x0)\n  orders:")
    assert read_pasted(noisy) == read_pasted(text("kaf-0.2.txt"))


@pytest.mark.parametrize("name", ["kafkactl-5.json", "kafkactl-5.yaml", "akhq-members-0.26.json"])
def test_documents_of_tools_are_groups(name: str, command: Command) -> None:
    code, out, err = command("assign", TEXTS / name, "--assignor", "range", "--json")
    answer = json.loads(out)
    names = {*OF_PAGES} if name.startswith("akhq") else {*UNNAMED}
    assert (code, err, {*answer["assignment"]}) == (0, "", names)
    assert answer["assumed"][0].startswith("read as ")


def test_several_groups_are_listed_and_one_is_named(command: Command, refusal: Refusal) -> None:
    for name in ("offsets-all-4.3.1.txt", "members-all-4.3.1.txt"):
        assert "several groups, audit, billing, modern and static: name one with --group" in refusal(
            "assign", TEXTS / name
        )
        code, out, _ = command("assign", TEXTS / name, "--group", "modern", "--json")
        answer = json.loads(out)
        assert (code, {*answer["assignment"]}) == (0, {"CIqUowVLRDayyYF9cw/Bxw", "+sOcFuZ6Teu2P2HiSzBYmQ"})
        assert (
            "assumed assignor: server-uniform, the default; name another one with --assignor"
            in answer["assumed"]
        )
        assert "there is no group 'modem' in the text: did you mean 'modern'?" in refusal(
            "assign", TEXTS / name, "--group", "modem"
        )


@pytest.mark.parametrize("version", ["3.9.2", "4.3.1"])
def test_the_tables_of_one_group_are_read_together(version: str) -> None:
    name = f"offsets-{'verbose-' if version == '4.3.1' else ''}{version}.txt"
    alone = read_pasted(text(name))
    assert "assignor" not in alone.group
    assert alone.notes[-1] == "members that read nothing are not in this text: --members --verbose has them"
    group, notes, _ = read_pasted(text(name) + text(f"state-{version}.txt"))
    assert (group["assignor"], len(group["members"])) == ("range", 3)
    assert not any("are not in this text" in note for note in notes)
    assert read_pasted(text(name) + text("members-4.3.1.txt")).group["members"] == group["members"]


def test_the_broker_assigns_a_group_of_kip_848() -> None:
    both = text("members-all-4.3.1.txt") + text("state-verbose-4.3.1.txt")
    assert read_pasted(both, group_id="modern").group["assignor"] == "server-uniform"


def test_only_tools_that_leave_idle_members_out_are_said_to() -> None:
    header = f"{'TOPIC':<30} PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG        CONSUMER-ID\n"
    row = f"{'t':<30} 0          5               5               0          c-1\n"
    old = [
        line.rstrip("\n").ljust(132) + more for line, more in ((header, "HOST  CLIENT-ID"), (row, "/h    c"))
    ]
    assert not any("are not in this text" in note for note in read_pasted("\n".join(old)).notes)
    assert any("are not in this text" in note for note in read_pasted(HEADER + ROW).notes)


def test_a_session_of_several_commands_is_one_paste() -> None:
    prompt = "[appuser@broker ~]$ "
    session = (
        f"{prompt}kafka-consumer-groups --describe --offsets --verbose\n{text('offsets-verbose-4.3.1.txt')}"
    )
    session += f"{prompt}kafka-consumer-groups --describe --state\n{text('state-4.3.1.txt')}\n{prompt}\n"
    group, notes, _ = read_pasted("Defaulted container kafka out of: kafka, init\n" + session)
    assert (group["assignor"], len(group["members"])) == ("range", 3)
    assert notes[0] == "read as kafka-consumer-groups.sh --describe, group billing: 3 members"
    rpk = "TOPIC   PARTITION  CURRENT-OFFSET  LAG  MEMBER-ID  CLIENT-ID  HOST\n"
    rpk += "orders  0          8               0    app-1      app        10.0.0.17\n"
    assert owned(f"$ rpk group describe g\n{rpk}$ \n") == {"app-1": {"orders": [0]}}


@pytest.mark.parametrize("name", ["kafka-ui-kafbat.txt", "redpanda-console-3.txt", "akhq-topics-0.26.txt"])
def test_pages_may_be_collapsed_too(name: str) -> None:
    assert owned("\n".join(" ".join(line.split()) for line in text(name).splitlines())) == owned(text(name))


def markdown(pasted: str) -> str:
    header, *rows = [line.split() for line in pasted.splitlines() if line.strip()]
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


MORE = {
    "prompt behind": lambda own: f"{own}\nbash-5.1# \n",
    "command before": lambda own: f"[appuser@broker ~]$ kafka-consumer-groups --describe --group g\n{own}",
    "another prompt": lambda own: f"{own}\n\nPS C:\\kafka> .\\bin\\windows\\kafka-topics.bat --list\n",
    "fence": lambda own: f"Look:\n\n```text\n{own}```\n",
    "quotation": lambda own: "\n".join(f"> {line}" for line in own.splitlines()),
    "indented": lambda own: "\n".join(f"    {line}" for line in own.splitlines()),
    "windows": lambda own: own.replace("\n", "\r\n"),
    "mark": lambda own: f"\ufeff{own}",
    "colours": lambda own: f"\x1b[32m{own}\x1b[0m",
    "double spaced": lambda own: own.replace("\n", "\n\n"),
    "words behind": lambda own: f"{own}\nAny idea why one member has more?\n",
    "warnings": lambda own: f"[2024-01-01 10:00:00,123] WARN no such config (org.apache)\nNote: old.\n{own}",
}


@pytest.mark.parametrize(
    "name", ["offsets-verbose-4.3.1.txt", "classic-4.3.1.txt", "offsets-classic-4.3.1.txt"]
)
@pytest.mark.parametrize("change", MORE.values(), ids=MORE)
def test_what_stands_around_a_table_is_passed_over(name: str, change: Callable[[str], str]) -> None:
    assert owned(change(text(name))) == owned(text(name))
    # Blanks that a chat collapsed, too.
    collapsed = "\n".join(" ".join(line.split()) for line in text(name).splitlines())
    assert owned(change(collapsed + "\n")) == owned(text(name))


def test_tables_of_markdown_have_cells() -> None:
    assert owned(markdown(HEADER + ROW)) == {"c-1": {"t": [0]}}
    rpk = "| TOPIC | PARTITION | CURRENT-OFFSET | LAG | MEMBER-ID | CLIENT-ID | HOST |\n"
    assert owned(f"{rpk}| t | 0 | 5 | 0 | c-1 | c | 10.0.0.1 |\n| t | 1 | 5 | 0 | | | |\n") == {
        "c-1": {"t": [0]}
    }
    assert owned(markdown(text("offsets-all-4.3.1.txt").split("\n\n")[2]))


WRONG = {
    "two tools": (
        HEADER + ROW + "\nTOPIC PARTITION CURRENT-OFFSET LAG MEMBER-ID CLIENT-ID HOST\nt 0 5 0 c-1 c 10.0.0.1\n",
        "line 4: this is the table of rpk group describe, and line 1 has that of kafka-consumer-groups.sh",
    ),
    "moved columns": (
        "TOPIC GROUP PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID\nt g 0 5 5 0 c-1 /h c\n",
        "line 1: the column 'GROUP' is not where kafka-consumer-groups.sh --describe has it: paste",
    ),
    "moved values": (HEADER + "g t 0 5 c-1 0 5 /10.0.0.1 c\n", "line 2: 'c-1' is not a number, and stands under"),
    "cut in the ID": (HEADER + ROW + "g t 1 5 5 0 c-1-8f\n", "line 3: there is no host"),
    "cut behind the lag": (HEADER + ROW + "g t 1 5 5 0\n", "line 3: there are fewer values than columns"),
    "cut assignment": (text("classic-4.3.1.txt").rsplit(":", 2)[0], "line 5: there are fewer values than columns"),
    "metrics": ('kafka_consumergroup_lag{group="g"} 4\n', "line 1: this is a metric of a lag exporter"),
    "reset": (text("reset-offsets-4.3.1.txt"), "line 2: this is the text of kafka-consumer-groups.sh --reset-offsets"),
    "members alone": (text("members-4.3.1.txt"), "there is no column ASSIGNMENT: ask kafka-consumer-groups.sh with"),
    "state alone": (text("state-4.3.1.txt"), "there is no column ASSIGNMENT: ask kafka-consumer-groups.sh with"),
    "a summary": ("GROUP g\nSTATE Empty\nBALANCER\nMEMBERS 0\n", "this is a summary of rpk group describe"),
    "no topic": (text("kafka-ui-kafbat.txt").split("\n", 2)[2], "line 1: there is no topic above this table"),
    "kaf without members": (text("kaf-0.2.txt").split("Members:")[0], "kaf's text has no Members"),
    "kaf cut": (text("kaf-0.2.txt").split("1]")[0], "line 28: 'orders  [0' is cut: paste whole lines"),
    "nobody": (HEADER + "g t 0 5 5 0 - - -\n", "the group has no members"),
}  # fmt: skip


@pytest.mark.parametrize(("pasted", "sentence"), WRONG.values(), ids=WRONG)
def test_a_wrong_paste_is_refused_in_one_sentence(
    pasted: str, sentence: str, refusal: Refusal, tmp_path: Path
) -> None:
    path = tmp_path / "p.txt"
    path.write_text(pasted, encoding="utf-8")
    assert sentence in refusal("assign", path, "--assignor", "range")
