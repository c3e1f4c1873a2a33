"""What an account can learn of a cluster, found out by asking: release, gates, what may be listed, which drivers publish.

Whether a kind may be read is learnt by listing one object of it: the API server's own answer to "may I" (a SelfSubjectAccessReview) is a
POST, which never leaves this process.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio

from ...objects import DecodeError, ResourceSlice, decode
from ...releases import Release
from ..source import SourceError
from .clock import Clock, ServerTime
from .credentials import Credentials
from .discovery import Target, discover
from .door import Door
from .errors import Refused, Unanswered
from .kinds import ELSEWHERE, READ, STATUS_PATH, ReadKind, metadata_kinds
from .noticing import LIST
from .release import Asked, Releases, ask
from .source import spread, unwelcome
from .traffic import Traffic

_PAGE = 500
_AT_ONCE = 8

MEANS: Mapping[str, str] = {
    "Pod": "no pod can be explained, and nothing is known of what holds nodes and devices",
    "Node": "nothing can be said of where a pod fits",
    "ResourceSlice": "no device is known, so no claim can be judged",
    "ResourceClaim": "devices in use look free, and no claim can be explained",
    "ResourceClaimTemplate": "pods whose claims are made from templates are explained only once the claims exist",
    "DeviceClass": "no request can be matched with devices",
    "DeviceTaintRule": "taints that an administrator put on devices by rule are missed",
    "Event": "what the scheduler and the kubelets said of a pod isn't shown",
    "Lease": "a scheduler that doesn't run isn't noticed",
    "PriorityClass": "the priority of a pod that doesn't exist yet is unknown, and so is when a class was changed",
    "PodDisruptionBudget": "which pods may be evicted is unknown",
    "ResourceQuota": "a workload that a quota holds back isn't explained",
    "LimitRange": "a pod that a limit range refuses isn't explained",
    "Namespace": "rules that select namespaces by label, and admin access to devices, are unknown",
    "PersistentVolumeClaim": "a pod that waits for a volume isn't explained",
    "PersistentVolume": "which nodes a pod's volumes bind it to is unknown",
    "StorageClass": "how a pod's volumes would be made is unknown",
    "CSINode": "how many volumes a node still takes is unknown",
    "CSIStorageCapacity": "whether a new volume fits on a node is unknown",
    "Workload": "gangs, or what Kueue holds back, aren't explained",
    "PodGroup": "pods that wait for their gang aren't explained",
    "DaemonSet": "a device driver that doesn't run isn't noticed, nor what it takes of a new node",
    "Deployment": "whether an autoscaler runs here, and how it was started, is unknown",
    "NodePool": "which nodes Karpenter could make is unknown",
    "NodeClaim": "nodes that Karpenter is making aren't seen",
    "NodeOverlay": "what Karpenter adds to its nodes' capacity is unknown",
    "MachineDeployment": "which nodes Cluster API could make is unknown",
    "ProvisioningRequest": "what an autoscaler was asked for isn't known",
    "ResourceFlavor": "which nodes a quota of Kueue is for is unknown",
}
_OTHERWISE = "what depends on it is unknown"
STATUS = "ConfigMap kube-system/cluster-autoscaler-status"
_NO_STATUS = "what Cluster Autoscaler says of itself and its groups is unknown"
_UNNOTED = "when one was written isn't noted"
_NEEDED = frozenset({"Pod", "Node", "ResourceSlice", "ResourceClaim", "DeviceClass"})


@dataclass(frozen=True, slots=True)
class Missing:
    """A kind that is served and can't be read; `needed` if hardly anything can be answered without it. `said`: why; `where`: in which
    namespaces, "" for a kind without."""

    kind: str
    said: str
    where: str
    means: str
    needed: bool

    @property
    def reason(self) -> str:
        """Why and where."""
        return f"{self.said}{self.where}"


@dataclass(slots=True)
class Driver:
    """What one driver publishes."""

    name: str
    nodes: set[str] = field(default_factory=set[str])
    pools: set[str] = field(default_factory=set[str])
    devices: int = 0


@dataclass(frozen=True, slots=True)
class Checkup:
    """What was found. `found_by` is how the kinds were found where discovery may not be asked, else "". `well` is "" for a server that is
    ready; `skew` is how many seconds its clock is ahead. `noted`: kinds whose metadata may be listed, of those that were asked for.
    `status`: what of Cluster Autoscaler's status may be read, "" where it is among `missing`. `absent`: of the namespaces, those that there
    aren't."""

    name: str
    host: str
    well: str
    skew: float
    release: Release
    gates: Asked
    readable: tuple[str, ...]
    missing: tuple[Missing, ...]
    not_served: tuple[str, ...]
    drivers: tuple[Driver, ...]
    namespaces: tuple[str, ...]
    requests: int
    found_by: str = ""
    noted: tuple[str, ...] = ()
    status: str = ""
    absent: tuple[str, ...] = ()

    @property
    def answerable(self) -> bool:
        """Whether the questions can be answered at all."""
        return not any(entry.needed for entry in self.missing)


def check(kubeconfig: str | None, context: str | None, namespaces: Sequence[str] = (), also: Sequence[str] = ()) -> Checkup:
    """Look at a cluster. `also` as in `serve --also-watch`. Blocks; raises SourceError where not even the first question is answered."""
    credentials = Credentials(kubeconfig, context)
    credentials.load()
    return anyio.run(_check, credentials, tuple(namespaces), metadata_kinds(also))


async def _check(credentials: Credentials, namespaces: tuple[str, ...], noted: Sequence[ReadKind]) -> Checkup:
    time, traffic = ServerTime(Clock()), Traffic()
    door = Door(credentials, time, traffic, noted=noted)
    try:
        try:
            served = await discover(door, namespaces)
        except Unanswered as error:
            raise SourceError(credentials.name, str(error)) from None
        except Refused as refusal:
            raise SourceError(credentials.name, unwelcome(refusal)) from None
        asked = await ask(door, 30.0)
        targets = spread(served.targets, namespaces)
        by_metadata = spread([Target(read, read.versions[0], read.plural) for read in noted], namespaces)
        reasons: dict[str, list[tuple[str, str]]] = {kind: [(reason, "")] for (_, kind), reason in served.failed.items()}
        limit = anyio.CapacityLimiter(_AT_ONCE)
        async with anyio.create_task_group() as tasks:
            for target in (*targets, *by_metadata):
                tasks.start_soon(_try, door, target, limit, reasons)
        status, refused = await _status(door, namespaces)
        everywhere = [*targets, *by_metadata]
        read_in = {
            kind: [
                target.namespace
                for target in everywhere
                if target.read.kind == kind and target.namespace and target.namespace not in {where for _, where in at}
            ]
            for kind, at in reasons.items()
        }
        missing = [_missing(kind, at, read_in[kind], {read.kind for read in noted}) for kind, at in sorted(reasons.items())]
        if refused:
            missing.append(Missing(STATUS, refused, "", _NO_STATUS, needed=False))
        drivers = await _drivers(door, [target for target in targets if target.read.type is ResourceSlice])
        present = {(target.read.group, target.read.kind) for target in targets}
        return Checkup(
            name=credentials.name,
            host=credentials.host,
            well=await _well(door),
            skew=time.skew,
            release=Releases(asked=asked).of({}, targets, 0.0, 1.0),
            gates=asked,
            readable=tuple(dict.fromkeys(target.read.kind for target in targets if not _is_unread(target.read.kind, reasons, read_in))),
            missing=tuple(missing),
            not_served=_not_served({*present, *served.failed}),
            drivers=drivers,
            namespaces=namespaces,
            requests=traffic.total.requests,
            found_by=served.note,
            noted=tuple(read.kind for read in noted if not _is_unread(read.kind, reasons, read_in)),
            status=status,
            absent=await _absent(door, namespaces),
        )
    finally:
        await door.aclose()


def _not_served(known: set[tuple[str, str]]) -> tuple[str, ...]:
    """Whole API groups by their name, kinds of groups that are served otherwise by theirs."""
    groups = {group for group, _ in known}
    return tuple(
        dict.fromkeys(entry.kind if entry.group in groups else entry.group for entry in READ if (entry.group, entry.kind) not in known)
    )


async def _try(door: Door, target: Target, limit: anyio.CapacityLimiter, reasons: dict[str, list[tuple[str, str]]]) -> None:
    async with limit:
        try:
            accept = LIST if target.read.metadata_only else "application/json"
            await door.json(target.path, {"limit": "1"}, accept=accept, purpose=target.read.kind)
        except Refused as refusal:
            reasons.setdefault(target.read.kind, []).append((_refusal(refusal), _inside(target)))
        except (Unanswered, SourceError) as error:
            reasons.setdefault(target.read.kind, []).append((str(error), _inside(target)))


def _refusal(refusal: Refused) -> str:
    return "not permitted" if refusal.status == 403 else f"the API server answers {str(refusal).rstrip('.')}"


def _inside(target: Target) -> str:
    return target.namespace or ("all namespaces" if target.read.namespaced else "")


async def _status(door: Door, namespaces: Sequence[str]) -> tuple[str, str]:
    """What of Cluster Autoscaler's status may be read, and why it can't be; one of the two is ""."""
    if namespaces:
        return "its status isn't read with --namespaces: what Cluster Autoscaler says of itself is unknown", ""
    try:
        await door.json(STATUS_PATH, purpose="ConfigMap")
    except Refused as refusal:
        if refusal.status == 404:
            return f"{STATUS} may be read and isn't there: no Cluster Autoscaler writes it", ""
        rule = "; missing rule: configmaps, resourceNames cluster-autoscaler-status: get in kube-system" if refusal.status == 403 else ""
        return "", _refusal(refusal) + rule
    except (Unanswered, SourceError) as error:
        return "", str(error)
    return f"{STATUS} may be read, and is there", ""


async def _absent(door: Door, namespaces: Sequence[str]) -> tuple[str, ...]:
    """Those that don't exist, as far as that may be asked."""
    found: list[str] = []
    for name in namespaces:
        try:
            body = await door.json("/api/v1/namespaces", {"fieldSelector": f"metadata.name={name}", "limit": "1"}, purpose="Namespace")
        except (Refused, Unanswered, SourceError):
            continue
        if body.get("items") in (None, []):
            found.append(name)
    return tuple(found)


async def _well(door: Door) -> str:
    try:
        await door.text("/readyz", purpose="heartbeat", within=10.0)
    except Refused as refusal:
        return "" if refusal.status in (401, 403, 404) else f"it isn't ready ({refusal.status})"
    except (Unanswered, SourceError) as error:
        return str(error)
    return ""


async def _drivers(door: Door, targets: Sequence[Target]) -> tuple[Driver, ...]:
    """Who publishes devices. A slice that can't be read is left to the answers, which name it."""
    found: dict[str, Driver] = {}
    for target in targets:
        token = ""
        while True:
            params = {"limit": str(_PAGE)} | ({"continue": token} if token else {})
            try:
                body = await door.json(target.path, params, purpose=target.read.kind)
            except (Refused, Unanswered, SourceError):
                break
            for item in body.get("items") or ():
                try:
                    piece = decode({**item, "kind": target.read.kind, "apiVersion": target.api_version})
                except DecodeError:
                    continue
                if isinstance(piece, ResourceSlice):
                    driver = found.setdefault(piece.driver, Driver(piece.driver))
                    driver.devices += len(piece.devices)
                    driver.pools.add(piece.pool)
                    if piece.node_selection.node_name:
                        driver.nodes.add(piece.node_selection.node_name)
            metadata: Any = body.get("metadata") or {}
            token = str(metadata.get("continue") or "")
            if not token:
                break
    return tuple(sorted(found.values(), key=lambda driver: (-driver.devices, driver.name)))


def _is_unread(kind: str, reasons: Collection[str], read_in: Mapping[str, Sequence[str]]) -> bool:
    return kind in reasons and not read_in[kind]


def _missing(kind: str, at: Sequence[tuple[str, str]], read_in: Sequence[str], noted: Collection[str]) -> Missing:
    """`at`: why and where it can't be read; `read_in`: the namespaces in which it can."""
    inside = sorted({where for _, where in at} - {""})
    where = f" in {', '.join(inside)}" if inside else ""
    means = _UNNOTED if kind in noted else MEANS.get(kind, _OTHERWISE)
    if read_in:
        return Missing(kind, at[0][0], f"{where}, though it is in {', '.join(read_in)}", f"{where.strip()}: {means}", needed=False)
    return Missing(kind, at[0][0], where, means, kind in _NEEDED)


def hidden(namespaces: Sequence[str]) -> tuple[str, ...]:
    """Kinds of which objects outside `namespaces` would matter too."""
    return tuple(kind.KIND for kind in ELSEWHERE) if namespaces else ()
