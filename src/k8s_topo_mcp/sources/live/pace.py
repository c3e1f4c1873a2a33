"""How often, how much and how long: the numbers of the live source, in one place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds, unless a field says otherwise.

    Attributes
    ----------
    page
        Objects a page; 500 is what kubectl and client-go take.
    pages_at_once
        Lists that load at the same time.
    watch
        A watch ends by itself after a random time in this range, so that not all of them are renewed at once.
    silence
        A watch that has had bookmarks (the API server sends one a minute) and now says nothing for so long is dead.
    answer
        How long one answer may take to begin, and to go on: a busy API server takes long for a large list, and itself gives up after 60 s.
    sign
        How long a sign of life may take.
    backoff
        The first wait after a failure, and the longest.
    refused
        When a kind that may not be read, or isn't there, is tried again.
    discovery
        When the server is asked again what it serves.
    heartbeat
        How often it is asked whether it is there at all.
    status
        How often Cluster Autoscaler's status is asked for, which it writes every ten seconds.
    first
        How long the first view waits for kinds that aren't listed yet.
    stale
        From which age on an answer says why.
    watch_list
        Whether a kind is first read by the watch that then goes on (KEP-3157), which the server streams, in place of pages. It is
        client-go's way since 1.35, half the requests, and where the server refuses it pages are read.
    """

    page: int = 500
    pages_at_once: int = 4
    watch: tuple[float, float] = (300.0, 600.0)
    silence: float = 200.0
    answer: float = 60.0
    backoff: tuple[float, float] = (0.5, 30.0)
    refused: float = 60.0
    discovery: float = 180.0
    sign: float = 10.0
    heartbeat: float = 20.0
    status: float = 15.0
    first: float = 30.0
    stale: float = 30.0
    watch_list: bool = True
