"""The base of all answers: a value that carries its question, knows no words, and can be shown in any form."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from partwright import _upward
from partwright.question import Question

if TYPE_CHECKING:
    import os
    from pathlib import Path

    import pandas as pd  # type: ignore[import-untyped]
    import polars as pl
    import pyarrow as pa

    from partwright._check import Json

__all__ = ["Answer", "Answers"]

_Part_co = TypeVar("_Part_co", covariant=True)


class Answer:
    """What a verb answers.

    A verb is three files: its answer, which derives from this class, `partwright/documents/VERB.py` with
    `document(answer)`, and its command.

    Examples:
        >>> import pyarrow as pa
        >>> from partwright.audit import Resize
        >>> resize = Resize(2, 3)
        >>> resize.add(["a", "b", "c"])
        >>> resize.table().column_names, len(pa.table(resize))
        (['partition', 'rows', 'rows_moved', 'drain_to', 'end'], 2)
    """

    DOCUMENT: ClassVar[str]
    """The module of `partwright.documents` that puts it into words."""
    ROWS: ClassVar[str]
    """The field of `to_dict` that is its main table."""

    @property
    def question(self) -> Question:
        """What it answers; its page and its title repeat it."""
        asked: Question = self.__dict__.get("question", Question())
        return asked

    def with_question(self, question: Question) -> Self:
        """The same answer with its question, for a function that has options objects and for a command."""
        made = copy.copy(self)
        made.__dict__["question"] = question
        return made

    def to_dict(self) -> Json:
        """The answer as JSON can hold it, as `--json` prints it without the summary."""
        raise NotImplementedError

    def table(self) -> pa.Table:
        """The main table: a row for each object of a list in `to_dict`, an absent value as null."""
        import pyarrow as pa  # noqa: PLC0415 - an answer without a table needs none

        return pa.Table.from_pylist(self.to_dict()[self.ROWS])

    def to_arrow(self) -> pa.Table:
        """The main table, as `table` has it."""
        return self.table()

    def to_pandas(self) -> pd.DataFrame:
        """The main table as a frame of pandas, whose numbers stay whole where one is null.

        Raises:
            MissingExtraError: pandas is missing.

        Examples:
            >>> import partwright as pw
            >>> pw.assign({"t": 2}, {"c1": ["t"]}).to_pandas()["partition"].tolist()
            [0, 1]
        """
        return _upward.pandas_frame(self.to_arrow())

    def to_polars(self) -> pl.DataFrame:
        """The main table as a frame of polars.

        Raises:
            MissingExtraError: polars is missing.

        Examples:
            >>> import partwright as pw
            >>> pw.assign({"t": 2}, {"c1": ["t"]}).to_polars()["partition"].to_list()
            [0, 1]
        """
        made: pl.DataFrame = _upward.polars_frame(self.to_arrow())
        return made

    def to_html(self) -> str:
        """The answer as a page, which needs no network; `save` writes it into a file.

        Raises:
            MissingExtraError: The package that makes pages is missing.
        """
        return _upward.page(self)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The main table for any library that takes Arrow streams, such as polars, pyarrow and duckdb."""
        return self.table().__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        """For notebooks: see `partwright.report.notebook`."""
        return _upward.notebook(self)

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
        return _upward.save(self, file)


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
