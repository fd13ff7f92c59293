"""Arrow's capsules from a producer that breaks the C data interface, and keys that end at the end of a readable page.

Each runs in its own process, which must survive: what can be seen is refused, and nothing is read too far.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

UNREADABLE = "the keys cannot be read as an Arrow column: "
# The sentence, apart from the name of the structure.
SAID = {
    "released": "its array is released: it was read before, and can be read only once",
    "capsules that were read before": "its array is released",
    "capsules that pyarrow has read": "its array is released",
    "length -1": "its array has the length -1",
    "offset -2^63": "its array has the offset -9223372036854775808",
    "offset 2^63-1": "its array has the offset 9223372036854775807 and the length 3, more rows than Arrow has",
    "offset 2^61": "its array has 2305843009213693955 rows, more than any memory has",
    "1 buffers": "its array has 1 buffer where its format has 3",
    "null buffers": "its array has a null pointer for its buffers",
    "null offsets": "its array has a null pointer for buffer 1 of its 3 rows",
    "null data": "its array has a null pointer for buffer 2 of 3 bytes",
    "nulls without a bitmap": "its array has 1 null and no validity bitmap",
    "last offset -5": "its array has -5 bytes in buffer 2",
    "a released dictionary": "its array has a dictionary that is released",
    "a null child": "its array has a child that is a null pointer",
    "a child that is too short": "its array has a child 0 of 1 row where 2 are needed",
    "a released schema": "its schema is released",
    "no format": "its schema has no format",
    "a format that is no UTF-8": "its schema has a format or a name that is not UTF-8",
    "an unknown format": 'its schema has the format "q", which is not known',
    "a schema that is its own child": "is nested more than 64 times",
    "2^31-1 pairs of metadata": "its schema has metadata of a wrong length",
    "one capsule": "__arrow_c_array__ gives no pair of capsules",
    "capsules of other names": "it gives no capsule with the name arrow_schema",
    "a stream that was read before": "its stream is released",
    "a stream without get_next": "its stream lacks a callback, get_schema or get_next",
    "a stream that fails": "its stream gives no next array (error 5): the disk is gone",
    "a stream that fails without a message": "its stream gives no next array (error 5)",
    "a stream that gives an array twice": "its stream gave the same array twice",
    "a stream with a length -1": "an array of its stream has the length -1",
}


def run(program: str) -> subprocess.CompletedProcess[str]:
    path = Path(__file__).with_name(program)
    return subprocess.run([sys.executable, path], capture_output=True, text=True, check=False, timeout=300)


def test_what_breaks_the_c_data_interface_is_refused() -> None:
    done = run("hostile_capsules.py")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, (done.returncode, lines[-1:], done.stderr)
    # Nor a panic in Arrow.
    assert done.stderr == ""
    found = [line for line in lines if "said" in line]
    assert len(found) > 400
    answered = [(each["case"], each["function"]) for each in found if each["error"] != "KeyTypeError"]
    assert answered == []
    for each in found:
        assert each["said"].startswith(UNREADABLE + SAID.get(each["case"], "")) or (
            SAID.get(each["case"], "?") in each["said"]
        ), each
        assert "\n" not in each["said"], each
        assert "stopped at it" not in each["said"], each
    assert set(SAID) <= {each["case"] for each in found}


@pytest.mark.skipif(sys.platform == "win32", reason="pages are protected by mprotect")
def test_nothing_is_read_behind_the_last_key() -> None:
    done = run("page_ends.py")
    lines = done.stdout.splitlines()
    assert done.returncode == 0, (done.returncode, lines[-1:], done.stderr)
    assert int(lines[-1].split()[0]) > 10_000
