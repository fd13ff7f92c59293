"""Questions about real data: which client wrote it, what moves when a topic grows, do two of them meet."""

from __future__ import annotations

from partwright.audit.answer import Fingerprint
from partwright.audit.change import Change
from partwright.audit.copartition import Meeting
from partwright.audit.fingerprint import fingerprint
from partwright.audit.resize import Resize

__all__ = ["Change", "Fingerprint", "Meeting", "Resize", "fingerprint"]
