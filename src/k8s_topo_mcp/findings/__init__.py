"""The closed list of causes, and the values that each carries."""

from .codes import CODES, CodeRow, Status
from .finding import Finding, finding

__all__ = ["CODES", "CodeRow", "Finding", "Status", "finding"]
