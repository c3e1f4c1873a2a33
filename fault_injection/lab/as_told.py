"""A remedy carried out as the tool's answer tells it: nothing but its object, field, new value and way to apply is used.

Each gives what undoes it, so that the next remedy starts from the same cluster.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from k8s_topo_mcp.diagnosis.fields import steps
from k8s_topo_mcp.tools.explain_pending import Output

from .anew import GONE, bare, is_gone, remake, remove
from .client import Client, Object
from .errors import LabError
from .lab import Lab

CLAIM = ("resource.k8s.io/v1", "ResourceClaim")
TEMPLATE = ("resource.k8s.io/v1", "ResourceClaimTemplate")

Undo = Callable[[], None]


class NotUnderstood(LabError):
    """The answer doesn't say enough to carry the remedy out without guessing."""


@dataclass(frozen=True, slots=True)
class Told:
    """One remedy of an answer, with what the answer leaves out because it said it just before."""

    change: str
    kind: str = ""
    namespace: str = ""
    name: str = ""
    field: str = ""
    before: str = ""
    after: str = ""
    apply: str = ""
    nodes: int = 0
    examples: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()


def remedies_of(answer: Output) -> list[Told]:
    """The remedies of an answer: object and field are the blocker's where none is named, the way to apply is the one before's."""
    found: list[Told] = []
    apply = ""
    blocker = answer.blocker
    for entry in answer.remedies:
        apply = entry.apply or apply
        kind, _, full_name = (entry.object or (blocker.object if blocker is not None else None) or "").partition(" ")
        namespace, _, name = full_name.rpartition("/")
        found.append(
            Told(
                entry.change,
                kind,
                namespace,
                name,
                entry.field or (blocker.field if blocker is not None else None) or "",
                entry.from_ or "",
                entry.to or "",
                apply,
                entry.nodes or 0,
                entry.examples,
                entry.objects,
            )
        )
    return found


def carry_out(lab: Lab, pod: Object, told: Told, holders: Sequence[str]) -> tuple[Object, Undo]:
    """Apply a remedy; the pod that should then bind, and what undoes the change. `holders`: the claims that the answer names as such."""
    client = lab.client
    if told.field == "status.allocation":
        named = [entry.removeprefix("ResourceClaim ") for entry in told.objects]
        if not named and told.change.startswith("releasing all"):
            named = list(holders)
        count = re.match(r"releasing (?:all|the) (\d+) ", told.change)
        if count is not None and int(count[1]) != len(named):
            raise NotUnderstood(f"{told.change!r}, but {len(named)} are named")
        return pod, _all([_release(lab, *claim.split("/")) for claim in named or [f"{told.namespace}/{told.name}"]])
    match told.kind:
        case "ResourceClaim":
            return _change_claim(lab, pod, told)
        case "Node" if told.field == "spec.unschedulable":
            node = client.get("v1", "Node", told.name)
            client.patch(node, {"spec": {"unschedulable": None}})
            return pod, lambda: _cordon(client, node)
        case "Node" if "add nodes" in told.apply:
            return pod, _one_more_like(client, told.name)
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
    again = _bare(pod)
    gone(lab, pod)
    return client.create(again), lambda: None


def changed(spec: Object, prefix: str, told: Told) -> Object:
    """A spec with what is told changed: text in place of text as it is, else what YAML makes of it. A value in braces is merged into what
    stands at the field, what is given for a list is added to it, without a value the field goes."""
    spec = copy.deepcopy(spec)
    if "[*]" in told.field:
        raise NotUnderstood(f"{told.change!r} changes {told.field!r}")
    *way, last = steps(told.field.removeprefix(prefix))
    holder: Any = spec
    for step in way:
        holder = _in(holder, step, told)
    if not told.after:
        try:
            del holder[last]
        except (KeyError, IndexError):
            raise NotUnderstood(f"{told.change!r} takes away {told.field!r}, which isn't there") from None
        return spec
    present: Any = holder[last] if isinstance(last, int) else holder.get(last)
    value = told.after if isinstance(present, str) else yaml.safe_load(told.after)
    if last == "tolerations":
        holder[last] = [*(present or ()), *(value if isinstance(value, list) else [value])]
    elif isinstance(value, dict):
        holder[last] = _merged(present if isinstance(present, dict) else {}, value)
    else:
        holder[last] = value
    return spec


def _in(holder: Any, step: str | int, told: Told) -> Any:
    """One step further: a key, a place in a list, or the entry `name=X` of a list."""
    if isinstance(step, int):
        return holder[step]
    if isinstance(holder, list):
        key, _, value = step.partition("=")
        found = [entry for entry in holder if entry.get(key) == value]
        if len(found) != 1:
            raise NotUnderstood(f"{told.change!r}: {step!r} isn't once in {told.field!r}")
        return found[0]
    return holder.setdefault(step, {})


def _merged(old: Object, new: Object) -> Object:
    found = dict(old)
    for key, value in new.items():
        found[key] = _merged(found[key], value) if isinstance(value, dict) and isinstance(found.get(key), dict) else value
    return found


def _with_spec(lab: Lab, old: Object, spec: Object) -> None:
    remake(lab.client, lab.wait, old, {**old, "spec": spec})


def _release(lab: Lab, namespace: str, name: str) -> Undo:
    """End the pods that hold a claim, or delete it if none does; the undo starts them again as they were."""
    client = lab.client
    one = client.get(*CLAIM, name, namespace)
    holders = [
        client.get("v1", "Pod", entry["name"], one["metadata"]["namespace"]) for entry in (one.get("status") or {}).get("reservedFor") or ()
    ]
    for holder in holders:
        gone(lab, holder)
    if not holders:
        client.delete(one)
    kept = [_bare(one), *({**_bare(holder), "spec": {**holder["spec"]}} for holder in holders)]

    def undo() -> None:
        client.patch(one, {"metadata": {"finalizers": None}})
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


def _cordon(client: Client, node: Object) -> None:
    client.patch(node, {"spec": {"unschedulable": True}})


def _one_more_like(client: Client, name: str) -> Undo:
    """A node with the same labels and slices under another name."""
    other = f"{name.split('.')[0]}-x"
    node = client.get("v1", "Node", name)
    twin = _bare(node) | {"status": {key: node["status"][key] for key in ("capacity", "allocatable", "conditions", "nodeInfo")}}
    twin["metadata"] |= {"name": other, "labels": {**node["metadata"]["labels"], "kubernetes.io/hostname": other}}
    made = []
    for piece in client.list("resource.k8s.io/v1", "ResourceSlice"):
        if piece["spec"].get("nodeName") == name:
            spec = {**piece["spec"], "nodeName": other, "pool": {**piece["spec"]["pool"], "name": other}}
            made.append({**_bare(piece), "metadata": {"name": f"{piece['metadata']['name']}-x"}, "spec": spec})
    # Slices first: an attempt between the two would see a node without devices.
    made = [client.create(item) for item in (*made, twin)]

    def undo() -> None:
        for item in made:
            client.delete(item)

    return undo


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
