"""`partwright place` as a command: where its bytes go, what remains if it fails, and each refusal in one sentence."""

from __future__ import annotations

import json
import os
import pty
import re
import resource
import shlex
import signal
import stat
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import partwright as pw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Command = Callable[..., tuple[int, bytes, str]]
    Process = Callable[..., subprocess.CompletedProcess[bytes]]

PLACE, TO = [sys.executable, "-m", "partwright", "place"], ["--key", "k", "-n", "12"]
CSV, PLACED = b"k,v\na,1\n,2\n", b"k,v,partition\na,1,4\n,2,\n"


@pytest.fixture(autouse=True)
def _file(_own_folder: None) -> None:
    Path("x.csv").write_bytes(CSV)


def names() -> list[str]:
    return sorted(path.name for path in Path().iterdir())


def place(*words: object, n: object = 12) -> list[object]:
    return ["place", "x.csv", "--key", "k", "-n", n, *words]


def test_it_goes_to_stdout_and_words_to_stderr(command: Command) -> None:
    code, out, err = command(*place())
    assert (code, out) == (0, PLACED)
    assert err.startswith("2 rows placed, 1 with a null key, in ")
    assert err.endswith(" rows/s\n")
    assert command(*place("--force", "--out", "-"))[1] == PLACED


def test_out_may_be_the_file_that_is_read(command: Command) -> None:
    Path("x.csv").chmod(0o640)
    code, out, _ = command(*place("--in-place"))
    assert (code, out) == (0, b"")
    assert Path("x.csv").read_bytes() == PLACED
    assert stat.S_IMODE(Path("x.csv").stat().st_mode) == 0o640
    assert names() == ["x.csv"]


def test_a_new_file_has_the_mode_of_any_new_file(command: Command) -> None:
    Path("other").touch()
    assert command(*place("--force", "--out", "y.csv"))[0] == 0
    assert Path("y.csv").stat().st_mode == Path("other").stat().st_mode


def test_a_link_stays_a_link(command: Command) -> None:
    Path("deep").mkdir()
    Path("deep/real.csv").write_bytes(b"old")
    Path("y.csv").symlink_to("deep/real.csv")
    assert command(*place("--force", "--out", "y.csv"))[0] == 0
    assert Path("y.csv").is_symlink()
    assert Path("deep/real.csv").read_bytes() == PLACED


def test_a_device_is_written_to_and_not_replaced(command: Command) -> None:
    assert command(*place("--force", "--out", "/dev/null"))[0] == 0
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    code, _, err = command(*place("--force", "--out", "/dev/full"))
    assert code == 2
    assert err.startswith(
        "partwright: '/dev/full' cannot be written (No space left on device): make room or name"
    )


def test_stdin_is_json_lines(process: Process) -> None:
    done = process("place", "-", "--key", "k", "-n", 12, stdin=b'{"k":"a"}\n')
    assert (done.returncode, done.stdout) == (0, b'{"k":"a","partition":4}\n')
    assert Path("y.jsonl").exists() is False
    done = process("place", "-", "--key", "k", "-n", 12, "--force", "--out", "y.jsonl", stdin=b'{"k":"a"}\n')
    assert (done.returncode, done.stdout) == (0, b"")
    assert Path("y.jsonl").read_bytes() == b'{"k":"a","partition":4}\n'
    done = process("place", "-", "--key", "k", "-n", 12)
    assert (done.returncode, done.stderr) == (2, b"partwright: 'stdin' is empty: it has no records\n")


def test_parquet_and_arrow_go_through_a_pipe(process: Process) -> None:
    table = pa.table({"k": ["a", None, "b"]})
    pq.write_table(table, "x.parquet")
    pa.feather.write_feather(table, "x.arrow")
    for name, read in (("x.parquet", pq.read_table), ("x.arrow", pa.feather.read_table)):
        done = process("place", name, "--key", "k", "-n", 12)
        assert done.returncode == 0, done.stderr
        assert read(pa.BufferReader(done.stdout))["partition"].to_pylist() == [4, None, 8]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("absent.csv --key k -n 1", "there is no file 'absent.csv': check its name"),
        ("x.csv --key k -n 1 --force", "--force replaces the file that --out names: name one"),
        ("folder.csv --key k -n 1", "the folder 'folder.csv' has no file of records"),
        ("empty.csv --key k -n 1", "'empty.csv' is empty: it has no records and no columns"),
        ("empty.parquet --key k -n 1", "'empty.parquet' is empty"),
        ("x.txt --key k -n 1", "name its format with --format if it is csv, or the fields of each line with --columns"),
        ("x.csv.gz --key k -n 1", "there is no file 'x.csv.gz': check its name"),
        ("zipped.csv --key k -n 1", "'zipped.csv' cannot be unpacked by gzip ("),
        ("x.csv/y.csv --key k -n 1", "'x.csv/y.csv' cannot be read (Not a directory)"),
        ("kafka://127.0.0.1:9/t --key k -n 1", "place reads files, and 'kafka://127.0.0.1:9/t' is a topic"),
        ("x.csv --key k", "Missing option '-n'"),
        ("x.csv -n 1", "Missing option '--key'"),
        ("x.csv --key k -n 0", "n, the number of partitions, must be from 1 to 2147483647, not 0"),
        ("x.csv --key k -n 2147483648", "n, the number of partitions, must be from 1 to 2147483647, not 2147483648"),
        ("x.csv --key k -n 1000000000000000000000000000000",
         "n, the number of partitions, must be a whole number from 1 to 2147483647, not 1000"),
        ("x.csv --key k -n x", "'x' is not a valid integer"),
        ("x.csv --key k -n 12 --client jav", 'there is no client "jav"'),
        ("x.csv --key k -n 12 --key-type java:lon", 'there is no key type "java:lon"'),
        ("x.csv --key k -n 12 --key-type java:uuid", 'row 0: "a" is not the 36-character text of a UUID'),
        ("x.csv --key k -n 12 --key-type bytes", "key type bytes takes binary, not string"),
        ("x.csv --key k -n 12 --column v",
         "'x.csv' has a column 'v' already: give the new one another name with --column"),
        ("x.csv --key k -n 12 --column ''", "--column is empty: name a column"),
        ("x.csv --key k -n 12 --force --out y.parquet",
         "--out 'y.parquet' would have another format than what is read, which is csv"),
        ("x.csv --key k -n 12 --force --out y.tsv",
         "--out 'y.tsv' would have another format than what is read, which is csv"),
        ("x.csv --key k -n 12 --force --out y", "the format of 'y' is not known"),
        ("x.csv --key k -n 12 --force --out folder.csv", "--out 'folder.csv' is a folder: name a file"),
        ("x.csv --key k -n 12 --force --out absent/y.csv",
         "'absent/y.csv' cannot be written (No such file or directory)"),
    ],
)  # fmt: skip
def test_wrong_use_is_one_sentence_and_leaves_nothing(words: str, sentence: str, command: Command) -> None:
    Path("folder.csv").mkdir()
    Path("empty.csv").touch()
    Path("empty.parquet").touch()
    Path("x.txt").write_bytes(CSV)
    Path("zipped.csv").write_bytes(b"\x1f\x8b\x08\x00")
    before = names()
    code, out, err = command("place", *shlex.split(words))
    assert (code, out) == (2, b"")
    assert err.startswith("partwright: ")
    assert sentence in err
    assert err.count("\n") == 1, err
    assert names() == before
    assert Path("x.csv").read_bytes() == CSV


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anything")
def test_a_read_only_out_is_said(command: Command) -> None:
    Path("y.csv").write_bytes(b"old")
    Path("y.csv").chmod(0o400)
    assert "'y.csv' cannot be written (it is read-only)" in command(*place("--force", "--out", "y.csv"))[2]
    assert Path("y.csv").read_bytes() == b"old"


@pytest.mark.parametrize("name", ["y.csv", "x.csv"])
def test_a_failure_late_in_the_file_leaves_the_old_one(name: str, command: Command) -> None:
    data = CSV * 200_000 + b"a,b,c\n"
    Path("x.csv").write_bytes(data)
    Path("y.csv").write_bytes(b"old")
    words = ["--in-place"] if name == "x.csv" else ["--force", "--out", name]
    code, _, err = command(*place(*words))
    assert code == 2
    assert "line 600001 of 'x.csv' has 3 fields and the header has 2" in err
    assert Path("x.csv").read_bytes() == data
    assert Path("y.csv").read_bytes() == b"old"
    assert names() == ["x.csv", "y.csv"]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "arrow"])
def test_a_full_disk_leaves_the_old_file(kind: str) -> None:
    """As with a limit on a file's size, which any user can set."""
    table = pa.table({"k": [f"key {row}" for row in range(50_000)]})
    if kind == "parquet":
        pq.write_table(table, "x.parquet")
    elif kind == "arrow":
        pa.feather.write_feather(table, "x.arrow")
    elif kind == "csv":
        Path("x.csv").write_text("k\n" + "\n".join(table["k"].to_pylist()), encoding="utf-8")
    else:
        Path("x.jsonl").write_text(
            "\n".join(f'{{"k":"{key}"}}' for key in table["k"].to_pylist()), encoding="utf-8"
        )
    Path(f"y.{kind}").write_bytes(b"old")
    before = names()
    done = subprocess.run(
        [*PLACE, f"x.{kind}", *TO, "--force", "--out", f"y.{kind}"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)),
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"partwright: 'y.{kind}' cannot be written (File too large): make room")
    assert done.stderr.count("\n") == 1
    assert Path(f"y.{kind}").read_bytes() == b"old"
    assert names() == before


def test_a_reader_that_has_seen_enough_is_no_failure() -> None:
    Path("x.csv").write_bytes(b"k\n" + b"a\n" * 2_000_000)
    with subprocess.Popen(
        [*PLACE, "x.csv", *TO],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline() == b"k,partition\n"
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow"])
def test_a_terminal_is_spared_what_it_cannot_show(name: str) -> None:
    table = pa.table({"k": ["a"]})
    pq.write_table(table, "x.parquet")
    pa.feather.write_feather(table, "x.arrow")
    terminal, end = pty.openpty()
    done = subprocess.run(
        [*PLACE, name, *TO],
        stdout=end,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(end)
    os.close(terminal)
    assert done.returncode == 2
    assert done.stderr == (
        f"partwright: a terminal cannot show {name[2:]}: name a file with --out, or send stdout to a file or a pipe\n"
    )


def test_a_bar_moves_on_a_terminal_alone() -> None:
    Path("x.csv").write_bytes(b"k\n" + b"a\n" * 100_000)
    terminal, end = pty.openpty()
    done = subprocess.run(
        [*PLACE, "x.csv", *TO, "--force", "--out", "y.csv"],
        stdout=subprocess.PIPE,
        stderr=end,
        check=False,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
    )
    os.close(end)
    shown = os.read(terminal, 1 << 16).decode()
    os.close(terminal)
    assert (done.returncode, done.stdout) == (0, b"")
    assert "100,000 rows" in shown
    assert "100,000 rows placed, 0 with a null key" in shown


def test_hadoops_checksum_of_the_old_bytes_goes_with_them(command: Command) -> None:
    """With the checksum, Spark on a local disk would refuse the new bytes."""
    for name in (".x.csv.crc", ".y.csv.crc", ".z.csv.crc"):
        Path(name).write_bytes(b"crc\0")
    assert command(*place("--force", "--out", "y.csv"))[0] == 0
    assert names() == [".x.csv.crc", ".z.csv.crc", "x.csv", "y.csv"]
    assert command(*place("--column", "p", "--in-place"))[0] == 0
    assert names() == [".z.csv.crc", "x.csv", "y.csv"]


def test_a_pipe_by_a_name_without_a_format_is_written() -> None:
    """As the shell's >(gzip > y.csv.gz) passes one."""
    read, write = os.pipe()
    done = subprocess.run(
        [*PLACE, "x.csv", *TO, "--force", "--out", f"/dev/fd/{write}"], pass_fds=[write], check=False
    )
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        assert (done.returncode, pipe.read()) == (0, PLACED)


@pytest.mark.parametrize(
    ("words", "redirected", "code", "said"),
    [
        ("check x.csv --key k -n 12", ">/dev/full", 2, "No space left on device"),
        ("check x.csv --key k -n 12 --json", ">/dev/full", 2, "No space left on device"),
        ("place x.csv --key k -n 12", ">/dev/full", 2, "No space left on device"),
        ("which TT0124 -n 12", ">/dev/full", 2, "No space left on device"),
        ("place x.csv --key k -n 12 --out y.csv", "2>/dev/full", 2, None),
        ("place x.csv --key k -n 12", ">&-", 2, "stdout is closed: name a file with --out"),
        ("place x.csv --key k -n 12 --out y.csv", ">&-", 0, "2 rows placed"),
        ("place x.csv --key k -n 12 --out y.csv", "2>&-", 0, None),
        ("check x.csv --key k -n 12", ">&-", 0, None),
        ("check - --key k -n 12", "<&-", 2, "stdin is closed"),
    ],
)
def test_a_stream_that_is_full_or_closed(words: str, redirected: str, code: int, said: str | None) -> None:
    done = subprocess.run(
        ["bash", "-c", f'"$0" -m partwright {words} {redirected}', sys.executable],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert (said or "") in done.stderr
    assert done.stderr.count("\n") == (said is not None)


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.parquet", "x.arrow"])
@pytest.mark.parametrize("option", ["--key", "--column", "--partition"])
def test_a_name_that_is_no_text_is_one_sentence(option: str, name: str, command: Command) -> None:
    pq.write_table(pa.table({"k": ["a"]}), "x.parquet")
    pa.feather.write_feather(pa.table({"k": ["a"]}), "x.arrow")
    Path("x.jsonl").write_text('{"k":"a"}\n', encoding="utf-8")
    used = "check" if option == "--partition" else "place"
    code, out, err = command(
        used, name, "-n", 12, *(["--key", "k"] if option != "--key" else []), option, "\udcff"
    )
    assert (code, out) == (2, b"")
    assert err == f"partwright: {option} '\\udcff' is not UTF-8, as every column's name is\n"


def test_a_files_own_name_may_be_any_bytes() -> None:
    for kind in ("parquet", "arrow", "jsonl", "csv"):
        name = f"n\udcff.{kind}"
        if kind == "parquet":
            with Path(name).open("wb") as file:
                pq.write_table(pa.table({"k": ["a"]}), file)
        elif kind == "arrow":
            with Path(name).open("wb") as file:
                pa.feather.write_feather(pa.table({"k": ["a"]}), file)
        else:
            Path(name).write_text("k\na\n" if kind == "csv" else '{"k":"a"}\n', encoding="utf-8")
        done = subprocess.run(
            [*PLACE, name, *TO, "--force", "--out", f"y.{kind}"], capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert Path(f"y.{kind}").stat().st_size


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_an_interrupt_leaves_nothing(kind: str) -> None:
    rows = 6_000_000
    if kind == "csv":
        Path("x.csv").write_bytes(b"k\n" + b"some key or other\n" * rows)
    else:
        table = pa.table({"k": pa.repeat("some key", rows // 3)})
        with pq.ParquetWriter("x.parquet", table.schema) as writer:
            for _ in range(20):
                writer.write_table(table)
    Path(f"y.{kind}").write_bytes(b"old")
    with subprocess.Popen(
        [*PLACE, f"x.{kind}", *TO, "--force", "--out", f"y.{kind}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        while process.poll() is None and not list(Path().glob(".y.*.partwright")):
            time.sleep(0.005)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out, err) == (130, "", "\npartwright: interrupted\n")
    assert Path(f"y.{kind}").read_bytes() == b"old"
    assert names() == sorted({"x.csv", f"x.{kind}", f"y.{kind}"})


SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]


@contextmanager
def waiting_for_more(
    words: str,
    *,
    ready: Callable[[int], object],
    line: bytes = b'{"k":"a"}\n',
    ignored: signal.Signals | None = None,
    stdout: int | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """The command in the middle of a stdin that continues; its temporary files are in `t`, and it writes to `o`."""

    def handlers() -> None:
        # The process that starts the tests may ignore a signal, as `nohup` does.
        for number, _ in SIGNALS:
            signal.signal(number, signal.SIG_IGN if number == ignored else signal.SIG_DFL)

    Path("t").mkdir()
    with (
        Path("o").open("wb") as out,
        subprocess.Popen(
            [sys.executable, "-m", "partwright", *words.split()],
            stdin=subprocess.PIPE,
            stdout=out if stdout is None else stdout,
            stderr=subprocess.PIPE,
            env={**os.environ, "TMPDIR": "t"},
            preexec_fn=handlers,  # noqa: PLW1509 - between fork and exec nothing else is done
        ) as started,
    ):
        assert started.stdin
        # More than it keeps in memory.
        started.stdin.write(line * ((12 << 20) // len(line)))
        started.stdin.flush()
        until = time.monotonic() + 60
        while started.poll() is None and not ready(started.pid):
            assert time.monotonic() < until
            time.sleep(0.005)
        yield started


def begun(_: int) -> list[Path]:
    """The files that it writes next to their place."""
    return [path for path in Path().glob(".y.*.partwright") if path.stat().st_size]


@pytest.mark.parametrize(
    ("number", "code", "times"),
    # A second Ctrl-C ends the clean-up.
    [*((*each, 1) for each in SIGNALS), *((*each, 2) for each in SIGNALS[1:])],
)
def test_a_signal_that_asks_for_the_end_leaves_nothing(number: signal.Signals, code: int, times: int) -> None:
    Path("y.jsonl").write_bytes(b"old")
    with waiting_for_more("place - --key k -n 12 --force --out y.jsonl", ready=begun) as started:
        # As when a terminal closes, and its shell with it.
        for _ in range(times):
            started.send_signal(number)
        _, err = started.communicate()
    said = "interrupted" if number == signal.SIGINT else f"ended by {number.name}"
    assert (started.returncode, err.decode()) == (code, f"\npartwright: {said}\n")
    assert Path("y.jsonl").read_bytes() == b"old"
    assert names() == ["o", "t", "x.csv", "y.jsonl"]
    assert Path("o").read_bytes() == b""
    assert list(Path("t").iterdir()) == []


def test_a_terminal_that_is_gone_hears_nothing() -> None:
    with waiting_for_more("place - --key k -n 12 --out y.jsonl", ready=begun) as started:
        assert started.stderr
        started.stderr.close()
        started.stderr = None
        started.send_signal(signal.SIGHUP)
        started.communicate()
    assert started.returncode == 129
    assert names() == ["o", "t", "x.csv"]


def test_a_signal_that_is_ignored_stays_so() -> None:
    """As `nohup` ignores SIGHUP."""
    with waiting_for_more(
        "place - --key k -n 12 --out y.jsonl", ready=begun, ignored=signal.SIGHUP
    ) as started:
        started.send_signal(signal.SIGHUP)
        started.communicate()
    assert started.returncode == 0
    assert Path("y.jsonl").read_bytes().count(b"\n") == (12 << 20) // 10


def test_a_job_in_the_background_ends_too() -> None:
    """A shell makes a background job ignore Ctrl-C; other signals must still end it."""
    with waiting_for_more(
        "place - --key k -n 12 --out y.jsonl", ready=begun, ignored=signal.SIGINT
    ) as started:
        started.send_signal(signal.SIGTERM)
        started.communicate()
    assert started.returncode == 143
    assert names() == ["o", "t", "x.csv"]


def keeps_rows(process: int) -> bool:
    """Whether it has a file in `t`: a file without a name, or with one that does not stay."""
    return any("/t/" in str(each.readlink()) for each in Path(f"/proc/{process}/fd").iterdir())


@pytest.mark.parametrize(("number", "code"), [*SIGNALS, (signal.SIGKILL, -signal.SIGKILL)])
def test_rows_that_wait_leave_nothing_either(number: signal.Signals, code: int) -> None:
    with waiting_for_more("place - --key k -n 12", ready=keeps_rows, line=b"{}\n") as started:
        started.send_signal(number)
        started.communicate()
    assert started.returncode == code
    assert Path("o").read_bytes() == b""
    assert list(Path("t").iterdir()) == []


def test_a_reader_that_goes_away_leaves_no_rows_that_wait() -> None:
    """Rows that waited are to be written once a row has the key, but nobody reads them any more."""
    read, write = os.pipe()
    os.close(read)
    with waiting_for_more("place - --key k -n 12", ready=keeps_rows, line=b"{}\n", stdout=write) as started:
        _, err = started.communicate(b'{"k":"a"}\n')
    os.close(write)
    assert (started.returncode, err) == (141, b"")
    assert list(Path("t").iterdir()) == []


def test_rows_that_wait_and_a_full_disk() -> None:
    """As with a limit on a file's size; stdout is not a file."""
    Path("x.jsonl").write_bytes(b"{}\n" * (4 << 20))
    done = subprocess.run(
        [*PLACE, "x.jsonl", *TO],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TMPDIR": str(Path.cwd())},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)),
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"partwright: no row is written before one that has the key, and the temporary file in {str(Path.cwd())!r} "
        "in which they wait cannot be written (File too large): make room, or name another folder with TMPDIR\n"
    )
    assert names() == ["x.csv", "x.jsonl"]


@pytest.mark.long
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "arrow"])
def test_memory_does_not_grow_with_the_file(kind: str) -> None:
    """Twelve times as many rows take no more memory than a few blocks."""
    used = {}
    for rows in (500_000, 6_000_000):
        write_rows(kind, rows)
        program = (
            "from partwright.cli import main\n"
            "try:\n"
            f"    main(['place', 'x.{kind}', '--key', 'k', '-n', '12', '--out', 'y.{kind}', '--force'])\n"
            "except SystemExit as ended:\n"
            "    assert not ended.code\n"
            # getrusage's peak begins with the peak of the process that started this one.
            "with open('/proc/self/status') as status:\n"
            "    print(*(line.split()[1] for line in status if line.startswith('VmHWM:')))\n"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        used[rows] = int(done.stdout) // 1024
    assert used[6_000_000] < 350, used
    assert used[6_000_000] < used[500_000] + 100, used


def write_rows(kind: str, rows: int) -> None:
    part = 100_000
    table = pa.table(
        {"k": [f"customer {row:06}" for row in range(part)], "v": pa.array(range(part), pa.int64())}
    )
    if kind == "parquet":
        with pq.ParquetWriter("x.parquet", table.schema) as writer:
            for _ in range(rows // part):
                writer.write_table(table)
    elif kind == "arrow":
        with pa.ipc.new_file("x.arrow", table.schema) as writer:
            for _ in range(rows // part):
                writer.write_table(table)
    else:
        line = "{},{}\n" if kind == "csv" else '{{"k":"{}","v":{}}}\n'
        text = "".join(line.format(*row) for row in zip(*table.to_pydict().values(), strict=True))
        with Path(f"x.{kind}").open("w", encoding="utf-8") as file:
            file.write("k,v\n" if kind == "csv" else "")
            for _ in range(rows // part):
                file.write(text)


def test_a_null_key_has_the_partition_that_the_client_gives_it(
    monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    """Some profiles hash a null key, and some do not hash an empty one: place asks the client's rule each time."""

    def other(keys: pa.Array | None, n: int, client: str, key_type: str | None) -> pa.Array | None:
        del n, client, key_type
        return (
            None
            if keys is None
            else pa.array([5 if key is None else None for key in keys.to_pylist()], pa.int32())
        )

    monkeypatch.setattr("partwright.audit.check.partition_for_key", other)
    assert command(*place())[1] == b"k,v,partition\na,1,\n,2,5\n"


@pytest.mark.parametrize("name", ["place", "check", "fingerprint", "resize", "run", "which"])
def test_help_has_examples_a_line_each(name: str, command: Command) -> None:
    code, out, _ = command(name, "--help")
    assert code == 0
    help_ = out.decode()
    assert re.search(rf"\n  Examples:\n    partwright {name}[^\n]*\n    partwright {name} ", help_)
    assert "\\b" not in help_
    if name != "which":
        assert "\n  Exit code: 0 " in help_
    shown = help_[
        : help_.index("\n\nWhat to read:" if name != "which" else "\n\nWhere to place:")
    ].splitlines()
    assert max(map(len, shown)) <= 110


def test_pandas_is_not_imported() -> None:
    """It would take longer than a small file takes."""
    table = pa.table({"k": ["a", "a", "b"], "partition": [4, 4, 8]})
    pq.write_table(table, "placed.parquet")
    pq.write_table(table.select(["k"]), "x.parquet")
    pa.feather.write_feather(table.select(["k"]), "x.arrow")
    Path("x.jsonl").write_bytes(b'{"k":"a"}')
    given = ("--key", "k", "-n", "12")
    asked = [
        ("place", f"x.{kind}", *given, "--out", "/dev/null") for kind in ("csv", "parquet", "arrow", "jsonl")
    ]
    asked += [
        (name, "placed.parquet", *given, "--partition", "partition") for name in ("check", "fingerprint")
    ]
    asked.append(("resize", "placed.parquet", "--key", "k", "--from", "12", "--to", "24"))
    program = (
        "import sys\n"
        "from partwright.cli import main\n"
        f"for words in {asked!r}:\n"
        "    try:\n"
        "        main([*words])\n"
        "    except SystemExit as ended:\n"
        "        assert ended.code in (0, 1), ended.code\n"
        "    assert 'pandas' not in sys.modules, words\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "records" in done.stdout


def test_place_then_check_is_always_right(command: Command) -> None:
    table = pa.table(
        {"k": [None if row % 5 == 0 else "" if row % 7 == 0 else str(row) for row in range(1000)]}
    )
    pq.write_table(table, "x.parquet")
    pa.feather.write_feather(table, "x.arrow")
    for kind in ("parquet", "arrow", "csv"):
        for n in (1, 12, 2**31 - 1):
            assert (
                command("place", f"x.{kind}", "--key", "k", "-n", n, "--force", "--out", f"y.{kind}")[0] == 0
            )
            code, out, _ = command("check", f"y.{kind}", "--key", "k", "-n", n, "--partition", "partition")
            assert code == 0, out
    assert pw.partition_for_key("", 12) == 9


def test_what_stops_a_compressed_file_is_said_in_one_sentence(process: Process) -> None:
    Path("x.csv").write_text("k,partition\na,0\n")
    done = process("place", "x.csv", "--key", "k", "-n", 12, "--out", "y.csv.gz")
    # Arrow reports on stderr what fails while it collects a stream.
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1), done.stderr
    assert b"has a column 'partition' already" in done.stderr
    assert [path.name for path in Path().iterdir()] == ["x.csv"]


def test_a_summary_as_json_where_the_records_go_to_a_file(
    command: Command,
) -> None:
    Path("a.csv").write_text("id,v\na,1\n,2\n", encoding="utf-8")
    code, out, said = command("place", "a.csv", "--key", "id", "-n", 3, "--out", "b.csv", "--json")
    told = json.loads(out)
    assert told.pop("seconds") >= 0
    assert (code, said) == (0, "")
    assert told == {
        "file": "a.csv",
        "out": "b.csv",
        "partitions": 3,
        "client": "java",
        "rows": 2,
        "null_keys": 1,
    }
    for words in [(), ("--out", "-")]:
        code, out, said = command("place", "a.csv", "--key", "id", "-n", 3, "--json", *words)
        assert (code, out) == (2, b"")
        assert "--json prints a summary to stdout, where the records go: name a file with --out" in said


def test_nothing_is_written_elsewhere(command: Command) -> None:
    code, out, said = command("place", "x.csv", *TO, "--out", "s3://bucket/y.csv")
    assert (code, out) == (2, b"")
    assert "--out 's3://bucket/y.csv' is elsewhere, and place writes files of this machine" in said


def test_a_format_that_is_told_is_that_of_what_is_written(
    command: Command,
) -> None:
    Path("a.txt").write_text("id;v\na;1\n", encoding="utf-8")
    told = ("--format", "csv", "--delimiter", "semicolon", "--key", "id", "-n", 3)
    assert command("place", "a.txt", *told, "--out", "b.txt")[0] == 0
    assert Path("b.txt").read_text(encoding="utf-8") == "id;v;partition\na;1;1\n"
    assert command("place", "a.txt", *told, "--in-place")[0] == 0
    assert Path("a.txt").read_text(encoding="utf-8") == "id;v;partition\na;1;1\n"
    code, _, said = command("place", "b.txt", *told, "--out", "c.parquet", "--column", "q")
    assert code == 2
    assert "would have another format" in said
