"""Runs docs/notebook.ipynb and keeps its outputs: for `make docs`; `--check` fails if they would differ."""

# A program of its own, in no package.
# ruff: noqa: INP001

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import nbformat
from jupyter_client import KernelManager
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).resolve().parents[1] / "docs" / "notebook.ipynb"
PATIENCE_S = 120


def executed(text: str) -> str:
    """A notebook's text with its cells' present outputs, and nothing about the machine that ran it."""
    notebook = nbformat.reads(text, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        # This opens no port, and its sockets are removed with the folder.
        kernel = KernelManager(kernel_name="python3", transport="ipc", ip=str(Path(folder) / "kernel"))
        try:
            NotebookClient(notebook, km=kernel, timeout=PATIENCE_S, record_timing=False).execute()
        finally:
            kernel.shutdown_kernel(now=True)
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"], "language_info": {"name": "python"}}
    return f"{nbformat.writes(notebook, indent=1)}\n"


def main() -> int:
    """Writes the notebook with its present outputs, or compares it; returns the exit code."""
    parser = argparse.ArgumentParser(description="Run docs/notebook.ipynb and keep what it shows.")
    parser.add_argument("--check", action="store_true", help="write nothing, and fail on a difference")
    is_check = parser.parse_args().check
    before = NOTEBOOK.read_text(encoding="utf-8")
    now = executed(before)
    if is_check and now != before:
        sys.stdout.write(f"docs/{NOTEBOOK.name} shows something else now: run make docs\n")
        return 1
    if now != before:
        NOTEBOOK.write_text(now, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
