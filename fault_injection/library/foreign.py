"""Injection into a cluster that this process didn't start: a lab that is up, or somebody's disposable cluster.

Everything that is made carries a label whose value is this injection's name (no word about the fault), and `clean` deletes what carries
it, nothing else. Nodes that are made have no kubelet: in a lab its stand-in serves them, elsewhere one of this process, for these nodes
alone and as long as `inject` runs.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import functools
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx

from fault_injection.lab import folder
from fault_injection.lab.client import Client
from fault_injection.lab.errors import ApiError, LabError
from fault_injection.lab.existing import read_kubeconfig
from fault_injection.lab.kubelets import Kubelets
from fault_injection.lab.recording import objects

from .custom_kinds import DEFINITION, defined_by
from .injection import Injection
from .places import ForeignPlace
from .shelf import Entry
from .steps import named

Object = dict[str, Any]

LABEL = "k8s-topo-mcp/run"


def cluster(options: argparse.Namespace) -> Callable[[], Client]:
    """How to reach the cluster that is meant. Raises LabError unless it is a lab, or its owner has said that it is disposable."""
    if options.lab:
        known = folder.facts(options.lab)
        if not known or not known.get("up"):
            raise LabError(f"no lab named {options.lab!r} is up; `lab up --name {options.lab}` starts one")
        return functools.partial(_client, folder.place(options.lab) / "kubeconfig", options.lab)
    if not options.disposable:
        raise LabError(
            f"context {options.context} isn't touched: nodes, slices and classes would be made in it; "
            "if it may go, say --this-cluster-is-disposable"
        )
    return functools.partial(_client, options.kubeconfig, options.context)


def _client(kubeconfig: Path, context: str) -> Client:
    return Client(*read_kubeconfig(kubeconfig, context))


@contextlib.contextmanager
def injected(
    chosen: Entry,
    connect: Callable[[], Client],
    seed: int,
    innocents: int | None,
    kubelets: bool,
    tell: Callable[[str], None] = lambda run: None,
) -> Iterator[str]:
    """Inject, see the symptom, and give the name of this injection; `tell` hears it before anything is made.

    What was made stays until `clean`, unless the injection fails or is interrupted. With `kubelets` the nodes that are made are
    served until the end.
    """
    run = f"run-{secrets.token_hex(3)}"
    client = connect()
    world = chosen.world(seed, innocents)
    # Events of a namespace, and its scheduler, are others' too.
    world.variant = dataclasses.replace(world.variant, old_condition=False, events_expired=False)

    def mark(item: Object) -> Object:
        metadata = item["metadata"]
        return {**item, "metadata": {**metadata, "labels": {**(metadata.get("labels") or {}), LABEL: run}}}

    nodes = {item["metadata"]["name"] for step in world.steps for item in named(step) if item["kind"] == "Node"}
    served = Kubelets(connect, client.call("GET", "/version")["gitVersion"], nodes) if kubelets else None
    injection = Injection(world, ForeignPlace(client), mark)
    tell(run)
    try:
        if served is not None:
            served.start()
        try:
            injection.run()
            injection.finish()
        except BaseException as error:
            _take_back(client, run, error)
            if isinstance(error, ApiError) and error.status == 409:
                raise LabError(f"{error.message}: another injection, or the cluster's own; `clean` removes what inject made") from None
            raise
        yield run
    finally:
        if served is not None:
            served.stop()
        client.close()


def _take_back(client: Client, run: str, failure: BaseException) -> None:
    try:
        clean(client, run)
    except (LabError, ApiError, httpx.HTTPError) as error:
        why = str(failure) or type(failure).__name__
        raise LabError(f"{why}; what was made couldn't be removed ({error}): `clean --run {run}` does") from failure


def clean(client: Client, run: str | None) -> int:
    """Delete what carries the label (of this run, or of any), and what was made for it; how many objects that were.

    A definition of a kind goes last, and only if no object of that kind is left: what others made of it would go with it.
    """
    selected = f"{LABEL}={run}" if run else LABEL
    found = [item for item in objects(client, labelSelector=selected) if _carries(item, run)]
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
            client.let_go(now)
    definitions = [item for item in client.list(*DEFINITION, labelSelector=selected) if _carries(item, run)]
    unused = [item for item in definitions if not (client.serves(*defined_by(item)) and client.list(*defined_by(item)))]
    for item in unused:
        client.delete(item)
    return len(found) + len(unused)


def _carries(item: Object, run: str | None) -> bool:
    mark = (item["metadata"].get("labels") or {}).get(LABEL)
    return mark is not None and run in (None, mark)
