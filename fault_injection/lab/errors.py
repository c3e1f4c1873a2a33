"""What can go wrong with a lab. Each message says what failed, where its log is quoted from, and what would be right."""

from __future__ import annotations


class LabError(Exception):
    """The lab can't be built, started or used as asked."""


class ApiError(Exception):
    """The API server refused a request. `status` is the HTTP code, `reason` Kubernetes' own word for it."""

    def __init__(self, method: str, path: str, status: int, reason: str, message: str) -> None:
        super().__init__(f"{method} {path}: {status} {reason}: {message}")
        self.status = status
        self.reason = reason
        self.message = message
