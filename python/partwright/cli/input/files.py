"""The files that a command reads: their names, and what says how they are written."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import click

from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Callable

    from partwright.files import Records

__all__ = ["Source", "files_argument"]

_Answer = TypeVar("_Answer")
_FORMATS = ("csv", "tsv", "json", "parquet", "arrow", "avro")
_TYPED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}


@dataclass(frozen=True)
class Source:
    """What a command was told to read; nothing is opened before somebody asks for it.

    Attributes:
        names: The files, folders, patterns and addresses.
        format: What `--format` says.
        delimiter: What `--delimiter` says.
    """

    names: tuple[str, ...]
    format: str | None
    delimiter: str | None

    def open(self) -> Records:
        """Their records; see `partwright.files.open_records`."""
        # Imported here alone: --help is there at once.
        from partwright.files import open_records

        return open_records(self.names, self.format, self.delimiter)

    def refuse_for_topic(self) -> None:
        """Refuse what is said of files, where a topic is read.

        Raises:
            PartwrightError: Something is.
        """
        if len(self.names) > 1:
            raise PartwrightError("a topic is read alone: name one topic, or files")
        if self.format or self.delimiter:
            raise PartwrightError(
                "--format and --delimiter are for files, and a topic is named: leave them out"
            )


def files_argument(command: Callable[..., _Answer]) -> Callable[..., _Answer]:
    """FILE, which the command's function gets as `file`, its name for people, and as `source`, which opens it."""

    @click.argument("files", metavar="FILE...", nargs=-1, required=True)
    @click.option(
        "--format",
        "format_",
        type=click.Choice(_FORMATS),
        help="What the files are, whatever their names say; - is JSON without this.",
    )
    @click.option(
        "--delimiter",
        metavar="D",
        help="What stands between two fields of csv: one character, or tab, semicolon, pipe.",
    )
    @functools.wraps(command)
    def with_files(
        *given: object, files: tuple[str, ...], format_: str | None, delimiter: str | None, **more: object
    ) -> _Answer:
        source = Source(files, format_, _TYPED.get(delimiter or "", delimiter))
        if any(file.startswith("kafka:") for file in files):
            source.refuse_for_topic()
        name = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"
        return command(*given, file=name, source=source, **more)

    return with_files
