"""Known failures: faults of which our answer isn't the golden one yet, each with the reason (`faults/known-failures.yaml`)."""

from __future__ import annotations

from pathlib import Path

import yaml

from .shelf import FAULTS


def read(path: Path = FAULTS / "known-failures.yaml") -> dict[str, str]:
    """fault → reason."""
    return {str(name): str(reason) for name, reason in (yaml.safe_load(path.read_text()) or {}).items()}


KNOWN = read()
