"""A made-up cluster of any size, as a snapshot: nodes with GPUs, claims that hold most of them, pods that wait for more.

    python benchmarks/cluster.py /tmp/big.json                          5,000 nodes, 40,000 devices, 10,000 pods
    python benchmarks/cluster.py /tmp/small.json.gz --nodes 100 --pods 300
    python benchmarks/cluster.py /tmp/mixed.json --pods 50000 --waiting 500   500 pods wait, for many causes; the others run
    python benchmarks/cluster.py --load /tmp/big.json                   time and peak memory of reading it

The objects look like those of a real API server, managed fields and environment included. The same arguments give the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

GPUS = 8
DRIVER = "gpu.nvidia.com"
SIZES = (1, 1, 2, 4, 4, 8)
TIME = "2026-11-01T10:00:00Z"
NOW = "2026-11-01T12:00:00Z"

Object = dict[str, Any]


def uid(text: str) -> str:
    digest = hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
    return f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:]}"


def meta(name: str, namespace: str = "", **more: Any) -> Object:
    place = {"namespace": namespace} if namespace else {}
    number = int(hashlib.md5(name.encode(), usedforsecurity=False).hexdigest()[:6], 16)
    return {
        "name": name,
        **place,
        "uid": uid(namespace + name),
        "resourceVersion": str(100_000 + number),
        "creationTimestamp": TIME,
        **more,
        "managedFields": [
            {
                "manager": "kube-controller-manager",
                "operation": "Update",
                "apiVersion": "v1",
                "time": TIME,
                "fieldsType": "FieldsV1",
                "fieldsV1": {
                    "f:metadata": {"f:labels": {".": {}, "f:app": {}}},
                    "f:spec": {"f:containers": {'k:{"name":"main"}': {"f:env": {}}}},
                },
            }
        ],
    }


def node(i: int) -> Object:
    name = f"node-{i:05}"
    amounts = {"cpu": "192", "memory": "2113459408Ki", "pods": "110", "ephemeral-storage": "3777Gi", "hugepages-2Mi": "0"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": meta(
            name,
            labels={
                "kubernetes.io/hostname": name,
                "topology.kubernetes.io/zone": f"eu-west-1{'abc'[i % 3]}",
                "topology.kubernetes.io/region": "eu-west-1",
                "node.kubernetes.io/instance-type": "p5.48xlarge",
                "topology.k8s.aws/network-node-layer-3": f"nn-{i // 64}",
            },
            annotations={"node.alpha.kubernetes.io/ttl": "0"},
        ),
        "spec": {"providerID": f"aws:///eu-west-1a/i-{i:017x}"},
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": [
                {
                    "type": kind,
                    "status": status,
                    "lastHeartbeatTime": NOW,
                    "lastTransitionTime": TIME,
                    "reason": "Kubelet",
                    "message": "kubelet says so",
                }
                for kind, status in (("MemoryPressure", "False"), ("DiskPressure", "False"), ("PIDPressure", "False"), ("Ready", "True"))
            ],
            "addresses": [{"type": "InternalIP", "address": f"10.{i >> 16 & 255}.{i >> 8 & 255}.{i & 255}"}],
            "nodeInfo": {"kubeletVersion": "v1.37.2", "architecture": "amd64", "operatingSystem": "linux", "osImage": "Linux"},
            "images": [{"names": [f"registry.example.com/ml/{k}@sha256:{uid(str(k)) * 2}"], "sizeBytes": 1234567} for k in range(10)],
        },
    }


def piece(i: int) -> Object:
    """The ResourceSlice of node i."""
    name = f"node-{i:05}"
    devices = []
    for g in range(GPUS):
        device: Object = {
            "name": f"gpu-{g}",
            "attributes": {
                "uuid": {"string": f"GPU-{uid(f'{i}.{g}')}"},
                "productName": {"string": "NVIDIA H100 80GB HBM3" if i % 3 else "NVIDIA A100-SXM4-80GB"},
                "architecture": {"string": "Hopper" if i % 3 else "Ampere"},
                "brand": {"string": "Nvidia"},
                "cudaComputeCapability": {"version": "9.0.0"},
                "cudaDriverVersion": {"version": "12.8.0"},
                "driverVersion": {"version": "570.124.6"},
                "index": {"int": g},
                "minor": {"int": g},
                "type": {"string": "gpu"},
                "resource.kubernetes.io/pciBusID": {"string": f"0000:{g:02x}:00.0"},
                "resource.kubernetes.io/pcieRoot": {"string": f"pci0000:{g // 2:02x}"},
                "resource.kubernetes.io/numaNode": {"int": g // 4},
            },
            "capacity": {"memory": {"value": "81559Mi"}, "multiprocessors": {"value": "132"}},
        }
        if (i * GPUS + g) % 977 == 0:
            device["taints"] = [{"key": "health", "value": "degraded", "effect": "NoSchedule", "timeAdded": TIME}]
        devices.append(device)
    owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": uid(name), "controller": True}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": meta(f"{name}-{DRIVER}", generation=1, ownerReferences=[owner]),
        "spec": {"driver": DRIVER, "pool": {"name": name, "generation": 1, "resourceSliceCount": 1}, "nodeName": name, "devices": devices},
    }


def template(namespace: str, size: int) -> Object:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": meta(f"gpus-{size}", namespace),
        "spec": {"spec": claim_spec(size)},
    }


def claim_spec(size: int, request: Object | None = None, more: Object | None = None) -> Object:
    exactly = {"deviceClassName": DRIVER, "allocationMode": "ExactCount", "count": size, **(request or {})}
    return {"devices": {"requests": [{"name": "gpu", "exactly": exactly}], **(more or {})}}


def claim(name: str, namespace: str, size: int, pod: str, on: tuple[int, int] | None, spec: Object | None = None) -> Object:
    """A generated claim; `on` is the node and the first device that it holds."""
    owner = {"apiVersion": "v1", "kind": "Pod", "name": pod, "uid": uid(namespace + pod), "controller": True, "blockOwnerDeletion": True}
    found: Object = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": meta(name, namespace, ownerReferences=[owner], annotations={"resource.kubernetes.io/pod-claim-name": "gpu"}),
        "spec": spec or claim_spec(size),
    }
    if on is not None:
        host = f"node-{on[0]:05}"
        results = [{"request": "gpu", "driver": DRIVER, "pool": host, "device": f"gpu-{on[1] + k}"} for k in range(size)]
        field = {"key": "metadata.name", "operator": "In", "values": [host]}
        found["status"] = {
            "allocation": {
                "devices": {"results": results},
                "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [field]}]},
                "allocationTimestamp": TIME,
            },
            "reservedFor": [{"resource": "pods", "name": pod, "uid": uid(namespace + pod)}],
        }
    return found


def pod(name: str, namespace: str, job: str, size: int, claim_name: str, host: str | None) -> Object:
    containers = [
        {
            "name": entry,
            "image": f"registry.example.com/ml/{entry}:v1",
            "args": ["--a", "--b"],
            "env": [{"name": f"ENV_{k}", "value": f"value-{k}-{name}"} for k in range(8)],
            "resources": {
                "limits": {"cpu": "8", "memory": "64Gi"},
                "requests": {"cpu": "4", "memory": "32Gi"},
                "claims": [{"name": "gpu"}],
            },
            "volumeMounts": [{"name": "kube-api-access-x", "readOnly": True, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}],
            "terminationMessagePath": "/dev/termination-log",
            "imagePullPolicy": "IfNotPresent",
        }
        for entry in ("main", "sidecar")
    ]
    owner = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "name": job,
        "uid": uid(namespace + job),
        "controller": True,
        "blockOwnerDeletion": True,
    }
    spec: Object = {
        "volumes": [
            {"name": "kube-api-access-x", "projected": {"sources": [{"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}}]}}
        ],
        "containers": containers,
        "restartPolicy": "Never",
        "schedulerName": "default-scheduler",
        "tolerations": [
            {"key": f"node.kubernetes.io/{state}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
            for state in ("not-ready", "unreachable")
        ],
        "priority": 0,
        "preemptionPolicy": "PreemptLowerPriority",
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": f"gpus-{size}"}],
    }
    status: Object = {
        "phase": "Pending",
        "qosClass": "Burstable",
        "resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": claim_name}],
    }
    if host is not None:
        spec["nodeName"] = host
        status |= {
            "phase": "Running",
            "startTime": TIME,
            "conditions": [
                {"type": kind, "status": "True", "lastProbeTime": None, "lastTransitionTime": TIME}
                for kind in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
            ],
            "containerStatuses": [
                {
                    "name": entry,
                    "state": {"running": {"startedAt": TIME}},
                    "lastState": {},
                    "ready": True,
                    "restartCount": 0,
                    "image": f"registry.example.com/ml/{entry}:v1",
                    "imageID": f"sha256:{uid(entry)}",
                    "containerID": f"containerd://{uid(name)}",
                    "started": True,
                }
                for entry in ("main", "sidecar")
            ],
        }
    else:
        message = "0/5000 nodes are available: 5000 cannot allocate all claims. preemption: 0/5000 nodes are available."
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message, "lastTransitionTime": TIME}
        status["conditions"] = [condition]
    labels = {"app": job, "batch.kubernetes.io/job-name": job}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta(name, namespace, labels=labels, ownerReferences=[owner]),
        "spec": spec,
        "status": status,
    }


def varied(k: int) -> tuple[Object, Object, Object]:
    """What the k-th waiting pod wants of a mixed cluster: (more of its spec, its claim's devices, what its containers request)."""
    own = f"device.attributes['{DRIVER}']"
    match = {"constraints": [{"matchAttribute": "resource.kubernetes.io/pcieRoot"}]}
    numa = {"constraints": [{"matchAttribute": "resource.kubernetes.io/numaNode"}]}
    large = {"selectors": [{"cel": {"expression": f"device.capacity['{DRIVER}'].memory.compareTo(quantity('90Gi')) >= 0"}}]}
    misspelt = {"selectors": [{"cel": {"expression": f"{own}.productname == 'NVIDIA H100 80GB HBM3'"}}]}
    hopper = {"selectors": [{"cel": {"expression": f"{own}.architecture == 'Hopper'"}}]}
    wanted: list[tuple[Object, Object, Object]] = [
        ({}, claim_spec(8), {}),
        ({}, claim_spec(4), {}),
        ({}, claim_spec(2, more=match), {}),
        ({}, claim_spec(4, more=match), {}),
        ({}, claim_spec(5, more=numa), {}),
        ({}, claim_spec(1, large), {}),
        ({}, claim_spec(1, misspelt), {}),
        ({}, claim_spec(4, hopper), {}),
        ({"schedulingGates": [{"name": "example.com/quota"}]}, claim_spec(8), {}),
        ({"nodeSelector": {"node.kubernetes.io/instance-type": "p6.48xlarge"}}, claim_spec(8), {}),
        ({}, claim_spec(1), {"cpu": "180"}),
        ({}, claim_spec(9), {}),
    ]
    return wanted[k % 2 if k % 3 == 0 else k // 2 % len(wanted)]  # a third of them wait for the first two


def plain_pod(name: str, namespace: str, job: str, host: str, cpu: int) -> Object:
    """A pod without devices that runs."""
    found = pod(name, namespace, job, 0, "", host)
    del found["spec"]["resourceClaims"], found["status"]["resourceClaimStatuses"]
    for container in found["spec"]["containers"]:
        del container["resources"]["claims"]
        container["resources"] = {"requests": {"cpu": f"{cpu}m", "memory": f"{cpu}Mi"}}
    return found


def gang(members: int, size: int, namespace: str = "team-0", name: str = "together") -> Iterator[Object]:
    """A PodGroup whose members start together or not at all, each with a claim of its own for `size` devices."""
    yield {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": meta(name, namespace),
        "spec": {"schedulingPolicy": {"gang": {"minCount": members}}},
    }
    for k in range(members):
        member, claim_name = f"{name}-{k}", f"{name}-{k}-gpu"
        found = pod(member, namespace, name, size, claim_name, None)
        found["spec"]["schedulingGroup"] = {"podGroupName": name}
        yield found
        yield claim(claim_name, namespace, size, member, None)


def objects(nodes: int, pods: int, pending: float, seed: int, mixed: int = 0) -> Iterator[Object]:
    """All objects of the cluster. `pending` is the share of pods that wait, for devices that others hold; or `mixed` of them wait, for
    several causes, and those that find no devices run without any."""
    chance = random.Random(seed)
    namespaces = [f"team-{k}" for k in range(min(40, max(1, pods // 10)))]
    for namespace in ("default", "kube-system", *namespaces):
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": meta(namespace), "status": {"phase": "Active"}}
    selector = {"cel": {"expression": f"device.driver == '{DRIVER}' && device.attributes['{DRIVER}'].type == 'gpu'"}}
    yield {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": meta(DRIVER), "spec": {"selectors": [selector]}}
    for namespace in namespaces:
        for size in sorted(set(SIZES)):
            yield template(namespace, size)
    for i in range(nodes):
        yield node(i)
        yield piece(i)
    free = dict.fromkeys(range(nodes), 0)  # node -> first device that nobody holds
    waiting = mixed or int(pods * pending)
    open_nodes = list(free)
    for k in range(pods):
        namespace = namespaces[k // GPUS % len(namespaces)]
        job, size = f"train-{k // GPUS}", chance.choice(SIZES)
        name = f"{job}-{k % GPUS}-{uid(str(k))[:5]}"
        claim_name = f"{name}-gpu-{uid('c' + str(k))[:5]}"
        on: tuple[int, int] | None = None
        if k >= waiting:
            for _ in range(20):
                if not open_nodes:
                    break
                at = chance.randrange(len(open_nodes))
                host = open_nodes[at]
                usable = GPUS - 3 if mixed and host % 50 == 0 else GPUS  # a mixed cluster has a few free devices
                if free[host] + size <= usable:
                    on = (host, free[host])
                    free[host] += size
                    if free[host] == usable:
                        open_nodes[at] = open_nodes[-1]
                        open_nodes.pop()
                    break
        if mixed and k >= waiting and on is None:
            yield plain_pod(name, namespace, job, f"node-{chance.randrange(nodes):05}", chance.choice((50, 100, 250, 500)))
            continue
        made, own = pod(name, namespace, job, size, claim_name, None if on is None else f"node-{on[0]:05}"), None
        if mixed and on is None:
            more, own, requests = varied(k)
            made["spec"] |= more
            made["spec"]["containers"][0]["resources"]["requests"] |= requests
        # Every 400th holder of a mixed cluster is gone, and its claim still holds the devices.
        if not (mixed and on is not None and k % 400 == 0):
            yield made
        yield claim(claim_name, namespace, size, name, on, own)
        if on is None:
            yield {
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": meta(f"{name}.18ec{k:012x}", namespace),
                "involvedObject": {"kind": "Pod", "namespace": namespace, "name": name, "uid": uid(namespace + name)},
                "type": "Warning",
                "reason": "FailedScheduling",
                "message": "0/5000 nodes are available: 5000 cannot allocate all claims.",
                "eventTime": TIME,
                "reportingComponent": "default-scheduler",
            }


def write(
    path: Path,
    nodes: int = 5000,
    pods: int = 10_000,
    pending: float = 0.05,
    seed: int = 7,
    indent: int | None = None,
    mixed: int = 0,
) -> None:
    """Write the cluster to `path` (gzip if it ends in .gz), one object at a time."""
    with gzip.open(path, "wt", compresslevel=1) if path.suffix == ".gz" else path.open("w") as out:
        out.write('{"apiVersion":"v1","kind":"List","items":[\n')
        for index, item in enumerate(objects(nodes, pods, pending, seed, mixed)):
            out.write((",\n" if index else "") + json.dumps(item, separators=(",", ":") if indent is None else None, indent=indent))
        out.write("\n]}\n")


def measure(path: Path) -> None:
    """Read a snapshot; print time and the peak memory of this process."""
    from k8s_topo_mcp.sources.snapshot import load

    start, busy = time.perf_counter(), time.process_time()
    view = load([str(path)])
    took, worked = time.perf_counter() - start, time.process_time() - busy
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1 << 20)
    kinds = ", ".join(f"{view.count(kind):,} {kind.KIND}" for kind in sorted(view.kinds, key=lambda kind: -view.count(kind)))
    print(
        f"load {took:.2f} s ({worked:.2f} s of a processor), peak {peak:.0f} MiB, file {path.stat().st_size / (1 << 20):.0f} MiB: {kinds}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Write a made-up cluster as a snapshot, or measure reading one.")
    parser.add_argument("path", type=Path)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=10_000)
    parser.add_argument("--pending", type=float, default=0.05, help="share of the pods that wait")
    parser.add_argument("--waiting", type=int, default=0, help="so many pods wait, for several causes, and the others run")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--indent", type=int, default=None, help="pretty-print, as kubectl does with 4")
    parser.add_argument("--load", action="store_true", help="read it instead, and print time and memory")
    given = parser.parse_args()
    if given.load:
        measure(given.path)
    else:
        write(given.path, given.nodes, given.pods, given.pending, given.seed, given.indent, given.waiting)


if __name__ == "__main__":
    main()
