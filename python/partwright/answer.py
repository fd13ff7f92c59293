"""The base of all answers: a value that carries its question, knows no words, and can be shown in any form.

Its question is what was asked; the answer carries it, and its page repeats it.
"""

from __future__ import annotations

import copy
import os
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from partwright import _upward
from partwright._check import Json
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]
    import polars as pl
    import pyarrow as pa


# How many characters of its sentences a `repr` has.
_LONGEST = 200
_Part_co = TypeVar("_Part_co", covariant=True)
# Settings that a page must not repeat, because pages are passed on to others.
_SECRETS = ("password", "secret", "token", "jaas", "credential", "ssl.key", "keystore.key", "basic.auth")
# Everything after the first = behind a secret's name, also in a=b=c.
_SECRET = re.compile(
    rf"([^=]*(?:=[^=]*)*?(?:{'|'.join(map(re.escape, _SECRETS))})[^=]*)=.*", re.IGNORECASE | re.DOTALL
)


def masked(text: str) -> str:
    """A setting as name=value, without the value of a secret.

    Examples:
        >>> masked("linger.ms=5"), masked("sasl.password=hunter2")
        ('linger.ms=5', 'sasl.password=...')
    """
    found = _SECRET.fullmatch(text)
    return text if found is None else f"{found[1]}=..."


@dataclass(frozen=True)
class Question:
    """What was asked: by a command line, or by a function with its options objects.

    Attributes:
        options: The options objects of a function, such as a `ProducerConfig` and a `Workload`.
        command: The command's name; None for a function.
        source: The file, the topic or the cluster.
        settings: The command's other options, by name, without secrets.
        read: For a topic, how much of it was read; see `partwright.kafka.records.TopicRecords.read_counts`.
        line: The command line, quoted for a shell.

    Examples:
        >>> from partwright import ProducerConfig, Workload
        >>> Question((ProducerConfig("sticky", {"linger.ms": 5}), Workload(key="id"))).facts()
        [('strategy', 'sticky'), ('linger.ms', '5'), ('key', 'id')]
    """

    options: tuple[Any, ...] = ()
    command: str | None = None
    source: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    read: dict[str, Any] | None = None
    line: str | None = None

    def facts(self) -> list[tuple[str, str]]:
        """Its parts that are not by default, each name with its value."""
        named = {"command": self.command and f"partwright {self.command}", "source": self.source}
        facts = [(name, value) for name, value in named.items() if value is not None]
        return [*facts, *self.settings.items(), *(fact for each in self.options for fact in _options(each))]


def _options(options: Any) -> Iterator[tuple[str, str]]:
    for each in fields(options):
        value = getattr(options, each.name)
        if each.name in {"config", "configs"}:
            texts = (masked(f"{key}={one}") for key, one in (value or {}).items())
            yield from ((key, one) for key, _, one in (text.partition("=") for text in texts))
        elif value is not None and value != each.default:
            yield each.name, str(value)


class Answer:
    """What a verb answers.

    A verb is three files: its answer, which derives from this class, `partwright/documents/VERB.py` with
    `document(answer)`, and its command.

    Examples:
        >>> import pyarrow as pa
        >>> from partwright.audit import Resize
        >>> resize = Resize(2, 3)
        >>> resize.add(["a", "b", "c"])
        >>> resize.to_arrow().column_names, len(pa.table(resize))
        (['partition', 'rows', 'rows_moved', 'drain_to', 'end'], 2)
        >>> import partwright as pw
        >>> pw.assign({"t": 2}, ["c1", "c2"])
        <Assignment: 2 members read 2 partitions by range, 1 each.>
    """

    DOCUMENT: ClassVar[str]
    """The module of `partwright.documents` that puts it into words."""
    ROWS: ClassVar[str]
    """The field of `to_dict` that is its main table."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # A dataclass keeps a method that its class has, and would show every field otherwise.
        cls.__repr__ = Answer.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        """Its verdicts in one line, of which the first is the summary of its JSON; `print` shows all of it."""
        name = type(self).__name__
        try:
            verdicts = _upward.module("report").document(self).verdicts
        except PartwrightError as error:
            # Such as a leader's that has no assignment.
            return f"<{name}: {error}>"
        return f"<{name}: {textwrap.shorten(' '.join(each.text for each in verdicts), _LONGEST, placeholder='…')}>"

    def __str__(self) -> str:
        """Its verdicts and tables as text, as a command prints them into a pipe."""
        try:
            text: str = _upward.module("report").text(self)
        except PartwrightError as error:
            return str(error)
        return text

    @property
    def question(self) -> Question:
        """What it answers; its page and its title repeat it."""
        own_question: Question = self.__dict__.get("question", Question())
        return own_question

    def with_question(self, question: Question) -> Self:
        """The same answer with its question, for a function that has options objects and for a command."""
        made = copy.copy(self)
        made.__dict__["question"] = question
        return made

    def to_dict(self) -> Json:
        """The answer as JSON can hold it, as `--json` prints it without the summary."""
        raise NotImplementedError

    def to_arrow(self) -> pa.Table:
        """The main table: a row for each object of a list in `to_dict`, an absent value as null."""
        import pyarrow as pa  # noqa: PLC0415 - an answer without a table needs none

        return pa.Table.from_pylist(self.to_dict()[self.ROWS])

    def table(self) -> pa.Table:
        """The main table, as `to_arrow` gives it."""
        return self.to_arrow()

    def to_pandas(self) -> pd.DataFrame:
        """The main table as a frame of pandas, whose numbers stay whole where one is null.

        Raises:
            MissingExtraError: pandas is missing.

        Examples:
            >>> import partwright as pw
            >>> pw.assign({"t": 2}, {"c1": ["t"]}).to_pandas()["partition"].tolist()
            [0, 1]
        """
        return _upward.module("pandas").frame(self.to_arrow())

    def to_polars(self) -> pl.DataFrame:
        """The main table as a frame of polars.

        Raises:
            MissingExtraError: polars is missing.

        Examples:
            >>> import partwright as pw
            >>> pw.assign({"t": 2}, {"c1": ["t"]}).to_polars()["partition"].to_list()
            [0, 1]
        """
        frame: pl.DataFrame = _upward.module("polars").frame(self.to_arrow())
        return frame

    def to_html(self) -> str:
        """The answer as a page, which needs no network; `save` writes it into a file.

        Raises:
            MissingExtraError: The package that makes pages is missing.
        """
        page: str = _upward.module("report").page(self)
        return page

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The main table for any library that takes Arrow streams, such as polars, pyarrow and duckdb."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        """For notebooks: see `partwright.report.notebook`."""
        html: str = _upward.module("report").notebook(self)
        return html

    def save(self, file: str | os.PathLike[str]) -> Path:
        """Write the answer in the form that the file's suffix names.

        Args:
            file: A .html page, .md Markdown, .json, or .svg, .png or .pdf picture, which is replaced in one step.

        Returns:
            The file's path.

        Raises:
            PartwrightError: The suffix is another one, or the file cannot be written.
            MissingExtraError: The package that makes pages or pictures is missing.
        """
        path: Path = _upward.module("report").write(self, file)
        return path


class Answers(Answer, Sequence[_Part_co]):
    """Several parts of one kind, which is also a sequence of them."""

    parts: tuple[_Part_co, ...]
    """The parts, in order."""

    def __len__(self) -> int:
        """How many parts there are."""
        return len(self.parts)

    def __getitem__(self, at: Any) -> Any:
        """A part by its place, or several by a slice."""
        return self.parts[at]
