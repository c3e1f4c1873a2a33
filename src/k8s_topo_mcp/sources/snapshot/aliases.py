"""Aliases: names of a cluster replaced by others, one for each text wherever it stands, so that everything that matched still matches.

An alias is a word for the kind of thing and a number in the order of the real names ("node-03", "ns-2", "app-07"); a number at the end of a
name stays ("trainer-0" → "app-07-0"), so that order within a set stays too. Where names come in one by one (a live cluster) numbers are
given as they come, and only equality is kept.

A table can be kept (`alias_table`): the same names then get the same aliases again, and whoever has the table can translate back. There is
no key from which aliases could be derived: without the table they say nothing.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping

WORDS = (
    "node", "ns", "app", "volume", "pool", "class", "queue", "nodepool", "flavor", "topology", "cluster",
    "container", "request", "mount", "registry", "host", "user", "id", "handle", "ip", "value",
)  # fmt: skip
"""What aliases begin with, the surest first: a text that is used as several kinds of thing is named after the first of them. "app" is
everything that lives in a namespace; "class" what doesn't and has no word of its own."""

PLAIN = frozenset(
    """
    default kube-system kube-public kube-node-lease system-node-critical system-cluster-critical default-scheduler kube-scheduler
    kube-controller-manager cloud-controller-manager kube-apiserver cluster-autoscaler kube-root-ca.crt standard true false yes no none on
    off enabled disabled
    """.split()
)
"""Names that every cluster has, and words that are no names."""

_NUMBER = re.compile(r"[+-]?\d{1,9}(?:\.\d{1,3})?\Z")
_NUMBERED = re.compile(r"(.{1,240}?)-(\d{1,5})\Z", re.DOTALL)
_WHOLE = frozenset(("id", "handle", "ip", "registry", "host", "user", "cluster"))
"""Of these a number at the end is no ordinal."""


class Aliases:
    """The table, from real text to alias. May be asked by several threads. `keep` is told of new ones before anybody else learns them."""

    def __init__(self, known: Mapping[str, str] | None = None, keep: Callable[[Mapping[str, str]], None] | None = None) -> None:
        self._table: dict[str, str] = dict(known or {})
        self._keep = keep
        self._wanted: dict[str, str] | None = None
        self._given: dict[str, int] = {}
        self._lock = threading.Lock()
        for alias in self._table.values():
            word, _, number = alias.partition("-")
            if number.isdigit():
                self._given[word] = max(self._given.get(word, 0), int(number))

    def collect(self) -> None:
        """From now on names are only noted; `settle` then gives them aliases in order."""
        self._wanted = {}

    def settle(self) -> None:
        """Give every noted name its alias, in the order of the real names."""
        wanted, self._wanted = self._wanted or {}, None
        fresh: dict[str, str] = {}
        by_word: dict[str, list[str]] = {}
        for text, word in wanted.items():
            if text not in self._table:
                by_word.setdefault(word, []).append(text)
        for word, texts in by_word.items():
            start = self._given.get(word, 0)
            width = len(str(start + len(texts)))
            for number, text in enumerate(sorted(texts), start=start + 1):
                fresh[text] = f"{word}-{number:0{width}d}"
            self._given[word] = start + len(texts)
        self._new(fresh)

    def alias(self, word: str, text: str) -> str:
        """The alias of a whole name."""
        if is_plain(text):
            return text
        numbered = _NUMBERED.match(text)
        if numbered is not None and text not in self._table and word not in _WHOLE:
            return f"{self._one(word, numbered[1])}-{numbered[2]}"
        return self._one(word, text)

    def _one(self, word: str, text: str) -> str:
        if is_plain(text):
            return text
        with self._lock:
            if self._wanted is not None:
                known = self._wanted.get(text)
                if known is None or WORDS.index(word) < WORDS.index(known):
                    self._wanted[text] = word
                return text
            found = self._table.get(text)
            if found is None:
                number = self._given[word] = self._given.get(word, 0) + 1
                found = f"{word}-{number}"
                self._new({text: found})
            return found

    def _new(self, fresh: Mapping[str, str]) -> None:
        if self._keep is not None and fresh:
            self._keep(fresh)
        self._table.update(fresh)

    @property
    def collecting(self) -> bool:
        """Whether names are only noted."""
        return self._wanted is not None

    def known(self, text: str) -> str | None:
        """The alias of a name that has one."""
        found = self._table.get(text)
        if found is None and (numbered := _NUMBERED.match(text)) is not None and (stem := self._table.get(numbered[1])) is not None:
            return f"{stem}-{numbered[2]}"
        return found

    @property
    def table(self) -> Mapping[str, str]:
        """Real text to alias."""
        return self._table


def is_plain(text: str) -> bool:
    """Whether a text says nothing of whose cluster it is: a small number, a word that every cluster has."""
    return not text or text in PLAIN or _NUMBER.match(text) is not None
