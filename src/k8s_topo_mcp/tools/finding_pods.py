"""From what a caller wrote to the one pod that is meant, or an error with the nearest names."""

from __future__ import annotations

from k8s_topo_mcp.objects import Pod
from k8s_topo_mcp.rendering import clean, fold
from k8s_topo_mcp.tools import unread
from k8s_topo_mcp.tools.errors import Ambiguous, NotFound
from k8s_topo_mcp.view import ClusterView
from k8s_topo_mcp.view.indices import find_pods, nearest_names


def find_pod(view: ClusterView, given: str, namespace: str | None, tool: str) -> Pod:
    """`given` is "namespace/name" or "name". Raises NotFound or Ambiguous."""
    text = given.strip().removeprefix("pod/").removeprefix("pods/")
    space, slash, name = text.rpartition("/")
    if "/" in space or (slash and not (space and name)):
        raise NotFound(f'pod must be "NAME" or "NAMESPACE/NAME", not "{clean(given, 120)}". Example: {tool}(pod="default/trainer-0")')
    if slash and namespace is not None and namespace != space:
        raise NotFound(f'pod "{clean(text, 120)}" is not in namespace "{clean(namespace, 80)}": give one of the two.')
    if slash or namespace is not None:
        space = space if slash else namespace or ""
        found = view.get(Pod, name, space)
        if found is not None:
            return found
        raise _not_found(view, f"{space}/{name}", space)
    pods = find_pods(view, name)
    if len(pods) == 1:
        return pods[0]
    if pods:
        names = fold([clean(pod.full_name, 120) for pod in pods])
        raise Ambiguous(
            f'pod "{clean(name, 120)}" exists in {len(pods)} namespaces: {names}. Call {tool}(pod="{clean(pods[0].full_name, 160)}").'
        )
    raise _not_found(view, name, "")


def _not_found(view: ClusterView, text: str, namespace: str) -> NotFound:
    near: list[str] = []
    for name in nearest_names(view, Pod, text):
        space, _, bare = name.partition("/")
        pod = view.get(Pod, bare, space)
        near.append(f"{clean(name, 120)} ({pod.phase})" if pod is not None else clean(name, 120))
    pods = view.all(Pod)
    spaces = len({pod.namespace for pod in pods})
    read = f"{len(pods):,} pods in {spaces} namespace{'s' if spaces != 1 else ''} read ({view.source.kind} {view.source.name})"
    hint = f" Nearest: {', '.join(near)}." if near else ""
    what = f'pod "{clean(text, 120)}"'
    return unread.missing(view, Pod.KIND, what, namespace, f"{what} not found.{hint} {read}.")
