"""Questions about real data: which client wrote it, what moves when a topic grows, do two topics meet?"""

from __future__ import annotations

from partwright.audit.copartition import Meeting
from partwright.audit.fingerprint import fingerprint
from partwright.audit.fingerprint_answer import Fingerprint
from partwright.audit.resize import Resize
from partwright.audit.writer_change import Change

__all__ = ["Change", "Fingerprint", "Meeting", "Resize", "fingerprint"]
