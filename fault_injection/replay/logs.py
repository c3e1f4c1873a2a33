"""Logs of containers: those that a recording has, and for all others what the API server says, or a kubelet through it.

They stand beside a recording, `X.logs.json` beside `X.json.gz`: {"namespace/pod": {"container": {"current": [LINE], "previous": [LINE]}}},
each line with its time before it. From kubernetes pkg/registry/core/pod/strategy.go (LogLocation), pkg/kubelet/kubelet_pods.go
(validateContainerLogStatus) and pkg/apis/core/validation (ValidatePodLogOptions).
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import status
from .lists import Refused

Object = dict[str, Any]
Logs = Mapping[str, Mapping[str, Mapping[str, Sequence[str]]]]

_SUFFIXES = (".json.gz", ".json")
_LEAST = {"tailLines": (0, "must be greater than or equal to 0"), "limitBytes": (1, "must be greater than 0")}
_LEAST["sinceSeconds"] = _LEAST["limitBytes"]
_WAITS = {"ErrImagePull": "image can't be pulled", "ImagePullBackOff": "trying and failing to pull image"}


def beside(source: str) -> Path | None:
    """Where the logs of a recording stand, if it is a file that can have them."""
    path = Path(source)
    suffix = next((suffix for suffix in _SUFFIXES if path.name.endswith(suffix)), None)
    return None if suffix is None else path.with_name(f"{path.name.removesuffix(suffix)}.logs.json")


def read(source: object) -> Logs:
    """The logs beside a recording, or beside several; none for objects that are given. Raises ValueError for a file that isn't whole."""
    found: dict[str, Mapping[str, Mapping[str, Sequence[str]]]] = {}
    several: Iterable[object] = [source] if isinstance(source, str) else source if isinstance(source, list | tuple) else ()
    for entry in several:
        path = beside(entry) if isinstance(entry, str) else None
        if path is not None and path.exists():
            try:
                found.update(json.loads(path.read_text()))
            except (ValueError, TypeError) as error:
                raise ValueError(f"{path}: no logs of containers ({error})") from None
    return found


def log(logs: Logs, pod: Object, query: Mapping[str, str], now: float) -> bytes | None:
    """What a container of a pod has written; None of a pod without a node. `query`: container, previous, timestamps, tailLines, limitBytes,
    sinceSeconds, sinceTime; with `follow` it ends where the recording does. Raises Refused."""
    name = pod["metadata"]["name"]
    numbers = _numbers(name, query)
    container = _container(pod, query.get("container", ""))
    if not (pod.get("spec") or {}).get("nodeName"):
        return None
    previous = _yes(query.get("previous"))
    own = logs.get(f"{pod['metadata'].get('namespace', '')}/{name}", {}).get(container, {})
    lines = own.get("previous" if previous else "current")
    if lines is None and not previous:
        lines = own.get("previous") if _ended(pod, container) else None
    if lines is None:
        raise Refused(status.bad_request(_without(pod, container, previous)))
    since = _since(query, numbers, now)
    kept = [line for line in lines if since is None or _time(line) >= since]
    if "tailLines" in numbers:
        kept = kept[len(kept) - numbers["tailLines"] :] if numbers["tailLines"] < len(kept) else kept
    if not _yes(query.get("timestamps")):
        kept = [line.partition(" ")[2] for line in kept]
    whole = "".join(f"{line}\n" for line in kept).encode("utf-8", "replace")
    return whole[: numbers.get("limitBytes", len(whole))]


def _container(pod: Object, asked: str) -> str:
    """The container's name. Raises Refused: there is none of that name, or several and none was asked for."""
    name, spec = pod["metadata"]["name"], pod.get("spec") or {}
    every = [entry["name"] for kind in ("initContainers", "containers", "ephemeralContainers") for entry in spec.get(kind) or ()]
    main = [entry["name"] for entry in spec.get("containers") or ()]
    if asked:
        if asked not in every:
            raise Refused(status.bad_request(f"container {asked} is not valid for pod {name}"))
        return asked
    if len(main) == 1:
        return main[0]
    choice = f", choose one of: [{' '.join(every)}]" if main else ""
    raise Refused(status.bad_request(f"a container name must be specified for pod {name}{choice}"))


def _status(pod: Object, container: str) -> Object:
    own = pod.get("status") or {}
    kinds = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
    return next((entry for kind in kinds for entry in own.get(kind) or () if entry.get("name") == container), {})


def _ended(pod: Object, container: str) -> bool:
    """Whether it doesn't run now and did before: a kubelet then gives the log of that time."""
    found = _status(pod, container)
    return "running" not in (found.get("state") or {}) and "terminated" in (found.get("lastState") or {})


def _without(pod: Object, container: str, previous: bool) -> str:
    """Why there is no log: as a kubelet says it of a container that has none, or that none was recorded."""
    name, found = pod["metadata"]["name"], _status(pod, container)
    if previous and "terminated" not in (found.get("lastState") or {}):
        return f'previous terminated container "{container}" in pod "{name}" not found'
    waiting = (found.get("state") or {}).get("waiting")
    if waiting is not None and "terminated" not in (found.get("lastState") or {}):
        reason = waiting.get("reason", "")
        return f'container "{container}" in pod "{name}" is waiting to start: {_WAITS.get(reason, reason)}'
    return f'container "{container}" in pod "{name}": this is a recording of a cluster, and it has no log of it'


def _numbers(name: str, query: Mapping[str, str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for option, (least, problem) in _LEAST.items():
        if option not in query:
            continue
        try:
            found[option] = int(query[option])
        except ValueError:
            raise Refused(status.bad_request(f"{option}: {json.dumps(query[option])} isn't an integer")) from None
        if found[option] < least:
            raise Refused(status.invalid_log_options(name, option, found[option], problem))
    return found


def _since(query: Mapping[str, str], numbers: Mapping[str, int], now: float) -> datetime.datetime | None:
    if "sinceSeconds" in numbers:
        return datetime.datetime.fromtimestamp(now - numbers["sinceSeconds"], datetime.UTC)
    if "sinceTime" not in query:
        return None
    try:
        return datetime.datetime.fromisoformat(query["sinceTime"]).astimezone(datetime.UTC)
    except ValueError:
        raise Refused(status.bad_request(f"sinceTime: {json.dumps(query['sinceTime'])} isn't a time as RFC 3339 writes it")) from None


def _time(line: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(line.partition(" ")[0])


def _yes(value: str | None) -> bool:
    return value in ("true", "True", "TRUE", "t", "T", "1", "")
