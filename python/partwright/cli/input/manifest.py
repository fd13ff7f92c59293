"""Read a Kubernetes manifest from a file: the documents of its YAML, or JSON."""

from __future__ import annotations

from typing import Any

from partwright.cli.input.json import lines, named, read_json
from partwright.cli.input.yaml_text import yaml_documents
from partwright.errors import PartwrightError

__all__ = ["read_manifest_file"]


def read_manifest_file(file: str) -> list[Any]:
    """The documents of a manifest; - is stdin.

    Raises:
        PartwrightError: It cannot be read, or is neither YAML nor JSON.
        MissingExtraError: It is YAML, and PyYAML is missing.
    """
    text = "".join(lines(file))
    if file.lower().endswith(".json"):
        try:
            return [read_json(text)]
        except PartwrightError as error:
            raise error.within(named(file), path=file) from None
    try:
        return yaml_documents(named(file), text, several=True, hint=_hint(text))
    except PartwrightError as error:
        error.path = file
        raise


def _hint(text: str) -> str:
    return " (render a chart first, by helm template)" if "{{" in text else ""
