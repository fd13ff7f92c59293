"""Every client's rule through files: the real clients' partitions, with each client's null and empty keys."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from table_files import write_table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Command = Callable[..., tuple[int, bytes, str]]
    Refusal = Callable[..., str]

GOLDEN = {
    profile: golden
    for path in (Path(__file__).resolve().parents[1] / "golden" / "clients").glob("*.json")
    for golden in [json.loads(path.read_text(encoding="ascii"))]
    for profile in golden["profiles"]
}
TEXTS_ONLY = "java:string-hash"
FILES = ["x.csv", "x.jsonl", "x.parquet", "x.arrow"]
N = 7


def said_by(profile: str) -> dict[str | None, int | None]:
    """Keys that are text, and where the real client puts each among N: None if that is not always the same."""
    golden = GOLDEN[profile]
    at, n = golden["profiles"].index(profile), golden["partitions"].index(N)
    said: dict[str | None, int | None] = {}
    for _, key, *partitions in golden["keys"]:
        try:
            text = bytes.fromhex(key).decode()
        except UnicodeDecodeError:
            continue
        if partitions[at] is not None:
            said[text] = partitions[at][n]
    for key, kind in ((None, "null"), ("", "empty")):
        seen = golden[kind][profile][str(N)]
        said[key] = seen[0] if len(seen) == 1 else None
    return said


def write(name: str, keys: Sequence[str | None], partitions: Sequence[Any] | None = None) -> None:
    columns = {"k": pa.array(keys, pa.string())}
    if partitions is not None:
        columns["p"] = pa.array(partitions, pa.int32())
    write_table(pa.table(columns), name)


def partitions_in(name: str) -> list[int | None]:
    if name.endswith(".jsonl"):
        return [json.loads(line)["partition"] for line in Path(name).read_bytes().splitlines()]
    if name.endswith(".csv"):
        parsing = pa.csv.ParseOptions(newlines_in_values=True)
        table = pa.csv.read_csv(name, parse_options=parsing)
    else:
        table = (pq.read_table if name.endswith(".parquet") else pa.feather.read_table)(name)
    found: list[int | None] = table["partition"].to_pylist()
    return found


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("profile", sorted(GOLDEN))
def test_a_file_has_the_partitions_of_the_real_client(profile: str, name: str, command: Command) -> None:
    said = {key: place for key, place in said_by(profile).items() if place is None or place >= 0}
    assert len(said) > 1000
    assert None in said
    keys = list(said)
    write(name, keys)
    out = f"y{name[1:]}"
    code, _, err = command("place", name, "--key", "k", "-n", N, "--client", profile, "--force", "--out", out)
    assert code == 0, err
    assert err.startswith(f"{len(keys):,} rows placed, 1 with a null key")
    assert partitions_in(out) == list(said.values())

    words = ["--key", "k", "-n", N, "--client", profile, "--json"]
    code, shown, err = command("check", out, *words, "--partition", "partition")
    assert (code, err) == (0, "")
    found = json.loads(shown)
    assert found["undetermined"] == list(said.values()).count(None)
    assert (found["rows"], found["misplaced"], found["null_keys"]) == (len(keys), 0, 1)

    # One record elsewhere: the last one, with the empty key, if the client has a place for it.
    row = len(keys) - 1 if said[keys[-1]] is not None else len(keys) - 3
    moved = [
        (place + 1) % N if at == row and place is not None else place
        for at, place in enumerate(said.values())
    ]
    write(name, keys, moved)
    code, shown, _ = command("check", name, *words, "--partition", "p")
    assert code == 1
    found = json.loads(shown)
    assert found["misplaced"] == 1
    assert [(each["row"], each["expected"]) for each in found["examples"]] == [(row, said[keys[row]])]


@pytest.mark.parametrize("name", FILES)
def test_a_string_hash_below_zero_is_refused_with_its_row(name: str, refusal: Refusal) -> None:
    said = said_by(TEXTS_ONLY)
    below = [key for key, place in said.items() if place is not None and place < 0]
    assert below
    # Beyond the first block or batch of each format.
    fine = 300_000
    write(name, ["a key that is fine"] * fine + below[:1], [0] * (fine + 1))
    sentence = f"partwright: row {fine}: "
    for words in (["place", name, "--force", "--out", f"y{name[1:]}"], ["check", name, "--partition", "p"]):
        err = refusal(*words, "--key", "k", "-n", N, "--client", TEXTS_ONLY)
        assert err.startswith(sentence)
        assert str(below[0]) in err
    assert [path.name for path in Path().iterdir()] == [name]


@pytest.mark.parametrize("command_", ["place", "check"])
def test_a_client_that_is_not_known_is_refused_with_the_nearest(command_: str, refusal: Refusal) -> None:
    write("x.csv", ["a"])
    assert "librdkafka:murmur2" in refusal(
        command_, "x.csv", "--key", "k", "-n", N, "--client", "librdkafka:murmur"
    )


def test_a_number_has_no_string_hash(refusal: Refusal) -> None:
    write("x.csv", ["1"])
    words = ["--key", "k", "-n", N, "--client", TEXTS_ONLY, "--key-type", "java:int"]
    err = refusal("place", "x.csv", *words)
    assert "java:int" in err
    assert TEXTS_ONLY in err
