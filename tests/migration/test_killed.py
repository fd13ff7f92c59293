"""A copy that is killed at any moment continues where it was: nothing lost, nothing twice, each key in order."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from migrating import Migrate, by_key, commit, fill, read

from partwright.errors import BrokerError
from partwright.kafka import topics

if TYPE_CHECKING:
    from collections.abc import Callable

    from partwright.kafka import EmbeddedKafka

pytestmark = pytest.mark.broker


def started(*words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "partwright", "migrate", "copy", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def uncommitted(servers: str, topic: str) -> int:
    """The number of copies, including aborted ones."""
    try:
        return len(read(servers, topic, "read_uncommitted"))
    except BrokerError:
        # It does not exist yet, or has only just been created.
        return 0


def test_nothing_is_lost_or_twice(
    broker: EmbeddedKafka,
    migrate: Callable[[str, str, int], Migrate],
    seed: int,
    cases: Callable[[int], int],
) -> None:
    servers, rng = broker.bootstrap_servers, random.Random(seed)
    kills, killed = cases(4), 0
    topics.create_topic(servers, "killed", 5)
    # Some seconds' copies for each, so that there is something left to copy.
    fill(servers, "killed", rng, 1500 * kills)
    ends = topics.end_offsets(servers, "killed")
    commit(servers, "mid", "killed", {p: end // 2 for p, end in ends.items()})
    run = migrate("killed", "killed-7", 7)
    before = read(servers, "killed")
    for _ in range(kills):
        reached = uncommitted(servers, "killed-7")
        with started(*run.words, "--rate", "300") as process:
            try:
                # In the middle of any work, as soon as it has written something new.
                until = time.monotonic() + 60
                while uncommitted(servers, "killed-7") <= reached and process.poll() is None:
                    assert time.monotonic() < until
                time.sleep(rng.random() / 2)
            finally:
                process.kill()
        killed += process.returncode == -signal.SIGKILL
    print(f"{killed} of {kills} were killed")  # noqa: T201 - pytest shows it if the test fails
    assert killed > kills // 2
    done = run("copy")
    assert done["written"] == len(before)
    after = read(servers, "killed-7")
    assert by_key(after) == by_key(before)
    assert done["aborted"] == uncommitted(servers, "killed-7") - len(before)
    verified = run("verify")
    assert verified["ok"]
    assert (verified["records"], verified["reread"]["mid"]) == (len(before), 0)


def test_a_copy_that_was_stopped_and_wakes_up_writes_nothing_more(
    broker: EmbeddedKafka, migrate: Callable[[str, str, int], Migrate]
) -> None:
    servers = broker.bootstrap_servers
    topics.create_topic(servers, "zombie", 3)
    fill(servers, "zombie", random.Random(7), 6000)
    run = migrate("zombie", "zombie-4", 4)
    with started(*run.words, "--rate", "500") as process:
        try:
            while not uncommitted(servers, "zombie-4"):
                assert process.poll() is None
            os.kill(process.pid, signal.SIGSTOP)
            written = run("copy")["written"]
            os.kill(process.pid, signal.SIGCONT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, out) == (2, b""), err.decode()
    assert err.count(b"\n") == 1
    assert b"another copy of this migration was started" in err
    assert written == len(read(servers, "zombie")) == len(read(servers, "zombie-4"))
