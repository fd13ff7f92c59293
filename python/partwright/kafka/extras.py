"""The packages that only an extra installs: where one is missing, a sentence says which and how to install it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from partwright.errors import MissingExtraError


@contextmanager
def extra_package(
    name: str, sentence: str = "{} is missing: pip install 'partwright[kafka]'"
) -> Iterator[None]:
    """A block that imports a package which only an extra installs.

    Args:
        name: The package.
        sentence: What its absence means, with the package's name, and what to do.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        yield
    except ImportError as error:
        raise MissingExtraError(sentence.format(name)) from error
