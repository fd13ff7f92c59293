"""Files of fields with a delimiter: csv and tsv. Fields are text as written; a new field goes to each record's end.

A record's bytes are never rewritten, so quotes, line ends and blanks stay as they are. A field that begins with a quote
continues to the closing one, across delimiters and lines; a quote elsewhere is a character, as in pyarrow.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa
import pyarrow.csv as pa_csv

from partwright._check import counted
from partwright.errors import PartwrightError
from partwright.files.formats import Records, declared, find_column, in_one, refuse_taken, typed
from partwright.files.lines import LineReader, with_inserted

if TYPE_CHECKING:
    from partwright.files.formats import Column, ColumnRequest, Writable
    from partwright.files.lines import Block

# A reader of csv takes some hundred bytes for each field of a header.
_MOST_FIELDS = 100_000
_LINE = re.compile(rb"[^\r\n]++")
_HEADER = " (the first line has to name the columns)"


class DelimitedRecords(Records):
    """A csv or tsv file with a header, or without one if its columns have `names`; see `formats.Records`."""

    is_text = True

    def __init__(
        self,
        path: str,
        file: BinaryIO,
        size: int | None,
        delimiter: str,
        kind: str = "csv",
        names: Sequence[str] = (),
    ) -> None:
        super().__init__(file)
        self.format = kind
        self._path = path
        self._delimiter = delimiter
        self._lines = LineReader(path, file, size)
        self._record = _record(delimiter.encode())
        self._records = self._blocks()
        self._given_names = self._names = list(names)
        self._rows = 0

    @property
    def done(self) -> float | None:
        """See `Records`."""
        return self._lines.done

    def read(self, requests: Sequence[ColumnRequest]) -> Iterator[tuple[Column, ...]]:
        """See `Records`."""
        self._header()
        self._refuse_other_delimiters()
        places = [find_column(self._path, self._names, column.name, hint=_HEADER) for column in requests]
        for block, ends in self._records:
            yield self._columns(block, ends, requests, places)

    def types(self) -> Iterator[dict[str, pa.DataType]]:
        """See `Records`."""
        self._header()
        yield from declared(self._names, repeat(pa.string()))

    def extend(
        self, key: ColumnRequest, name: str, computed: Callable[[Column], Column], sink: Writable
    ) -> None:
        """See `Records`."""
        header, end = self._header()
        self._refuse_other_delimiters()
        places = [find_column(self._path, self._names, key.name, hint=_HEADER)]
        refuse_taken(self._path, self._names, name)
        delimiter = self._delimiter.encode()
        field = delimiter + _field(name, self._delimiter).encode()
        start = self._lines.mark + (with_inserted(header, [end], [field]) if header else b"")
        for block, known_ends in self._records:
            is_one = len(self._names) == 1
            ends = known_ends or (
                self._scanned(block)[0] if is_one else [line.end() for line in _LINE.finditer(block.text)]
            )
            (keys,) = self._columns(block, ends, [key], places)
            partitions = in_one(computed(keys)).to_pylist()
            field_of = {each: delimiter + (b"" if each is None else b"%d" % each) for each in set(partitions)}
            # The header is written only once the key cannot be refused any more.
            sink.write(start)
            sink.write(with_inserted(block.text, ends, map(field_of.__getitem__, partitions)))
            start = b""
        sink.write(start)

    def _blocks(self) -> Iterator[tuple[Block, list[int] | None]]:
        """Whole records, and where each ends; None if no quote makes that differ from the lines' ends."""
        for block in self._lines.blocks():
            if b'"' not in block.text and block.text.count(b"\r") == block.text.count(b"\r\n"):
                yield block, None
                continue
            ends, whole = self._scanned(block)
            if whole < len(block.text):
                if self._lines.at_end:
                    raise unclosed(self._path, block.line_at(whole))
                self._lines.give_back(block, whole)
            if whole:
                yield block._replace(text=block.text[:whole]), ends
            # As in `LineReader.blocks`.
            del block, ends

    def _scanned(self, block: Block) -> tuple[list[int], int]:
        """Where the records of a block end, before their line ends, and where one begins whose quote is still open."""
        ends: list[int] = []
        is_one, size = len(self._names) == 1, len(block.text)
        for found in self._record.finditer(block.text):
            start, end = found.span(1)
            if found.end("end") < 0 and block.text.startswith(b"\r", end):
                # pyarrow ends a record there, others take it as a character.
                raise PartwrightError(
                    f"line {block.line_at(end)} of {self._path!r} has a carriage return that ends no line: put the "
                    "field in quotes, or end each line with a line feed",
                    path=self._path,
                )
            if found.end("end") < 0 or start == size:
                return ends, start
            # A blank line is a record only where there is one field, which then is null.
            if is_one or end > start:
                ends.append(end)
        return ends, size

    def _header(self) -> tuple[bytes, int]:
        """The header, and where it ends, before its line end; the rest of its block comes again."""
        if self._given_names:
            block, _ = next(self._records)
            self._lines.give_back(block, 0)
            return b"", 0
        block, _ = next(self._records)
        found = next(self._record.finditer(block.text))
        header, end = found[0], found.end(1)
        # A delimiter in quotes ends no field.
        if re.sub(rb'"[^"]*+"', b"", header).count(self._delimiter.encode()) >= _MOST_FIELDS:
            raise PartwrightError(
                f"line 1 of {self._path!r} has more than {_MOST_FIELDS:,} fields: look at its delimiter",
                path=self._path,
            )
        if found.end() < len(block.text):
            self._lines.give_back(block, found.end())
        try:
            rows = list(csv.reader(io.StringIO(header[:end].decode(), newline=""), delimiter=self._delimiter))
        except csv.Error as error:
            raise PartwrightError(
                f"the header of {self._path!r} cannot be read ({error})", path=self._path
            ) from error
        if len(rows) != 1:
            raise PartwrightError(
                f"line 1 of {self._path!r} is blank: the first line is the header", path=self._path
            )
        (self._names,) = rows
        return header, end

    def _refuse_other_delimiters(self) -> None:
        """Refuse a single name that contains another common delimiter."""
        (name, *more) = self._names
        for other, words in {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas"}.items():
            if not more and other in name and other != self._delimiter:
                shown = "tab" if other == "\t" else f"'{other}'"
                raise PartwrightError(
                    f"the header of {self._path!r} seems to be delimited by {words}: say so with --delimiter {shown}",
                    path=self._path,
                )

    def _columns(
        self,
        block: Block,
        ends: Sequence[int] | None,
        requests: Sequence[ColumnRequest],
        places: Sequence[int],
    ) -> tuple[Column, ...]:
        """The requested columns of a block's records."""
        if ends == [] or (len(self._names) > 1 and not block.text.strip(b"\r\n")):
            return tuple(pa.nulls(0, column.type) for column in requests)
        columns = [f"{place}" for place in range(len(self._names))]
        # If a text ends without a line end, pyarrow takes an empty last field as quoted when others are in quotes.
        data = block.text if block.text.endswith(b"\n") else block.text + b"\n"
        try:
            table = pa_csv.read_csv(
                pa.BufferReader(data),
                # In one block, because its lines are already known.
                pa_csv.ReadOptions(use_threads=False, column_names=columns, block_size=len(data) + 1),
                pa_csv.ParseOptions(
                    delimiter=self._delimiter,
                    newlines_in_values=True,
                    ignore_empty_lines=len(self._names) > 1,
                ),
                pa_csv.ConvertOptions(
                    include_columns=[columns[place] for place in places],
                    column_types=dict.fromkeys(columns, pa.string()),
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                    null_values=[""],
                ),
            )
        except pa.ArrowInvalid as error:
            raise self._ragged(block, str(error)) from None
        if ends is not None and table.num_rows != len(ends):
            raise self._ragged(
                block, f"{counted(table.num_rows, 'record')} where {counted(len(ends), 'ends', 'end')}"
            )
        first = self._rows
        self._rows += table.num_rows
        return tuple(
            typed(in_one(table[columns[place]]), column, self._path, first)
            for column, place in zip(requests, places, strict=True)
        )

    def _ragged(self, block: Block, why: str) -> PartwrightError:
        """The error for a record that does not fit the header, or for whatever pyarrow reports."""
        # A carriage return inside quotes does not end a line.
        lines = (line + "\n" for line in block.text.decode().split("\n"))
        records, line = csv.reader(lines, delimiter=self._delimiter), block.first
        # csv reads no field of more than 131,072 characters.
        with suppress(csv.Error):
            for record in records:
                if record and len(record) != len(self._names):
                    return PartwrightError(
                        f"line {line} of {self._path!r} has {counted(len(record), 'field')} and the header has "
                        f"{len(self._names)}: each record must have a field for each column",
                        path=self._path,
                    )
                line = block.first + records.line_num
        return PartwrightError(
            f"lines {block.first} to {block.line_at(len(block.text) - 1)} of {self._path!r} cannot be read "
            f"({why}): look at their quotes",
            path=self._path,
        )


def _record(delimiter: bytes) -> re.Pattern[bytes]:
    """A record and its line end, which it lacks where a quote is not closed, or at a carriage return in a line."""
    apart = re.escape(delimiter)
    text = rb'[^"%b\r\n][^%b\r\n]*+' % (apart, apart)
    field = rb'(?:"[^"]*+(?:""[^"]*+)*+"(?:%b)?+|%b|)' % (text, text)
    return re.compile(rb"(%b(?:%b%b)*+)(?P<end>\r?(?:\n|\Z))?+" % (field, apart, field))


def _field(name: str, delimiter: str) -> str:
    """A field, quoted if csv needs it."""
    if any(each in name for each in ('"', delimiter, "\r", "\n")):
        return '"' + name.replace('"', '""') + '"'
    return name


_CHUNK = 1 << 20
_CODECS = {".csv": None, "": None, ".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
_BOM = b"\xef\xbb\xbf"
# The rest of a quoted field, from inside the quotes; two quotes are one character of it.
_CLOSED = re.compile(rb'(?:[^"]++|"")*+"')


def open_quote(file: BinaryIO, delimiter: bytes = b",") -> int | None:
    r"""The line that opens a quote that is never closed, as `DelimitedRecords` reads quotes.

    Args:
        file: The csv's bytes, in an encoding with ASCII's quotes, delimiters and line ends.
        delimiter: The byte between fields.

    Returns:
        The line's number, from 1; None if every quote is closed.

    Examples:
        >>> import io
        >>> open_quote(io.BytesIO(b'id,text\na,"b\nc"\nd,"e\n'))
        4
    """
    opening = re.compile(rb'[\n\r%b]"' % re.escape(delimiter))
    lines, opened = 1, None
    # A quote opens a field at the start of a line; the file's first one has no line end before it.
    before = b"\n"
    chunk = file.read(_CHUNK).removeprefix(_BOM) or file.read(_CHUNK)
    while chunk:
        # What follows a quote shows whether it closes the field.
        while chunk.endswith(b'"') and (more := file.read(_CHUNK)):
            chunk += more
        text = before + chunk
        closed = _CLOSED.match(text) if opened is not None else None
        if opened is None or closed:
            opened, found = None, opening.search(text, closed.end() if closed else 0)
            while found and (closed := _CLOSED.match(text, found.end())):
                found = opening.search(text, closed.end())
            if found:
                opened = lines + text.count(b"\n", len(before), found.end())
        lines += chunk.count(b"\n")
        # Inside quotes, the last byte does not start a field. It is not a quote either, because then more would have
        # been read.
        before = text[-1:] if opened is None else b""
        chunk = file.read(_CHUNK)
    return opened


def refuse_open_quote(path: Path, delimiter: bytes) -> None:
    """Refuse a csv that ends inside quotes, compressed or not; a compression that Arrow does not know is not checked.

    Args:
        path: The file.
        delimiter: As for `open_quote`.

    Raises:
        PartwrightError: A quote is open at its end.
    """
    ending = path.suffix.lower()
    if ending in _CODECS:
        # The reader of the file reports that it cannot be read to its end.
        with suppress(OSError), pa.input_stream(path, _CODECS[ending]) as file:
            if (line := open_quote(file, delimiter)) is not None:
                raise unclosed(str(path), line)


def unclosed(path: str, line: int) -> PartwrightError:
    """The error for a file that ends inside quotes."""
    return PartwrightError(
        f"the quote that is opened in line {line} of {path!r} is not closed: look for a quote at the start of a field",
        path=path,
    )
