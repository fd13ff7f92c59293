"""`pw.fingerprint` of columns that are no table yet."""

from __future__ import annotations

from typing import Any

import partwright as pw


def fingerprint(
    keys: Any, partitions: Any, timestamps: Any = None, *, offsets: Any = None, **settings: Any
) -> pw.audit.Fingerprint:
    columns = {"key": keys, "partition": partitions, "timestamp": timestamps, "offset": offsets}
    given = {name: column for name, column in columns.items() if column is not None}
    named = {name: name for name in given if name != "key"}
    return pw.fingerprint(given, "key", **named, **settings)
