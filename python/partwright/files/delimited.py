"""Files of fields with a delimiter: csv and tsv. Fields are text as written; a new field goes to each record's end.

A record's bytes are never rewritten, so quotes, line ends and blanks stay as they are. A field that begins with a quote
continues to the closing one, across delimiters and lines; a quote elsewhere is a character, as in pyarrow.
"""

from __future__ import annotations

import csv
import io
import re
from contextlib import suppress
from itertools import islice, repeat
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from partwright._check import counted
from partwright.errors import PartwrightError
from partwright.files.formats import Opened, declared, find_column, in_one, refuse_taken
from partwright.files.lines import LineReader, text_of
from partwright.files.quotes import unclosed
from partwright.files.scalars import FALSE, TRUE, text, text_column
from partwright.files.text_types import typed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import BinaryIO

    from partwright.files.formats import Column, ColumnRequest, Writable
from partwright.files.lines import Block

__all__ = ["DelimitedRecords"]

_NOTHING = text("")
# A reader of csv takes some hundred bytes for each field of a header.
_MOST_FIELDS = 100_000
_HEADER = " (the first line has to name the columns)"


class DelimitedRecords(Opened):
    """A csv or tsv file with a header; see `partwright.files.formats.Records`."""

    is_text = True

    def __init__(
        self, path: str, file: BinaryIO, size: int | None, delimiter: str, kind: str = "csv"
    ) -> None:
        super().__init__(file)
        self.format = kind
        self._path = path
        self._delimiter = delimiter
        self._lines = LineReader(path, file, size)
        field = _field_pattern(delimiter)
        apart = re.escape(delimiter)
        self._fields = re.compile(f"{_possessive(field)}({apart}|$)".encode())
        record = f"{field}(?:{apart}{field})*"
        # Arrow's regular expressions are RE2's; Python's mean the same here, and need no backtracking.
        self._whole = f"^{record}$"
        self._opening = re.compile(_possessive(record))
        self._closing = re.compile(_possessive(f"{_quoted_end(delimiter)}(?:{apart}{field})*"))
        # Also if the closing quote is in a later line.
        self._quoted_start = re.compile('[^"]*(?:""[^"]*)*(?:"|$)')
        self._quoted = re.compile(f'(?:^|{apart})"{self._quoted_start.pattern}')
        self._names: list[str] = []
        self._rows = 0

    @property
    def done(self) -> float | None:
        """See `Records`."""
        return self._lines.done

    def read(self, wanted: Sequence[ColumnRequest]) -> Iterator[tuple[Column, ...]]:
        """See `Records`."""
        blocks = self._blocks()
        self._header(blocks)
        self._refuse_other_delimiters()
        places = [find_column(self._path, self._names, column.name, hint=_HEADER) for column in wanted]
        for block, closed in blocks:
            yield self._columns(block, self._ends(block, closed), wanted, places)

    def types(self) -> Iterator[dict[str, pa.DataType]]:
        """See `Records`."""
        self._header(self._blocks())
        yield from declared(self._names, repeat(pa.string()))

    def extend(
        self, key: ColumnRequest, name: str, computed: Callable[[Column], Column], sink: Writable
    ) -> None:
        """See `Records`."""
        blocks = self._blocks()
        header, closed = self._header(blocks)
        self._refuse_other_delimiters()
        places = [find_column(self._path, self._names, key.name, hint=_HEADER)]
        refuse_taken(self._path, self._names, name)
        start = self._lines.mark + bytes(
            _text(header, closed, text_column((self._delimiter + _field(name, self._delimiter)).encode()))
        )
        for block, quoted in blocks:
            ends = self._ends(block, quoted)
            (keys,) = self._columns(block, ends, [key], places)
            partitions = in_one(computed(keys)).cast(pa.string())
            new = pc.binary_join_element_wise(
                text(self._delimiter), partitions, _NOTHING, null_handling="replace"
            )
            # The header is written only once the key cannot be refused any more.
            sink.write(start)
            sink.write(_text(block, ends, new))
            start = b""
        sink.write(start)

    def _blocks(self) -> Iterator[tuple[Block, pa.Array | None]]:
        """Whole records, and for each line whether no quote is open at its end; None if none is open at any."""
        for block in self._lines.blocks():
            closed = self._closed(block.lines)
            if b"\r" in block.text:
                self._refuse_lone_returns(block, closed)
            if closed is None:
                yield block, None
                continue
            whole = len(closed) - pc.index(closed[::-1], TRUE).as_py() if pc.any(closed).as_py() else 0
            if whole < len(closed):
                if self._lines.at_end:
                    raise unclosed(self._path, block.first + whole)
                self._lines.give_back(block, whole)
            if whole:
                yield block.head(whole), closed[:whole]
            # As in `LineReader.blocks`.
            del block, closed

    def _closed(self, lines: pa.Array) -> pa.Array | None:
        if not pc.any(pc.match_substring(lines, '"')).as_py():
            return None
        whole = pc.match_substring_regex(lines, self._whole)
        first = pc.index(whole, FALSE).as_py()
        if first < 0:
            return None
        # A line without a quote changes nothing: Python looks only at the others.
        quoted = pc.match_substring(lines[first:], '"')
        closed, is_closed = bytearray(), True
        for line in lines[first:].filter(quoted):
            is_closed = (self._opening if is_closed else self._closing).fullmatch(line.as_py()) is not None
            closed.append(is_closed)
        unknown = pa.nulls(len(quoted), pa.bool_())
        # From bytes, because pyarrow imports pandas before it makes an array of Python's objects.
        known = pa.Array.from_buffers(pa.uint8(), len(closed), [None, pa.py_buffer(closed)]).cast(pa.bool_())
        states = pc.replace_with_mask(unknown, quoted, known)
        return pa.concat_arrays([whole[:first], pc.fill_null(pc.fill_null_forward(states), TRUE)])

    def _refuse_lone_returns(self, block: Block, closed: pa.Array | None) -> None:
        """Refuse a carriage return inside a line: pyarrow ends a record there, others take it as a character."""
        for place in pc.indices_nonzero(pc.match_substring(block.lines, "\r")).to_pylist():
            line = block.lines[place].as_py()
            if closed is not None and place and not closed[place - 1].as_py():
                # It begins inside quotes; what follows them does not start a field.
                line = "x" + self._quoted_start.sub("", line, count=1)
            if "\r" in self._quoted.sub("", line):
                raise PartwrightError(
                    f"line {block.first + place} of {self._path!r} has a carriage return that ends no line: put the "
                    "field in quotes, or end each line with a line feed",
                    path=self._path,
                )

    def _header(self, blocks: Iterator[tuple[Block, pa.Array | None]]) -> tuple[Block, pa.Array]:
        """Only the header; the rest of its block comes again."""
        block, closed = next(blocks)
        first = 0 if closed is None else pc.index(closed, TRUE).as_py()
        self._refuse_many_fields(block.text, block.start_of(first + 1))
        header = block.head(first + 1)
        if first + 1 < len(block.lines):
            self._lines.give_back(block, first + 1)
        names = io.StringIO(header.text.decode().rstrip("\r\n"), newline="")
        try:
            found = list(csv.reader(names, delimiter=self._delimiter))
        except csv.Error as error:
            raise PartwrightError(
                f"the header of {self._path!r} cannot be read ({error})", path=self._path
            ) from error
        if len(found) != 1:
            raise PartwrightError(
                f"line 1 of {self._path!r} is blank: the first line is the header", path=self._path
            )
        (self._names,) = found
        return header, pa.concat_arrays([pa.repeat(FALSE, first), pa.repeat(TRUE, 1)])

    def _refuse_many_fields(self, text: bytes, end: int) -> None:
        """Refuse a header, which ends at a position in the text, before a large one is copied."""
        if text.count(self._delimiter.encode(), 0, end) < _MOST_FIELDS:
            return
        # A delimiter in quotes ends no field.
        fields = (field for field in self._fields.finditer(text, 0, end) if field[1])
        if next(islice(fields, _MOST_FIELDS - 1, None), None):
            raise PartwrightError(
                f"line 1 of {self._path!r} has more than {_MOST_FIELDS:,} fields: look at its delimiter",
                path=self._path,
            )

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

    def _ends(self, block: Block, closed: pa.Array | None) -> pa.Array | None:
        """For each line, whether a record ends there; None if one ends at every line."""
        if len(self._names) == 1:
            # There a blank line is a record, with a null in its only field.
            return closed
        blank = pc.equal(block.lines, _NOTHING)
        if not pc.any(blank).as_py():
            return closed
        filled = pc.invert(blank)
        return filled if closed is None else pc.and_(filled, closed)

    def _columns(
        self, block: Block, ends: pa.Array | None, wanted: Sequence[ColumnRequest], places: Sequence[int]
    ) -> tuple[Column, ...]:
        """The requested columns of a block's records."""
        rows = len(block.lines) if ends is None else pc.sum(ends).as_py()
        if not rows:
            return tuple(pa.nulls(0, column.type) for column in wanted)
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
        if table.num_rows != rows:
            raise self._ragged(
                block, f"{counted(table.num_rows, 'record')} where {counted(rows, 'ends', 'end')}"
            )
        first = self._rows
        self._rows += rows
        return tuple(
            typed(in_one(table[columns[place]]), column, self._path, first)
            for column, place in zip(wanted, places, strict=True)
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
            f"lines {block.first} to {block.first + len(block.lines) - 1} of {self._path!r} cannot be read "
            f"({why}): look at their quotes",
            path=self._path,
        )


def _text(block: Block, ends: pa.Array | None, new: Column) -> memoryview:
    """The lines, with the new field at the end of each record."""
    if ends is not None:
        # A line in the middle of a record gets nothing.
        new = pc.replace_with_mask(pa.repeat(_NOTHING, len(ends)), ends, new)
    return text_of(pc.binary_join_element_wise(block.lines, new, block.ends, _NOTHING))


def _quoted_end(delimiter: str) -> str:
    """The rest of a quoted field, from inside the quotes."""
    apart = re.escape(delimiter)
    return f'[^"]*(?:""[^"]*)*"(?:[^"{apart}][^{apart}]*)?'


def _field_pattern(delimiter: str) -> str:
    apart = re.escape(delimiter)
    return f'(?:"{_quoted_end(delimiter)}|[^"{apart}][^{apart}]*|)'


def _possessive(pattern: str) -> str:
    return pattern.replace("*", "*+").replace(")?", ")?+")


def _field(name: str, delimiter: str) -> str:
    """A field, quoted if csv needs it."""
    if any(each in name for each in ('"', delimiter, "\r", "\n")):
        return '"' + name.replace('"', '""') + '"'
    return name
