"""Questions about real data: which client wrote it."""

from __future__ import annotations

from partwright.audit.answer import Fingerprint
from partwright.audit.change import Change
from partwright.audit.fingerprint import fingerprint

__all__ = ["Change", "Fingerprint", "fingerprint"]
