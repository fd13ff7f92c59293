"""`partwright check` on files, as a command: exit codes, the JSON answer, the words, the refusals."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.feather
import pytest
from table_files import write_table

from partwright.files import lines

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Command = Callable[..., tuple[int, bytes, str]]

ROWS = {"k": ["a", "b", None, ""], "p": [4, 8, 3, 9]}
FILES = ["x.csv", "x.tsv", "x.jsonl", "x.parquet", "x.arrow"]


def words(out: bytes) -> str:
    """The words that are printed, however the lines are broken."""
    return " ".join(out.decode().split())


def write(name: str, rows: dict[str, list[object]]) -> None:
    comma = {"x.csv": ",", "x.tsv": "\t"}.get(name)
    if comma is None:
        write_table(pa.table(rows), name)
        return
    fields = [
        ["" if one is None else '""' if one == "" else str(one) for one in column] for column in rows.values()
    ]
    text = "\n".join(map(comma.join, [tuple(rows), *zip(*fields, strict=True)]))
    Path(name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize("name", FILES)
def test_every_format_is_checked(name: str, command: Command) -> None:
    write(name, ROWS)
    code, out, err = command("check", name, "--key", "k", "-n", 12, "--partition", "p", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert {
        "ok",
        "rows",
        "misplaced",
        "undetermined",
        "largest_share",
        "used",
        "n",
        "heavy_keys",
        "partitions",
    } <= set(found)
    assert (found["ok"], found["rows"], found["misplaced"], found["undetermined"]) == (True, 4, 0, 1)
    assert (found["used"], found["n"], found["largest_share"]) == (4, 12, 0.25)
    assert found["partitions"][4] == {"partition": 4, "rows": 1, "keys": 1}
    write(name, {**ROWS, "p": [4, 7, 3, 9]})
    code, out, _ = command("check", name, "--key", "k", "-n", 12, "--partition", "p", "--json")
    assert code == 1
    found = json.loads(out)
    assert (found["ok"], found["misplaced"]) == (False, 1)
    assert found["examples"] == [
        {"row": 1, "offset": None, "key": "b", "partition": 7, "expected": 8, "client": "java"}
    ]


def test_words_say_what_is_wrong_and_where(monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    monkeypatch.setattr(lines, "_BLOCK", 64)
    write("x.csv", {"k": ["a"] * 100, "p": ["4"] * 97 + [None, "6.0", "5"]})
    code, out, _ = command("check", "x.csv", "--key", "k", "-n", 12, "--partition", "p", "--show", 2)
    text = words(out)
    assert code == 1
    assert text.startswith(
        "✗ 2 of 100 records (2.0%) are not where java puts them; the first: key a is in 6 and belongs in 4. ✗ 1 of 100 "
        "records has no partition (null or empty): look at the column named with --partition. "
    )
    assert (
        "\nrow 97: key a is in no partition, java puts it into 4\n"
        "row 98: key a is in partition 6, java puts it into 4\n\nRecords a partition\n" in out.decode()
    )
    code, out, _ = command("check", "x.csv", "--key", "k", "-n", 12)
    assert code == 0
    assert words(out).startswith(
        "Partition 4 holds 100.0% of the records, 12\u00d7 its fair share; key a alone has 100.0%. "
        "Salt that key 16 ways, and the largest partition holds 32.0%. "
        "Not compared with where the records are: name the column of partitions with --partition. "
    )
    assert "\n\nRecords a partition, as java would fill them\n" in out.decode()
    write("x.csv", {"k": ["a"] * 60, "p": [None] * 60})
    code, out, _ = command("check", "x.csv", "--key", "k", "-n", 12, "--partition", "p")
    assert code == 1
    assert words(out).startswith(
        "✗ 60 of 60 records have no partition (null or empty): look at the column named with --partition. "
    )


def test_nobody_is_told_to_salt_the_empty_key(command: Command) -> None:
    write("x.csv", {"k": [""] * 100, "p": [9] * 99 + [3]})
    for more in ([], ["--max-share", "50%"]):
        _, out, _ = command("check", "x.csv", "--key", "k", "-n", 12, *more)
        assert "Write null keys instead (kcat 1.4 or later). " in words(out)
        assert "alt" not in out.decode().replace("default", "")


@pytest.mark.parametrize(
    ("contract", "broken"),
    [
        (["--max-share", "50%"], []),
        (["--max-share", "0.5", "--min-used", "20%"], []),
        (["--max-share", "49.9%"], ["partition 4 has 50.0% of the rows, more than 49.9%"]),
        (["--min-used", "0.3"], ["3 of 12 partitions have rows, fewer than 30% of them"]),
        (
            ["--max-share", "10%", "--min-used", "100%"],
            [
                "partition 4 has 50.0% of the rows, more than 10%",
                "3 of 12 partitions have rows, fewer than 100% of them",
            ],
        ),
    ],
)
@pytest.mark.parametrize("partition", [[], ["--partition", "p"]])
def test_a_contract_on_shares_holds_or_not(
    contract: list[str], broken: list[str], partition: list[str], command: Command
) -> None:
    keys, places = ["a", "a", "b", ""], [4, 4, 8, 9]
    write("x.csv", {"k": keys, "p": places})
    code, out, _ = command("check", "x.csv", "--key", "k", "-n", 12, *partition, *contract, "--json")
    found = json.loads(out)
    assert (code, found["ok"], found["broken"]) == (int(bool(broken)), not broken, broken)
    assert (found["misplaced"], found["largest_over_mean"], found["used"]) == (
        0 if partition else None,
        6.0,
        3,
    )
    assert found["heavy_keys"][0] == {"key": "a", "rows": 2, "partition": 4}
    code, out, _ = command("check", "x.csv", "--key", "k", "-n", 12, *partition, *contract)
    shown = words(out)
    assert code == int(bool(broken))
    assert shown.startswith(f"✗ The contract is broken: {'; '.join(broken)}. " if broken else "✓ ")
    assert ("✓ The shares keep the contract." in shown) == (not broken)
    # With fewer records than partitions no key is named, because each partition with one is far above its share.
    assert "Partition 4 holds 50.0% of the records, 6.0\u00d7 its fair share." in shown


@pytest.mark.parametrize("share", ["5", "0", "0%", "101%", "-1%", "nan", "inf", "x", "", "5%%", "5 percent"])
@pytest.mark.parametrize("option", ["--max-share", "--min-used"])
def test_what_is_no_share_is_one_sentence(option: str, share: str, command: Command) -> None:
    write("x.csv", ROWS)
    code, out, err = command("check", "x.csv", "--key", "k", "-n", 12, option, share)
    assert (code, out) == (2, b"")
    assert err == f"partwright: {option} takes a share such as 5% or 0.05, not {share!r}\n"


def test_flows_are_for_pages(command: Command) -> None:
    """However many records are misplaced: the verdict has the first of them."""
    write("x.csv", {"k": [f"k{row}" for row in range(600)], "p": [row % 60 for row in range(600)]})
    code, out, _ = command("check", "x.csv", "--key", "k", "-n", 60, "--partition", "p")
    assert code == 1
    assert [line for line in out.decode().splitlines() if line.endswith(("flows", "Misplaced records"))] == []
    assert "… and 12 more rows: --json has them" in out.decode()


def test_rows_in_no_partition_are_told(command: Command) -> None:
    """As with a wrong -n, which is the likeliest mistake."""
    write("x.csv", {"k": ["a", "b", "c", "c"], "p": [1, 7, 8, 9]})
    code, out, _ = command("check", "x.csv", "--key", "k", "-n", 3, "--partition", "p")
    assert code == 1
    assert "3 records are in no partition from 0 to 2: is -n 3 right?" in out.decode()
    (heavy,) = [line.split() for line in out.decode().splitlines() if line.startswith(" c ")]
    assert heavy == ["c", "2", "50.0%", "none", "or", "several", "█" * 16]


def test_a_terminal_without_a_tick_is_no_failed_check(
    monkeypatch: pytest.MonkeyPatch, process: Callable[..., subprocess.CompletedProcess[bytes]]
) -> None:
    write("x.csv", ROWS)
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    done = process("check", "x.csv", "--key", "k", "-n", 12, "--partition", "p")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"ok: All 4 records are where java puts them." in done.stdout


def test_what_looks_like_markup_is_shown_as_it_is(command: Command) -> None:
    write("x.csv", {"k": ["[red]a[/]", "b"], "p": [5, "[/]"]})
    code, out, err = command("check", "x.csv", "--key", "k", "-n", 12, "--partition", "p")
    assert (code, out) == (2, b"")
    assert "row 1 is in '[/]', which is not a partition" in err
    write("x.csv", {"k": ["[red]a[/]"], "p": [6]})
    code, out, _ = command("check", "x.csv", "--key", "k", "-n", 12, "--partition", "p")
    assert code == 1
    assert "key [red]a[/] is in partition 6, java" in out.decode()


@pytest.mark.parametrize("n", [1, 48, 49, 100_000, 2**31 - 1])
def test_any_number_of_partitions_is_shown(n: int, command: Command) -> None:
    write("x.csv", {"k": ["a", "b"]})
    code, out, _ = command("check", "x.csv", "--key", "k", "-n", n)
    assert code == 0
    assert len(out.decode().splitlines()) < 80
    # Of more than 10,000 partitions, only those with records are listed.
    assert ("… and 1 more row: --json has them" in out.decode()) == (n == 49)


def test_json_partitions_of_any_kind_are_looked_at(command: Command) -> None:
    lines_ = ['{"k":"a","p":4}', '{"k":"a","p":"4"}', '{"k":"a","p":4.0}', '{"k":"a","p":" 4"}', '{"k":"a"}']
    Path("x.jsonl").write_text("\n".join([*lines_, '{"k":"a","p":""}']), encoding="utf-8")
    code, out, _ = command("check", "x.jsonl", "--key", "k", "-n", 12, "--partition", "p", "--json")
    assert code == 1
    found = json.loads(out)
    assert [(each["row"], each["partition"]) for each in found["examples"]] == [(4, None), (5, None)]
    assert (found["misplaced"], found["nowhere"]) == (2, 2)
    for wrong, shown in (
        ("[4]", "'[4]'"),
        ("true", "'true'"),
        ("4.5", "'4.5'"),
        ('"Partition:7"', "'Partition:7'"),
    ):
        Path("x.jsonl").write_text("\n".join([*lines_, f'{{"k":"a","p":{wrong}}}']), encoding="utf-8")
        code, out, err = command("check", "x.jsonl", "--key", "k", "-n", 12, "--partition", "p", "--json")
        assert (code, out) == (2, b"")
        assert err == (
            f"partwright: row 5 is in {shown}, which is not a partition of 12: they are whole numbers from 0 to 11\n"
        )


@pytest.mark.parametrize("type_", [pa.string_view(), pa.binary_view(), pa.large_string(), pa.large_binary()])
@pytest.mark.parametrize("name", ["x.parquet", "x.arrow"])
def test_keys_of_every_layout_are_counted(name: str, type_: pa.DataType, command: Command) -> None:
    table = pa.table({"k": pa.array(ROWS["k"]).cast(type_), "p": ROWS["p"]})
    write_table(table, name)
    code, out, _ = command("check", name, "--key", "k", "-n", 12, "--partition", "p", "--json")
    assert code == 0
    found = json.loads(out)
    assert (found["rows"], found["null_keys"], sum(part["keys"] for part in found["partitions"])) == (4, 1, 3)
    assert [each["partition"] for each in found["heavy_keys"]] == [9, 4, 8]


def test_nulls_within_a_dictionary_are_null_keys(command: Command) -> None:
    keys = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 1, 0]), pa.array(["a", None]))
    pa.feather.write_feather(pa.table({"k": keys}), "x.arrow")
    code, out, _ = command("check", "x.arrow", "--key", "k", "-n", 12, "--json")
    assert code == 0
    found = json.loads(out)
    assert (found["null_keys"], found["undetermined"]) == (3, 3)
    assert "3 with a null key" in command("place", "x.arrow", "--key", "k", "-n", 12, "--out", "y.arrow")[2]


@pytest.mark.parametrize("neighbour", ["4", "4.0"])
@pytest.mark.parametrize(
    ("text", "ok"), [("0000000000000004", True), ("-4", False), ("00000000000000000000004", True)]
)
def test_a_partitions_text_is_judged_alone(text: str, neighbour: str, command: Command, *, ok: bool) -> None:
    """Whether or not its block has other values that are written as whole numbers are not."""
    Path("x.csv").write_text(f"k,p\na,{text}\na,{neighbour}\n", encoding="utf-8")
    _, out, _ = command("check", "x.csv", "--key", "k", "-n", 12, "--partition", "p", "--json")
    wrong = [each["row"] for each in json.loads(out)["examples"]]
    assert wrong == [0] * (not ok)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("x.csv -n 12", "name the key's column of 'x.csv' with --key"),
        ("x.csv --key k", "give the number of partitions of the topic of 'x.csv' with -n"),
        ("x.csv --key k -n 12 --partition q", "there is no column 'q' in 'x.csv'"),
        ("x.csv --key k -n 12 --partition k", "'k' cannot be both the key and the partition"),
        ("x.csv --key k -n 0", "n, the number of partitions, must be from 1"),
        ("x.csv --key k -n 12 --show -1", "-1 is not in the range x>=0"),
        ("absent.csv --key k -n 12", "there is no file 'absent.csv'"),
        ("x.parquet --key k -n 12 --partition f", "row 0 is in 4.5, which is not a partition of 12"),
        ("kafka://h:x -n 12", "'kafka://h:x' does not name a Kafka: write kafka://host:port"),
        ("kafka://127.0.0.1:9", "'kafka://127.0.0.1:9' names no topic: write kafka://host:port/topic"),
        ("'kafka://127.0.0.1:9/a b'", "'a b' cannot be a topic's name"),
        ("kafka://127.0.0.1:9/t", "no Kafka answers at 127.0.0.1:9 (Connection refused)"),
        ("kafka://127.0.0.1:9/t -n 0", "n, the number of partitions, must be from 1"),
        ("KAFKA://127.0.0.1:9/t", "'KAFKA://127.0.0.1:9/t' is not a topic's address: write kafka://host:port/topic"),
        ("kafka:h:9092/t", "'kafka:h:9092/t' is not a topic's address"),
        ("kafka://127.0.0.1:9/t --key-type java:long", "a topic's keys are bytes already, whatever they stand"),
        ("https://127.0.0.1:9/*.parquet --key k -n 12",
         "'https://127.0.0.1:9/*.parquet' has a pattern, which works only with abfs, "),
        ("absent*.csv --key k -n 12", "no file is named like 'absent*.csv': check the pattern"),
        ("semicolons.csv --key k -n 12", "the header of 'semicolons.csv' seems to be delimited by semicolons"),
        ("kafka://127.0.0.1:9/t --key k", "--key 'k' names a column of a file"),
        ("kafka://127.0.0.1:9/t --partition p", "--partition 'p' names a column of a file"),
    ],
)  # fmt: skip
def test_wrong_use_is_one_sentence(words: str, sentence: str, command: Command) -> None:
    write("x.csv", {"k": ["a"], "p": [4]})
    write("x.parquet", {"k": ["a"], "f": [4.5]})
    Path("semicolons.csv").write_text("k;p\na;4\n", encoding="utf-8")
    code, out, err = command("check", *shlex.split(words))
    assert (code, out) == (2, b"")
    assert err.startswith("partwright: ")
    assert sentence in err
    assert err.count("\n") == 1


def test_a_column_that_pandas_wrote_next_to_a_null(command: Command) -> None:
    Path("x.csv").write_text("k,p\na,4.0\nb, 8\n,\na,\n", encoding="utf-8")
    code, out, _ = command("check", "x.csv", "--key", "k", "-n", 12, "--partition", "p", "--json")
    found = json.loads(out)
    assert (code, found["misplaced"], found["nowhere"], found["undetermined"]) == (1, 1, 1, 1)
    Path("x.csv").write_text("k,p\na,4.0\nb,Partition:8\n", encoding="utf-8")
    code, out, err = command("check", "x.csv", "--key", "k", "-n", 12, "--partition", "p", "--json")
    assert (code, out) == (2, b"")
    assert err.startswith("partwright: row 1 is in 'Partition:8', which is not a partition of 12")


@pytest.mark.parametrize("kind", ["parquet", "arrow", "avro"])
def test_a_format_that_is_read_in_any_order_is_not_read_from_stdin(
    kind: str, refusal: Callable[..., str]
) -> None:
    assert refusal("check", "-", "--format", kind, "--key", "k", "-n", 3) == (
        "partwright: 'stdin' is not a regular file, and its format is not read in one go: copy it to one\n"
    )
