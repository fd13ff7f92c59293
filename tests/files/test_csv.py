"""csv and tsv: fields are text as written, and every byte of the file is kept."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import partwright as pw
from partwright.errors import PartwrightError
from partwright.files import ColumnRequest, delimited, lines, open_records, text_type
from partwright.files.delimited import DelimitedRecords

inf = float("inf")

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., tuple[int, bytes, str]]
    Refusal = Callable[..., str]


def placed(data: bytes, key: str = "k", name: str = "partition", delimiter: str = ",") -> bytes:
    """The file with the partitions of 12."""
    out = io.BytesIO()
    with DelimitedRecords("x.csv", io.BufferedReader(io.BytesIO(data)), len(data), delimiter) as records:
        records.extend(
            ColumnRequest(key, pa.string()), name, lambda keys: pw.partition_for_key(keys, 12), out
        )
    return out.getvalue()


def keys(data: bytes, key: str = "k") -> list[str | None]:
    with DelimitedRecords("x.csv", io.BufferedReader(io.BytesIO(data)), len(data), ",") as records:
        return [
            one for (some,) in records.read([ColumnRequest(key, pa.string())]) for one in some.to_pylist()
        ]


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (b"k,v\na,1\n", b"k,v,partition\na,1,4\n"),
        (b"k,v\na,1", b"k,v,partition\na,1,4"),
        (b"k,v", b"k,v,partition"),
        (b"k,v\n", b"k,v,partition\n"),
        (b"k,v\r\na,1\r\n", b"k,v,partition\r\na,1,4\r\n"),
        (b"k,v\r\na,1\nb,2\r\n", b"k,v,partition\r\na,1,4\nb,2,8\r\n"),
        (b"\xef\xbb\xbfk,v\na,1\n", b"\xef\xbb\xbfk,v,partition\na,1,4\n"),
        # The empty field is null, the empty string is a key, and words are words.
        (b'k,v\n,1\n"",2\nNA,3\n', b'k,v,partition\n,1,\n"",2,9\nNA,3,%d\n' % pw.partition_for_key("NA", 12)),
        # Quotes that nobody needs stay, and so do those in the middle of a field, which open nothing.
        (b'"k",v\n"a","1"\nb,5" d\nc,7" d\n', b'"k",v,partition\n"a","1",4\nb,5" d,8\nc,7" d,10\n'),
        (
            b'k,v\n"a""b",1\n"a"b,2\n',
            b'k,v,partition\n"a""b",1,%d\n"a"b,2,%d\n'
            % (pw.partition_for_key('a"b', 12), pw.partition_for_key("ab", 12)),
        ),
        # At the end of a file without a last line end, the empty field is null too.
        (b'v,k\n"7",', b'v,k,partition\n"7",,'),
        (b'v,k\n"7",""', b'v,k,partition\n"7","",9'),
        (b'v,w,k\n"",a,', b'v,w,k,partition\n"",a,,'),
        (b'v,k\n"7",\r', b'v,k,partition\n"7",,\r'),
        (b'k\n"a"\n\r', b'k,partition\n"a",4\n,\r'),
        # Values of several lines, with delimiters, blank lines and both kinds of line ends.
        (b'k,v\na,"1\n2"\nb,"\r\n\r\n,"\n', b'k,v,partition\na,"1\n2",4\nb,"\r\n\r\n,",8\n'),
        (b'k,v\n"a","\r"\na,"\r\n\r""\r"\n', b'k,v,partition\n"a","\r",4\na,"\r\n\r""\r",4\n'),
        (b'"k\n",k\n1,a\n', b'"k\n",k,partition\n1,a,4\n'),
        # In a file of one column a blank line is a null; in others it is not a record.
        (b"k\na\n\nb\n", b"k,partition\na,4\n,\nb,8\n"),
        (b"k,v\n\na,1\n\n\n", b"k,v,partition\n\na,1,4\n\n\n"),
        (b"k,v\n\n", b"k,v,partition\n\n"),
        ("k,ü\nä,€\n".encode(), f"k,ü,partition\nä,€,{pw.partition_for_key('ä', 12)}\n".encode()),
    ],
)
def test_a_partition_is_put_at_each_records_end(given: bytes, wanted: bytes) -> None:
    assert placed(given) == wanted


def test_tabs_delimit_too() -> None:
    assert placed(
        b'k\tv\na\t"1\t2"\nb,c\t3\n', delimiter="\t"
    ) == b'k\tv\tpartition\na\t"1\t2"\t4\nb,c\t3\t%d\n' % pw.partition_for_key("b,c", 12)


def test_a_columns_name_is_quoted_where_it_must_be() -> None:
    assert placed(b"k\na\n", name='a,"b"') == b'k,"a,""b"""\na,4\n'


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
FIELD = st.one_of(st.none(), TEXT, st.text('",\n\r\ta ', max_size=6))


def written(field: str | None, *, quoted: bool) -> str:
    """A field by the rules: null is nothing, and an empty text is in quotes."""
    if field is None:
        return ""
    if quoted or field == "" or any(each in field for each in '",\r\n'):
        return '"' + field.replace('"', '""') + '"'
    return field


@settings(max_examples=150, deadline=None)
@given(
    st.integers(1, 3).flatmap(lambda width: st.lists(st.tuples(*[FIELD] * width), max_size=12)),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([16, 64, 8 << 20]),
)
@example([("a",), (None,)], "\n", False, False, 16)
@example([('"', "\r\n"), ("", None)], "\r\n", True, True, 16)
def test_any_text_survives(
    rows: list[tuple[str | None, ...]], end: str, quoted: bool, ended: bool, block: int
) -> None:
    """Read with the csv module: the same fields as before, and the keys' partitions."""
    width = len(rows[0]) if rows else 2
    header = ["k", "v", "w"][:width]
    lines_ = [",".join(written(field, quoted=quoted) for field in row) for row in rows]
    # The last null of a file of one column needs its line end to be seen at all.
    last = end if ended or (width == 1 and rows and rows[-1][0] is None) else ""
    data = (end.join([",".join(header), *lines_]) + last).encode()
    before = list(csv.reader(io.StringIO(data.decode(), newline="")))
    if width > 1:
        before = [row for row in before if row]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(lines, "_BLOCK", block)
        out = placed(data)
        assert keys(data) == [row[0] for row in rows]
    after = list(csv.reader(io.StringIO(out.decode(), newline="")))
    expected = pw.partition_for_key(pa.array([row[0] for row in rows], pa.string()), 12).to_pylist()
    assert [row[-1] for row in after] == ["partition", *["" if one is None else str(one) for one in expected]]
    assert [row[:-1] for row in after] == [row or [""] for row in before]
    # The same bytes, without the added ones.
    assert len(out) == len(data) + len(",partition") + sum(len(row[-1]) + 1 for row in after[1:])


def test_what_is_placed_is_null_or_empty_as_before() -> None:
    out = placed(b'k,v\n,""\n"",\n')
    assert out == b'k,v,partition\n,"",\n"",,9\n'
    assert keys(out) == [None, ""]
    assert keys(out, "v") == ["", None]
    assert keys(out, "partition") == [None, "9"]


@pytest.mark.parametrize("block", [1, 7, 1000])
def test_lines_longer_than_a_block_are_read(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_BLOCK", block)
    data = b"k,v\n" + b"".join(b'%d,"%s\n%s"\n' % (row, b"x" * row * 20, b"y," * row) for row in range(50))
    expected = pw.partition_for_key([str(row) for row in range(50)], 12).to_pylist()
    found = list(csv.reader(io.StringIO(placed(data).decode(), newline="")))
    assert [row[2] for row in found[1:]] == [str(one) for one in expected]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"k,v\n1,2\n3\n", "line 3 of 'x.csv' has 1 field and the header has 2"),
        (b'k,v\n"1\r2",3\n4\n', "line 3 of 'x.csv' has 1 field and the header has 2"),
        (b"k,v\n" + b"x" * 200_000 + b",1\n2\n", "lines 2 to 3 of 'x.csv' cannot be read (CSV parse error"),
        (b"k,v,%s\n1,2,3\n" % (b"x" * 200_000), "the header of 'x.csv' cannot be read (field larger than"),
        (b'k,v\n1,"2\n3"\n4,5,6\n', "line 4 of 'x.csv' has 3 fields and the header has 2"),
        (b"k,k\n1,2\n", "'x.csv' has 2 columns named 'k': rename all but one of them"),
        (
            b"1,2\n3,4\n",
            "there is no column 'k' in 'x.csv': it has 1, 2 (the first line has to name the columns)",
        ),
        (b"kk,v\n1,2\n", "there is no column 'k' in 'x.csv': did you mean 'kk'? It has kk, v"),
        (
            b"k,partition\n1,2\n",
            "'x.csv' has a column 'partition' already: give the new one another name with",
        ),
        (b"\nk,v\n", "line 1 of 'x.csv' is blank: the first line is the header"),
        (b'k,v\n1,"2\n3,4\n', "the quote that is opened in line 2 of 'x.csv' is not closed"),
        (b'"k,v\n1,2\n', "the quote that is opened in line 1 of 'x.csv' is not closed"),
        (b"k,v\n1,\xe9\n", "line 2 of 'x.csv' has the byte 0xe9, which is not UTF-8"),
        ("k,v\n1,2\n".encode("utf-16"), "'x.csv' is UTF-16, and only UTF-8 is read"),
        (b"k,v\r1,2\r", "line 1 of 'x.csv' has a carriage return that ends no line"),
        (
            b"k,v\n1,2\r3,4\n",
            "line 2 of 'x.csv' has a carriage return that ends no line: put the field in quotes",
        ),
        (b"k,v\n1,2\r\r\n", "line 2 of 'x.csv' has a carriage return that ends no line"),
        (b'k,v\n"1\r\n\r",2\r"\n', "line 3 of 'x.csv' has a carriage return that ends no line"),
        (b"\xef\xbb\xbf", "'x.csv' is empty"),
        (b"", "'x.csv' is empty: it has no records and no columns"),
    ],
)
def test_what_is_no_csv_is_one_sentence(data: bytes, sentence: str, refusal: Refusal) -> None:
    Path("x.csv").write_bytes(data)
    assert sentence in refusal("place", "x.csv", "--key", "k", "-n", 12, "--force", "--out", "y.csv")
    assert [path.name for path in Path().iterdir()] == ["x.csv"]


def test_a_long_value_ends_in_the_last_line_though_it_has_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_BLOCK", 10)
    data = b'k,v\n1,"' + b"y\n" * 70 + b'zz"'
    assert placed(data) == data.replace(b"v\n", b"v,partition\n") + b",%d" % pw.partition_for_key("1", 12)


def test_a_value_has_at_most_so_many_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_MOST_LINES", 50)
    monkeypatch.setattr(lines, "_BLOCK", 10)
    data = b'k,v\n1,"%s"\n2,3\n'
    assert keys(placed(data % (b"a\n" * 40))) == ["1", "2"]
    with pytest.raises(PartwrightError, match=r"line 2 of .* starts a value that has no end within 50 lines"):
        placed(data % (b"a\n" * 500))


@pytest.mark.parametrize(
    ("header", "row"), [(b"k,a,b,c,d", b"1,,,,"), (b'k,"a,b\n,",c,,d', b"1,,,,"), (b'k,",,,,,,,"', b"1,")]
)
def test_a_header_has_at_most_so_many_fields(
    header: bytes, row: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delimited, "_MOST_FIELDS", row.count(b",") + 1)
    assert keys(header + b"\n" + row + b"\n") == ["1"]
    with pytest.raises(PartwrightError, match=r"line 1 of .* has more than \d fields: look at its delimiter"):
        placed(header + b",\n" + row + b",\n")


def test_a_quote_too_many_is_told_before_it_takes_long(
    monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.setattr(lines, "LONGEST", 1 << 20)
    Path("x.csv").write_bytes(b'k,v\na,"1\n' + b"a,b\n" * 2_000_000)
    code, _, err = command("place", "x.csv", "--key", "k", "-n", 12, "--force", "--out", "y.csv")
    assert code == 2
    assert "line 2 of 'x.csv' starts a value that has no end within 1 MiB: look at its quotes" in err


def test_numbers_are_text_unless_a_key_type_says_otherwise(command: Command) -> None:
    Path("x.csv").write_bytes(b"k\n42\n\n-7\n")
    _, text, _ = command("place", "x.csv", "--key", "k", "-n", 100)
    assert text == b"k,partition\n42,72\n,\n-7,%d\n" % pw.partition_for_key("-7", 100)
    _, numbers, _ = command("place", "x.csv", "--key", "k", "-n", 100, "--key-type", "java:long")
    minus = pw.partition_for_key(-7, 100, key_type="java:long")
    assert numbers == b"k,partition\n42,52\n,\n-7,%d\n" % minus


@pytest.mark.parametrize(
    ("key_type", "texts", "values"),
    [
        ("java:int", ["1", "-2147483648"], [1, -(2**31)]),
        ("java:double", ["1.5", "-0", "NaN"], [1.5, -0.0, float("nan")]),
        # As Java's toString writes them; 1e39 is too large for a float, and Java rounds it to infinity.
        ("java:float", ["Infinity", "-Infinity", "1.0E10", "1e39"], [inf, -inf, 1e10, inf]),
        ("java:double", ["Infinity", "-inf", "+.5", "5.", "1e400"], [inf, -inf, 0.5, 5.0, inf]),
        # Rounded once: through a double it would be 0x1.000004p+0, by java.lang.Float as well.
        ("java:float", ["1.00000017881393432617187499"], [float.fromhex("0x1.000002p+0")]),
        ("java:boolean", ["true", "false"], [True, False]),
    ],
)
def test_text_stands_for_what_the_key_type_takes(
    key_type: str, texts: list[str], values: list[object]
) -> None:
    Path("x.csv").write_text("\n".join(["k", *texts]) + "\n", encoding="utf-8")
    with open_records("x.csv") as records:
        ((found,),) = list(records.read([ColumnRequest("k", text_type(key_type))]))
    assert str(found.to_pylist()) == str(values)


@pytest.mark.parametrize(
    ("key_type", "text"),
    [
        ("java:long", "0x10"),
        ("java:long", "9223372036854775808"),
        ("java:long", "1.0"),
        ("java:long", '""'),
        ("java:boolean", "1"),
        ("java:double", "one"),
        ("java:double", "1e"),
        ("java:double", "infinite"),
        ("java:float", "0x1p3"),
    ],
)
def test_text_that_does_not_fit_is_named_with_its_row(
    key_type: str, text: str, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.setattr(lines, "_BLOCK", 100)
    good = "true" if key_type == "java:boolean" else "1"
    Path("x.csv").write_text("k\n" + f"{good}\n" * 500 + f"{text}\n", encoding="utf-8")
    code, _, err = command(
        "place", "x.csv", "--key", "k", "-n", 12, "--key-type", key_type, "--force", "--out", "y.csv"
    )
    assert code == 2
    assert f"row 500 of 'x.csv': {text.strip(chr(34))!r} in column 'k' is not " in err
    assert not Path("y.csv").exists()
