"""A namespace that a question names: one that isn't there must not sound like one in which all is well."""

from __future__ import annotations

from difflib import get_close_matches

from k8s_topo_mcp.objects import Namespace
from k8s_topo_mcp.rendering import clean, fold, plural
from k8s_topo_mcp.tools import unread
from k8s_topo_mcp.view import ClusterView

ALWAYS = ("default", "kube-system", "kube-public", "kube-node-lease")
"""The API server makes these itself."""


def require(view: ClusterView, name: str) -> None:
    """Raises NotFound for a namespace that doesn't exist, as far as that is known.

    Where Namespaces were read they decide; where not, any object in it proves it, and so does that the source was told to read it.
    """
    if name in ALWAYS or view.get(Namespace, name) is not None or any(name in entry.within for entry in view.unreadable):
        return
    used = {item.namespace for kind in view.kinds if kind.NAMESPACED for item in view.all(kind)}
    if name in used:
        return
    known = {item.name for item in view.all(Namespace)} or used
    near = fold([clean(other, 80) for other in get_close_matches(name[:200], sorted(known), n=3)])
    what = f'namespace "{clean(name, 80)}"'
    many = plural(len(known), "namespace")
    read = f"{many} read" if view.count(Namespace) else f"what was read is in {many}"
    raise unread.missing(view, Namespace.KIND, what, "", f"{what} not found.{f' Nearest: {near}.' if near else ''} {read}.")
