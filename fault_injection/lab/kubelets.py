"""A stand-in for all kubelets of a lab: one thread that keeps nodes Ready, renews their Leases, and runs the pods that are bound.

It does what others wait for and nothing else: no containers, no devices prepared. Driver DaemonSet pods become Running as every bound pod
does. `hold` and `silence` make it leave pods or nodes alone, which is how faults are told to it.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import threading
from collections.abc import Callable, Collection
from typing import Any

import httpx

from .client import STRATEGIC, Client, Object
from .errors import ApiError, LabError

RENEW = 10.0
"""Seconds between two renewals of a Lease, as real kubelets do it."""
PER_SECOND = 20.0
"""Leases that one machine renews for all of a large cluster's kubelets without doing little else."""
RETRY = 0.2

NOT_READY = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
NODE_INFO = {
    "architecture": "amd64",
    "bootID": "",
    "containerRuntimeVersion": "containerd://2.1.4",
    "kernelVersion": "6.8.0",
    "kubeProxyVersion": "",
    "machineID": "",
    "operatingSystem": "linux",
    "osImage": "Ubuntu 24.04.3 LTS",
    "systemUUID": "",
}


def _taints(taints: list[Object], ready: bool, cordoned: bool) -> list[Object]:
    """What the node lifecycle controller, which doesn't run here, makes of a node's taints (pkg/controller/nodelifecycle)."""
    found = [taint for taint in taints if not (ready and taint["key"] in NOT_READY)]
    if not cordoned:
        return [taint for taint in found if taint["key"] != UNSCHEDULABLE]
    if all(taint["key"] != UNSCHEDULABLE for taint in found):
        found.append({"key": UNSCHEDULABLE, "effect": "NoSchedule"})
    return found


class Kubelets:
    """Started and stopped with the lab. `version` is what the nodes report as their kubelet's; `only`: the names of the nodes to serve,
    where others have kubelets of their own."""

    def __init__(self, client: Callable[[], Client], version: str, only: Collection[str] | None = None) -> None:
        self._only = only
        self._make_client = client
        self._version = version
        self.stopping = threading.Event()
        self._threads: list[threading.Thread] = []
        self._clients: list[Client] = []
        self._held: set[tuple[str, str]] = set()
        self._silent: set[str] = set()
        self._nodes: set[str] = set()
        self.errors: list[str] = []

    def start(self) -> None:
        for work in (self._watch_nodes, self._watch_pods, self._renew_all):
            client = self._make_client()
            self._clients.append(client)
            thread = threading.Thread(target=self._guarded, args=(work, client), name=f"kubelets-{work.__name__}", daemon=True)
            thread.start()
            self._threads.append(thread)

    def stop(self) -> None:
        self.stopping.set()
        for thread in self._threads:
            thread.join(timeout=2)
        for client in self._clients:
            client.close()

    # --- faults ---------------------------------------------------------------------------------------------------------------

    def hold(self, name: str, namespace: str = "default") -> None:
        """Leave a pod as it is once it is bound: its containers don't start, and those that run don't end in the pod's grace period."""
        self._held.add((namespace, name))

    def release(self) -> None:
        """Hold and silence nobody any more."""
        self._held.clear()
        self._silent.clear()

    def silence(self, node: str) -> None:
        """A kubelet that died: its Lease gets old and its pods don't change."""
        self._silent.add(node)

    # --- nodes ----------------------------------------------------------------------------------------------------------------

    def _watch_nodes(self, client: Client) -> None:
        self._follow(client, "Node", client.path("v1", "Node", None, None), self._node)

    def _node(self, client: Client, node: Object, deleted: bool) -> None:
        name = node["metadata"]["name"]
        if self._only is not None and name not in self._only:
            return
        if deleted or name in self._silent:
            self._nodes.discard(name)
            return
        status = node.get("status") or {}
        if name not in self._nodes:
            self._nodes.add(name)
            self._renew(client, name)
        ready = any(entry["type"] == "Ready" for entry in status.get("conditions") or ())
        info = status.get("nodeInfo") or {}
        change: Object = {}
        if not info.get("kubeletVersion"):
            architecture = (node["metadata"].get("labels") or {}).get("kubernetes.io/arch", "amd64")
            change["nodeInfo"] = {**NODE_INFO, "architecture": architecture, "kubeletVersion": self._version}
        if not ready:
            moment = now()
            change["conditions"] = [
                {"type": kind, "status": state, "reason": reason, "lastHeartbeatTime": moment, "lastTransitionTime": moment}
                for kind, state, reason in (
                    ("MemoryPressure", "False", "KubeletHasSufficientMemory"),
                    ("DiskPressure", "False", "KubeletHasNoDiskPressure"),
                    ("PIDPressure", "False", "KubeletHasSufficientPID"),
                    ("Ready", "True", "KubeletReady"),
                )
            ]
        if change:
            client.patch(node, {"status": change}, "status", STRATEGIC)
        is_ready = not ready or any(entry["type"] == "Ready" and entry["status"] == "True" for entry in status["conditions"])
        spec = node.get("spec") or {}
        taints = spec.get("taints") or []
        wanted = _taints(taints, is_ready, bool(spec.get("unschedulable")))
        if wanted != taints:
            # With the version that was read: a taint that somebody adds meanwhile isn't lost.
            metadata = (
                {"resourceVersion": client.get("v1", "Node", name)["metadata"]["resourceVersion"]}
                if change
                else {"resourceVersion": node["metadata"]["resourceVersion"]}
            )
            client.patch(node, {"metadata": metadata, "spec": {"taints": wanted}})

    def _renew_all(self, client: Client) -> None:
        while not self.stopping.wait(max(RENEW, len(self._nodes) / PER_SECOND)):
            for name in sorted(self._nodes - self._silent):
                with contextlib.suppress(ApiError):
                    self._renew(client, name)

    def _renew(self, client: Client, node: str) -> None:
        moment = now(micro=True)
        lease: Object = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": node, "namespace": "kube-node-lease"},
        }
        spec = {"holderIdentity": node, "leaseDurationSeconds": 40, "renewTime": moment}
        try:
            client.patch(lease, {"spec": spec})
        except ApiError as error:
            if error.status != 404:
                raise
            with contextlib.suppress(ApiError):
                client.create({**lease, "spec": {**spec}})

    # --- pods -----------------------------------------------------------------------------------------------------------------

    def _watch_pods(self, client: Client) -> None:
        self._follow(client, "Pod", client.path("v1", "Pod", None, None), self._pod)

    def _pod(self, client: Client, pod: Object, deleted: bool) -> None:
        metadata, spec = pod["metadata"], pod["spec"]
        node = spec.get("nodeName")
        if deleted or not node or node in self._silent or (self._only is not None and node not in self._only):
            return
        held = (metadata["namespace"], metadata["name"]) in self._held
        phase = (pod.get("status") or {}).get("phase")
        if metadata.get("deletionTimestamp"):
            if not (held and phase == "Running"):
                client.delete(pod, grace=0)
        elif phase == "Pending" and not held:
            client.patch(pod, {"status": running(pod)}, "status", STRATEGIC)

    # --- watching -------------------------------------------------------------------------------------------------------------

    def _follow(self, client: Client, kind: str, path: str, see: Callable[[Client, Object, bool], None]) -> None:
        """List, then watch, for ever; each object is seen once per change."""
        while not self.stopping.is_set():
            found = client.call("GET", path)
            for item in found.get("items") or ():
                self._see(client, see, {"apiVersion": "v1", "kind": kind, **item}, False)
            version = found["metadata"]["resourceVersion"]
            with client.watch(path, version) as lines:
                for line in lines:
                    event: dict[str, Any] = json.loads(line)
                    if self.stopping.is_set() or event["type"] == "ERROR":
                        break
                    if event["type"] != "BOOKMARK":
                        self._see(client, see, event["object"], event["type"] == "DELETED")

    def _see(self, client: Client, see: Callable[[Client, Object, bool], None], item: Object, deleted: bool) -> None:
        try:
            see(client, item, deleted)
        except ApiError as error:
            if error.status not in (404, 409):  # gone or changed meanwhile: the next event tells
                self.errors.append(str(error))

    def _guarded(self, work: Callable[[Client], None], client: Client) -> None:
        """A thread that lives until `stop`, whatever the API server does."""
        while not self.stopping.is_set():
            try:
                work(client)
            except (httpx.HTTPError, ApiError, LabError, RuntimeError, ValueError) as error:
                if not self.stopping.is_set():
                    self.errors.append(f"{type(error).__name__}: {error}")
            self.stopping.wait(RETRY)


def running(pod: Object) -> Object:
    """The status of a pod whose containers all run."""
    moment = now()

    def containers(field: str) -> list[Object]:
        return [
            {
                "name": container["name"],
                "image": container.get("image", ""),
                "imageID": "",
                "ready": True,
                "started": True,
                "restartCount": 0,
                "state": {"running": {"startedAt": moment}},
            }
            for container in pod["spec"].get(field) or ()
        ]

    conditions = [
        {"type": kind, "status": "True", "lastTransitionTime": moment}
        for kind in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady")
    ]
    status: Object = {
        "phase": "Running",
        "conditions": conditions,
        "startTime": moment,
        "podIP": "10.244.0.1",
        "podIPs": [{"ip": "10.244.0.1"}],
        "containerStatuses": containers("containers"),
    }
    ended = {"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": moment, "finishedAt": moment}}
    sidecars = {container["name"] for container in pod["spec"].get("initContainers") or () if container.get("restartPolicy") == "Always"}
    first = [entry if entry["name"] in sidecars else {**entry, "state": ended} for entry in containers("initContainers")]
    if first:
        status["initContainerStatuses"] = first
    return status


def now(micro: bool = False) -> str:
    """The present as the API writes it."""
    moment = datetime.datetime.now(datetime.UTC)  # noqa: TID251 - a kubelet has a clock
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ" if micro else "%Y-%m-%dT%H:%M:%SZ")
