"""Questions about real data: is it where its client puts it, which client wrote it, what moves, do two topics meet?

`partwright.check`, `fingerprint`, `resize` and `copartition` take whole tables, files and topics; `Check` and `Resize`
are fed batch by batch.
"""

from __future__ import annotations

from partwright.audit.check import Check, CheckLimits
from partwright.audit.copartition import JoinSide, Meeting
from partwright.audit.fingerprint_answer import Fingerprint
from partwright.audit.resize import RecordColumns, Resize
from partwright.audit.writer_change import Change

__all__ = [
    "Change",
    "Check",
    "CheckLimits",
    "Fingerprint",
    "JoinSide",
    "Meeting",
    "RecordColumns",
    "Resize",
]
