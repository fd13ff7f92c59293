"""The files that a command reads: their names, and their format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click

from partwright._check import is_topic
from partwright.cli.input.connection import refuse_for_file
from partwright.cli.output import echo
from partwright.cli.parsing import combined, heading, option
from partwright.cli.progress import reading, reading_until_interrupted

if TYPE_CHECKING:
    from partwright.cli.input.connection import Connection
    from partwright.files import Records
    from partwright.kafka.bounds import Bounds
    from partwright.record_source import RecordSource, Watch

_Command = TypeVar("_Command", bound="Callable[..., object] | click.Command")
_FORMATS = ("csv", "tsv", "json", "parquet", "arrow", "avro", "text")
_TYPED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}


@dataclass(frozen=True)
class FileOptions:
    """The files that a command reads; nothing is opened until it is needed.

    Attributes:
        names: The files, folders, patterns and addresses.
        format: The value of `--format`.
        delimiter: The value of `--delimiter`.
        columns: The value of `--columns`.
        key_encoding: The value of `--key-encoding`.
    """

    names: tuple[str, ...]
    format: str | None
    delimiter: str | None
    columns: str | None = None
    key_encoding: str | None = None

    @property
    def name(self) -> str:
        """What people call them."""
        return self.names[0] if len(self.names) == 1 else f"{self.names[0]} and {len(self.names) - 1} more"

    @property
    def named_format(self) -> str | None:
        """The format of files whose names do not tell it."""
        return self.format or ("csv" if self.delimiter else None)

    def open(self) -> Records:
        """Open their records; see `partwright.files.open_records`."""
        # Imported only here, so that --help is fast.
        from partwright.files import open_records

        return open_records(self.names, self.format, self.delimiter, self.columns)

    def records(
        self, connection: Connection, bounds: Bounds | None, watch: Watch | None = None
    ) -> RecordSource:
        """The records for the function that answers.

        Args:
            connection: How a topic's Kafka is reached.
            bounds: Which part of a topic is read.
            watch: Shows the progress; by default Ctrl-C only ends the reading of a topic.

        Raises:
            PartwrightError: A topic is named wrongly, or options for topics were given for a file.
        """
        from partwright.record_source import RecordSource

        how: dict[str, Any] = {"columns": self.columns, "key_encoding": self.key_encoding}
        if any(map(is_topic, self.names)):
            config = connection.config() if len(self.names) == 1 else None
            watch = watch or reading_until_interrupted
            return RecordSource(self.names, self.format, self.delimiter, bounds, config, watch, **how)
        refuse_for_file(self.name, connection, bounds)
        say = partial(echo, err=True)
        return RecordSource(self.names, self.format, self.delimiter, watch=reading, **how, say=say)


def format_option(
    suffix: str = "", of: str = "the files", names: str = "their names"
) -> Callable[[_Command], _Command]:
    """`--format`, or that of B with the suffix `-b`."""
    name = f"format{suffix.replace('-', '_')}_"
    text = f"The format of {of} (default: from {names}; JSON for -)."
    return option(f"--format{suffix}", text, name, type=click.Choice(_FORMATS))


def delimiter_option(suffix: str = "", of: str = "csv") -> Callable[[_Command], _Command]:
    """`--delimiter`, or that of B with the suffix `-b`."""
    return option(
        f"--delimiter{suffix} --sep{suffix} D",
        f"The separator of {of}: one character, or the word tab, semicolon or pipe.",
        read=lambda typed, _option: _TYPED.get(typed, typed),
    )


columns_option = option(
    "--columns A,B,...",
    "The columns of csv or text without a header, such as key,partition,value; or a format of kcat -f.",
    "header_columns",
)
key_encoding_option = option(
    "--key-encoding E",
    "How a file's text is a key's bytes: base64, hex, or json for an object's serialized text.",
    type=click.Choice(("base64", "hex", "json")),
)


def _source(
    files: tuple[str, ...],
    format_: str | None,
    delimiter: str | None,
    header_columns: str | None,
    key_encoding: str | None,
) -> FileOptions:
    return FileOptions(files, format_, delimiter, header_columns, key_encoding)


files_argument = combined(
    "source",
    _source,
    heading("What to read"),
    click.argument("files", metavar="FILE...", nargs=-1, required=True),
    format_option(),
    delimiter_option(),
    columns_option,
    key_encoding_option,
)
"""FILE, which the command's function gets as `source`."""
