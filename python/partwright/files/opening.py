"""A file's format, by its name or as given, and opening it; anything that is not a file of records is refused."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import pyarrow as pa

from partwright._check import first_line, meant, shown, spelled
from partwright.errors import PartwrightError
from partwright.files.arrow_ipc import ArrowRecords
from partwright.files.avro import AvroRecords
from partwright.files.compressed import Peeked, codec_of, unpacked, without_suffix
from partwright.files.delimited import DelimitedRecords
from partwright.files.file_sets import FileSet, files_of, is_remote, named_by_sink, opened
from partwright.files.formats import ColumnRequest, in_one, not_regular
from partwright.files.json_documents import DocumentLines, MadeLines, are_documents
from partwright.files.json_lines import JsonRecords
from partwright.files.parquet import ParquetRecords
from partwright.files.tool_text import column_list, has_objects, is_printed, text_lines

if TYPE_CHECKING:
    from partwright.files.formats import Records

_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "jsonl"),
    ".parquet": "parquet",
    **dict.fromkeys((".arrow", ".feather", ".ipc"), "arrow"),
    ".avro": "avro",
    **dict.fromkeys((".txt", ".log", ".out"), "text"),
}
FORMATS = ("csv", "tsv", "json", "parquet", "arrow", "avro")
"""The names of formats; json is JSON lines, an array, or objects over several lines."""
WITH_TEXT = (*FORMATS, "text")
"""The same with the text that Kafka's tools print; Spark calls every file of lines text."""
_DELIMITERS = {"csv": ",", "tsv": "\t"}
_OF_TEXT = ("csv", "tsv", "jsonl", "text")
_WITH_DELIMITER = ("csv", "tsv", "text")
# The longest text between two fields.
_SEPARATOR = 8
_NAMES = {"json": "jsonl", "jsonl": "jsonl", "ndjson": "jsonl"}


def format_of(path: str, format_name: str | None = None, delimiter: str | None = None) -> str:
    """The format of a file, as given or by its name without the ending of a compression.

    Raises:
        PartwrightError: Its name tells no format.

    Examples:
        >>> format_of("orders.JSONL"), format_of("orders.csv.gz"), format_of("orders", "json")
        ('jsonl', 'csv', 'jsonl')
    """
    if format_name is not None:
        return _NAMES.get(format_name, format_name)
    named = named_format(path)
    if named is not None:
        return named
    if delimiter is not None:
        return "csv"
    raise PartwrightError(
        f"the format of {path!r} is not known: its name must end in one of {', '.join(_SUFFIXES)}, or name the format "
        f"with {spelled('format')}",
        path=path,
    )


def named_format(path: str) -> str | None:
    """The format by a file's name, without the ending of a compression; None if it tells none.

    Examples:
        >>> named_format("orders.csv.gz"), named_format("orders.txt"), named_format("orders")
        ('csv', 'text', None)
    """
    bare = without_suffix(path)[0]
    return _SUFFIXES.get(Path(bare.split("?", 1)[0] if is_remote(path) else bare).suffix.lower())


def open_records(
    paths: str | Sequence[str],
    format_name: str | None = None,
    delimiter: str | None = None,
    columns: str | Sequence[str] | None = None,
) -> Records:
    """Open files of records by the format that their names tell; `-` is stdin, in JSON or the format `format_name`.

    Args:
        paths: A file, a folder, a pattern such as `day=*/*.csv`, the address of one, or several of these.
        format_name: The format, one of `WITH_TEXT`; by default what each file's name tells.
        delimiter: The character between two fields of csv; by default the format's own. In text also several.
        columns: The columns of csv or text without a header, or the format of `kcat -f`; see `tool_text.text_form`.

    Returns:
        Their records, a context manager that closes them.

    Raises:
        PartwrightError: There is no such file, or it holds no records.
        MissingExtraError: The file needs a package that is missing.
    """
    named = [paths] if isinstance(paths, str) else list(paths)
    may_be_text = format_name is None and any(each == "-" or named_format(each) == "text" for each in named)
    _refuse_delimiter(delimiter, most=_SEPARATOR if format_name == "text" or may_be_text else 1)

    def known(name: str) -> bool:
        # A folder of records may have notes in it.
        return format_name is not None or named_format(name) not in {None, "text"}

    files = [file for path in named for file in ([path] if path == "-" else files_of(path, known))]
    if files == named and len(files) == 1 and not named_by_sink(files[0]):
        return _open_one(files[0], format_name, delimiter, columns)
    if "-" in files:
        raise PartwrightError("stdin is one file, and no other is read with it: leave out - or the others")
    return FileSet(files, lambda path: _open_one(path, format_name, delimiter, columns))


def _refuse_delimiter(delimiter: str | None, most: int = 1) -> None:
    if delimiter is None or (
        0 < len(delimiter) <= most and delimiter.isascii() and not {*'"\r\n'} & {*delimiter}
    ):
        return
    raise PartwrightError(f"a delimiter is one ASCII character other than a quote, not {shown(delimiter)}")


def _open_one(
    path: str, format_name: str | None, delimiter: str | None, columns: str | Sequence[str] | None
) -> Records:
    if path == "-":
        return _open_stdin(format_name, delimiter, columns)
    kind = format_of(path, format_name, delimiter)
    for what, value in (("a delimiter is", delimiter), (f"{spelled('columns')} is", columns)):
        if value is not None and kind not in _WITH_DELIMITER:
            raise PartwrightError(f"{what} for csv, and {path!r} is {kind}: leave it out", path=path)
    with ExitStack() as closing:
        file, size = _opened(path)
        closing.callback(file.close)
        start = _start(file)
        if not start:
            raise PartwrightError(f"{path!r} is empty: it has no records and no columns", path=path)
        codec = codec_of(start)
        if kind in _OF_TEXT:
            records = _of_stream(path, kind, delimiter, Peeked(path, file), size, columns)
        elif codec is not None:
            raise PartwrightError(
                f"{path!r} is compressed with {codec} as a whole, and {kind} is read in any order: unpack it first",
                path=path,
            )
        elif kind == "avro":
            records = AvroRecords(path, file)
        else:
            records = (ParquetRecords if kind == "parquet" else ArrowRecords)(path, file, size)
        closing.pop_all()
        return records


def _open_stdin(
    format_name: str | None, delimiter: str | None, columns: str | Sequence[str] | None
) -> Records:
    if sys.__stdin__ is None:
        raise PartwrightError("stdin is closed: name a file, or send JSON lines to stdin")
    kind = format_of("-", format_name or ("text" if columns else "csv" if delimiter else "json"))
    if kind not in _OF_TEXT:
        raise not_regular("stdin")
    file = Peeked("stdin", sys.stdin.buffer)
    if format_name is None and is_printed(file.peek()):
        kind = "text"
    return _of_stream("stdin", kind, delimiter, file, None, columns)


def _of_stream(
    path: str,
    kind: str,
    delimiter: str | None,
    file: Peeked,
    size: int | None,
    columns: str | Sequence[str] | None,
) -> Records:
    codec, named = codec_of(file.peek(4)), without_suffix(path)[1]
    if codec is None and named is not None:
        raise PartwrightError(
            f"{path!r} is not {named}, which its name says: its first bytes are others, so it may be damaged; if it is "
            "not compressed, rename it",
            path=path,
        )
    if codec is not None:
        # Nobody knows before the end how much that is.
        file, size = unpacked(path, cast("BinaryIO", file), codec), None
    if kind == "text" and columns is None:
        # People name files as they like.
        is_csv = delimiter is not None and len(delimiter) == 1 and not is_printed(file.peek())
        kind = "csv" if is_csv else "jsonl" if has_objects(file.peek()) else kind
    if kind == "text":
        read_as, lines = text_lines(path, file, columns, delimiter)
        made = cast("BinaryIO", MadeLines(lines, file))
        return JsonRecords(path, made, None, read_as=read_as)
    if kind == "jsonl":
        if are_documents(file.peek()):
            return JsonRecords(path, cast("BinaryIO", DocumentLines(path, file)), None, "object")
        return JsonRecords(path, cast("BinaryIO", file), size)
    _refuse_delimiter(delimiter)
    names = () if columns is None else column_list(columns)
    return DelimitedRecords(path, cast("BinaryIO", file), size, delimiter or _DELIMITERS[kind], kind, names)


def _opened(path: str) -> tuple[BinaryIO, int | None]:
    if is_remote(path):
        remote = opened(path)
        remote.seek(0, 2)
        size = remote.tell()
        remote.seek(0)
        return remote, size
    try:
        file = Path(path).open("rb")  # noqa: SIM115 - closed by the caller
        about = Path(path).stat()
    except FileNotFoundError:
        near = ""
        with suppress(OSError):
            near = meant(Path(path).name, [each.name for each in Path(path).parent.iterdir()], opening="; ")
        raise PartwrightError(f"there is no file {path!r}: check its name{near}", path=path) from None
    except OSError as error:
        raise PartwrightError(
            f"{path!r} cannot be read ({error.strerror}): check its name", path=path
        ) from error
    return file, about.st_size if stat.S_ISREG(about.st_mode) else None


def _start(file: BinaryIO) -> bytes:
    if hasattr(file, "peek"):
        start: bytes = file.peek(4)
        return start
    start = file.read(4)
    file.seek(0)
    return start


def read_file(file: str | os.PathLike[str], numbers: Collection[str] = ()) -> pa.RecordBatchReader:
    """The records of a file, a folder or a pattern, whose format its name tells.

    Args:
        file: Its name.
        numbers: The columns that are whole numbers, also where the file has only text; other columns of csv are text.

    Raises:
        PartwrightError: There is no such file, it holds no records, or a column's type changes within it.
    """
    path = os.fspath(file)
    if path == "-":
        raise PartwrightError("stdin is read once, and a table is read more often: name a file")
    types: dict[str, pa.DataType] = {}
    with open_records(path) as records:
        for each in records.types():
            types = dict(each)
    requests = [
        ColumnRequest(name, _column_type(kind, is_number=name in numbers)) for name, kind in types.items()
    ]
    batches = _batches(path, requests)
    first = next(batches, None)
    schema = pa.schema([(each.name, each.type) for each in requests]) if first is None else first.schema
    started = () if first is None else (first,)
    return pa.RecordBatchReader.from_batches(schema, chain(started, _of_schema(path, batches, schema)))


def _column_type(kind: pa.DataType, *, is_number: bool) -> pa.DataType:
    is_text = pa.types.is_null(kind) or pa.types.is_string(kind)
    return kind if not is_text else pa.int64() if is_number else pa.string()


def _batches(path: str, requests: Sequence[ColumnRequest]) -> Iterator[pa.RecordBatch]:
    names = [each.name for each in requests]
    with open_records(path) as records:
        for columns in records.read(requests):
            yield pa.RecordBatch.from_arrays([in_one(column) for column in columns], names)


def _of_schema(path: str, batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        try:
            yield batch.cast(schema)
        except (pa.ArrowException, ValueError) as error:
            raise PartwrightError(
                f"a column of {path!r} is of several types ({first_line(error)}): write it with one type",
                path=path,
            ) from None
