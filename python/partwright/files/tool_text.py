r"""The text that Kafka's tools print of records, and text without a header, as one JSON object for each record.

| tool | versions | what is read |
| --- | --- | --- |
| `kafka-console-consumer.sh` | 2.7 to 4.3 (`DefaultMessageFormatter`) | lines that begin with the timestamp, the partition or the offset |
| `kafka-dump-log.sh --print-data-log` | 0.10 to 4.3 (`DumpLogSegments`) | its records, in the partition of the folder that it dumps |
| `kcat -f` | 1.7 (`format.c`) | the formats of its help and of Confluent's documentation; any other one by `columns` |
| any | | fields in the order that `columns` names |

>>> form = text_form("x", ["Partition:3\tOffset:7\tTT0124\t{}"])
>>> form.read_as
'lines of kafka-console-consumer.sh with partition, offset, key and value'
>>> list(form.records(enumerate(["Partition:3\tOffset:7\tTT0124\t{}"], 1)))
[(1, {'partition': 3, 'offset': 7, 'key': 'TT0124', 'value': '{}'})]
"""  # noqa: E501 - a table's row is one line

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TypeAlias, cast

from partwright._check import counted, enumeration, shown, spelled
from partwright.errors import PartwrightError
from partwright.files.lines import LineReader

if TYPE_CHECKING:
    from partwright.files.compressed import Peeked

_Line: TypeAlias = tuple[int, str]
_Record: TypeAlias = dict[str, str | int | None]

ASIDE = re.compile(r"\s*$|% (?:Reached end of|Auto-selecting|Group )|(?:\^C)?Processed a total of \d+ me|\$ ")
"""What the tools print into a terminal around records, a prompt, or nothing."""
_NUMBERS = frozenset(["partition", "offset", "timestamp"])
_NUMBER = re.compile(r"(?:\w+:)?(-?\d+)")
# What the console consumer prints itself, in its order, each only if it is asked for.
_TAGS = {
    "timestamp": r"(?:(?:CreateTime|LogAppendTime):-?\d+|NO_TIMESTAMP)",
    **{name.lower(): rf"{name}:(?:\d+|[A-Z_]+)" for name in ("Partition", "Offset", "Delivery", "Epoch")},
}
_TAG = re.compile("|".join(_TAGS.values()))
_BETWEEN = re.compile(rf"(?:{_TAG.pattern})(?P<separator>\W{{1,5}}?)(?:{_TAG.pattern})")
_DUMP = re.compile(r"\s*(?:Dumping \S|(?:Log s|S)tarting offset: |baseOffset: \d)")
_SEGMENT = re.compile(r"\s*Dumping (?:.*[/\\])?(?P<topic>[^/\\]+)-(?P<partition>\d+)[/\\]\d+\.\w+\s*$")
_RECORD = re.compile(r"\s*(?:\| (?:key|payload|offset): |offset: )")
_DUMPED = re.compile(
    r"\s*(?:\| )?offset: (?P<offset>\d+) (?P<about>.*?(?:headerKeys: \[.*?\]|crc: \d+(?: keysize: -?\d+)?))"
    r"(?P<behind>(?: key: | payload: | endTxnMarker: ).*|)\r?"
)
_ABOUT = re.compile(r"\b(CreateTime|LogAppendTime|key|value|payload)(?:[sS]ize)?: (-?\d+)")
# Of a value whose bytes are not text nobody knows how many lines it takes.
_UNKNOWN, _LONG = "\ufffd", 1 << 40
# The tokens of kcat's -f, and rpk's for the value and the time.
_TOKENS = {
    "t": "topic", "p": "partition", "o": "offset", "T": "timestamp", "d": "timestamp", "h": "headers",
    "k": "key", "K": "key_size", "s": "value", "S": "value_size", "v": "value", "V": "value_size",
}  # fmt: skip
_PIECE = re.compile(r"%(.?)|\\x([0-9A-Fa-f]{1,2})|\\(.)|([^%\\]+)", re.DOTALL)
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r"}
# Of kcat's help, and of Confluent's documentation without and with the time.
_KNOWN_FORMATS = (
    r"Topic %t [%p] at offset %o: key %k: %s\n",
    r"\nKey (%K bytes): %k\t\nValue (%S bytes): %s\n\Partition: %p\tOffset: %o\n--\n",
    r"\nKey (%K bytes): %k\t\nValue (%S bytes): %s\nTimestamp: %T\tPartition: %p\tOffset: %o\n--\n",
)
_CLOSES = {"{": "}", "[": "]", '"': '"'}


class TextForm(NamedTuple):
    """How a text is read.

    Attributes:
        read_as: What it was taken for, as part of a sentence.
        records: From its numbered lines to its records, each after the number of its first line.
    """

    read_as: str
    records: Callable[[Iterable[_Line]], Iterator[tuple[int, _Record]]]


class _RecordForm(NamedTuple):
    """The form of a record.

    Attributes:
        form: Its lines, each with its end; a group for each name.
        names: What the groups are.
        nulls: The texts that stand for an absent key or value, unless the size of one is printed.
        lines: How many lines it has.
    """

    form: re.Pattern[str]
    names: Sequence[str]
    nulls: Sequence[str]
    lines: int = 1


def text_form(
    path: str, start: Sequence[str], columns: str | Sequence[str] | None = None, separator: str | None = None
) -> TextForm:
    """How a text is read, by its first lines.

    Args:
        path: The file's name.
        start: Its first lines, all of them whole.
        columns: The columns of text without a header, in their order, or a format of `kcat -f`; None finds it out.
        separator: What stands between two fields; by default a tab, or what the console consumer's line shows.

    Raises:
        PartwrightError: It is no text of these tools, or does not tell what its fields are.
    """
    if columns is not None and "%" not in columns:
        names = column_list(columns)
        pattern = _of_fields(names, separator or "\t", ("", "null"))
        return TextForm(f"lines of {enumeration(names)}", partial(_matched, path, pattern))
    for template in _KNOWN_FORMATS if columns is None else [str(columns)]:
        pattern = _of_format(template)
        if columns is not None or pattern.form.match("".join(f"{line}\n" for line in start)):
            return TextForm(f"records of kcat -f '{template}'", partial(_matched, path, pattern))
    lines = [line for line in start if not ASIDE.match(line)]
    first = lines[0] if lines else ""
    if _DUMP.match(first) or _RECORD.match(first):
        return TextForm("records of kafka-dump-log.sh --print-data-log", partial(_dumped, path))
    if _TAG.match(first):
        return _console(path, lines, separator)
    if re.search(r"(?m)^(?:GROUP\s|TOPIC\s+PARTITION\s)|\sLAG\b|CONSUMER-ID", "\n".join(lines)):
        raise _refusal(path, "tells about a consumer group, and no record: `partwright assign` reads it")
    raise _refusal(
        path,
        "is not text of kafka-console-consumer.sh with print.partition=true and print.key=true, of kafka-dump-log.sh "
        f"--print-data-log, or of kcat -J (its first line is {shown(first[:60])}): print one of these, name its "
        f"format with {spelled('format')} if it is csv, or the fields of each line with {spelled('columns')}, such as "
        "key,value",
    )


def column_list(columns: str | Sequence[str]) -> list[str]:
    """The names of columns, which a command gets in one text.

    Raises:
        PartwrightError: One is empty, or there twice.

    Examples:
        >>> column_list("key, partition")
        ['key', 'partition']
    """
    names = [each.strip() for each in columns.split(",")] if isinstance(columns, str) else list(columns)
    if not names or not all(names) or len({*names}) < len(names) or any("%" in name for name in names):
        raise PartwrightError(
            f"{spelled('columns')} names each column once, such as key,partition,value, or is a format of kcat -f for "
            f"text, not {shown(columns)}",
            field="columns",
        )
    return names


def has_objects(start: bytes) -> bool:
    r"""Whether a text with these first bytes is JSON, perhaps with what `kcat` prints around it.

    Examples:
        >>> has_objects(b'% Reached end of topic t [0] at offset 0\n{"key":"a"}'), has_objects(b"Partition:0")
        (True, False)
    """
    return next((line for line in _decoded(start) if not ASIDE.match(line)), "{").lstrip()[:1] in {"{", "["}


def is_printed(start: bytes) -> bool:
    r"""Whether a text with these first bytes is one of a tool, and tells itself how it is read.

    Examples:
        >>> is_printed(b"Partition:0\tTT0124\t{}\n"), is_printed(b"key,partition\n")
        (True, False)
    """
    try:
        return bool(text_form("", _decoded(start)))
    except PartwrightError:
        return False


def text_lines(
    path: str, file: Peeked, columns: str | Sequence[str] | None, separator: str | None
) -> tuple[str, Iterator[bytes]]:
    """What a text was taken for, and its records as JSON lines, each in the line of the text where it begins.

    Raises:
        PartwrightError: As for `text_form`. The lines raise one that is not as the first ones are.
    """
    start = file.peek()
    if start[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        raise _refusal(path, "is UTF-16, and only UTF-8 is read: convert it, for example with iconv")
    if b"\0" in start[:64]:
        what = "is not text: of a segment of Kafka's log, give what kafka-dump-log.sh --print-data-log --files prints"
        raise _refusal(path, what)
    form = text_form(path, _decoded(start), columns, separator)
    hint = "keys and values that are not text are read from the topic itself, by kafka://host:port/topic"
    blocks = LineReader(path, cast("BinaryIO", file), None, hint).blocks()
    lines = (
        line
        for block in blocks
        for line in enumerate(block.text.decode().removesuffix("\n").split("\n"), block.first)
    )
    return form.read_as, _made(form.records(lines))


def _decoded(start: bytes) -> list[str]:
    """The whole lines of a text with these first bytes, or all of it if it has none."""
    lines = [line.removesuffix("\r") for line in start.decode("utf-8-sig", "replace").split("\n")]
    return lines[:-1] or lines


def _made(records: Iterator[tuple[int, _Record]]) -> Iterator[bytes]:
    at = 1
    for line, record in records:
        yield b"\n" * (line - at) + json.dumps(record, ensure_ascii=False).encode() + b"\n"
        at = line + 1


def _refusal(path: str, what: str) -> PartwrightError:
    return PartwrightError(f"{path!r} {what}", path=path)


def _not_alike(path: str, line: int, text: str, why: str) -> PartwrightError:
    what = (
        f"line {line} of {path!r} {why} ({shown(text[:60])}): give what one command prints, whole and alone"
    )
    return PartwrightError(what, path=path)


def _console(path: str, more: Sequence[str], separator: str | None) -> TextForm:
    """The console consumer's lines, whose first ones tell what it was asked to print."""
    between = _BETWEEN.match(more[0])
    separator = separator or (between["separator"] if between else "\t")
    names = []
    for name, tag in _TAGS.items():
        begin = re.compile(rf"{tag}(?:\t|{re.escape(separator)}|$)")
        if begin.match(more[0]):
            names.append(name)
            more = [begin.sub("", line, count=1) for line in more if begin.match(line)]
    parts = [line.split(separator) for line in more if line]
    is_headed = ["NO_HEADERS"] in (each[:1] for each in parts)
    count = min(map(len, parts), default=0) - is_headed
    if not names or count > 2:  # noqa: PLR2004 - a key and a value
        raise _refusal(
            path,
            f"does not tell which of its fields is the key: name all of them with {spelled('columns')}, such as "
            f"{','.join([*names, 'headers', 'key', 'value'])}, and what is between them with {spelled('delimiter')}",
        )
    names += ["headers"] * is_headed + ["key", "value"][2 - max(count, 0) :]
    hint = "" if "key" in names else "; keys come with print.key=true"
    pattern = _of_fields(names, separator, ("null",))
    return TextForm(
        f"lines of kafka-console-consumer.sh with {enumeration(names)}{hint}",
        partial(_matched, path, pattern),
    )


def _of_fields(names: Sequence[str], separator: str, nulls: Sequence[str]) -> _RecordForm:
    """A line of fields, of which the value, or else the last one, may contain the separator."""
    longest, apart = "value" if "value" in names else names[-1], re.escape(separator)
    form = ""
    for at, name in enumerate(names):
        # The console consumer's own fields may have a tab between them where the key has another separator.
        between = "" if at == 0 else rf"(?:{apart}|\t)" if names[at - 1] in _TAGS else apart
        field = rf"{_TAGS[name]}|-?\d+" if name in _TAGS else ".*" if name == longest else ".*?"
        form += f"{between}({field})"
    return _RecordForm(re.compile(form + "\n"), names, nulls)


def _of_format(template: str) -> _RecordForm:
    """A record in a format of `kcat -f`."""
    form, literal, names = "", "", list[str]()
    for mark, code, escape, text in _PIECE.findall(template):
        if mark in {"", "%"}:
            literal += mark or (chr(int(code, 16)) if code else _ESCAPES.get(escape, escape) or text)
            continue
        if mark not in _TOKENS or f"%{mark}{{" in template:
            tokens = ", ".join(f"%{each}" for each in _TOKENS)
            what = f"has %{mark}, which is not read back: take {tokens}, without braces"
            raise PartwrightError(f"{spelled('columns')} {shown(template)} {what}", field="columns")
        name = _TOKENS[mark]
        field = r"-?\d+" if name in _NUMBERS or name.endswith("_size") else ".*?"
        form += re.escape(literal) + (rf"(?:\{names.index(name) + 1})" if name in names else f"({field})")
        names, literal = list(dict.fromkeys([*names, name])), ""
    if not literal.endswith("\n"):
        what = r"does not end with \n, so nothing tells where a record ends: give kcat -f one that does"
        raise PartwrightError(f"{spelled('columns')} {shown(template)} {what}", field="columns")
    lines = len(re.findall(r"(?<!\\)(?:\\\\)*\\n", template))
    return _RecordForm(re.compile(form + re.escape(literal)), names, ("",), lines)


def _matched(path: str, pattern: _RecordForm, lines: Iterable[_Line]) -> Iterator[tuple[int, _Record]]:
    """The records whose lines have a form."""
    # Blank lines may be part of a record, or its only field.
    blank = pattern.lines > 1 or len(pattern.names) == 1
    kept = (each for each in lines if not ASIDE.match(each[1]) or (blank and not each[1].strip()))
    while piece := list(islice(kept, pattern.lines)):
        match = pattern.form.fullmatch("".join(text.removesuffix("\r") + "\n" for _, text in piece))
        number, first = next((each for each in piece if each[1].strip()), piece[0])
        if match is not None:
            fields = dict(zip(pattern.names, match.groups(), strict=True))
            yield piece[0][0], _record(path, number, fields, pattern.nulls)
        elif pattern.lines == 1 or first.strip():
            raise _not_alike(path, number, first, f"is not one with {enumeration(pattern.names)}")


def _record(path: str, number: int, fields: dict[str, str], nulls: Sequence[str]) -> _Record:
    """A record's fields as JSON has them: numbers, and a key or a value that is absent as null."""
    sizes = {name: fields.pop(f"{name}_size") for name in ("key", "value") if f"{name}_size" in fields}
    record: _Record = {**fields}
    for name in fields.keys() & _NUMBERS:
        digits = _NUMBER.fullmatch(fields[name])
        record[name] = None if digits is None else int(digits[1])
    for name in fields.keys() & {"key", "value"}:
        text, size = fields[name], sizes.get(name)
        if size == "-1" or (size is None and text in nulls):
            record[name] = None
        elif size is not None and len(text.encode()) != int(size):
            why = f"has a {name} that is not text, or has the format's own words, for its size is {size}"
            raise _not_alike(path, number, text, why)
        elif name == "key" and size is None and not text.endswith(_CLOSES.get(text[:1], "")):
            raise _not_alike(
                path, number, text, "has a key of JSON in which the text between two fields stands too"
            )
    return record


def _dumped(path: str, lines: Iterable[_Line]) -> Iterator[tuple[int, _Record]]:
    """The records of `kafka-dump-log.sh`; those of control batches are left out."""
    segment: _Record = {}
    is_control, count, lacks, line = False, 0, 0, ""
    for number, line in lines:
        if (match := _SEGMENT.match(line)) is not None:
            segment, lacks = {"topic": match["topic"], "partition": int(match["partition"])}, 0
        elif line.lstrip().startswith("baseOffset: "):
            is_control = "isControl: true" in line
        elif _RECORD.match(line):
            match = _DUMPED.fullmatch(line)
            if match is None:
                raise _not_alike(path, number, line, "is no whole record, as without --skip-record-metadata")
            if not is_control and " endTxnMarker: " not in match["behind"]:
                record, lacks = _dumped_record(path, number, line, match)
                count += 1
                yield number, segment | record
        elif lacks > 0:
            # A value over several lines.
            lacks -= len(line.encode()) + 1
        elif not (ASIDE.match(line) or _DUMP.match(line)):
            raise _not_alike(path, number, line, "is neither a batch nor a record of kafka-dump-log.sh")
    if not count and line:
        raise _refusal(
            path, "has no record: add --print-data-log to kafka-dump-log.sh, or dump another segment"
        )


def _dumped_record(path: str, number: int, line: str, match: re.Match[str]) -> tuple[_Record, int]:
    """A dumped record, and how many bytes of its value are in the next lines."""
    about = {name: int(digits) for name, digits in _ABOUT.findall(match["about"])}
    key_size, value_size = about.get("key", -1), about.get("value", about.get("payload", -1))
    record: _Record = {"offset": int(match["offset"]), "key": None, "value": None}
    if stamp := about.keys() & {"CreateTime", "LogAppendTime"}:
        record["timestamp"] = about[stamp.pop()]
    behind = match["behind"].encode()
    if not behind and max(key_size, value_size) >= 0:
        raise _not_alike(path, number, line, "has sizes alone, as kafka-dump-log.sh without --print-data-log")
    if key_size >= 0:
        behind = behind.removeprefix(b" key: ")
        key, behind = behind[:key_size].decode(errors="replace"), behind[key_size:]
        if len(key.encode()) != key_size or (value_size >= 0 and not behind.startswith(b" payload: ")):
            what = f"has a key of {counted(key_size, 'byte')} that is not text in one line"
            raise _not_alike(path, number, line, what)
        record["key"] = key
    if value_size < 0:
        return record, 0
    value = behind.removeprefix(b" payload: ")
    record["value"] = value.decode()
    return record, _LONG if _UNKNOWN.encode() in value else value_size - len(value)
