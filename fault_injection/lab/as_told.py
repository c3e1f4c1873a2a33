"""A remedy carried out as the tool's answer tells it: nothing but its object, field, new value and way to apply is used.

Each gives what undoes it, so that the next remedy starts from the same cluster.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from . import in_place
from .anew import GONE, bare, is_gone, pods_anew, remake, remove
from .client import Client, Object
from .in_place import Undo
from .lab import Lab
from .told import NotUnderstood, Told, changed

CLAIM = ("resource.k8s.io/v1", "ResourceClaim")
TEMPLATE = ("resource.k8s.io/v1", "ResourceClaimTemplate")


def carry_out(lab: Lab, pod: Object, told: Told, holders: Sequence[str]) -> tuple[Object, Undo]:
    """Apply a remedy; the pod that should then bind, and what undoes the change. `holders`: the claims that the answer names as such."""
    client = lab.client
    if not told.checked:
        return pod, in_place.advised(client, told)
    if told.field == "status.allocation":
        named = [entry.removeprefix("ResourceClaim ") for entry in told.objects]
        if not named and told.change.startswith("releasing all"):
            named = list(holders)
        count = re.match(r"releasing (?:all|the) (\d+) ", told.change)
        if count is not None and int(count[1]) != len(named):
            raise NotUnderstood(f"{told.change!r}, but {len(named)} are named")
        return pod, _all([_release(lab, told, *claim.split("/")) for claim in named or [f"{told.namespace}/{told.name}"]])
    pods = [entry.removeprefix("Pod ").split("/") for entry in told.objects if entry.startswith("Pod ")]
    if pods and len(pods) == len(told.objects):
        return pod, _all([_end(lab, client.get("v1", "Pod", name, namespace)) for namespace, name in pods])
    match told.kind:
        case "ResourceClaim":
            return _change_claim(lab, pod, told)
        case "Node" if told.field == "spec.unschedulable":
            node = client.get("v1", "Node", told.name)
            client.patch(node, {"spec": {"unschedulable": None}})
            return pod, lambda: client.patch(node, {"spec": {"unschedulable": True}})
        case "Node" if "add nodes" in told.apply:
            return pod, _one_more_like(client, told.name)
        case "Node" if told.field.startswith("status.allocatable.") and told.after:
            return pod, in_place.allocatable(client, told)
        case "DeviceClass" | "PodGroup" | "ResourceSlice":
            return pod, in_place.edit(client, told)
        case "Pod" if told.name != pod["metadata"]["name"]:
            return pod, _end(lab, client.get("v1", "Pod", told.name, told.namespace))
        case "Pod" if told.field:
            return _change_pod(lab, pod, told), lambda: None
        case "PersistentVolumeClaim" if "delete and re-create" in told.apply:
            return _change_volume_claim(lab, pod, told), lambda: None
        case _:
            raise NotUnderstood(f"{told.change!r} changes {told.field!r} of {told.kind or 'no object'}: {told.apply!r}")


def _all(undone: Sequence[Undo]) -> Undo:
    def undo() -> None:
        for one in undone:
            one()

    return undo


# --- claims -------------------------------------------------------------------------------------------------------------------------


def _change_claim(lab: Lab, pod: Object, told: Told) -> tuple[Object, Undo]:
    client = lab.client
    namespace = told.namespace
    template = re.search(r"replace ResourceClaimTemplate \S+?/(\S+)", told.apply)
    if template is None and "delete and re-create ResourceClaim" not in told.apply:
        raise NotUnderstood(f"{told.change!r} says {told.apply!r}")
    if template is None:
        old = client.get(*CLAIM, told.name, namespace)
        _with_spec(lab, old, changed(old["spec"], "spec.", told))
        return pod, lambda: None
    old = client.get(*TEMPLATE, template[1], namespace)
    _with_spec(lab, old, {**old["spec"], "spec": changed(old["spec"]["spec"], "spec.", told)})
    pods_anew(client, lab.wait, template[1], namespace)
    return client.find("v1", "Pod", pod["metadata"]["name"], namespace) or pod, lambda: None


def _with_spec(lab: Lab, old: Object, spec: Object) -> None:
    remake(lab.client, lab.wait, old, {**old, "spec": spec})


def _release(lab: Lab, told: Told, namespace: str, name: str) -> Undo:
    """End the pods that hold a claim, and delete it if that is told or none does; the undo starts them again as they were. What has
    reserved it and is no pod takes its entry out: nobody else can."""
    client = lab.client
    one = client.get(*CLAIM, name, namespace)
    reserved = (one.get("status") or {}).get("reservedFor") or ()
    others = [entry for entry in reserved if entry["resource"] != "pods"]
    holders = [
        holder
        for entry in reserved
        if entry not in others and (holder := client.find("v1", "Pod", entry["name"], one["metadata"]["namespace"])) is not None
    ]
    for holder in holders:
        gone(lab, holder)
    if others:
        client.status(one, {"reservedFor": [entry for entry in reserved if entry not in others] or None})
    if "delete ResourceClaim" in told.apply or not (holders or others):
        client.delete(one)
    kept = [_bare(one), *({**_bare(holder), "spec": {**holder["spec"]}} for holder in holders)]

    def undo() -> None:
        client.let_go(one)
        client.delete(one)
        lab.wait("the released claim to be gone", lambda: is_gone(client, one), GONE)
        # With its finalizer: without it the claim controller would never free the devices again.
        kept[0]["metadata"]["finalizers"] = one["metadata"].get("finalizers", [])
        made = client.create({**kept[0], "status": {"allocation": one["status"]["allocation"]}})
        for holder in kept[1:]:
            uid = client.create(holder)["metadata"]["uid"]
            client.status(made, {"reservedFor": [{"resource": "pods", "name": holder["metadata"]["name"], "uid": uid}]})

    return undo


# --- nodes and pods -----------------------------------------------------------------------------------------------------------------


def _one_more_like(client: Client, name: str) -> Undo:
    """A node with the same labels and slices under another name, as one that is new: open, and without the taints of single devices."""
    other = f"{name.split('.')[0]}-x"
    node = client.get("v1", "Node", name)
    twin = _bare(node) | {"status": {key: node["status"][key] for key in ("capacity", "allocatable", "conditions", "nodeInfo")}}
    twin["spec"].pop("unschedulable", None)
    twin["metadata"] |= {"name": other, "labels": {**node["metadata"]["labels"], "kubernetes.io/hostname": other}}
    made = []
    for piece in client.list("resource.k8s.io/v1", "ResourceSlice"):
        if piece["spec"].get("nodeName") == name:
            spec = {**piece["spec"], "nodeName": other, "pool": {**piece["spec"]["pool"], "name": other}}
            spec |= {"devices": well(spec["devices"])} if spec.get("devices") else {}
            made.append({**_bare(piece), "metadata": {"name": f"{piece['metadata']['name']}-x"}, "spec": spec})
    # Slices first: an attempt between the two would see a node without devices.
    made = [client.create(item) for item in (*made, twin)]

    def undo() -> None:
        for item in made:
            client.delete(item)

    return undo


def well(devices: Sequence[Object]) -> list[Object]:
    """Devices without those taints that aren't on all of them."""
    everywhere = [taint for taint in devices[0].get("taints") or () if all(taint in (device.get("taints") or ()) for device in devices)]
    bare_ones = [{key: value for key, value in device.items() if key != "taints"} for device in devices]
    return [{**device, "taints": everywhere} for device in bare_ones] if everywhere else bare_ones


def _end(lab: Lab, pod: Object) -> Undo:
    """End another pod; the undo starts it again as it was."""
    gone(lab, pod)

    def undo() -> None:
        lab.client.create(_bare(pod))

    return undo


def _change_volume_claim(lab: Lab, pod: Object, told: Told) -> Object:
    """A claim that a pod names can't go: the pod is made again after it."""
    client = lab.client
    old = client.get("v1", "PersistentVolumeClaim", told.name, told.namespace)
    again = _bare(pod)
    gone(lab, pod)
    _with_spec(lab, old, changed(old["spec"], "spec.", told))
    return client.create(again)


def _change_pod(lab: Lab, pod: Object, told: Told) -> Object:
    client = lab.client
    if told.field == "spec.tolerations":
        now = client.get("v1", "Pod", pod["metadata"]["name"], pod["metadata"]["namespace"])
        return client.patch(now, {"spec": {"tolerations": changed(now["spec"], "spec.", told)["tolerations"]}})
    again = _bare(pod)
    again["spec"] = changed(again["spec"], "spec.", told)
    if told.field == "spec.nodeSelector" and "node affinity" in told.change:
        again["spec"]["affinity"].pop("nodeAffinity", None)
    gone(lab, pod)
    return client.create(again)


# --- objects ------------------------------------------------------------------------------------------------------------------------


def gone(lab: Lab, item: Object) -> None:
    """Delete an object and wait until it isn't there."""
    remove(lab.client, lab.wait, item)


def _bare(item: Object) -> Object:
    """As its author wrote it, and without the scheduling gates: those were the check's own."""
    made = bare(item)
    made["spec"].pop("schedulingGates", None)
    return made
