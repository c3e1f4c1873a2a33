"""Who may ask: bearer tokens and client certificates, which can be rotated while the server runs, and the namespaces beyond which nothing
is allowed."""

from __future__ import annotations

from collections.abc import Iterable

from .request import Request

USER = "system:serviceaccount:replay:reader"


class Access:
    """`tokens` None: anybody, unless there are `certificates`, the common names that are good. `namespaces` None: everywhere; otherwise
    lists over the whole cluster are forbidden, as with Roles alone."""

    def __init__(
        self, tokens: Iterable[str] | None = None, namespaces: Iterable[str] | None = None, certificates: Iterable[str] | None = None
    ) -> None:
        self.tokens = None if tokens is None else frozenset(tokens)
        self.certificates = None if certificates is None else frozenset(certificates)
        self.namespaces = None if namespaces is None else frozenset(namespaces)

    def rotate(self, *tokens: str) -> None:
        """From now on these tokens are good and no others."""
        self.tokens = frozenset(tokens)

    def knows(self, request: Request) -> bool:
        """Whether the request has a good token, or came with a good certificate."""
        if self.certificates is not None and request.common_name in self.certificates:
            return True
        if self.tokens is None:
            return self.certificates is None
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and token.strip() in self.tokens

    def allows(self, namespaced: bool, namespace: str) -> bool:
        """Whether a namespaced resource may be read there ("": everywhere). Cluster-scoped ones always may."""
        return self.namespaces is None or not namespaced or namespace in self.namespaces
