"""Logs of containers: those that a recording has, and for all others what the API server says, or a kubelet through it.

They stand beside a recording, `X.logs.json` beside `X.json.gz`: {"namespace/pod": {"container": {"current": [LINE], "previous": [LINE]}}},
each line with its time before it. From kubernetes pkg/registry/core/pod/strategy.go (LogLocation), pkg/kubelet/kubelet_pods.go
(validateContainerLogStatus), pkg/apis/core/validation (ValidatePodLogOptions) and pkg/apis/core/v1/zz_generated.conversion.go.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import status
from .lists import Refused
from .request import Request

Object = dict[str, Any]
Logs = Mapping[str, Mapping[str, Mapping[str, Sequence[str]]]]

_SUFFIXES = (".json.gz", ".json")
_POD = re.compile(r"[^/]+/[^/]+")
_INTEGER = re.compile(r"[+-]?[0-9]+")
_RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:\d\d)", re.ASCII)
_BOTH = "at most one of `sinceTime` or `sinceSeconds` may be specified"
_WAITS = {"ErrImagePull": "image can't be pulled", "ImagePullBackOff": "trying and failing to pull image"}


def beside(source: str) -> Path | None:
    """Where the logs of a recording stand, if it is a file that can have them."""
    path = Path(source)
    suffix = next((suffix for suffix in _SUFFIXES if path.name.endswith(suffix)), None)
    return None if suffix is None else path.with_name(f"{path.name.removesuffix(suffix)}.logs.json")


class BadLogs(ValueError):
    """A file of logs isn't of the form that this module's head shows. Says the file, the place in it and what would be right."""


def read(source: object) -> Logs:
    """The logs beside a recording, or beside several; none for objects that are given. Raises BadLogs."""
    found: dict[str, Mapping[str, Mapping[str, Sequence[str]]]] = {}
    several: Iterable[object] = [source] if isinstance(source, str) else source if isinstance(source, list | tuple) else ()
    for entry in several:
        path = beside(entry) if isinstance(entry, str) else None
        if path is not None and path.exists():
            found.update(_read(path))
    return found


def _read(path: Path) -> Logs:
    try:
        content: Any = json.loads(path.read_text())
    except (ValueError, OSError, RecursionError) as error:
        raise BadLogs(f"{path} isn't JSON that can be read ({error})") from None
    for pod, containers in _entries(path, content, "", 'a pod as "NAMESPACE/NAME"', _POD.fullmatch):
        for container, kept in _entries(path, containers, pod, "a container's name", bool):
            for kind, lines in _entries(path, kept, f"{pod}: {container}", '"current" or "previous"', ("current", "previous").__contains__):
                place = f"{pod}: {container}: {kind}"
                if not isinstance(lines, list):
                    raise _bad(path, place, lines, "a list of lines")
                for number, line in enumerate(lines, 1):
                    if not isinstance(line, str) or not _has_time(line):
                        raise _bad(path, f"{place}, line {number}", line, 'text that begins with its time: "2026-01-31T10:00:00Z TEXT"')
    return content


def _entries(path: Path, value: Any, place: str, keys: str, right: Callable[[str], object]) -> Iterable[tuple[str, Any]]:
    """The entries of what has to be an object with keys of a form."""
    if not isinstance(value, dict):
        raise _bad(path, place, value, f"an object of which each key is {keys}")
    for key in value:
        if not right(key):
            raise _bad(path, place, key, keys)
    return value.items()


def _bad(path: Path, place: str, value: Any, right: str) -> BadLogs:
    return BadLogs(f"{path}: {f'{place}: ' if place else ''}{json.dumps(value)[:80]} isn't {right}")


def _has_time(line: str) -> bool:
    try:
        return datetime.datetime.fromisoformat(line.partition(" ")[0]).tzinfo is not None
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class Options:
    """Which part of a log is asked for; None where nothing is said. `since_time`: seconds of the Unix epoch, -inf for one that is empty."""

    container: str = ""
    previous: bool = False
    timestamps: bool = False
    tail_lines: int | None = None
    limit_bytes: int | None = None
    since_seconds: int | None = None
    since_time: float | None = None

    @staticmethod
    def of(request: Request, pod: str) -> Options:
        """Those of a request for a pod's log. Raises Refused: 400 for what isn't of its type, 422 for what mustn't be."""
        query = request.query
        found = Options(
            query.get("container", ""),
            request.flag("previous"),
            request.flag("timestamps"),
            _integer(query, "tailLines"),
            _integer(query, "limitBytes"),
            _integer(query, "sinceSeconds"),
            _moment(query, "sinceTime"),
        )
        if causes := found._causes("stream" in query):
            raise Refused(status.invalid_log_options(pod, causes))
        return found

    def _causes(self, stream: bool) -> list[dict[str, str]]:
        """What ValidatePodLogOptions finds, in its order; the gate for `stream`, PodLogsQuerySplitStreams, is off by default."""
        found: list[dict[str, str]] = []
        if self.tail_lines is not None and self.tail_lines < 0:
            found.append(_invalid("tailLines", self.tail_lines, "must be greater than or equal to 0"))
        if self.limit_bytes is not None and self.limit_bytes < 1:
            found.append(_invalid("limitBytes", self.limit_bytes, "must be greater than 0"))
        if self.since_seconds is not None and self.since_time is not None:
            found.append(_forbidden("[]", _BOTH))
        elif self.since_seconds is not None and self.since_seconds < 1:
            found.append(_invalid("sinceSeconds", self.since_seconds, "must be greater than 0"))
        if stream:
            found.append(_forbidden("stream", "may not be specified"))
        return found


def log(logs: Logs, pod: Object, options: Options, now: float) -> bytes | None:
    """What a container of a pod has written; None of a pod without a node. With `follow` it ends with the recording. Raises Refused."""
    name = pod["metadata"]["name"]
    container = _container(pod, options.container)
    if not (pod.get("spec") or {}).get("nodeName"):
        return None
    previous = options.previous
    own = logs.get(f"{pod['metadata'].get('namespace', '')}/{name}", {}).get(container, {})
    lines = own.get("previous" if previous else "current")
    if lines is None and not previous:
        lines = own.get("previous") if _ended(pod, container) else None
    if lines is None:
        raise Refused(status.bad_request(_without(pod, container, previous)))
    since = options.since_time if options.since_seconds is None else now - options.since_seconds
    kept = [line for line in lines if since is None or _time(line) >= since]
    if options.tail_lines is not None:
        kept = kept[max(0, len(kept) - options.tail_lines) :]
    if not options.timestamps:
        kept = [line.partition(" ")[2] for line in kept]
    return "".join(f"{line}\n" for line in kept).encode("utf-8", "replace")[: options.limit_bytes]


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


def _integer(query: Mapping[str, str], option: str) -> int | None:
    """An int64 as Go's strconv.ParseInt reads it."""
    text = query.get(option)
    if text is None:
        return None
    # More digits than an int64 has aren't even read: Python refuses thousands of them in another way.
    if _INTEGER.fullmatch(text) is None or len(text) > 64 or not -(2**63) <= int(text) < 2**63:
        raise Refused(status.bad_request(f"{option}: {json.dumps(text[:80])} isn't an integer of 64 bits"))
    return int(text)


def _moment(query: Mapping[str, str], option: str) -> float | None:
    """A metav1.Time as its UnmarshalQueryParameter reads it: RFC 3339, and what is empty is the time before all others."""
    text = query.get(option)
    if text is None:
        return None
    if text in ("", "null"):
        return float("-inf")
    try:
        if _RFC3339.fullmatch(text) is not None:
            return datetime.datetime.fromisoformat(text).timestamp()
    except ValueError:
        pass
    raise Refused(status.bad_request(f"{option}: {json.dumps(text[:80])} isn't a time as RFC 3339 writes it, with its zone"))


def _invalid(field: str, value: int, problem: str) -> dict[str, str]:
    return {"reason": "FieldValueInvalid", "message": f"Invalid value: {value}: {problem}", "field": field}


def _forbidden(field: str, problem: str) -> dict[str, str]:
    return {"reason": "FieldValueForbidden", "message": f"Forbidden: {problem}", "field": field}


def _time(line: str) -> float:
    return datetime.datetime.fromisoformat(line.partition(" ")[0]).timestamp()
