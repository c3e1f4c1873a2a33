"""Lists: pages of one consistent revision, selectors, and the rules of resourceVersion.

Sources: apimachinery pkg/apis/meta/internalversion/validation, apiserver pkg/storage/continue.go, and "Resource versions" in the API
concepts of the Kubernetes documentation. A resourceVersion in the future is refused at once; the real server waits three seconds first.
"""

from __future__ import annotations

import base64
import bisect
import json
from collections.abc import Sequence
from dataclasses import dataclass

from . import status
from .request import Answer, Request
from .selectors import BadSelector, Match, matcher
from .store import Entry, Expired, Kept, Store

_END = b"]}\n"


class Refused(Exception):
    """A request that is answered with a Status."""

    def __init__(self, answer: status.Status) -> None:
        super().__init__(answer["message"])
        self.status = answer


@dataclass(frozen=True, slots=True)
class Page:
    """Entries of a list at `revision`; `token` continues it, `remaining` is known without selectors only."""

    entries: Sequence[Entry]
    revision: int
    token: str = ""
    remaining: int | None = None

    def metadata(self) -> dict[str, object]:
        found: dict[str, object] = {"resourceVersion": str(self.revision)}
        if self.token:
            found["continue"] = self.token
            if self.remaining is not None:
                found["remainingItemCount"] = self.remaining
        return found


def match_of(kept: Kept, request: Request) -> Match | None:
    try:
        return matcher(kept.resource, request.query.get("labelSelector", ""), request.query.get("fieldSelector", ""))
    except BadSelector as error:
        raise Refused(status.bad_request(str(error))) from None


def revision_of(request: Request, for_watch: bool = False) -> int | None:
    """The resourceVersion asked for; None without one."""
    text = request.query.get("resourceVersion", "")
    if not text:
        return None
    if not text.isdecimal() or len(text) > 19:
        wrong = f'resourceVersion: Invalid value: "{text}": strconv.ParseUint: parsing "{text}": invalid syntax'
        # As the real one: the watch's check comes so late that nobody gives it a reason.
        raise Refused(status.status(500, "", wrong) if for_watch else status.bad_request(f"invalid resource version: {wrong}"))
    return int(text)


def page(store: Store, kept: Kept, namespace: str, request: Request) -> Page:
    """What a list request gets. Raises Refused."""
    _check(request)
    limit = _limit(request)
    match = match_of(kept, request)
    token = request.query.get("continue", "")
    wanted = revision_of(request)
    start = ""
    with store.lock:
        if token:
            rev, start = decode(token)
            revision = store.revision if rev == -1 else rev
            refusal = status.expired(status.CONTINUE_EXPIRED, encode(-1, start))
        else:
            exact = request.query.get("resourceVersionMatch") == "Exact"
            if wanted is not None and wanted > store.revision:
                raise Refused(status.too_large(wanted, store.revision))
            revision = wanted if exact and wanted else store.revision
            refusal = status.expired(status.TOO_OLD)
            if wanted == 0:
                limit = 0  # answered by the watch cache, which has no pages
        try:
            entries = kept.at(revision)
        except Expired:
            raise Refused(refusal) from None
    low, high = _range(entries, namespace, start)
    if match is None:
        end = min(high, low + limit) if limit else high
        more = end < high
        chosen = entries[low:end]
        return Page(chosen, revision, encode(revision, chosen[-1].key + "\0") if more else "", high - end if more else None)
    found: list[Entry] = []
    for index in range(low, high):
        if match(entries[index]):
            if limit and len(found) == limit:
                return Page(found, revision, encode(revision, found[-1].key + "\0"))
            found.append(entries[index])
    return Page(found, revision)


def body(kept: Kept, found: Page) -> Sequence[bytes]:
    """A page as JSON, in pieces. Items of built-in kinds don't repeat kind and apiVersion, as in a real list."""
    metadata = json.dumps(found.metadata(), separators=(",", ":"))
    head = f'{{"kind":"{kept.resource.kind}List","apiVersion":"{kept.resource.api_version}","metadata":{metadata},"items":['
    pieces = [head.encode()]
    for entry in found.entries:
        if kept.resource.custom:
            pieces += (kept.head, entry.data[1:], b",")
        else:
            pieces += (entry.data, b",")
    if found.entries:
        pieces.pop()
    pieces.append(_END)
    return pieces


def whole(kept: Kept, entry: Entry) -> bytes:
    """One object with its kind and apiVersion."""
    return kept.head + entry.data[1:]


def answer(kept: Kept, found: Page) -> Answer:
    return Answer(200, body(kept, found))


def _range(entries: Sequence[Entry], namespace: str, start: str) -> tuple[int, int]:
    low, high = 0, len(entries)
    if namespace:
        low = bisect.bisect_left(entries, f"{namespace}/", key=lambda entry: entry.key)
        high = bisect.bisect_left(entries, f"{namespace}0", key=lambda entry: entry.key)  # "0" follows "/"
    if start:
        low = max(low, bisect.bisect_left(entries, start, key=lambda entry: entry.key))
    return low, max(low, high)


def _limit(request: Request) -> int:
    text = request.query.get("limit", "")
    try:
        return max(0, int(text)) if text else 0
    except ValueError:
        raise Refused(status.bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax')) from None


def _check(request: Request) -> None:
    match = request.query.get("resourceVersionMatch", "")
    if "sendInitialEvents" in request.query:
        raise Refused(status.invalid_options("sendInitialEvents", "sendInitialEvents is forbidden for list"))
    if match and not request.query.get("resourceVersion"):
        raise Refused(
            status.invalid_options("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided")
        )
    if match and request.query.get("continue"):
        raise Refused(status.invalid_options("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided"))
    if match == "Exact" and request.query.get("resourceVersion") == "0":
        raise Refused(status.invalid_options("resourceVersionMatch", 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
    if request.query.get("continue") and request.query.get("resourceVersion", "0") != "0":
        raise Refused(status.bad_request("specifying resource version is not allowed when using continue"))


def encode(revision: int, start: str) -> str:
    """A continue token, in the form of the real server's."""
    text = json.dumps({"v": "meta.k8s.io/v1", "rv": revision, "start": f"/{start}"}, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode(token: str) -> tuple[int, str]:
    """Revision and start of a continue token. Raises Refused."""
    try:
        found = json.loads(base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True))
        version, revision, start = found["v"], found["rv"], found["start"]
        if version != "meta.k8s.io/v1" or not isinstance(revision, int) or not isinstance(start, str) or len(start) < 2:
            raise ValueError
    except (ValueError, KeyError, TypeError):
        raise Refused(status.bad_request("invalid continue token: continue key is not valid")) from None
    return revision, start.removeprefix("/")
