"""Injection into a cluster that this process didn't start: a lab that is up, or somebody's disposable cluster.

Everything that is made carries a label whose value is this injection's name (no word about the fault), and `clean` deletes what carries
it, nothing else. Nodes that are made have no kubelet: where they aren't in a lab, whose stand-in serves them, the cluster's node controller
takes them for lost after its grace period.
"""

from __future__ import annotations

import argparse
import dataclasses
import secrets
from typing import Any

from fault_injection.lab import folder
from fault_injection.lab.client import Client
from fault_injection.lab.errors import ApiError, LabError
from fault_injection.lab.existing import read_kubeconfig

from .injection import Injection
from .places import ForeignPlace
from .recordings import everything
from .shelf import Entry

Object = dict[str, Any]

LABEL = "k8s-topo-mcp/run"


def cluster(options: argparse.Namespace) -> Client:
    """The cluster that is meant. Raises LabError unless it is a lab, or its owner has said that it is disposable."""
    if options.lab:
        known = folder.facts(options.lab)
        if not known or not known.get("up"):
            raise LabError(f"no lab named {options.lab!r} is up; `lab up --name {options.lab}` starts one")
        return Client(*read_kubeconfig(folder.place(options.lab) / "kubeconfig", options.lab))
    if not options.disposable:
        raise LabError(
            f"context {options.context} isn't touched: nodes, slices and classes would be made in it; "
            "if it may go, say --this-cluster-is-disposable"
        )
    return Client(*read_kubeconfig(options.kubeconfig, options.context))


def inject(chosen: Entry, client: Client, seed: int, innocents: int | None) -> str:
    """Inject, see the symptom, and return the name of this injection. What was made stays until `clean`, unless it fails."""
    run = f"run-{secrets.token_hex(3)}"
    world = chosen.world(seed, innocents)
    # Events of a namespace, and its scheduler, are others' too.
    world.variant = dataclasses.replace(world.variant, old_condition=False, events_expired=False)

    def mark(item: Object) -> Object:
        metadata = item["metadata"]
        return {**item, "metadata": {**metadata, "labels": {**(metadata.get("labels") or {}), LABEL: run}}}

    injection = Injection(world, ForeignPlace(client), mark)
    try:
        injection.run()
        injection.finish()
    except (LabError, ApiError):
        clean(client, run)
        raise
    return run


def clean(client: Client, run: str | None) -> int:
    """Delete what carries the label, and what was made for it; how many objects that were."""
    selected = f"{LABEL}={run}" if run else LABEL
    found = everything(client, labelSelector=selected)
    order = {"Deployment": 0, "StatefulSet": 0, "Job": 0, "DaemonSet": 0, "ReplicaSet": 1, "Pod": 2, "ResourceClaim": 3}
    for item in sorted(found, key=lambda entry: order.get(entry["kind"], 4)):
        client.delete(item, grace=0 if item["kind"] == "Pod" else None)
        now = client.find(item["apiVersion"], item["kind"], item["metadata"]["name"], item["metadata"].get("namespace", "default"))
        if (
            now is not None
            and now["metadata"]["uid"] == item["metadata"]["uid"]
            and now["metadata"].get("finalizers")
            and now["kind"] != "Namespace"
        ):
            client.patch(now, {"metadata": {"finalizers": None}})
    return len(found)
