"""Whether a controller says that it is ready."""

from __future__ import annotations

import httpx


def ready(port: int) -> bool:
    """Whether /readyz on this port of 127.0.0.1 says so."""
    try:
        return httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=5, trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False
