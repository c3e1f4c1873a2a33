"""Groups without a node, as Cluster Autoscaler sees them: what of the devices of a first node it can know.

It copies a live node of the group, else one that it remembers, else asks the cloud's integration. Of those in its tree only Cluster API's
describes devices, by annotations (cluster-autoscaler/cloudprovider/clusterapi/README.md); up to 1.36.1 it gives such a pool a slice count
of 0, which the allocator takes for a pool whose slices are missing (kubernetes/autoscaler#10199, mended by #10200). What integrations of
the clouds' own programs do isn't in the API.
"""

from __future__ import annotations

from ..findings import finding
from ..objects import Pod, SemVer
from ..objects.cluster_api import CAPACITY
from ..view import ClusterView
from .autoscaler import Autoscaler
from .demand import device_demand
from .misfits import no_device_model, told_devices
from .node_group import NodeGroup
from .obstacle import Certainty
from .passing_over import Check, Passed, nobody

MACHINES = frozenset({"MachineDeployment", "MachineSet", "MachinePool"})
WITHOUT_COUNT = (SemVer(1, 35, 0), SemVer(1, 36, 1))
"""First and last release in which a pool made from annotations counts as incomplete."""


def of_cluster_api(group: NodeGroup) -> bool:
    """Whether Cluster API makes its nodes: by its kind, or, in Cluster Autoscaler's status, by the object that it is."""
    return group.kind == "Cluster API" or (group.ref is not None and group.ref.kind in MACHINES)


def annotated_alone(group: NodeGroup) -> bool:
    """Whether annotations of Cluster API are all that tells of its devices: a driver and how many, no attribute but a type."""
    return of_cluster_api(group) and not group.members and told_devices(group, "declared")


def unknown_devices(view: ClusterView, autoscaler: Autoscaler, group: NodeGroup) -> Check:
    """Pods with claims, on a group of which it doesn't know the devices: by no live node of it, and by no annotations."""
    if (group.members and told_devices(group, "observed")) or (of_cluster_api(group) and told_devices(group, "declared")):
        return nobody
    return no_device_model(view, group, *_why(autoscaler, group))


def _why(autoscaler: Autoscaler, group: NodeGroup) -> tuple[Certainty, str, str]:
    """How sure it is that it doesn't know them, why it doesn't, and what would change it."""
    if group.members:
        return "likely", "its live nodes publish no whole pool of devices", "a live node of the group that publishes its devices"
    if autoscaler.ref is None:
        whose = f"{autoscaler.run_by}'s autoscaler" if autoscaler.run_by else "this autoscaler"
        return "unknown", f"it has no node, and what {whose} knows of a first one isn't in the API", "one node in the group"
    cloud = autoscaler.settings.get("cloud-provider", "").value
    if of_cluster_api(group) or cloud == "clusterapi":
        remedy = f"one node in the group, or annotations {CAPACITY}dra-driver and gpu-count on it"
        return "certain", f"it has no node, and no annotation {CAPACITY}dra-driver", remedy
    where = f"for {cloud}" if cloud else "for its cloud"
    why = f"it has no node, and {where} nothing describes devices of a first one (unless a node that it had before is remembered)"
    return "likely", why, "one node in the group: a smallest size of 1"


def unusable_devices(view: ClusterView, autoscaler: Autoscaler, group: NodeGroup) -> Check:
    """Pods with claims, on a group of Cluster API whose devices are known by annotations alone, and a release that makes an incomplete pool
    of these."""
    version = autoscaler.version
    first, last = WITHOUT_COUNT
    broken = annotated_alone(group) and version is not None and first <= version <= last

    def check(pod: Pod) -> Passed | None:
        if not broken or not device_demand(view, pod).claims:
            return None
        why = f"Cluster Autoscaler {autoscaler.version_text} gives the pool a slice count of 0, so it counts as incomplete"
        found = finding("DEVICE_MODEL_UNUSABLE", group.ref, "", group=group.name, version=autoscaler.version_text, why=why)
        return Passed(found, "certain", f"one node in the group, or a Cluster Autoscaler after {last}")

    return check
