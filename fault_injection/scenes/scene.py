"""A cluster in code: what is in it, and who waits. Applied to an API server, or written straight to a snapshot.

    scene = Scene(seed=7)
    scene.nodes("p5.48xlarge", 3)
    claim = scene.claim(request("gpu.nvidia.com", 5), constraints=[same("resource.kubernetes.io/numaNode")])
    pod = scene.pod(claim, cpu="2")
    scene.apply(lab.client)        or        view = load_text(scene.text())

Objects are plain dictionaries and may be changed until they are applied. References between them (owners, reservations) are by uid;
applying replaces each with the one that the API server gave.
"""

from __future__ import annotations

import datetime
import functools
import itertools
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from k8s_topo_mcp.scaleup.drivers import Published, in_slices, publish
from k8s_topo_mcp.scaleup.shapes import catalogue, not_known, partitions

from .made_up import CLASSES, Filled
from .names import Names

Object = dict[str, Any]

SHAPES: Mapping[str, Object] = {name: shape for name, shape in catalogue()["shapes"].items() if shape["gpus"]}
"""Machines of which the accelerators are known one by one."""
BY_REQUEST = frozenset({"compute-domain.nvidia.com"})
"""Drivers of which a scene has slices only where it makes them itself."""

BEGAN = datetime.datetime(2026, 11, 2, 8, 0, tzinfo=datetime.UTC)
"""When the first object of a snapshot was made."""
VERSIONS = {"1.34": "v1.34.4", "1.35": "v1.35.4", "1.36": "v1.36.3", "1.37": "v1.37.2"}

POD_CLAIM = "resource.kubernetes.io/pod-claim-name"
PROTECTION = "resource.kubernetes.io/delete-protection"

_ORDER = (
    "Namespace PriorityClass StorageClass DeviceClass Node ResourceSlice DeviceTaintRule ResourceQuota LimitRange Workload PodGroup "
    "PersistentVolume PersistentVolumeClaim ResourceClaimTemplate ResourceClaim"
).split()
"""What must exist before what; everything else comes last, in the order in which it was said."""


class Api(Protocol):
    """What a scene needs of a client."""

    def create(self, item: Object, /) -> Object: ...

    def status(self, item: Object, status: Object, /) -> Object: ...


class Scene:
    """A cluster that is being described. The same calls with the same seed give the same cluster."""

    def __init__(self, seed: int = 0, release: str = "1.37", namespace: str = "default") -> None:
        self.names = Names(seed)
        self.release = release
        self.namespace = namespace
        self.objects: list[Object] = []
        self._by_controllers: list[Object] = []
        self._applied: dict[str, str] = {}
        """uid here -> uid at the API server"""
        if namespace != "default":
            self.add("v1", "Namespace", namespace, namespaced=False)

    # --- hardware -------------------------------------------------------------------------------------------------------------

    def nodes(
        self,
        shape: str,
        number: int = 1,
        *,
        zone: str = "a",
        labels: Mapping[str, str] | None = None,
        taints: Sequence[Object] | None = None,
        mig: bool = False,
        cpu: str | None = None,
        cordoned: bool = False,
        pods: int = 110,
        names: Sequence[str] = (),
    ) -> list[Object]:
        """Nodes of a shape from the catalogue, with the slices that its drivers publish and the classes that come with them.

        `taints` replaces those of the shape; `mig` makes NVIDIA GPUs divisible; `names` in place of those of its provider.
        """
        known = SHAPES.get(shape)
        if known is None:
            raise not_known(shape)
        product = catalogue()["products"][known["product"]]
        table = partitions(known["product"]) if mig else None
        if mig and table is None:
            raise ValueError(f"no table of partitions for {known['product']}")
        found: list[Object] = []
        for place in range(number):
            name = names[place] if names else self.names.node(known["provider"])
            node = self._node(name, known, zone, labels or {}, known["taints"] if taints is None else taints, cpu, cordoned, pods)
            found.append(node)
            for published in publish(known, product, table, Filled(self.names.uid)):
                if published.driver in BY_REQUEST:
                    continue
                self._slices(node, published)
                self.device_class(published.driver)
                if mig and published.driver == "gpu.nvidia.com":
                    self.device_class("mig.nvidia.com")
        return found

    def plain_nodes(
        self,
        number: int = 1,
        *,
        cpu: str = "16",
        memory: str = "64Gi",
        zone: str = "a",
        labels: Mapping[str, str] | None = None,
        taints: Sequence[Object] = (),
    ) -> list[Object]:
        """Nodes without accelerators."""
        shape = {"provider": "onprem", "vcpu": None, "memoryMi": None, "allocatable": {"cpu": cpu, "memory": memory}, "labels": {}}
        return [self._node(self.names.node(shape["provider"]), shape, zone, labels or {}, taints, None, False, 110) for _ in range(number)]

    def slices_of(self, node: Object, driver: str | None = None) -> list[Object]:
        """The slices of a node, to be changed."""
        return [
            item
            for item in self.objects
            if item["kind"] == "ResourceSlice"
            and item["spec"].get("nodeName") == node["metadata"]["name"]
            and driver in (None, item["spec"]["driver"])
        ]

    def devices_of(self, node: Object, driver: str) -> list[Object]:
        return [device for piece in self.slices_of(node, driver) for device in piece["spec"].get("devices") or ()]

    def taint_devices(self, node: Object, driver: str, taint: Object, *names: str) -> None:
        """Put a taint on devices of a node, on all of a driver if none is named."""
        for device in self.devices_of(node, driver):
            if not names or device["name"] in names:
                device.setdefault("taints", []).append(dict(taint))

    # --- classes, claims, templates ----------------------------------------------------------------------------------------------

    def device_class(self, name: str, selector: str | None = None, **spec: Any) -> str:
        """A class; the drivers' own are known by name. The same name twice is one class."""
        if not any(item["kind"] == "DeviceClass" and item["metadata"]["name"] == name for item in self.objects):
            expression = CLASSES.get(name) if selector is None else selector
            selectors = {"selectors": [{"cel": {"expression": expression}}]} if expression else {}
            self.add("resource.k8s.io/v1", "DeviceClass", name, namespaced=False, spec={**selectors, **spec})
        return name

    def claim(self, *requests: Object, constraints: Sequence[Object] = (), name: str | None = None) -> Object:
        """A claim by name, to be used by one pod or several."""
        return self.add("resource.k8s.io/v1", "ResourceClaim", name or self.names.word(), spec=_claim_spec(requests, constraints))

    def template(self, *requests: Object, constraints: Sequence[Object] = (), name: str | None = None) -> Object:
        """A template: each pod that uses it gets a claim of its own."""
        spec = {"spec": _claim_spec(requests, constraints)}
        return self.add("resource.k8s.io/v1", "ResourceClaimTemplate", name or self.names.word(), spec=spec)

    # --- pods --------------------------------------------------------------------------------------------------------------------

    def pod(
        self,
        *claims: Object | str,
        name: str | None = None,
        cpu: str = "1",
        memory: str | None = None,
        selector: Mapping[str, str] | None = None,
        affinity: Object | None = None,
        tolerations: Sequence[Object] = (),
        resources: Mapping[str, str] | None = None,
        labels: Mapping[str, str] | None = None,
        **spec: Any,
    ) -> Object:
        """A pod that waits. Claims are given as claim or template objects, or as the name of a claim that needn't exist."""
        made = self.pod_spec(
            *claims, cpu=cpu, memory=memory, selector=selector, affinity=affinity, tolerations=tolerations, resources=resources
        )
        pod = self.add("v1", "Pod", name or self.names.word(), spec={**made, **spec}, labels=labels)
        self._by_controller(pod, claims)
        return pod

    def pod_spec(
        self,
        *claims: Object | str,
        cpu: str = "1",
        memory: str | None = None,
        selector: Mapping[str, str] | None = None,
        affinity: Object | None = None,
        tolerations: Sequence[Object] = (),
        resources: Mapping[str, str] | None = None,
    ) -> Object:
        """The spec of a pod or of a workload's template."""
        requests = {"cpu": cpu, **({"memory": memory} if memory else {}), **(resources or {})}
        limits = {name: amount for name, amount in (resources or {}).items() if "/" in name}
        container: Object = {"name": "main", "image": "registry.example/app:1", "resources": {"requests": requests}}
        if limits:
            container["resources"]["limits"] = limits
        spec: Object = {"containers": [container]}
        entries: list[Object] = []
        for number, claim in enumerate(claims):
            entry: Object = {"name": f"devices-{number}"}
            if isinstance(claim, str):
                entry["resourceClaimName"] = claim
            else:
                field = "resourceClaimTemplateName" if claim["kind"] == "ResourceClaimTemplate" else "resourceClaimName"
                entry[field] = claim["metadata"]["name"]
            entries.append(entry)
        if entries:
            spec["resourceClaims"] = entries
            container["resources"]["claims"] = [{"name": entry["name"]} for entry in entries]
        if selector:
            spec["nodeSelector"] = dict(selector)
        if affinity:
            spec["affinity"] = affinity
        if tolerations:
            spec["tolerations"] = list(tolerations)
        return spec

    def running(
        self, node: Object, devices: Sequence[str] = (), driver: str = "gpu.nvidia.com", *, cpu: str = "1", device_class: str | None = None
    ) -> Object:
        """A pod that runs on a node and holds these devices of it."""
        claims: tuple[Object, ...] = ()
        if devices:
            claim = self.claim(
                {
                    "name": "dev",
                    "exactly": {"deviceClassName": device_class or driver, "allocationMode": "ExactCount", "count": len(devices)},
                }
            )
            self.allocate(claim, node, devices, driver)
            claims = (claim,)
        spec = {**self.pod_spec(*claims, cpu=cpu, tolerations=[{"operator": "Exists"}]), "nodeName": node["metadata"]["name"]}
        pod = self.add("v1", "Pod", self.names.word(), spec=spec)
        for claim in claims:
            claim["status"]["reservedFor"] = [{"resource": "pods", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}]
        return pod

    def allocate(self, claim: Object, node: Object, devices: Sequence[str], driver: str = "gpu.nvidia.com") -> None:
        """Give devices of a node to a claim, as the scheduler would have."""
        name = node["metadata"]["name"]
        results = [
            {"request": claim["spec"]["devices"]["requests"][0]["name"], "driver": driver, "pool": name, "device": device}
            for device in devices
        ]
        fields = [{"key": "metadata.name", "operator": "In", "values": [name]}]
        claim["metadata"]["finalizers"] = [PROTECTION]
        claim["status"] = {
            "allocation": {
                "devices": {"results": results},
                "nodeSelector": {"nodeSelectorTerms": [{"matchFields": fields}]},
                "allocationTimestamp": claim["metadata"]["creationTimestamp"],
            }
        }

    def workload(self, kind: str, replicas: int, *claims: Object | str, name: str | None = None, **pod: Any) -> Object:
        """A Job, ReplicaSet or StatefulSet and the pods that its controller makes of it. `pod` as for `pod`."""
        label = {"app": name or self.names.word()}
        template = {"metadata": {"labels": label}, "spec": self.pod_spec(*claims, **pod)}
        if kind == "Job":
            template["spec"]["restartPolicy"] = "Never"
            spec: Object = {"parallelism": replicas, "completions": replicas, "template": template}
        elif kind in ("ReplicaSet", "StatefulSet"):
            spec = {"replicas": replicas, "selector": {"matchLabels": label}, "template": template}
        else:
            raise ValueError(f"a scene makes Job, ReplicaSet and StatefulSet, not {kind}")
        owner = self.add("batch/v1" if kind == "Job" else "apps/v1", kind, label["app"], spec=spec)
        for number in range(replicas):
            name = f"{label['app']}-{number if kind == 'StatefulSet' else self.names.suffix()}"
            made = self._object("v1", "Pod", name, labels=label, spec=json.loads(json.dumps(template["spec"])))
            made["metadata"]["ownerReferences"] = [_owner(owner)]
            made["status"] = _waiting()
            self._by_controllers.append(made)
            self._by_controller(made, claims)
        return owner

    # --- the rest ----------------------------------------------------------------------------------------------------------------

    def quota(self, **hard: str) -> Object:
        """A ResourceQuota: quota(**{"gpu.nvidia.com.deviceclass.resource.k8s.io/devices": "4"})."""
        return self.add("v1", "ResourceQuota", self.names.word(), spec={"hard": hard})

    def priority(self, name: str, value: int, preempts: bool = True) -> Object:
        found = self.add("scheduling.k8s.io/v1", "PriorityClass", name, namespaced=False)
        found |= {"value": value, "preemptionPolicy": "PreemptLowerPriority" if preempts else "Never"}
        return found

    def add(
        self, api_version: str, kind: str, name: str, *, namespaced: bool = True, labels: Mapping[str, str] | None = None, **fields: Any
    ) -> Object:
        """Any object. `fields` are its top-level fields."""
        made = self._object(api_version, kind, name, namespaced=namespaced, labels=labels, **fields)
        if kind == "Pod" and "status" not in made:
            made["status"] = _waiting() if not made["spec"].get("nodeName") else {"phase": "Running"}
        self.objects.append(made)
        return made

    def remove(self, item: Object) -> None:
        """Take an object out again, before it is applied."""
        self.objects = [entry for entry in self.objects if entry is not item]

    # --- out ---------------------------------------------------------------------------------------------------------------------

    def snapshot(self) -> Object:
        """The scene as a v1 List, with what controllers would have added, and the version that it is meant for."""
        version = VERSIONS[self.release]
        major, minor, _ = version.removeprefix("v").split(".")
        info = {
            "apiVersion": "k8s-topo-mcp/v1",
            "kind": "SnapshotInfo",
            "asOf": _moment(len(self.objects) + 600),
            "version": {"major": major, "minor": minor, "gitVersion": version},
        }
        items = [info, *self.objects, *self._by_controllers]
        return {"apiVersion": "v1", "kind": "List", "metadata": {}, "items": json.loads(json.dumps(items))}

    def text(self) -> str:
        return json.dumps(self.snapshot())

    def apply(self, api: Api, items: Sequence[Object] | None = None, workers: int = 1) -> None:
        """Create at an API server what isn't there yet from this scene (or of `items` of it); may be called again after more was said.

        With `workers` several objects of one kind at a time, which is faster and gives them no order.
        """
        new = [item for item in (self.objects if items is None else items) if item["metadata"]["uid"] not in self._applied]
        rank = {kind: number for number, kind in enumerate(_ORDER)}
        ordered = sorted(new, key=lambda entry: rank.get(entry["kind"], len(rank)))
        if workers == 1:
            for item in ordered:
                self._create(api, item)
        else:
            with ThreadPoolExecutor(workers) as pool:
                for _, alike in itertools.groupby(ordered, key=lambda entry: entry["kind"]):
                    list(pool.map(functools.partial(self._create, api), alike))
        for claim in new:
            reserved = (claim.get("status") or {}).get("reservedFor") if claim["kind"] == "ResourceClaim" else None
            if reserved:
                api.status(claim, {"reservedFor": self.with_real_uids(reserved)})

    def _create(self, api: Api, item: Object) -> None:
        made = self.with_real_uids(json.loads(json.dumps(item)))
        for field in ("uid", "creationTimestamp"):
            made["metadata"].pop(field)
        status = made.get("status") or {}
        if made["kind"] == "Pod":
            made.pop("status", None)  # the scheduler's and the kubelet's to write
        status.pop("reservedFor", None)  # its pods don't exist yet
        real = api.create(made)
        self._applied[item["metadata"]["uid"]] = real["metadata"]["uid"]

    def with_real_uids(self, value: Any) -> Any:
        """A structure with each uid of the scene replaced by the one that the API server gave."""
        match value:
            case dict():
                return {key: self.with_real_uids(inner) for key, inner in value.items()}
            case list():
                return [self.with_real_uids(inner) for inner in value]
            case str():
                return self._applied.get(value, value)
            case _:
                return value

    # --- making ------------------------------------------------------------------------------------------------------------------

    def _object(
        self, api_version: str, kind: str, name: str, *, namespaced: bool = True, labels: Mapping[str, str] | None = None, **fields: Any
    ) -> Object:
        metadata: Object = {"name": name, "uid": self.names.uid(), "creationTimestamp": _moment(len(self.objects))}
        if namespaced:
            metadata["namespace"] = self.namespace
        if labels:
            metadata["labels"] = dict(labels)
        return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}

    def _node(
        self,
        name: str,
        shape: Mapping[str, Any],
        zone: str,
        labels: Mapping[str, str],
        taints: Sequence[Object],
        cpu: str | None,
        cordoned: bool,
        pods: int,
    ) -> Object:
        own = {key: value for key, value in (shape["labels"] or {}).items() if not value.startswith("<")}
        allocatable = dict(shape.get("allocatable") or {})
        allocatable.setdefault("cpu", str(shape["vcpu"] or 128))
        allocatable.setdefault("memory", f"{shape['memoryMi'] or 1048576}Mi")
        if cpu is not None:
            allocatable["cpu"] = cpu
        allocatable["pods"] = str(pods)
        spec: Object = {"taints": [dict(taint) for taint in taints]} if taints else {}
        if cordoned:
            spec["unschedulable"] = True
            spec.setdefault("taints", []).append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
        moment = _moment(0)
        info = {
            "architecture": own.get("kubernetes.io/arch", "amd64"),
            "operatingSystem": "linux",
            "kubeletVersion": VERSIONS[self.release],
        }
        blank = ("bootID", "containerRuntimeVersion", "kernelVersion", "kubeProxyVersion", "machineID", "osImage", "systemUUID")
        return self.add(
            "v1",
            "Node",
            name,
            namespaced=False,
            labels={"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone, "kubernetes.io/os": "linux", **own, **labels},
            spec=spec,
            status={
                "capacity": dict(allocatable),
                "allocatable": allocatable,
                "conditions": [
                    {"type": "Ready", "status": "True", "reason": "KubeletReady", "lastHeartbeatTime": moment, "lastTransitionTime": moment}
                ],
                "nodeInfo": {**dict.fromkeys(blank, ""), **info},
            },
        )

    def _slices(self, node: Object, published: Published) -> None:
        """Slices of one pool."""
        name, driver = node["metadata"]["name"], published.driver
        parts = in_slices(published, combined=self.release == "1.34")
        for part in parts:
            self.add(
                "resource.k8s.io/v1",
                "ResourceSlice",
                f"{name}-{driver}-{self.names.suffix()}",
                namespaced=False,
                spec={
                    "driver": driver,
                    "nodeName": name,
                    "pool": {"name": name, "generation": 1, "resourceSliceCount": len(parts)},
                    **part,
                },
            )

    def _by_controller(self, pod: Object, claims: Sequence[Object | str]) -> None:
        """The claims that the claim controller makes for a pod from templates."""
        statuses: list[Object] = []
        for entry, claim in zip(pod["spec"].get("resourceClaims") or (), claims, strict=True):
            if isinstance(claim, str) or claim["kind"] != "ResourceClaimTemplate":
                continue
            name = f"{pod['metadata']['name']}-{entry['name']}-{self.names.suffix()}"
            made = self._object("resource.k8s.io/v1", "ResourceClaim", name, spec=json.loads(json.dumps(claim["spec"]["spec"])))
            made["metadata"] |= {"annotations": {POD_CLAIM: entry["name"]}, "ownerReferences": [_owner(pod)]}
            self._by_controllers.append(made)
            statuses.append({"name": entry["name"], "resourceClaimName": name})
        if statuses:
            pod["status"]["resourceClaimStatuses"] = statuses


def _claim_spec(requests: Sequence[Object], constraints: Sequence[Object]) -> Object:
    devices: Object = {"requests": list(requests)}
    if constraints:
        devices["constraints"] = list(constraints)
    return {"devices": devices}


def _owner(item: Object) -> Object:
    own = item["metadata"]
    return {
        "apiVersion": item["apiVersion"],
        "kind": item["kind"],
        "name": own["name"],
        "uid": own["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _waiting() -> Object:
    return {"phase": "Pending"}


def _moment(seconds: int) -> str:
    return (BEGAN + datetime.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
