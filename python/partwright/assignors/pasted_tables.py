"""Tables about consumer groups in pasted text: which tool printed each, and its rows by the names of the columns.

The columns are those of `ConsumerGroupCommand` of Kafka 0.10.2 to 4.4, `rpk group describe` (Redpanda 21 to 25),
kafkactl 5, and the pages of kafka-ui (Provectus' and kafbat's), AKHQ and Redpanda Console. Prompts, code fences,
quotation marks and messages around a table are passed over. A table of Markdown, or from a browser, has cells.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from partwright._check import shown
from partwright._text import paste_lines
from partwright.errors import PartwrightError

KAFKA = "kafka-consumer-groups.sh --describe"
NOTHING = frozenset({"", "-", "\u2014"})
_MEMBERS = f"{KAFKA} --group G --members --verbose"
# Each tool's table: its columns in their order, with a star those that it always has. The first that fits is the one.
_FORMS = [
    (tool.strip(), columns.replace("*", "").split(), {each[1:] for each in columns.split() if each[0] == "*"})
    for tool, _, columns in (line.partition("|") for line in f"""\
rpk group describe | *TOPIC *PARTITION CURRENT-OFFSET LOG-START-OFFSET LOG-END-OFFSET *LAG *MEMBER-ID \
INSTANCE-ID CLIENT-ID HOST ERROR
{KAFKA} | GROUP *TOPIC *PARTITION LEADER-EPOCH *CURRENT-OFFSET LOG-END-OFFSET *LAG CONSUMER-ID HOST CLIENT-ID
{KAFKA} --members | GROUP *CONSUMER-ID GROUP-INSTANCE-ID HOST CLIENT-ID *#PARTITIONS CURRENT-EPOCH \
CURRENT-ASSIGNMENT TARGET-EPOCH TARGET-ASSIGNMENT UPGRADED ASSIGNMENT
{KAFKA} --state | GROUP COORDINATOR-(ID) *ASSIGNMENT-STRATEGY STATE GROUP-EPOCH TARGET-ASSIGNMENT-EPOCH *#MEMBERS
kafka-ui, a group's page | *CONSUMER-ID HOST *TOPIC *PARTITION MESSAGES-BEHIND CURRENT-OFFSET *END-OFFSET
kafka-ui, a group's page | *PARTITION *CONSUMER-ID HOST MESSAGES-BEHIND CONSUMER-LAG CURRENT-OFFSET *END-OFFSET
Redpanda Console, a group's page | *PARTITION *ASSIGNED-MEMBER HOST LOG-END-OFFSET GROUP-OFFSET LAG
AKHQ, a group's members | *CLIENTID *ID HOST *ASSIGNMENTS
AKHQ, a group's topics | *NAME *PARTITION *MEMBER OFFSET *LAG
kafkactl describe consumer-group | *CLIENT_HOST CLIENT_ID GROUP_INSTANCE_ID TOPIC *ASSIGNED_PARTITIONS
kafkactl describe consumer-group | *TOPIC *PARTITION *NEWEST_OFFSET OLDEST_OFFSET CONSUMER_OFFSET LEAD LAG
""".splitlines())
]  # fmt: skip
# Other tools' names for Kafka's columns.
_NAMES = (
    "MEMBER-ID=CONSUMER-ID ASSIGNED-MEMBER=CONSUMER-ID ID=CONSUMER-ID INSTANCE-ID=GROUP-INSTANCE-ID NAME=TOPIC "
    "GROUP_INSTANCE_ID=GROUP-INSTANCE-ID CLIENTID=CLIENT-ID CLIENT_ID=CLIENT-ID CLIENT_HOST=HOST MEMBER=HOST "
    "CURRENT-ASSIGNMENT=ASSIGNMENT ASSIGNMENTS=ASSIGNMENT"
)
_KAFKAS_NAMES = dict(each.split("=") for each in _NAMES.split())
# What people paste instead, and what to ask for.
_OTHERS = [
    (re.compile(pattern), what, better)
    for pattern, what, better in (
        (r"GROUP\s+TOPIC\s+PARTITION\s+NEW-OFFSET", "the text of kafka-consumer-groups.sh --reset-offsets", _MEMBERS),
        (r"TOPIC\s+PARTITION\s+STATUS", "the text of kafka-consumer-groups.sh --delete-offsets", _MEMBERS),
        (r"GROUP\s.*\bSTART-OFFSET|GROUP\s.*\s(?:MEMBER-EPOCH|PROCESS)\b", "of another kind of group", _MEMBERS),
        (r"TOPIC\s+LAG\s*$|BALANCER\b", "a summary of rpk group describe", "rpk group describe G, without -s and -t"),
        (r"[a-z_:]+\{[^}]*\}\s+[-+0-9.eE]+\s*$", "a metric of a lag exporter", _MEMBERS),
        (r"\s*Topic: ?\S+\s.*(?:PartitionCount|Leader):", "the text of kafka-topics.sh --describe", _MEMBERS),
        (r"Metadata for .* \(from broker", "the text of kcat -L", _MEMBERS),
        (r"CONSUMER_GROUP\s+(?:PROTOCOL_TYPE\s+)?TOPICS", "a list of groups", "kafkactl describe consumer-group G"),
        (r"NAME\s+STATE\s+CONSUMERS", "a list of groups", "kaf group describe G"),
        (r"Group ID\s+(?:Num|State|Members)", "a list of groups", "kafka-ui for a group's page"),
    )
]  # fmt: skip
_NUMBERED = re.compile(r"#|PARTITION$|OFFSET$|LAG$|LEAD$|BEHIND$|EPOCH$")
_NUMBER = re.compile(r"-?[0-9][0-9,.]*[kM]?|N/A|[-\u2014]?")
_TWO_WORDS = re.compile(
    r"(?i)\b(?:consumer id|messages behind|consumer lag|assigned member|log end offset|current offset|end offset|"
    r"group offset|coordinator \(id\))"
)
_PROMPT = re.compile(r"(?:\S+ ){0,3}?\S*[#$%\u276f\u279c](?:\s|$)|PS .*>|[A-Z]:\\[^>]*>")
_MESSAGE = re.compile(r"(?:Note|Warning|Error|WARN|INFO)\b|\[\d{4}-|Consumer group '")
_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_BELOW_TOPIC = re.compile(r"Lag:|Assigned partitions|Go to topic")
# A host as Java prints it, with its name or without.
_HOST = re.compile(r"[^\s/]*/[0-9a-zA-Z.:%_-]+")
_OLD_ASSIGNMENTS = re.compile(r"\),\s+")
_IDS = ("CONSUMER-ID", "MEMBER-ID", "ASSIGNED-MEMBER")
_INSTANCES = ("GROUP-INSTANCE-ID", "INSTANCE-ID")

# A line's number in the text, and its values by the names of their columns.
Row = tuple[int, dict[str, str]]


class ToolTable(NamedTuple):
    """A table that a tool printed.

    Attributes:
        tool: The command, or the page.
        line: The line of its header.
        columns: Their names, as the tool has them.
        lists_idle: Whether the tool has a line for members that read nothing, as Kafka's before 1.1.
        topic: The topic above it, for a page that has a table for each.
        summary: What `rpk` prints above it, by name.
        rows: Each with its line, by Kafka's names.
    """

    tool: str
    line: int
    columns: tuple[str, ...]
    lists_idle: bool
    topic: str
    summary: dict[str, str]
    rows: list[Row]


def other_paste(text: str) -> str | None:
    """The sentence about a text that is of another command; None if it is of none that is known.

    Examples:
        >>> other_paste("kafka_consumergroup_lag{topic='t'} 4")
        'line 1: this is a metric of a lag exporter, which does not say who reads what: take \
kafka-consumer-groups.sh --describe --group G --members --verbose'
    """
    for number, line in paste_lines(text):
        for pattern, what, better in _OTHERS:
            if pattern.match(line):
                return f"line {number}: this is {what}, which does not say who reads what: take {better}"
    return None


def read_tables(text: str) -> list[ToolTable]:
    """All tables of a paste, of one tool.

    Raises:
        PartwrightError: Two tools are mixed, columns have moved, or a line is cut.
    """
    tables: list[ToolTable] = []
    table: ToolTable | None = None
    above: list[str] = []
    is_after_blank = False
    for number, line in paste_lines(text):
        header = _header(line, number, above)
        if header is not None:
            table, starts = header
            tables.append(table)
            above = []
        elif not line.strip():
            is_after_blank = True
            continue
        elif table is None or _MESSAGE.match(line):
            above.append(line)
        else:
            try:
                table.rows.append((number, _row(line, table, starts, number)))
            except PartwrightError:
                first = {next(iter(row.values())) for _, row in table.rows}
                is_text = is_after_blank and not any(line.split()[0] == each for each in first if each)
                if not (is_text or _PROMPT.match(line) or _is_next_topic(line, table)):
                    raise
                table, above = None, [line]
        is_after_blank = False
    tools = {each.tool.split()[0]: each for each in reversed(tables)}
    if len(tools) > 1:
        one, other = sorted(tools.values(), key=lambda each: each.line)[:2]
        raise PartwrightError(
            f"line {other.line}: this is the table of {other.tool}, and line {one.line} has that of {one.tool}: give "
            "one of them"
        )
    return tables


def _cells(line: str) -> list[str] | None:
    """The cells of a line of Markdown, or of one that a browser copied; None of plain text."""
    stripped = line.strip()
    if stripped.startswith("|"):
        return [each.strip() for each in stripped[1:].removesuffix("|").split("|")]
    return [each.strip() for each in line.split("\t")] if "\t" in stripped else None


def _header(line: str, number: int, above: Sequence[str]) -> tuple[ToolTable, list[int]] | None:
    """The table whose header a line is, and where each column begins; nowhere if it has cells or was collapsed."""
    plain = _TWO_WORDS.sub(lambda each: each[0].replace(" ", "-"), line).upper()
    cells = _cells(plain)
    words = plain.split() if cells is None else [each for each in cells if each]
    form = next((each for each in _FORMS if each[2] <= set(words)), None)
    if form is None:
        return None
    tool, columns, _ = form
    places = [columns.index(each) if each in columns else -1 for each in words]
    moved = next((at for at, place in enumerate(places) if place <= max(places[:at], default=-1)), None)
    if moved is not None:
        raise PartwrightError(
            f"line {number}: the column {shown(words[moved])} is not where {tool} has it: paste it as it was printed"
        )
    topics = (_cells(each) or each.split() for each in reversed(above) if not _BELOW_TOPIC.match(each))
    topic = next((each[0] for each in topics if _TOPIC.fullmatch(each[0])), "")
    starts = [each.start() for each in re.finditer(r"\S+", plain)]
    if cells is not None or "  " not in line.strip():
        starts = []
    lists_idle = re.search(r"LAG {8}CONSUMER-ID", line) is not None
    pairs = (each.strip().partition(" ") for each in above)
    summary = {name: value.strip() for name, _, value in pairs if name.isupper()}
    return ToolTable(tool, number, tuple(words), lists_idle, topic, summary, []), starts


def _row(line: str, table: ToolTable, starts: Sequence[int], number: int) -> dict[str, str]:
    """A line's values by Kafka's names.

    Raises:
        PartwrightError: It has too few values, or one that its column cannot have.
    """
    values = _values(line, table.columns, starts, number)
    row = {_KAFKAS_NAMES.get(name, name): value for name, value in values.items()}
    is_kafkas = table.tool.startswith(KAFKA)
    for name, value in row.items():
        if not value and (name == "PARTITION" or (is_kafkas and _NUMBERED.search(name))):
            raise _cut(number)
        if name == "PARTITION" and not (value.isdecimal() or value in NOTHING):
            raise PartwrightError(
                f"line {number}: {shown(value)} is not a partition's number: paste whole lines"
            )
        if _NUMBERED.search(name) and not _NUMBER.fullmatch(value):
            raise PartwrightError(
                f"line {number}: {shown(value)} is not a number, and stands under {name}: paste whole lines"
            )
    if is_kafkas and "HOST" in row:
        if not row.get("CONSUMER-ID"):
            raise _cut(number)
        if row["CONSUMER-ID"] not in NOTHING and "/" not in row["HOST"]:
            raise PartwrightError(f"line {number}: {_NO_HOST}")
    return row


def _values(line: str, columns: Sequence[str], starts: Sequence[int], number: int) -> dict[str, str]:
    cells = _cells(line)
    if cells is not None:
        if len(cells) < len(columns):
            raise _cut(number)
        return dict(zip(columns, cells, strict=False))
    if starts and all(line[start - 1 : start] in {" ", ""} for start in starts if start):
        ends = [*starts[1:], None]
        return {name: line[start:end].strip() for name, start, end in zip(columns, starts, ends, strict=True)}
    return row_of(line, columns, number)


_NO_HOST = "there is no host, such as /10.0.0.17: paste whole lines"


def _cut(number: int) -> PartwrightError:
    return PartwrightError(f"line {number}: there are fewer values than columns: paste whole lines")


def _is_next_topic(line: str, table: ToolTable) -> bool:
    """Whether a line ends the table of a topic, on a page that has several."""
    return table.columns[0] == "PARTITION" and not line.split(maxsplit=1)[0].isdecimal()


def row_of(line: str, header: Sequence[str], number: int) -> dict[str, str]:
    """A line's values by the names of their columns, which may be collapsed to single spaces.

    Values before the member's ID have no blanks, and after the host only the client's ID may have some. So the values
    can be counted from both ends, and the words left in between are the IDs.

    Args:
        line: The line.
        header: The columns' names.
        number: The line's number, for a sentence about it.

    Raises:
        PartwrightError: It has too few values.

    Examples:
        >>> header = "GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS ASSIGNMENT".split()
        >>> row = row_of("g app 1-a1 /h app 1 2 t:0", header, 2)
        >>> row["CONSUMER-ID"], row["CLIENT-ID"], row["ASSIGNMENT"]
        ('app 1-a1', 'app 1', 't:0')
    """
    words = _OLD_ASSIGNMENTS.sub("),", line).split()
    ids = next((place for place, name in enumerate(header) if name in _IDS), None)
    if len(words) == len(header):
        return dict(zip(header, words, strict=True))
    if "#MEMBERS" in header:
        return _state(words, header, number)
    if (ids is None or "HOST" not in header) and len(words) > len(header):
        raise PartwrightError(
            f"line {number}: there are more values than columns: paste it with all of its blanks"
        )
    if ids is None or "HOST" not in header or len(words) < ids:
        raise _cut(number)
    first, last = dict(zip(header[:ids], words[:ids], strict=False)), words[ids:]
    names = header[ids:]
    if not last or last == ["-"]:
        return {**first, **dict.fromkeys(names, ""), names[0]: "-" if last else ""}
    if len(last) == len(names):
        return {**first, **dict(zip(names, last, strict=True))}
    if names[-1] == "HOST":
        return {**first, **_host_last(last, names)}
    return {**first, **_host_between(last, names, number)}


def _state(words: Sequence[str], header: Sequence[str], number: int) -> dict[str, str]:
    """The columns of a group's state: the coordinator is two words, and an empty group has no strategy."""
    behind = header[header.index("ASSIGNMENT-STRATEGY") :]
    place = next((at for at, each in enumerate(words) if re.fullmatch(r"\(-?\d+\)", each)), len(words)) + 1
    values = ["", *words[place:]] if len(words) - place == len(behind) - 1 else words[place:]
    if len(values) != len(behind):
        raise _cut(number)
    return {"GROUP": " ".join(words[: place - 2]), **dict(zip(behind, values, strict=True))}


def _host_last(words: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """The columns of `rpk`: the member's ID, perhaps its instance ID, the client's ID, and the host."""
    middle = words[1:-1]
    row = dict.fromkeys(names, "")
    row["HOST"] = words[-1]
    row[names[0]] = words[0]
    # A client's ID with blanks is recognized because the member's ID begins with it.
    for length in range(1, len(words) - 1):
        client = " ".join(words[-1 - length : -1])
        member = " ".join(words[: len(words) - 1 - length])
        if client and member.startswith(f"{client}-"):
            row[names[0]], row["CLIENT-ID"] = member, client
            return row
    row["CLIENT-ID"] = middle[-1] if middle else ""
    return row


def _host_between(words: Sequence[str], names: Sequence[str], number: int) -> dict[str, str]:
    """The columns of Kafka's tool and of pages: IDs, the host, perhaps the client's ID, numbers and assignments."""
    last_id = "CLIENT-ID" if "CLIENT-ID" in names else "HOST"
    behind = list(names[names.index(last_id) + 1 :])
    end = len(words) - len(behind)
    row = dict(zip(behind, words[end:], strict=False))
    if end < 0:
        raise _cut(number)
    if end == 0 and last_id == "HOST":
        return {**dict.fromkeys(names, ""), **row}
    ends = [end - 1] if last_id == "HOST" else range(end - 1, 0, -1)
    host = next((at for at in ends if last_id == "HOST" or _HOST.fullmatch(words[at])), None)
    if host is None:
        raise PartwrightError(f"line {number}: {_NO_HOST}")
    row |= {"HOST": words[host], "CLIENT-ID": " ".join(words[host + 1 : end])}
    ids = list(words[:host])
    instance = next((name for name in names if name in _INSTANCES), None)
    if instance is not None:
        # Java and librdkafka begin a static member's ID with its instance ID.
        is_static = len(ids) > 1 and ids[0].startswith(f"{ids[-1]}-")
        row[instance] = ids.pop() if is_static else ""
    return {names[0]: " ".join(ids), **row}
