"""What a question finds missing because it may not be read: said as that, not as absence. One line, with the rule that would mend it."""

from __future__ import annotations

from k8s_topo_mcp.objects import ApiObject
from k8s_topo_mcp.rendering import clean
from k8s_topo_mcp.tools.errors import NotFound, NotReadable
from k8s_topo_mcp.view import ClusterView, Unreadable

REASON, SAID, ACCOUNT = 120, 500, 200


def sentence(entry: Unreadable) -> str:
    """Why a kind isn't known, as a sentence: "pods can't be listed in namespace infer (403, …). Missing rule: pods: get, list, watch."."""
    if entry.said:
        who = f" (403, {clean(entry.account, ACCOUNT)})"
        return clean(entry.said.replace(" (403)", who, 1) if entry.account else entry.said, SAID)
    return f"{clean(entry.kind, 100)} objects can't be read" + (f": {clean(entry.reason, REASON)}." if entry.reason else ".")


def require(view: ClusterView, *kinds: type[ApiObject]) -> None:
    """Raises NotReadable where nothing at all is known of one of the kinds, without which the question has no answer."""
    for kind in kinds:
        entry = view.unknown(kind.KIND)
        if entry is not None:
            raise NotReadable(sentence(entry))


def missing(view: ClusterView, kind: str, what: str, namespace: str, text: str) -> NotFound:
    """The error for an object that isn't here: `text`, unless its kind can't be read there; then that, naming `what` was looked for."""
    entry = view.unread(kind, namespace)
    if entry is None:
        return NotFound(text)
    if not entry.within and not entry.kept:
        return NotReadable(f"{what}: {sentence(entry)}")
    return NotReadable(f"{text} It may be there all the same: {sentence(entry)}")
