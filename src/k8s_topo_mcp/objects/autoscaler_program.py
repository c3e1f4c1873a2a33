"""The container of a node autoscaler, Cluster Autoscaler or Karpenter: which version it is, and how it was started.

Environment and arguments of other programs are never kept. Of these two they decide what the program does for pods with devices; kept are
the flags and the two variables that a rule reads, each only with a value of its own form: a command line may hold anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from .decoding import Json

UNREAD = "?"
"""Stands for a value that is given, but not in the form of its flag: $(VARIABLE), a typing error, something else that rides along."""


def _form(text: str) -> re.Pattern[str]:
    return re.compile(text, re.ASCII)


_BOOLEAN = _form(r"1|0|[tTfF]|true|True|TRUE|false|False|FALSE")
"""As Go's strconv.ParseBool."""
_NUMBER = _form(r"[+-]?[0-9]{1,19}")
_RANGE = _form(r"[0-9]{1,19}:[0-9]{1,19}")
_DURATION = _form(r"[+-]?(?:0|(?:[0-9]{1,12}(?:\.[0-9]{0,9})?(?:ns|us|ms|s|m|h)){1,6})")
_WORD = _form(r"[a-z]{2,16}")
_NAMESPACE = _form(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?"
_NAMES = _form(rf"{_NAME}(?:,{_NAME}){{0,15}}")
_GROUP = _form(rf"[0-9]{{1,9}}:[0-9]{{1,9}}:(?:https://www\.googleapis\.com/)?{_NAME}(?:/{_NAME}){{0,12}}")
_TAINT = _form(r"(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
_TAINT_PREFIX = _form(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?/?(?:[A-Za-z0-9][A-Za-z0-9._-]{0,62})?")
_GATES = _form(r"[A-Za-z][A-Za-z0-9]{0,63}=(?:true|false)(?:,[ ]?[A-Za-z][A-Za-z0-9]{0,63}=(?:true|false)){0,63}")

VARIABLES: Mapping[str, re.Pattern[str]] = {"IGNORE_DRA_REQUESTS": _BOOLEAN, "FEATURE_GATES": _GATES}
"""Environment variables of Karpenter that are kept (pkg/operator/options), and the form of their values."""

FLAGS: Mapping[str, re.Pattern[str]] = {
    **dict.fromkeys(
        (
            "capacity-buffer-controller-enabled", "capacity-buffer-pod-injection-enabled", "enable-dynamic-resource-allocation",
            "enable-provisioning-requests", "ignore-dra-requests",
        ),
        _BOOLEAN,
    ),
    **dict.fromkeys(("startup-taint", "ignore-taint", "status-taint"), _TAINT),
    **dict.fromkeys(("startup-taint-prefix", "status-taint-prefix"), _TAINT_PREFIX),
    **dict.fromkeys(("allowed-scheduler-names", "bypassed-scheduler-names"), _NAMES),
    **dict.fromkeys(("cores-total", "memory-total"), _RANGE),
    **dict.fromkeys(("max-nodes-total", "expendable-pods-priority-cutoff"), _NUMBER),
    **dict.fromkeys(("max-node-startup-time", "new-pod-scale-up-delay"), _DURATION),
    "cloud-provider": _WORD,
    "feature-gates": _GATES,
    "namespace": _NAMESPACE,
    "nodes": _GROUP,
}  # fmt: skip
"""Flags that are kept, and the form of their values. Cluster Autoscaler: config/flags/flags.go; feature-gates and ignore-dra-requests
Karpenter: pkg/operator/options/options.go."""

NAMING_FLAGS = frozenset({"namespace", "nodes", "allowed-scheduler-names", "bypassed-scheduler-names"})
"""Flags whose values have names of a cluster's own things in them."""

Program = Literal["cluster-autoscaler", "karpenter"]
_FLAG = re.compile(r"-{1,2}([A-Za-z][\w.-]*)(?:=(.*))?\Z", re.DOTALL)
_MOST_WORDS = 500


@dataclass(frozen=True, slots=True, eq=False)
class AutoscalerProgram:
    """`words` are its flags, each "--name=value", or "--name" for a boolean, in order. `variables` as VARIABLES has them."""

    program: Program
    container: str
    image: str
    words: tuple[str, ...] = ()
    variables: dict[str, str] = field(default_factory=dict[str, str])


def program_of(container: Json) -> Program | None:
    """Which of the two a container runs, by its image and the first word of its command; None for any other."""
    image = container.get("image")
    path = image.partition("@")[0].lower().split("/") if isinstance(image, str) else []
    command = container.get("command")
    first = cast(list[Any], command)[0] if isinstance(command, list) and command else ""
    if "cluster-autoscaler" in (path[-1] if path else "") or (isinstance(first, str) and first.rpartition("/")[2] == "cluster-autoscaler"):
        return "cluster-autoscaler"
    return "karpenter" if any(part.partition(":")[0].startswith("karpenter") for part in path) else None


def kept_words(words: Iterable[object]) -> list[str]:
    """The flags in a command line that are kept, a value that stands in a word of its own joined to its flag; never to a boolean one, which
    takes none (Go's flag packages). A shell's one long word is taken apart at its blanks."""
    parts = list(_parts(words))[:_MOST_WORDS]
    found: list[str] = []
    for index, part in enumerate(parts):
        match = _FLAG.match(part)
        form = FLAGS.get(match.group(1)) if match is not None else None
        if match is None or form is None:
            continue
        name, value = match.group(1), match.group(2)
        if value is None and form is _BOOLEAN:
            found.append(f"--{name}")
            continue
        if value is None:
            value = parts[index + 1] if index + 1 < len(parts) else ""
        found.append(f"--{name}={_in_form(value, form)}")
    return found


def _parts(words: Iterable[object]) -> Iterator[str]:
    for word in words:
        if isinstance(word, str) and " -" in word:
            yield from (part.replace('"', "").replace("'", "") for part in word.split())
        elif isinstance(word, str):
            yield word


def _in_form(value: object, form: re.Pattern[str]) -> str:
    return value if isinstance(value, str) and form.fullmatch(value) else UNREAD


def kept_variables(entries: Iterable[object]) -> dict[str, str]:
    """The environment variables that are kept, of several by one name the last."""
    found: dict[str, str] = {}
    for entry in entries:
        if isinstance(entry, dict):
            name, value = cast(Json, entry).get("name"), cast(Json, entry).get("value")
            if isinstance(name, str) and name in VARIABLES:
                found[name] = _in_form(value, VARIABLES[name])
    return found


def _list(container: Json, key: str) -> Sequence[object]:
    value = container.get(key)
    return cast(list[object], value) if isinstance(value, list) else ()


def decode_autoscaler(pod_spec: Json) -> AutoscalerProgram | None:
    """The first container of a pod's spec that is an autoscaler; None where there is none. Fields of another type are passed over."""
    for entry in _list(pod_spec, "containers"):
        if isinstance(entry, dict):
            container = cast(Json, entry)
            program = program_of(container)
            if program is not None:
                image, name = container.get("image"), container.get("name")
                return AutoscalerProgram(
                    program,
                    name if isinstance(name, str) else "",
                    image if isinstance(image, str) else "",
                    (*kept_words(_list(container, "command")), *kept_words(_list(container, "args"))),
                    kept_variables(_list(container, "env")),
                )
    return None
