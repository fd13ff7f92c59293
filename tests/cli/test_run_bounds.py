"""Which part of a source `partwright run` takes: each refusal of its options, before Kafka or Spark is asked."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TOPIC = "kafka://127.0.0.1:9/t"


@pytest.fixture(autouse=True)
def _files(own_folder: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from pathlib import Path

    del own_folder
    monkeypatch.setenv("PARTWRIGHT_STATE", str(tmp_path / "state"))
    for name, text in {"x.csv": b"id\na\n", "keys": b"a\n\nb\n", "latin": b"a\n\xe9\n"}.items():
        Path(name).write_bytes(text)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("x.csv --since 2026-11-24", "are for a topic, and x.csv is not a topic: leave them out"),
        ("x.csv --from-offsets 0:1", "are for a topic, and x.csv is not a topic: leave them out"),
        (
            f"{TOPIC} --from-offsets 0=1",
            "--from-offsets takes offsets by partition such as 0:100,1:250, not '0=1'",
        ),
        (
            f"{TOPIC} --to-offsets 0:-1",
            "--to-offsets takes offsets by partition such as 0:100,1:250, not '0:-1'",
        ),
        (f"{TOPIC} --to-offsets 0:1,0:2", "--to-offsets names partition 0 twice: give it one offset"),
        (
            f"{TOPIC} --since 2026-11-24 --from-offsets 0:1",
            "--since and --from-offsets bound the same side of a topic: leave one of them out",
        ),
        (
            f"{TOPIC} --only-partitions 0,2-3 --to-offsets 1:5",
            "--to-offsets names partition 1, which --only-partitions leaves out",
        ),
        (
            f"{TOPIC} --from-offsets 3:9 --to-offsets 3:5",
            "--from-offsets has the offset 9 of partition 3, and --to-offsets 5, which comes before",
        ),
        ("x.csv --only-keys x --key-type java:long", "java:long takes a whole number, not 'x'"),
        ("x.csv --only-keys-file absent", "--only-keys-file 'absent' cannot be read: No such file"),
        ("x.csv --only-keys-file keys", "line 2 of --only-keys-file 'keys' is empty"),
        ("x.csv --only-keys-file latin", "--only-keys-file 'latin' is not UTF-8"),
    ],
)
def test_what_is_refused(words: str, sentence: str, refusal: Callable[..., str]) -> None:
    assert sentence in refusal("run", *shlex.split(words), "--key", "id")


def test_keys_of_a_file_are_its_lines(tmp_path: Path) -> None:
    from partwright.cli.input.options import keys_of_file

    (tmp_path / "k").write_bytes("a b\r\né\r\n".encode())
    assert keys_of_file(str(tmp_path / "k")) == ("a b", "é")
    assert keys_of_file(None) == ()
