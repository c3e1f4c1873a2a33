"""The container of a node autoscaler, Cluster Autoscaler or Karpenter: which version it is, and how it was started.

Environment and arguments of other programs are never kept. Of these two they decide what the program does for pods with devices; kept are
the flags and the two variables that a rule reads, each only with a value of its own form: a command line may hold anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Literal, cast

from .decoding import Json
from .record import record

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
_SHELLS = frozenset({"sh", "bash", "ash", "dash"})
_STARTED = re.compile(r"(?:\A|[;&|\n]|\bexec )[ \t]*(?:[\w.-]*/)*(cluster-autoscaler|karpenter)(?=\s|\Z)", re.ASCII)
_LONGEST_SCRIPT = 20_000
_CLUSTER_AUTOSCALER = re.compile(r"(?:mirrored-)?cluster-autoscaler(?:-(?:amd64|arm64|s390x|ppc64le))?")
"""Its image's name, of one architecture, or as mirrors of registries call it."""
_FLAG = re.compile(r"-{1,2}([A-Za-z][\w.-]*)(?:=(.*))?\Z", re.DOTALL)
_MOST_WORDS = 500


@record()
class AutoscalerProgram:
    """`words` are its flags, each "--name=value", or "--name" for a boolean, in order. `variables` as VARIABLES has them. `guessed`: only a
    part of its image's name speaks for it, which another program may have too."""

    program: Program
    container: str
    image: str
    words: tuple[str, ...] = ()
    variables: dict[str, str] = field(default_factory=dict[str, str])
    guessed: bool = False


def program_of(container: Json) -> Program | None:
    """Which of the two a container runs; None for any other."""
    found = _recognised(container)
    return None if found is None else found[0]


def _recognised(container: Json) -> tuple[Program, bool] | None:
    """Which of the two a container runs, and whether that is certain: by the program that it starts, or by an image with exactly one of
    their names. An image with more in its name is taken for one of them, and may be another program."""
    started = _started((*_list(container, "command"), *_list(container, "args")))
    if started is not None:
        return started, True
    image = container.get("image")
    parts = [part.partition(":")[0] for part in image.partition("@")[0].lower().split("/")] if isinstance(image, str) else [""]
    last = parts[-1]
    if _CLUSTER_AUTOSCALER.fullmatch(last):
        return "cluster-autoscaler", True
    if last == "karpenter" or (last == "controller" and "karpenter" in parts):
        return "karpenter", True
    if "cluster-autoscaler" in last:
        return "cluster-autoscaler", False
    return ("karpenter", False) if any(part.startswith("karpenter") for part in parts) else None


def _started(given: Sequence[object]) -> Program | None:
    """The program that a command line starts, by its first word or in a shell's script."""
    words = [word for word in given if isinstance(word, str)]
    shell = bool(words) and words[0].rpartition("/")[2] in _SHELLS
    for text in words[1:_MOST_WORDS] if shell else words[:1]:
        started = _STARTED.search(text[:_LONGEST_SCRIPT])
        if started is not None:
            return cast(Program, started[1])
    return None


def kept_command(words: Sequence[object]) -> list[str]:
    """What a snapshot holds of a command line: the program that it starts, if it is one of the two, and the flags that are kept."""
    started = _started(words)
    return [*([started] if started is not None else []), *kept_words(words)]


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
    """The first container of a pod's spec that is an autoscaler, one that certainly is before one that may be; None where there is none.
    Fields of another type are passed over."""
    guess: AutoscalerProgram | None = None
    for entry in _list(pod_spec, "containers"):
        container = cast(Json, entry if isinstance(entry, dict) else {})
        found = _recognised(container)
        if found is None or (guess is not None and not found[1]):
            continue
        program = _program(container, found[0], not found[1])
        if not program.guessed:
            return program
        guess = program
    return guess


def _program(container: Json, program: Program, guessed: bool) -> AutoscalerProgram:
    image, name = container.get("image"), container.get("name")
    return AutoscalerProgram(
        program,
        name if isinstance(name, str) else "",
        image if isinstance(image, str) else "",
        (*kept_words(_list(container, "command")), *kept_words(_list(container, "args"))),
        kept_variables(_list(container, "env")),
        guessed,
    )
