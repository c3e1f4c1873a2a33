"""Recordings: the cluster as it was when the symptom was there, gzipped in the form of our own snapshots, and beside it what its roles are.

`FAULT/recorded/RELEASE.json.gz` is what an agent or a test reads; `RELEASE.roles.json` is for whoever checks the answer. What containers
have written, if the scene says so, is in `RELEASE.logs.json`: the replay server gives it to who asks for a pod's log. In
`RELEASE.CONTROLLER.json.gz` that controller was the real one, and the scene wrote nothing in its stead.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fault_injection.lab.client import Client
from fault_injection.lab.errors import LabError
from fault_injection.lab.recording import record
from fault_injection.replay.logs import BadLogs, Logs, beside
from fault_injection.replay.logs import read as read_logs

from .roles import Named, Value, dump, load
from .shelf import Entry
from .strict import BadFile

Object = dict[str, Any]
CLUSTER = "lab"
NODE_LEASES = "kube-node-lease"
"""The namespace of what the product doesn't read: a Lease a node."""
_RELEASE = re.compile(r"\d+\.\d+")
LARGE = 400_000
"""Bytes above which a recording isn't kept in the repository."""


@dataclass(frozen=True, slots=True)
class Recording:
    """One recording: the snapshot's objects (a v1 List), the roles, what was recorded, and logs of containers as the replay server reads
    them."""

    content: Object
    roles: dict[str, Named | Value]
    told: dict[str, Any]
    logs: Logs = field(default_factory=dict[str, Any])

    @property
    def items(self) -> list[Object]:
        return self.content["items"]

    def find(self, of: Named) -> Object | None:
        """An object of it, in whatever API version it was recorded."""
        return next((item for item in self.items if item.get("kind") == of.kind and _about(item["metadata"], of)), None)

    def events(self, of: Named) -> list[Object]:
        """The events about an object."""
        return [
            item
            for item in self.items
            if item.get("kind") == "Event" and _about(item["involvedObject"], of, item["involvedObject"].get("kind"))
        ]


def _about(fields: Object, of: Named, kind: str | None = None) -> bool:
    return fields.get("name") == of.name and fields.get("namespace") in (None, of.namespace) and kind in (None, of.kind)


def take(client: Client, scheduler_metrics: str, api_version: str) -> Object:
    """The cluster as a v1 List; resource.k8s.io in the version asked for."""
    content = record(client, scheduler_metrics, CLUSTER, api_version)
    items = [item for item in content["items"] if (item.get("metadata") or {}).get("namespace") != NODE_LEASES]
    return {**content, "items": items}


def path_of(entry: Entry, release: str) -> Path:
    """`release`: as "1.37", or "1.37.kueue" for the recording with the real one."""
    return entry.folder / "recorded" / f"{release}.json.gz"


def write(entry: Entry, release: str, recording: Recording, into: Path | None = None) -> Path:
    """Write it into the fault's folder, or as FAULT.json.gz into another; the same content gives the same bytes.

    Raises LabError for one that is too large for the repository, and leaves the recording that is there.
    """
    packed = _packed(recording.content)
    if into is None and len(packed) > LARGE:
        wrong = f"{entry.name}: {len(packed)} bytes are too many for the repository (at most {LARGE})"
        raise LabError(f"{wrong}; record it with fewer --innocents, or --into DIR")
    target = path_of(entry, release) if into is None else into / f"{entry.name}.json.gz"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(packed)
    _roles_beside(target).write_text(json.dumps({**recording.told, "roles": dump(recording.roles)}, indent=1) + "\n")
    logs = beside(str(target))
    if logs is not None and recording.logs:
        logs.write_text(json.dumps(recording.logs, indent=1, sort_keys=True) + "\n")
    elif logs is not None:
        logs.unlink(missing_ok=True)
    return target


def _packed(content: Object) -> bytes:
    packed = io.BytesIO()
    with gzip.GzipFile("", "wb", fileobj=packed, mtime=0) as file:
        file.write(json.dumps(content, separators=(",", ":"), sort_keys=True).encode())
    return packed.getvalue()


def read(entry: Entry, release: str) -> Recording:
    """A recording from the fault's folder. Raises BadFile if one of its files isn't there or isn't whole."""
    controller = "".join(release.split(".", 2)[2:])
    return read_at(path_of(entry, release), f"{entry.name}{f' --with {controller}' if controller else ''}")


def read_at(source: Path, of: str) -> Recording:
    """A recording anywhere, its roles beside it; `of`: what `record` is told to write it anew. Raises BadFile as `read` does."""
    roles = _roles_beside(source)
    again = f"`python -m fault_injection record {of}` writes it anew"
    for path in (source, roles):
        if not path.exists():
            raise BadFile(f"{path}: there is no such file; {again}")
    try:
        told = json.loads(roles.read_text())
        return Recording(json.loads(gzip.decompress(source.read_bytes())), load(told.pop("roles")), told, read_logs(str(source)))
    except BadLogs as error:
        raise BadFile(f"{error}; {again}") from None
    except (ValueError, KeyError, TypeError, EOFError, OSError, zlib.error) as error:
        raise BadFile(f"the recording {source} or {roles.name} beside it isn't whole ({error}); {again}") from None


def recorded(entry: Entry) -> list[str]:
    """The releases of which a fault has a recording."""
    return [name for name in _all(entry) if _RELEASE.fullmatch(name)]


def with_controllers(entry: Entry) -> list[str]:
    """The recordings in which a controller was the real one, as "1.37.kueue"."""
    return [name for name in _all(entry) if not _RELEASE.fullmatch(name)]


def _all(entry: Entry) -> list[str]:
    return sorted(path.name.removesuffix(".json.gz") for path in (entry.folder / "recorded").glob("*.json.gz"))


def _roles_beside(path: Path) -> Path:
    return path.with_name(path.name.replace(".json.gz", ".roles.json"))
