"""What Cluster Autoscaler says of itself and its node groups in the ConfigMap cluster-autoscaler-status.

Two forms: YAML since 1.30 (kubernetes/autoscaler cluster-autoscaler/clusterstate/api/types.go), lines for people before (api/utils.go,
GetReadableString). Of a ConfigMap by any other name nothing is ever read. It names groups and sizes, but no labels, taints or resources.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, cast

import yaml

from .decoding import DecodeError, Json, mapping, object_at, parse_time, string
from .meta import ApiObject, Timestamp, decode_metadata
from .record import record, value_record

STATUS_NAME = "cluster-autoscaler-status"
"""--status-config-map-name, where nobody says otherwise."""
STATUS_NAMESPACE = "kube-system"

_LONGEST = 1 << 20
"""Bytes: what a ConfigMap can hold."""
_MOST_GROUPS = 5000
_DEEPEST = 32
"""Levels of YAML; the status has seven."""
_COUNT = re.compile(r"[0-9]{1,9}")
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_GO_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:\.\d{1,9})?) ?([+-]\d\d):?(\d\d)")
_NUMBER = re.compile(r"\b(\w+)=(\d{1,9})\b")
_LINE = re.compile(r"\s*(Name|Health|ScaleUp|ScaleDown|LastProbeTime|LastTransitionTime):\s*(.*?)\s*\Z")


@value_record()
class NodeCounts:
    """Nodes of a group, or of all, by their state; None where it isn't said. `resource_unready` are up, but lack devices (or have no pools
    of them yet)."""

    registered: int | None = None
    ready: int | None = None
    unready: int | None = None
    resource_unready: int | None = None
    not_started: int | None = None
    being_deleted: int | None = None
    unregistered: int | None = None
    long_unregistered: int | None = None


@value_record()
class Activity:
    """scaleUp: InProgress, NoActivity, Needed, NotNeeded or Backoff, then with the error of the last attempt. scaleDown: CandidatesPresent
    or NoCandidates."""

    status: str = ""
    error_code: str = ""
    error_message: str = ""
    probed: Timestamp | None = None
    changed: Timestamp | None = None


@value_record()
class GroupStatus:
    """One node group, or the whole cluster (without a name and sizes). `target` is what the cloud is to bring it to."""

    name: str = ""
    health: str = ""
    counts: NodeCounts = NodeCounts()
    target: int | None = None
    min_size: int | None = None
    max_size: int | None = None
    scale_up: Activity = Activity()
    scale_down: Activity = Activity()
    probed: Timestamp | None = None
    changed: Timestamp | None = None


@value_record()
class StatusText:
    """The text, read. `state` is Running, Initializing or "". `problem`: why nothing could be read, "" where it could."""

    state: str = ""
    message: str = ""
    written: Timestamp | None = None
    cluster: GroupStatus = GroupStatus()
    groups: tuple[GroupStatus, ...] = ()
    problem: str = ""


@record(weakref_slot=True)
class ClusterAutoscalerStatus(ApiObject):
    """The ConfigMap as an object. `said` is what stands in it."""

    KIND: ClassVar[str] = "ConfigMap"

    said: StatusText = StatusText()

    @property
    def groups(self) -> tuple[GroupStatus, ...]:
        """Its node groups."""
        return self.said.groups

    def group(self, name: str) -> GroupStatus | None:
        """The group of that name, or None."""
        return next((entry for entry in self.said.groups if entry.name == name), None)

    @property
    def written(self) -> Timestamp | None:
        """When it was last written: an autoscaler that lives does so at each scan, ten seconds apart unless told otherwise."""
        return self.said.written


def is_status(item: Json) -> bool:
    """Whether a ConfigMap is this one."""
    metadata = item.get("metadata")
    return isinstance(metadata, dict) and cast(Json, metadata).get("name") == STATUS_NAME


def decode_autoscaler_status(item: Json) -> ClusterAutoscalerStatus:
    """The status out of its ConfigMap. Text that is in neither form gives a `problem`, no error: another program wrote it."""
    metadata = decode_metadata(item, namespaced=True)
    if metadata.name != STATUS_NAME:
        raise DecodeError("metadata.name", f"must be {STATUS_NAME}, of no other ConfigMap anything is read")
    try:
        text = string(mapping(item, "data"), "status")
    except DecodeError as error:
        raise error.under("data") from None
    return ClusterAutoscalerStatus(metadata, read_status(text))


def read_status(text: str) -> StatusText:
    """What stands in data.status, in either form."""
    if not text.strip():
        return StatusText(problem="it is empty")
    if len(text) > _LONGEST:
        return StatusText(problem="it is larger than a ConfigMap can be")
    if text.startswith("Cluster-autoscaler status at "):
        return _lines(text)
    untyped: Any = yaml
    try:
        problem = _unfit(untyped.parse(text, Loader=_LOADER))
        if problem:
            return StatusText(problem=problem)
        root = untyped.compose(text, Loader=_LOADER)
    except yaml.YAMLError:
        return StatusText(problem="it is neither YAML nor the older text")
    found = None if root is None else _plain(root)
    if not isinstance(found, dict) or not cast(Json, found).keys() & {"autoscalerStatus", "clusterWide", "nodeGroups", "time"}:
        return StatusText(problem="it is neither YAML of a status nor the older text")
    return _of_yaml(cast(Json, found))


# --- YAML -------------------------------------------------------------------------------------------------------------------------


def _unfit(events: Iterable[yaml.Event]) -> str:
    """What the text has that no Cluster Autoscaler writes and that would cost or mean something: aliases, tags, depth; "" for none."""
    depth = 0
    for event in events:
        if isinstance(event, yaml.AliasEvent):
            return "it is YAML with aliases"
        if isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent) and cast(Any, event).tag is not None:
            return "it is YAML with tags"
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            return f"it is YAML of more than {_DEEPEST} levels"
    return ""


def _plain(node: Any) -> object:
    """A node's value: objects, lists, texts, times as text, whole numbers that can be a count; None for any other. No text can make this
    fail, which a constructor of YAML's own types doesn't promise."""
    if isinstance(node, yaml.MappingNode):
        return {key.value: _plain(value) for key, value in cast(Any, node).value if isinstance(key, yaml.ScalarNode)}
    if isinstance(node, yaml.SequenceNode):
        return [_plain(entry) for entry in cast(Any, node).value]
    text, kind = cast(str, node.value), cast(str, node.tag).removeprefix("tag:yaml.org,2002:")
    if kind == "int":
        return int(text) if _COUNT.fullmatch(text) else None
    return text if kind in ("str", "timestamp") else None


def _word(source: Json, key: str) -> str:
    value = source.get(key)
    return value if isinstance(value, str) else ""


def _count(source: Json, key: str) -> int | None:
    value = source.get(key)
    return value if isinstance(value, int) else None


def _time(value: object) -> Timestamp | None:
    text = value if isinstance(value, str) else ""
    found = _GO_TIME.search(text)
    try:
        if found is not None:
            day, clock, hours, minutes = found.groups()
            whole, _, fraction = clock.partition(".")
            return parse_time(f"{day}T{whole}.{(fraction or '0')[:6].ljust(6, '0')}{hours}:{minutes}")
        return parse_time(text) if text else None
    except (ValueError, OverflowError):
        return None


def _activity(source: Json) -> Activity:
    error = object_at(source, "backoffInfo")
    return Activity(
        _word(source, "status"),
        _word(error, "errorCode"),
        _word(error, "errorMessage"),
        _time(source.get("lastProbeTime")),
        _time(source.get("lastTransitionTime")),
    )


def _group(source: Json) -> GroupStatus:
    health = object_at(source, "health")
    counts, registered = object_at(health, "nodeCounts"), object_at(health, "nodeCounts", "registered")
    return GroupStatus(
        _word(source, "name"),
        _word(health, "status"),
        NodeCounts(
            _count(registered, "total"),
            _count(registered, "ready"),
            _count(object_at(registered, "unready"), "total"),
            _count(object_at(registered, "unready"), "resourceUnready"),
            _count(registered, "notStarted"),
            _count(registered, "beingDeleted"),
            _count(counts, "unregistered"),
            _count(counts, "longUnregistered"),
        ),
        _count(health, "cloudProviderTarget"),
        _count(health, "minSize"),
        _count(health, "maxSize"),
        _activity(object_at(source, "scaleUp")),
        _activity(object_at(source, "scaleDown")),
        _time(health.get("lastProbeTime")),
        _time(health.get("lastTransitionTime")),
    )


def _of_yaml(source: Json) -> StatusText:
    listed: object = source.get("nodeGroups")
    groups = cast(list[object], listed)[:_MOST_GROUPS] if isinstance(listed, list) else []
    return StatusText(
        _word(source, "autoscalerStatus"),
        _word(source, "message"),
        _time(source.get("time")),
        _group(object_at(source, "clusterWide")),
        _by_name(_group(cast(Json, entry)) for entry in groups if isinstance(entry, dict)),
    )


def _by_name(groups: Iterable[GroupStatus]) -> tuple[GroupStatus, ...]:
    """Of several groups with one name the first: no two of one Cluster Autoscaler have the same."""
    found: dict[str, GroupStatus] = {}
    for group in groups:
        found.setdefault(group.name, group)
    return tuple(found.values())


# --- lines for people -------------------------------------------------------------------------------------------------------------


def _lines(text: str) -> StatusText:
    head, _, body = text.partition("\n")
    found: list[GroupStatus] = [GroupStatus()]
    part = ""
    for line in body.splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        key, rest = match.group(1), match.group(2)
        if key == "Name":
            if len(found) > _MOST_GROUPS:
                break
            found.append(GroupStatus(rest))
        elif key in ("Health", "ScaleUp", "ScaleDown"):
            part = key
            found[-1] = _with_line(found[-1], key, rest)
        else:
            found[-1] = _with_time(found[-1], part, key, _time(rest))
    running = any(entry.health for entry in found)
    return StatusText("Running" if running else "Initializing", "", _time(head), found[0], _by_name(found[1:]))


def _with_line(group: GroupStatus, part: str, rest: str) -> GroupStatus:
    status = rest.partition(" ")[0]
    if part == "ScaleUp":
        return replace(group, scale_up=replace(group.scale_up, status=status))
    if part == "ScaleDown":
        return replace(group, scale_down=replace(group.scale_down, status=status))
    numbers = {key: int(value) for key, value in _NUMBER.findall(rest)}
    counts = NodeCounts(
        numbers.get("registered"),
        numbers.get("ready"),
        numbers.get("unready"),
        numbers.get("resourceUnready"),
        numbers.get("notStarted"),
        numbers.get("beingDeleted"),
        numbers.get("unregistered"),
        numbers.get("longUnregistered"),
    )
    return replace(
        group,
        health=status,
        counts=counts,
        target=numbers.get("cloudProviderTarget"),
        min_size=numbers.get("minSize"),
        max_size=numbers.get("maxSize"),
    )


def _with_time(group: GroupStatus, part: str, key: str, moment: Timestamp | None) -> GroupStatus:
    field = "probed" if key == "LastProbeTime" else "changed"
    match part:
        case "Health":
            return replace(group, **{field: moment})
        case "ScaleUp":
            return replace(group, scale_up=replace(group.scale_up, **{field: moment}))
        case "ScaleDown":
            return replace(group, scale_down=replace(group.scale_down, **{field: moment}))
        case _:
            return group


# --- and back ---------------------------------------------------------------------------------------------------------------------


def written_anew(text: str, name: Callable[[str], str], message: Callable[[str], str]) -> str:
    """The text in its newer form with nothing in it but what is read here, names of groups and messages rewritten; "" for what can't be
    read."""
    said = read_status(text)
    if said.problem:
        return ""

    def activity(entry: Activity) -> dict[str, Any]:
        error = _filled({"errorCode": entry.error_code, "errorMessage": message(entry.error_message) if entry.error_message else ""})
        return _filled({"status": entry.status, "backoffInfo": error, "lastProbeTime": entry.probed, "lastTransitionTime": entry.changed})

    def group(entry: GroupStatus) -> dict[str, Any]:
        counts = entry.counts
        unready = _filled({"total": counts.unready, "resourceUnready": counts.resource_unready})
        registered = {
            "total": counts.registered, "ready": counts.ready, "notStarted": counts.not_started, "beingDeleted": counts.being_deleted,
            "unready": unready,
        }  # fmt: skip
        health = {
            "status": entry.health,
            "nodeCounts": _filled(
                {
                    "registered": _filled(registered), "longUnregistered": counts.long_unregistered, "unregistered": counts.unregistered,
                }
            ),
            "cloudProviderTarget": entry.target, "minSize": entry.min_size, "maxSize": entry.max_size,
            "lastProbeTime": entry.probed, "lastTransitionTime": entry.changed,
        }  # fmt: skip
        return _filled(
            {
                "name": name(entry.name) if entry.name else "",
                "health": _filled(health),
                "scaleUp": activity(entry.scale_up),
                "scaleDown": activity(entry.scale_down),
            }
        )

    found = {
        "time": said.written,
        "autoscalerStatus": said.state,
        "message": message(said.message) if said.message else "",
        "clusterWide": group(said.cluster),
        "nodeGroups": [group(entry) for entry in said.groups],
    }
    return yaml.safe_dump(_filled(found), sort_keys=False, width=1000)


def _filled(source: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is empty; times as text."""
    found: dict[str, Any] = {}
    for key, value in source.items():
        if value not in (None, "", {}, []):
            found[key] = _moment(value) if key in ("time", "lastProbeTime", "lastTransitionTime") else value
    return found


def _moment(at: Timestamp) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
