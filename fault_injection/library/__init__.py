"""The fault library: each folder under `fault_injection/faults/` is one failure, injected into a real control plane and recorded."""

from __future__ import annotations

from .shelf import FAULTS, Entry, UnknownFault, entries, entry

__all__ = ["FAULTS", "Entry", "UnknownFault", "entries", "entry"]
