"""Containers of a pod: what they ask for, and what became of them.

Spec and status of one container are one value. Environment, commands, images and mounts are not kept. The effective requests of a pod
follow k8s.io/component-helpers resource/helpers.go PodRequests (KEP-753 for sidecars, KEP-2837 for pod-level resources, KEP-1287 for
resizes).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from sys import intern

from .decoding import (
    DecodeError,
    Json,
    boolean,
    decode_quantities,
    each,
    integer,
    kind_of,
    mapping,
    nested,
    optional_integer,
    optional_mapping,
    string,
    timestamp,
)
from .meta import Timestamp
from .quantity import Quantity
from .record import record, value_record

Resources = Mapping[str, Quantity]

NO_RESOURCES: Resources = {}
NO_STATUSES: Mapping[str, Json] = {}


def no_resources() -> Resources:
    """The one empty set of resources, as a field's default."""
    return NO_RESOURCES


@lru_cache(maxsize=8192)
def _shared(entries: tuple[tuple[str, str], ...]) -> Resources:
    return decode_quantities({"resources": dict(entries)}, "resources")


def decode_resources(source: Json, key: str) -> Resources:
    """An object of quantities. Pods made from one template share one object."""
    found = mapping(source, key)
    if not found:
        return NO_RESOURCES
    entries = tuple(found.items())
    for _, value in entries:
        if type(value) is not str:
            return decode_quantities(source, key)
    try:
        return _shared(entries)
    except DecodeError:
        return decode_quantities(source, key)  # again, for the right path in the error


@value_record()
class ContainerClaim:
    """resources.claims[]: an entry of the pod's resourceClaims, or one request of it ("" is all of them)."""

    name: str
    request: str = ""


@value_record()
class ContainerPort:
    """A port that binds on the host: `host_ip` is "" for every address."""

    host_port: int
    container_port: int
    protocol: str
    host_ip: str


@value_record()
class ContainerState:
    """waiting, running or terminated ("" when the kubelet has not said). `since` is when it started, for a terminated one when it ended."""

    kind: str = ""
    reason: str = ""
    message: str = ""
    exit_code: int | None = None
    since: Timestamp | None = None


UNSAID = ContainerState()


@record()
class Container:
    """`allocated` and `actual` are the kubelet's words during an in-place resize (status allocatedResources and resources.requests)."""

    name: str
    requests: Resources = field(default_factory=no_resources)
    limits: Resources = field(default_factory=no_resources)
    claims: tuple[ContainerClaim, ...] = ()
    ports: tuple[ContainerPort, ...] = ()
    restart_policy: str = ""
    state: ContainerState = UNSAID
    last_state: ContainerState = UNSAID
    restart_count: int = 0
    ready: bool = False
    started: bool = False
    allocated: Resources | None = None
    actual: Resources | None = None

    @property
    def is_sidecar(self) -> bool:
        """An init container that keeps running (KEP-753)."""
        return self.restart_policy == "Always"


@record()
class ResourceRequirements:
    """Pod-level resources."""

    requests: Resources = field(default_factory=no_resources)
    limits: Resources = field(default_factory=no_resources)


def decode_requirements(source: Json) -> ResourceRequirements:
    """Requests and limits."""
    return ResourceRequirements(decode_resources(source, "requests"), decode_resources(source, "limits"))


@lru_cache(maxsize=4096)
def _claim_reference(name: str, request: str) -> ContainerClaim:
    return ContainerClaim(name, request)


def _claim(source: Json) -> ContainerClaim:
    return _claim_reference(string(source, "name"), string(source, "request"))


def _port(source: Json) -> ContainerPort:
    return ContainerPort(
        integer(source, "hostPort"),
        integer(source, "containerPort"),
        intern(string(source, "protocol") or "TCP"),
        intern(string(source, "hostIP")),
    )


def decode_state(source: Json, key: str) -> ContainerState:
    """status.containerStatuses[].state or lastState."""
    state = mapping(source, key)
    if not state:
        return UNSAID
    try:
        for kind in ("running", "waiting", "terminated"):
            facts = optional_mapping(state, kind)
            if facts is not None:
                return ContainerState(
                    kind,
                    intern(string(facts, "reason")),
                    # What a program left behind when it ended (terminationMessagePath) may hold anything, and no rule reads it.
                    string(facts, "message") if kind == "waiting" else "",
                    optional_integer(facts, "exitCode"),
                    timestamp(facts, "finishedAt" if kind == "terminated" else "startedAt"),
                )
    except DecodeError as error:
        raise error.under(key) from None
    return UNSAID


def _with_defaults(requests: Resources, limits: Resources) -> Resources:
    """The API server fills a missing request from the limit; a manifest that was never applied lacks that."""
    if all(name in requests for name in limits):
        return requests
    return {**limits, **requests}


def decode_containers(spec: Json, key: str, statuses: Mapping[str, Json]) -> tuple[Container, ...]:
    """The containers under `key`, each joined with its status."""

    def one(source: Json) -> Container:
        name = intern(string(source, "name"))
        resources = mapping(source, "resources")
        requests, limits, claims = NO_RESOURCES, NO_RESOURCES, ()
        if resources:
            try:
                limits = decode_resources(resources, "limits")
                requests = decode_resources(resources, "requests")
                if limits:
                    requests = _with_defaults(requests, limits)
                if "claims" in resources:
                    claims = each(resources, "claims", _claim)
            except DecodeError as error:
                raise error.under("resources") from None
        ports = each(source, "ports", _port) if "ports" in source else ()
        restart_policy = intern(string(source, "restartPolicy")) if "restartPolicy" in source else ""
        status = statuses.get(name)
        if status is None:
            return Container(name, requests, limits, claims, ports, restart_policy)
        try:
            return Container(
                name,
                requests,
                limits,
                claims,
                ports,
                restart_policy,
                decode_state(status, "state"),
                decode_state(status, "lastState"),
                integer(status, "restartCount"),
                boolean(status, "ready"),
                boolean(status, "started"),
                decode_resources(status, "allocatedResources") if status.get("allocatedResources") is not None else None,
                _actual(status),
            )
        except DecodeError as error:
            raise error.under("status") from None

    return each(spec, key, one)


def _actual(status: Json) -> Resources | None:
    resources = optional_mapping(status, "resources")
    if resources is None or resources.get("requests") is None:
        return None
    return decode_resources(resources, "requests")


def statuses_by_name(status: Json, key: str) -> Mapping[str, Json]:
    """Container statuses by the name of their container."""
    found: dict[str, Json] = {}
    entries = status.get(key)
    if entries is None:
        return found
    if not isinstance(entries, list):
        raise DecodeError(key, f"must be a list, is {kind_of(entries)}")
    for entry in each(status, key, dict):
        found[string(entry, "name")] = entry
    return found


# --- effective requests -----------------------------------------------------------------------------------------------------------


def is_pod_level_resource(name: str) -> bool:
    """Whether the PodLevelResources feature takes this resource (component-helpers IsSupportedPodLevelResource)."""
    return name in ("cpu", "memory") or name.startswith("hugepages-")


def add_resources(total: dict[str, Quantity], more: Resources) -> None:
    """Add `more` to `total`."""
    for name, amount in more.items():
        held = total.get(name)
        total[name] = amount if held is None else held + amount


def raise_resources(total: dict[str, Quantity], other: Resources) -> None:
    """Make each entry of `total` at least that of `other`."""
    for name, amount in other.items():
        held = total.get(name)
        if held is None or amount > held:
            total[name] = amount


def aggregate(
    containers: Sequence[Container], init_containers: Sequence[Container], pick: Callable[[Container], Resources]
) -> dict[str, Quantity]:
    """Sum of the containers and sidecars, but at least what the hungriest moment of initialisation takes (KEP-753)."""
    total: dict[str, Quantity] = {}
    for container in containers:
        add_resources(total, pick(container))
    sidecars: dict[str, Quantity] = {}
    peak: dict[str, Quantity] = {}
    for container in init_containers:
        own = pick(container)
        if container.is_sidecar:
            add_resources(total, own)
            add_resources(sidecars, own)
            raise_resources(peak, sidecars)
        else:
            moment = dict(own)
            add_resources(moment, sidecars)
            raise_resources(peak, moment)
    raise_resources(total, peak)
    return total


def spec_requests(container: Container) -> Resources:
    """What the spec asks for."""
    return container.requests


def allocated_requests(container: Container, infeasible: bool) -> Resources:
    """What the kubelet has admitted."""
    if container.allocated is not None:
        return container.allocated
    return NO_RESOURCES if infeasible else container.requests


def actuated_requests(container: Container, infeasible: bool) -> Resources:
    """What the container runtime has been given."""
    return container.actual if container.actual is not None else allocated_requests(container, infeasible)


def effective_requests(container: Container, infeasible: bool) -> Resources:
    """The most of spec, allocated and actual; of the spec alone while the kubelet hasn't said what is actual."""
    if container.actual is None:
        return container.requests
    found = {} if infeasible else dict(container.requests)
    raise_resources(found, container.actual)
    raise_resources(found, container.allocated or NO_RESOURCES)
    return found


def requirements_of(source: Json, key: str) -> ResourceRequirements | None:
    """Requests and limits under `key`, None when absent."""
    return nested(source, key, decode_requirements)
