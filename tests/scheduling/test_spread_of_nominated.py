"""A pod that is nominated to a node counts there for a spread with an empty selector, which counts no pod that runs (found on the real
scheduler of 1.37)."""

from __future__ import annotations

import json

from k8s_topo_mcp.scheduling.sentence import predict

from ..conformance.filters import placed, verdicts

ROW = json.loads(
    r"""
{ "id": "998290400-5276", "theme": "ranked", "nodes": [ { "apiVersion": "v1", "kind": "Node", "metadata": { "name": "node-0",
"labels": { "topology.kubernetes.io/zone": "east", "example.com/rack": "r2", "kubernetes.io/hostname": "node-0" } }, "spec": {},
"status": { "allocatable": { "cpu": "4", "memory": "8Gi", "pods": "30" } } }, { "apiVersion": "v1", "kind": "Node", "metadata": {
"name": "node-1", "labels": { "topology.kubernetes.io/zone": "west", "example.com/rack": "r2", "kubernetes.io/hostname": "node-1"
} }, "spec": { "taints": [ { "key": "gone", "value": "b", "effect": "NoSchedule" } ] }, "status": { "allocatable": { "cpu": "4",
"memory": "8Gi", "pods": "30" } } }, { "apiVersion": "v1", "kind": "Node", "metadata": { "name": "node-2", "labels": {
"topology.kubernetes.io/zone": "west", "example.com/rack": "r2", "kubernetes.io/hostname": "node-2" } }, "spec": { "taints": [ {
"key": "gone", "value": "b", "effect": "NoExecute" } ] }, "status": { "allocatable": { "cpu": "4", "memory": "8Gi", "pods": "30" }
} }, { "apiVersion": "v1", "kind": "Node", "metadata": { "name": "node-3", "labels": { "topology.kubernetes.io/region": "here" }
}, "spec": {}, "status": { "allocatable": { "cpu": "4", "memory": "8Gi", "pods": "30" } } } ], "pods": [ { "apiVersion": "v1",
"kind": "Pod", "metadata": { "name": "old-0", "namespace": "red", "uid": "uid-old-0", "creationTimestamp": "2026-01-01T00:00:00Z",
"labels": {}, "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": [ "example.com/wait" ] }, "spec": { "containers": [ {
"name": "main", "resources": { "requests": { "cpu": "2" } }, "ports": [ { "containerPort": 80, "protocol": "TCP", "hostPort": 443,
"hostIP": "10.0.0.1" } ] } ], "nodeName": "node-2", "priority": -5, "initContainers": [ { "name": "init", "ports": [ {
"containerPort": 80, "protocol": "UDP", "hostPort": 80, "hostIP": "10.0.0.2" }, { "containerPort": 80, "protocol": "UDP",
"hostPort": 80 } ], "restartPolicy": "Always" } ] }, "status": { "phase": "Running", "startTime": "2026-01-01T00:00:00Z" } }, {
"apiVersion": "v1", "kind": "Pod", "metadata": { "name": "old-1", "namespace": "red", "uid": "uid-old-1", "creationTimestamp":
"2026-01-01T00:00:00Z", "labels": {} }, "spec": { "containers": [ { "name": "main", "resources": { "requests": { "cpu": "2" } },
"ports": [] } ], "nodeName": "node-2", "priority": 1000 }, "status": { "phase": "Running", "startTime": "2026-01-01T00:01:00Z" }
}, { "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "old-2", "namespace": "red", "uid": "uid-old-2",
"creationTimestamp": "2026-01-01T00:00:00Z", "labels": { "tier": "1" } }, "spec": { "containers": [ { "name": "main", "ports": [ {
"containerPort": 80, "protocol": "TCP" }, { "containerPort": 80, "protocol": "TCP", "hostPort": 443 } ] } ], "nodeName": "node-1",
"priority": 0, "initContainers": [ { "name": "init", "ports": [ { "containerPort": 80, "protocol": "TCP", "hostPort": 443,
"hostIP": "0.0.0.0" }, { "containerPort": 80, "protocol": "TCP", "hostPort": 443, "hostIP": "0.0.0.0" } ] } ] }, "status": {
"phase": "Running", "startTime": "2026-01-01T00:02:00Z" } }, { "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "low-0",
"namespace": "blue", "uid": "uid-low-0", "creationTimestamp": "2026-01-01T00:00:00Z", "labels": { "app": "bee" } }, "spec": {
"containers": [ { "name": "main", "resources": { "requests": { "cpu": "2" } }, "ports": [] } ], "nodeName": "node-3", "priority":
1000 }, "status": { "phase": "Running", "startTime": "2026-01-01T00:03:00Z" } }, { "apiVersion": "v1", "kind": "Pod", "metadata":
{ "name": "low-1", "namespace": "red", "uid": "uid-low-1", "creationTimestamp": "2026-01-01T00:00:00Z", "labels": { "app": "ant",
"tier": "2" } }, "spec": { "containers": [ { "name": "main", "resources": { "requests": { "cpu": "1" } }, "ports": [] } ],
"nodeName": "node-3", "priority": -5 }, "status": { "phase": "Running", "startTime": "2026-01-01T00:04:00Z" } }, { "apiVersion":
"v1", "kind": "Pod", "metadata": { "name": "low-2", "namespace": "green", "uid": "uid-low-2", "creationTimestamp":
"2026-01-01T00:00:00Z", "labels": { "app": "ant", "tier": "1" } }, "spec": { "containers": [ { "name": "main", "resources": {
"requests": { "cpu": "3" } }, "ports": [] } ], "nodeName": "node-0", "priority": 0 }, "status": { "phase": "Running", "startTime":
"2026-01-01T00:05:00Z" } }, { "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "low-3", "namespace": "green", "uid":
"uid-low-3", "creationTimestamp": "2026-01-01T00:00:00Z", "labels": { "app": "cat" } }, "spec": { "containers": [ { "name":
"main", "resources": { "requests": { "cpu": "2" } }, "ports": [ { "containerPort": 80, "protocol": "TCP", "hostIP": "0.0.0.0" } ]
} ], "nodeName": "node-3", "priority": 100, "initContainers": [ { "name": "init", "ports": [ { "containerPort": 80, "protocol":
"UDP", "hostPort": 80 }, { "containerPort": 80, "protocol": "UDP", "hostPort": 443 } ], "restartPolicy": "Always" } ] }, "status":
{ "phase": "Running", "startTime": "2026-01-01T00:06:00Z" } }, { "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "low-4",
"namespace": "blue", "uid": "uid-low-4", "creationTimestamp": "2026-01-01T00:00:00Z", "labels": { "app": "ant", "tier": "2" } },
"spec": { "containers": [ { "name": "main", "ports": [] } ], "nodeName": "node-3", "priority": 100, "initContainers": [ { "name":
"init", "ports": [], "restartPolicy": "Always" } ] }, "status": { "phase": "Running", "startTime": "2026-01-01T00:07:00Z" } }, {
"apiVersion": "v1", "kind": "Pod", "metadata": { "name": "low-5", "namespace": "red", "uid": "uid-low-5", "creationTimestamp":
"2026-01-01T00:00:00Z", "labels": { "app": "bee", "tier": "2" } }, "spec": { "containers": [ { "name": "main", "ports": [] } ],
"nodeName": "node-3", "priority": 0, "initContainers": [ { "name": "init", "ports": [] } ], "affinity": { "podAntiAffinity": {
"requiredDuringSchedulingIgnoredDuringExecution": [ { "topologyKey": "kubernetes.io/hostname", "labelSelector": {
"matchExpressions": [ { "key": "app", "operator": "NotIn", "values": [ "cat" ] } ] } }, { "topologyKey": "kubernetes.io/hostname",
"labelSelector": { "matchExpressions": [ { "key": "app", "operator": "Exists" } ] }, "namespaces": [ "blue", "green" ] } ] } } },
"status": { "phase": "Running", "startTime": "2026-01-01T00:08:00Z" } }, { "apiVersion": "v1", "kind": "Pod", "metadata": {
"name": "low-6", "namespace": "red", "uid": "uid-low-6", "creationTimestamp": "2026-01-01T00:00:00Z", "labels": { "app": "cat",
"tier": "1" } }, "spec": { "containers": [ { "name": "main", "ports": [] } ], "nodeName": "node-1", "priority": 0 }, "status": {
"phase": "Running", "startTime": "2026-01-01T00:09:00Z" } }, { "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "low-7",
"namespace": "red", "uid": "uid-low-7", "creationTimestamp": "2026-01-01T00:00:00Z", "labels": { "app": "ant", "tier": "2" } },
"spec": { "containers": [ { "name": "main", "resources": { "requests": { "cpu": "2" } }, "ports": [] } ], "nodeName": "node-3",
"priority": 0 }, "status": { "phase": "Running", "startTime": "2026-01-01T00:10:00Z" } }, { "apiVersion": "v1", "kind": "Pod",
"metadata": { "name": "low-8", "namespace": "red", "uid": "uid-low-8", "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {
"tier": "2" } }, "spec": { "containers": [ { "name": "main", "ports": [] } ], "nodeName": "node-1", "priority": 100, "affinity": {
"podAntiAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [ { "topologyKey": "topology.kubernetes.io/zone",
"labelSelector": {} }, { "topologyKey": "kubernetes.io/hostname", "labelSelector": { "matchLabels": { "app": "cat" } },
"namespaces": [ "blue", "red" ] } ] } } }, "status": { "phase": "Running", "startTime": "2026-01-01T00:11:00Z" } }, {
"apiVersion": "v1", "kind": "Pod", "metadata": { "name": "next-0", "namespace": "red", "uid": "uid-next-0", "creationTimestamp":
"2026-01-01T00:00:00Z", "labels": { "app": "bee" } }, "spec": { "containers": [ { "name": "main", "resources": { "requests": {
"cpu": "2" } }, "ports": [ { "containerPort": 80, "protocol": "TCP", "hostPort": 443 }, { "containerPort": 80, "protocol": "TCP" }
] } ], "priority": 0 }, "status": { "phase": "Pending", "nominatedNodeName": "node-1" } }, { "apiVersion": "v1", "kind": "Pod",
"metadata": { "name": "next-1", "namespace": "green", "uid": "uid-next-1", "creationTimestamp": "2026-01-01T00:00:00Z", "labels":
{ "app": "bee" } }, "spec": { "containers": [ { "name": "main", "ports": [ { "containerPort": 80, "protocol": "TCP", "hostPort":
443 } ] } ], "priority": 0, "initContainers": [ { "name": "init", "ports": [ { "containerPort": 80, "protocol": "TCP", "hostPort":
443, "hostIP": "0.0.0.0" }, { "containerPort": 80, "protocol": "UDP", "hostPort": 80, "hostIP": "::" } ], "restartPolicy":
"Always" } ] }, "status": { "phase": "Pending", "nominatedNodeName": "node-1" } }, { "apiVersion": "v1", "kind": "Pod",
"metadata": { "name": "next-2", "namespace": "red", "uid": "uid-next-2", "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {
"app": "bee" } }, "spec": { "containers": [ { "name": "main", "ports": [] } ], "priority": 1000, "initContainers": [ { "name":
"init", "ports": [ { "containerPort": 80, "protocol": "TCP" } ] } ], "affinity": { "podAntiAffinity": {
"requiredDuringSchedulingIgnoredDuringExecution": [ { "topologyKey": "example.com/rack", "labelSelector": { "matchExpressions": [
{ "key": "app", "operator": "DoesNotExist" } ], "matchLabels": { "tier": "1" } } }, { "topologyKey": "example.com/rack",
"labelSelector": { "matchExpressions": [ { "key": "app", "operator": "Exists" } ] }, "namespaces": [ "blue" ] } ] } } }, "status":
{ "phase": "Pending", "nominatedNodeName": "node-2" } }, { "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "next-3",
"namespace": "blue", "uid": "uid-next-3", "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {} }, "spec": { "containers": [ {
"name": "main", "resources": { "requests": { "cpu": "1" } }, "ports": [ { "containerPort": 80, "protocol": "UDP" }, {
"containerPort": 80, "protocol": "UDP", "hostPort": 80, "hostIP": "0.0.0.0" } ] } ], "priority": 1000, "affinity": {
"podAntiAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [ { "topologyKey": "kubernetes.io/hostname",
"labelSelector": { "matchLabels": { "app": "bee" } } } ] } } }, "status": { "phase": "Pending", "nominatedNodeName": "node-2" } },
{ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "same-0", "namespace": "blue", "uid": "uid-same-0",
"creationTimestamp": "2026-01-01T00:00:00Z", "labels": {} }, "spec": { "containers": [ { "name": "main" } ], "nodeName": "node-3"
}, "status": { "phase": "Running" } }, { "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "same-1", "namespace": "blue",
"uid": "uid-same-1", "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {} }, "spec": { "containers": [ { "name": "main" } ],
"nodeName": "node-2" }, "status": { "phase": "Running" } }, { "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "same-2",
"namespace": "blue", "uid": "uid-same-2", "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {} }, "spec": { "containers": [ {
"name": "main" } ], "nodeName": "node-1" }, "status": { "phase": "Running" } }, { "apiVersion": "v1", "kind": "Pod", "metadata": {
"name": "same-3", "namespace": "blue", "uid": "uid-same-3", "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {} }, "spec": {
"containers": [ { "name": "main" } ], "nodeName": "node-2" }, "status": { "phase": "Running" } }, { "apiVersion": "v1", "kind":
"Pod", "metadata": { "name": "same-4", "namespace": "blue", "uid": "uid-same-4", "creationTimestamp": "2026-01-01T00:00:00Z",
"labels": {} }, "spec": { "containers": [ { "name": "main" } ], "nodeName": "node-1" }, "status": { "phase": "Running" } }, {
"apiVersion": "v1", "kind": "Pod", "metadata": { "name": "same-5", "namespace": "blue", "uid": "uid-same-5", "creationTimestamp":
"2026-01-01T00:00:00Z", "labels": {} }, "spec": { "containers": [ { "name": "main" } ], "nodeName": "node-3" }, "status": {
"phase": "Running" } }, { "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "same-6", "namespace": "blue", "uid":
"uid-same-6", "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {} }, "spec": { "containers": [ { "name": "main" } ],
"nodeName": "node-0" }, "status": { "phase": "Running" } }, { "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "same-7",
"namespace": "blue", "uid": "uid-same-7", "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {} }, "spec": { "containers": [ {
"name": "main" } ], "nodeName": "node-0" }, "status": { "phase": "Running" } }, { "apiVersion": "v1", "kind": "Pod", "metadata": {
"name": "same-8", "namespace": "blue", "uid": "uid-same-8", "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {} }, "spec": {
"containers": [ { "name": "main" } ], "nodeName": "node-0" }, "status": { "phase": "Running" } }, { "apiVersion": "v1", "kind":
"Pod", "metadata": { "name": "same-9", "namespace": "blue", "uid": "uid-same-9", "creationTimestamp": "2026-01-01T00:00:00Z",
"labels": {} }, "spec": { "containers": [ { "name": "main" } ], "nodeName": "node-1" }, "status": { "phase": "Running" } } ],
"namespaces": [ { "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "blue", "labels": {} } }, { "apiVersion": "v1",
"kind": "Namespace", "metadata": { "name": "green", "labels": { "team": "one" } } }, { "apiVersion": "v1", "kind": "Namespace",
"metadata": { "name": "red", "labels": {} } } ], "pod": { "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "new",
"namespace": "blue", "uid": "uid-new", "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {} }, "spec": { "containers": [ {
"name": "main", "ports": [] } ], "priority": 0, "affinity": { "podAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [
{ "topologyKey": "kubernetes.io/hostname", "labelSelector": { "matchLabels": { "app": "cat" } } } ] }, "nodeAffinity": {
"requiredDuringSchedulingIgnoredDuringExecution": { "nodeSelectorTerms": [ { "matchExpressions": [ { "key":
"topology.kubernetes.io/zone", "operator": "Exists" } ] } ] } } }, "topologySpreadConstraints": [ { "maxSkew": 1, "topologyKey":
"example.com/rack", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": { "matchLabels": { "app": "bee" } } }, { "maxSkew": 1,
"topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}, "nodeTaintsPolicy":
"Ignore" } ], "tolerations": [ { "key": "gone", "operator": "Exists" } ] } } }
"""
)
SAID = (
    "0/4 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) didn't match pod topology spread constraints, "
    "2 node(s) didn't match pod affinity rules. "
    "preemption: 0/4 nodes are available: 1 node(s) didn't match pod topology spread constraints, "
    "3 Preemption is not helpful for scheduling."
)


def test_a_nominated_pod_counts_for_an_empty_selector() -> None:
    placement = placed(ROW, "1.37")
    assert verdicts(placement)["node-2"]["plugin"] == "PodTopologySpread"
    assert SAID in predict(placement).texts
