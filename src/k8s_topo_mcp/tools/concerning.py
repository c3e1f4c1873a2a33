"""What can concern a pod: history's own test, with the DaemonSets that diagnosis recognises as its drivers'; what changed before."""

from __future__ import annotations

from k8s_topo_mcp.diagnosis.evidence import PluginSet
from k8s_topo_mcp.diagnosis.plugins import device_plugin_of, plugin_of
from k8s_topo_mcp.diagnosis.report import Report
from k8s_topo_mcp.history.relevance import Scope, asked, likely_causes, scope_of_pod
from k8s_topo_mcp.objects import ObjectRef, Pod
from k8s_topo_mcp.tools.change_rows import Change, folded, row
from k8s_topo_mcp.view import ClusterView

CAUSES = 2
"""Changes shortly before a pod got stuck that its explanation names."""
VALUE = 70
"""Characters of a value there."""


def scope(view: ClusterView, pod: Pod) -> Scope:
    """What can concern a pod, the DaemonSets of its drivers included."""
    wanted = asked(view, pod)
    sets: list[ObjectRef] = []
    for plugin in (
        *(plugin_of(view, driver) for driver in sorted(wanted.drivers or ())),
        *(device_plugin_of(view, resource) for resource in sorted(wanted.resources)),
    ):
        sets += [plugin.daemon_set] if isinstance(plugin, PluginSet) else plugin.several
    return scope_of_pod(view, pod, sets, wanted)


def changes_before(view: ClusterView, report: Report) -> tuple[Change, ...]:
    """What changed in the ten minutes before a pod got stuck and could be why, the likeliest first."""
    if report.cause is None or report.verdict in ("fits now", "not pending"):
        return ()
    return tuple(row(group, VALUE) for group in folded(likely_causes(view, report.pod, scope(view, report.pod)))[:CAUSES])
