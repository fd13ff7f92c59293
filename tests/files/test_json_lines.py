"""JSON lines: each object's text stays as written, and one member is added at its end."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import partwright as pw
from partwright.errors import PartwrightError
from partwright.files import ColumnRequest, json_lines, lines
from partwright.files.json_lines import JsonRecords, _may_have

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., tuple[int, bytes, str]]
    Refusal = Callable[..., str]


def placed(
    data: bytes,
    name: str = "partition",
    *,
    sink: io.BytesIO | None = None,
    size: int | None = -1,
    seen: Callable[[], object] = lambda: None,
) -> bytes:
    """The file with the partitions of 12; `seen` is called while each block's partitions are computed."""
    out = io.BytesIO() if sink is None else sink

    def computed(keys: pa.Array) -> pa.Array:
        seen()
        return pw.partition_for_key(keys, 12)

    with JsonRecords("x.jsonl", io.BytesIO(data), len(data) if size == -1 else size) as records:
        records.extend(ColumnRequest("k", pa.string()), name, computed, out)
    return out.getvalue()


A = b'{"k":"a","partition":4}'


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (b'{"k":"a"}\n', A + b"\n"),
        (b'{"k":"a"}', A),
        (b'{"k":"a"}\r\n{"k":"a"}\r\n', A + b"\r\n" + A + b"\r\n"),
        (b'\xef\xbb\xbf{"k":"a"}\n', b"\xef\xbb\xbf" + A + b"\n"),
        (b' {"k":"a"} \t\n\n  \n{"k":"a"}\n\n', b' {"k":"a","partition":4} \t\n\n  \n' + A + b"\n\n"),
        # No key, and no members at all.
        (
            b'{"k":"a"}\n{"k":null}\n{"j":1}\n',
            A + b'\n{"k":null,"partition":null}\n{"j":1,"partition":null}\n',
        ),
        (b'{"k":"a"}\n{}\n{ }\n', A + b'\n{"partition":null}\n{ "partition":null}\n'),
        # Numbers that no float can hold, escapes, order, nested members with the key's name.
        (
            b'{"z":123456789012345678901234567890,"k":"a","y":1.10,"x":1e999}\n',
            b'{"z":123456789012345678901234567890,"k":"a","y":1.10,"x":1e999,"partition":4}\n',
        ),
        (
            b'{"o":{"k":"z","partition":9,"l":[{"k":1}]},"\\u006b":"\\u0061"}\n',
            b'{"o":{"k":"z","partition":9,"l":[{"k":1}]},"\\u006b":"\\u0061","partition":4}\n',
        ),
        (b'{"k":"a","s":"\\"partition\\":}{"}\n', b'{"k":"a","s":"\\"partition\\":}{","partition":4}\n'),
        # If a member that we do not need is there twice, that does not matter.
        (b'{"k":"a","z":1,"z":2}\n', b'{"k":"a","z":1,"z":2,"partition":4}\n'),
    ],
)
def test_a_member_is_put_at_each_objects_end(given: bytes, wanted: bytes) -> None:
    assert placed(given) == wanted


def test_a_members_name_is_escaped_where_it_must_be() -> None:
    assert placed(b'{"k":"a"}\n', name='p"\n') == b'{"k":"a","p\\"\\n":4}\n'


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("kp\n\"'é", max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)
OBJECTS = st.dictionaries(st.text("kjé\\/", max_size=2).filter(lambda name: name != "k"), VALUES, max_size=3)


# An object may lack the key, and in some files all objects do.
ABSENT = object()


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(OBJECTS, st.just(ABSENT) | st.none() | st.text(st.characters(codec="utf-8"), max_size=5)),
        min_size=1,
    ),
    st.booleans(),
    st.sampled_from([",", ", "]),
    st.sampled_from([16, 8 << 20]),
    st.sampled_from([16, 8 << 20]),
)
def test_any_object_survives(
    rows: list[tuple[dict[str, Any], Any]], ascii_: bool, comma: str, block: int, in_memory: int
) -> None:
    objects = [others if key is ABSENT else {**others, "k": key} for others, key in rows]
    texts = [json.dumps(one, ensure_ascii=ascii_, separators=(comma, ":")) for one in objects]
    data = ("\n".join(texts) + "\n").encode()
    keys = [None if key is ABSENT else key for _, key in rows]
    sink = io.BytesIO()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(lines, "_BLOCK", block)
        patched.setattr(json_lines, "_IN_MEMORY", in_memory)
        if all(key is ABSENT for _, key in rows):
            with pytest.raises(PartwrightError, match=r"^there is no member 'k' in 'x\.jsonl'"):
                placed(data, sink=sink)
            assert sink.getvalue() == b""
            return
        out = placed(data, sink=sink).decode()
    expected = pw.partition_for_key(keys, 12).to_pylist()
    found = out.split("\n")
    assert found.pop() == ""
    for text, line, partition in zip(texts, found, expected, strict=True):
        before = text[:-1] if text == "{}" else f"{text[:-1]},"
        assert line == f'{before}"partition":{json.dumps(partition)}}}'
        assert json.loads(line)["partition"] == partition


@pytest.mark.parametrize("in_memory", [100, 8 << 20])
def test_rows_wait_for_the_first_that_has_the_key(in_memory: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On disk as in memory; later rows no longer wait."""
    monkeypatch.setattr(lines, "_BLOCK", 100)
    monkeypatch.setattr(json_lines, "_IN_MEMORY", in_memory)
    without, with_key = b'{"j":1}\n' * 1000, b'{"k":"a"}\n' * 1000
    wanted = b'{"j":1,"partition":null}\n' * 1000 + (A + b"\n") * 1000
    sink, written = io.BytesIO(), []
    assert placed(without + with_key, sink=sink, seen=lambda: written.append(sink.tell())) == wanted
    # Blocks have about 12 rows; the output before each.
    assert written[:75] == [0] * 75
    assert written[-50:] == sorted(set(written[-50:]))


def test_what_may_wait_of_a_pipe_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_BLOCK", 1000)
    monkeypatch.setattr(json_lines, "_MOST_WAITING", 1 << 20)
    data = b'{"j":1}\n' * 100_000
    sink = io.BytesIO()
    with pytest.raises(PartwrightError, match=r"^no object in the first 1 MiB of 'x.jsonl' has a member 'k'"):
        placed(data + b'{"k":"a"}\n', sink=sink, size=None)
    assert sink.getvalue() == b""
    # A file's own size is its limit.
    assert placed(data + b'{"k":"a"}\n').endswith(A + b"\n")
    # Rows that no longer wait are not counted.
    assert placed(b'{"k":"a"}\n' + data, size=None).startswith(A + b"\n")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b'{"k":"a"}\n[1]\n', "line 2 of 'x.jsonl' is a JSON array among objects: give one object a line"),
        (
            b'{"k":"a"}\n1\n',
            "line 2 of 'x.jsonl' is not a JSON object (not an object): give one object a line",
        ),
        (b'{"k":"a"}{"k":"b"}\n', "line 1 of 'x.jsonl' is not a JSON object (Extra data at column 10)"),
        (b'{"k":"a"}\n{"k":"a",}\n', "line 2 of 'x.jsonl' is not a JSON object ("),
        (b'{"k":"a"}\n{"j":{"k":1}\n', "line 2 of 'x.jsonl' is not a JSON object ("),
        (
            b'{"k":"a","k":"b"}\n',
            "line 1 of 'x.jsonl' has 2 members named 'k': it is unclear which one is meant",
        ),
        (
            b'{"k":"a"}\n\n{"k":"a","partition":null}\n',
            "line 3 of 'x.jsonl' has a column 'partition' already",
        ),
        (b'{"k":"a","\\u0070artition":1}\n', "line 1 of 'x.jsonl' has a column 'partition' already"),
        (b'{"k":"a"}\n{"k":42}\n', "line 2 of 'x.jsonl': 42 in member 'k' is not text: name the key type "),
        (b'{"k":{"a":1}}\n', "member 'k' is an object, {\"a\":1}, and Kafka hashes the bytes that"),
        (b'{"k":"\\ud800"}\n', "line 1 of 'x.jsonl': \"\\ud800\" in member 'k' is not text"),
        (b'{"kk":"a"}\n', "there is no member 'k' in 'x.jsonl': did you mean 'kk'? It has kk"),
        (b'{"k":"\xff"}\n', "line 1 of 'x.jsonl' has the byte 0xff, which is not UTF-8"),
        (b'{"k":' + b"[" * 100_000 + b"}\n", "line 1 of 'x.jsonl' is not a JSON object"),
        (b"\n", "there is no member 'k' in 'x.jsonl'"),
        # Places where the text is not a member's name.
        (b'{"a":"k"}\n{"a":{"k":"b"}}\n', "there is no member 'k' in 'x.jsonl'"),
        (
            b'{"k":"a","z":' + b"9" * 5000 + b'}\n{"k":' + b"9" * 5000 + b"}\n",
            "line 2 of 'x.jsonl': 9999999999",
        ),
    ],
)
def test_what_is_no_json_lines_is_one_sentence(data: bytes, sentence: str, refusal: Refusal) -> None:
    Path("x.jsonl").write_bytes(data)
    assert sentence in refusal("place", "x.jsonl", "--key", "k", "-n", 12, "--force", "--out", "y.jsonl")
    assert [path.name for path in Path().iterdir()] == ["x.jsonl"]


@pytest.mark.parametrize(
    "words",
    [
        "place x.jsonl --key usr -n 12",
        "place x.jsonl --key usr -n 12 --out y.jsonl",
        "check x.jsonl --key usr -n 12",
        "check x.jsonl --key user --partition usr -n 12 --json",
        "check x.jsonl --key usr -n 12 --report y.html",
        "fingerprint x.jsonl --key usr --partition n --json",
        "resize x.jsonl --key usr --from 12 --to 24 --plan",
        "copartition x.jsonl x.jsonl --key usr -n 12",
        "copartition x.jsonl x.jsonl --key user --key-b usr -n 12 --json",
        "batch x.jsonl --key usr -n 12 --time n --value user",
    ],
)
def test_a_key_that_no_object_has_gives_no_half_answer(
    words: str, refusal: Refusal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many blocks, read one after another; the last one decides."""
    monkeypatch.setattr(lines, "_BLOCK", 1000)
    monkeypatch.setattr(json_lines, "_IN_MEMORY", 1000)
    Path("x.jsonl").write_text('{"user":"a","n":1}\n' * 5000, encoding="utf-8")
    err = refusal(*words.split())
    assert "there is no member 'usr' in 'x.jsonl': did you mean 'user'? It has user, n" in err
    assert [path.name for path in Path().iterdir()] == ["x.jsonl"]


def test_a_pipe_gets_nothing_either(process: Callable[..., Any]) -> None:
    done = process("place", "-", "--key", "usr", "-n", 12, stdin=b'{"user":"a"}\n' * 300_000)
    assert (done.returncode, done.stdout) == (2, b"")
    assert (
        done.stderr == b"partwright: there is no member 'usr' in 'stdin': did you mean 'user'? It has user\n"
    )


@pytest.mark.parametrize(
    ("key_type", "values"),
    [
        ("java:long", [1, -(2**63), 2**63 - 1, None]),
        ("java:double", [1.5, 1, -0.0, None]),
        ("java:float", [1.5, 1, -0.0, 1e39, None]),
        ("java:boolean", [True, False, None]),
    ],
)
@pytest.mark.parametrize("twice", [False, True])
def test_numbers_are_keys_under_a_key_type(
    key_type: str, values: list[Any], twice: bool, command: Command
) -> None:
    """By pyarrow, and one by one if some object has a member twice."""
    objects = [json.dumps({"k": value}) for value in values] + (['{"k":null,"\\u0061":1}'] if twice else [])
    Path("x.jsonl").write_text("\n".join(objects), encoding="utf-8")
    code, out, _ = command("place", "x.jsonl", "--key", "k", "-n", 97, "--key-type", key_type)
    assert code == 0
    type_ = {
        "java:long": pa.int64(),
        "java:float": pa.float32(),
        "java:double": pa.float64(),
        "java:boolean": pa.bool_(),
    }[key_type]
    values = [float("inf") if value == 1e39 else value for value in values]
    expected = pw.partition_for_key(pa.array(values, type_), 97, key_type=key_type).to_pylist()
    assert [json.loads(line)["partition"] for line in out.splitlines()][: len(values)] == expected


@pytest.mark.parametrize(
    ("key_type", "text"),
    [
        ("java:long", "1.0"),
        ("java:long", "9223372036854775808"),
        ("java:long", '"1"'),
        ("java:long", "true"),
        ("java:boolean", "1"),
        ("java:double", "false"),
    ],
)
def test_a_value_that_does_not_fit_is_named_with_its_line(
    key_type: str, text: str, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.setattr(lines, "_BLOCK", 100)
    Path("x.jsonl").write_text('{"k":null}\n' * 500 + f'{{"k":{text}}}\n', encoding="utf-8")
    code, _, err = command(
        "place", "x.jsonl", "--key", "k", "-n", 12, "--key-type", key_type, "--force", "--out", "y.jsonl"
    )
    assert code == 2
    assert f"line 501 of 'x.jsonl': {text} in member 'k' is not " in err
    assert not Path("y.jsonl").exists()


@pytest.mark.parametrize("others", ["", ',"\\u0061":1,"partition ":2'])
def test_a_number_is_rounded_once(others: str, command: Command) -> None:
    """By pyarrow, and one by one: through a double it would be another float."""
    Path("x.jsonl").write_text(f'{{"k":1.00000017881393432617187499{others}}}\n', encoding="utf-8")
    code, out, _ = command("place", "x.jsonl", "--key", "k", "-n", 2**31 - 1, "--key-type", "java:float")
    assert code == 0
    rounded = pa.array([float.fromhex("0x1.000002p+0")], pa.float32())
    (expected,) = pw.partition_for_key(rounded, 2**31 - 1, key_type="java:float").to_pylist()
    assert json.loads(out)["partition"] == expected


@pytest.mark.parametrize(
    ("data", "name", "may"),
    [
        (rb'{"a":"\u00e9"}', "partition", False),
        (rb'{"a":"\u0070"}', "partition", True),
        (rb'{"a":"\u004B"}', "K", True),
        (rb'{"a":"\u004b"}', "K", True),
        (rb'{"a":"\ud83d\ude00"}', "\U0001f600", True),
        (rb'{"a":"x\/y"}', "x/y", True),
        (rb'{"a":"x\/y"}', "xy", False),
        (rb'{"a":"\n"}', "", False),
    ],
)
def test_only_what_a_name_can_be_is_looked_at_one_by_one(data: bytes, name: str, *, may: bool) -> None:
    assert _may_have(data, name) is may
