"""Reading a manifest that may not exist anywhere yet: strictly, with the place of every mistake.

The API server drops a field that it doesn't know (unless asked to be strict, as kubectl does) and checks attribute names not at all, so a
typo turns into a claim that means something else. Here every field of a claim, template, class, pod or pod template must be one of the
API's, values must be such as the API server takes (claim_rules.py, pod_rules.py, manifest_names.py), and selectors must compile.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Any, cast

from ..cel import CompileError, Environment, compile_selector
from ..objects import CUSTOM_KINDS, KINDS, ApiObject, DecodeError, Json, decode, group_of
from ..objects.decoding import mapping
from .claim_rules import check_claim_spec, check_class_spec
from .manifest_names import VERSIONS, check_label, check_object_name, check_version, nearest
from .pod_rules import ANY, POD_SPEC, check_amounts, check_pod_spec, pod_specs
from .yaml_items import ManifestError, place, plain, yaml_items


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """One object of the manifest with its number; `lines` maps a path to its line (both counted from 1). `named`: its name is the
    manifest's; else it was given one here."""

    number: int
    item: Json
    object: ApiObject
    lines: Mapping[str, int]
    named: bool = True

    def place(self, path: str) -> str:
        """Where a field stands, as messages say it."""
        return place(self.number, self.lines, path)


Schema = Mapping[str, Any]
_QUANTITIES = ANY
_TOLERATION = {"key": None, "operator": None, "value": None, "effect": None, "tolerationSeconds": None}
_EXACT: dict[str, Any] = {
    "deviceClassName": None,
    "selectors": [{"cel": {"expression": None}}],
    "allocationMode": None,
    "count": None,
    "adminAccess": None,
    "tolerations": [_TOLERATION],
    "capacity": {"requests": _QUANTITIES},
    "derivedAttributes": [{"name": None, "expression": None}],
}
_SUBREQUEST = {"name": None, **{key: value for key, value in _EXACT.items() if key != "adminAccess"}}
_OPAQUE = {"driver": None, "parameters": ANY}
_CLAIM_SPEC: dict[str, Any] = {
    "devices": {
        "requests": [{"name": None, "exactly": _EXACT, "firstAvailable": [_SUBREQUEST]}],
        "constraints": [{"requests": [None], "matchAttribute": None, "distinctAttribute": None}],
        "config": [{"requests": [None], "opaque": _OPAQUE}],
    }
}
_FLAT_REQUEST: dict[str, Any] = {"name": None, **_EXACT, "firstAvailable": [_SUBREQUEST]}  # v1beta1
_TOP = {"apiVersion": None, "kind": None, "metadata": ANY, "status": ANY}
_APPS = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet")
_DEVICES, _WORKLOADS = "resource.k8s.io", {("", "ReplicationController"), ("batch", "Job"), *(("apps", kind) for kind in _APPS)}
_POD_TEMPLATE = {"metadata": ANY, "spec": POD_SPEC}
_SCHEMAS: dict[tuple[str, str], dict[str, Any]] = {
    (_DEVICES, "ResourceClaim"): {**_TOP, "spec": _CLAIM_SPEC},
    (_DEVICES, "ResourceClaimTemplate"): {**_TOP, "spec": {"metadata": ANY, "spec": _CLAIM_SPEC}},
    (_DEVICES, "DeviceClass"): {
        **_TOP,
        "spec": {"selectors": [{"cel": {"expression": None}}], "config": [{"opaque": _OPAQUE}], "extendedResourceName": None},
    },
    ("", "Pod"): {**_TOP, "spec": POD_SPEC},
    ("batch", "CronJob"): {**_TOP, "spec": {"jobTemplate": {"spec": {"template": _POD_TEMPLATE, **ANY}, **ANY}, **ANY}},
    **{key: {**_TOP, "spec": {"template": _POD_TEMPLATE, **ANY}} for key in _WORKLOADS},
}
"""What may stand in an object: None is a plain value, a list stands for each entry, "*" for fields that aren't looked at."""


def read_manifest(text: str, namespace: str, environment: Environment) -> tuple[Document, ...]:
    """Decode and check every document. Objects without a namespace go to `namespace`. Raises ManifestError."""
    found: list[Document] = []
    try:
        check_label(namespace, "namespace")
    except DecodeError as error:
        raise ManifestError(str(error)) from None
    for entry in yaml_items(text, "manifest"):
        found.append(_document(entry.item, entry.lines, entry.number, entry.tag, namespace, environment))
        _only_once(found)
    if not found:
        raise ManifestError("manifest: empty; give the YAML of a ResourceClaim, ResourceClaimTemplate, Pod or workload")
    return tuple(found)


def _only_once(found: list[Document]) -> None:
    """The last document must not be of the same kind, namespace and name as one before it: nobody could create both."""
    last = found[-1]
    known = next((entry for entry in found[:-1] if type(entry.object) is type(last.object) and entry.object.key == last.object.key), None)
    if known is not None:
        raise ManifestError(
            f"manifest: {last.object.ref} stands there twice (first in document {known.number}); "
            f"give each object a name of its own {last.place('metadata.name')}"
        )


def _document(item: dict[str, Any], lines: Mapping[str, int], number: int, tag: str, namespace: str, environment: Environment) -> Document:
    kind, version = item.get("kind"), item.get("apiVersion")
    if not isinstance(kind, str) or not isinstance(version, str) or not kind:
        raise ManifestError(f"manifest: document {number} has no apiVersion and kind; is it a Kubernetes object?")
    at = partial(place, number, lines)
    group = group_of(version)
    if (group, kind) not in KINDS:
        raise ManifestError(f"manifest: {version[:80]} {kind[:80]} is not a kind that can be judged{_right_kind(kind)} {at('kind')}")
    try:
        check_version(group, version.rpartition("/")[2], kind)
        schema = _SCHEMAS.get((group, kind))
        if schema is not None:
            _check(item, _for_version(kind, version, schema), "", at)
        named = _named(item, tag, namespace, at)
        item = cast(dict[str, Any], plain(item))
        found = decode(item)
        assert found is not None
        _check_values(item, group, kind, version)
    except DecodeError as error:
        raise ManifestError(f"manifest: {error.path}: {error.problem} {at(error.path)}") from None
    if group == _DEVICES and schema is not None:
        _check_selectors(item, environment, at)
    return Document(number, item, found, lines, named)


def _named(item: dict[str, Any], tag: str, namespace: str, at: Any) -> bool:
    """Give it the name and the namespace that it lacks; whether it says how it is called."""
    if not isinstance(item.get("metadata"), dict):
        if item.get("metadata") is not None:
            raise ManifestError(f"manifest: metadata: must be an object {at('metadata')}")
        item["metadata"] = {}
    metadata = cast(dict[str, Any], item["metadata"])
    check_object_name(metadata)
    generated = metadata.get("generateName")
    named = bool(metadata.get("name")) or (isinstance(generated, str) and bool(generated))
    if not metadata.get("name"):
        metadata["name"] = f"{generated}x{tag}" if named else f"inline-{tag}"
    if not metadata.get("namespace"):
        metadata["namespace"] = namespace
    elif isinstance(metadata["namespace"], str):
        check_label(metadata["namespace"], "metadata.namespace")
    return named


def _check_values(item: Json, group: str, kind: str, version: str) -> None:
    """What the fields say must be such as the API server takes. Raises DecodeError."""
    spec = cast(Json, item.get("spec") or {})
    match group, kind:
        case "resource.k8s.io", "ResourceClaim":
            check_claim_spec(spec, "spec", version.endswith("/v1beta1"))
        case "resource.k8s.io", "ResourceClaimTemplate":
            check_claim_spec(mapping(spec, "spec"), "spec.spec", version.endswith("/v1beta1"))
        case "resource.k8s.io", "DeviceClass":
            check_class_spec(spec, "spec")
        case "", "Pod":
            check_pod_spec(spec, "spec")
        case _ if (group, kind) in _SCHEMAS:
            for pod, path in pod_specs(spec, "spec"):
                check_pod_spec(pod, path)
        case _ if (group, kind) in CUSTOM_KINDS and isinstance(spec, dict):
            for pod, path in pod_specs(spec, "spec"):  # an operator may fill in the rest
                check_amounts(pod, path)
        case _:
            pass


def _right_kind(kind: str) -> str:
    """What may have been meant by a kind, or by a kind in the wrong group."""
    near = nearest(kind, [known for _, known in KINDS])
    if not near:
        return ": judged are claims, their templates, pods and what makes pods (Deployment, Job and the like)"
    meant = near.removeprefix("; did you mean ").removesuffix("?")
    groups = [group for group, known in KINDS if known == meant]
    versions = [f"{group}/{VERSIONS[group][0]}" if group else VERSIONS[group][0] for group in groups if group in VERSIONS]
    return f"; did you mean {' or '.join(f'{version} {meant}' for version in versions)}?" if versions else ""


def _for_version(kind: str, version: str, schema: dict[str, Any]) -> dict[str, Any]:
    """v1beta1 has what is under `exactly` directly in the request."""
    if not version.endswith("/v1beta1") or kind == "DeviceClass":
        return schema
    spec = {"devices": {**_CLAIM_SPEC["devices"], "requests": [_FLAT_REQUEST]}}
    return {**schema, "spec": spec if kind == "ResourceClaim" else {"metadata": ANY, "spec": spec}}


def _check(value: Any, schema: Any, path: str, at: Any) -> None:
    """Every field of `value` must be in the schema (None: a scalar, a list: each entry, "*": anything)."""
    if schema is None or value is None:
        if isinstance(value, dict | list):
            shape = "a list" if isinstance(value, list) else "an object"
            raise ManifestError(f"manifest: {path}: must be a plain value, is {shape} {at(path)}")
        return
    if isinstance(schema, list):
        if not isinstance(value, list):
            raise ManifestError(f"manifest: {path}: must be a list {at(path)}")
        for index, entry in enumerate(cast(list[Any], value)):
            _check(entry, cast(list[Any], schema)[0], f"{path}[{index}]", at)
        return
    fields = cast(dict[str, Any], schema)
    if not isinstance(value, dict):
        if fields.keys() == ANY.keys():
            return
        raise ManifestError(f"manifest: {path or 'document'}: must be an object {at(path)}")
    for key, entry in cast(dict[str, Any], value).items():
        below = f"{path}.{key}" if path else str(key)
        if key not in fields:
            if "*" in fields:
                continue
            raise ManifestError(f"manifest: {_bounded(below)} is not a field{_hint(str(key), fields)} {at(below)}")
        _check(entry, fields[key], below, at)


def _hint(key: str, fields: Mapping[str, Any]) -> str:
    lower = {name.lower(): name for name in fields}
    near = get_close_matches(key.lower(), list(lower), n=1, cutoff=0.6)
    if not near:
        starting = [name for name in lower if name.startswith(key.lower())]
        near = starting[:1]
    if near:
        return f"; did you mean {lower[near[0]]}?"
    if "exactly" in fields and key in _EXACT:
        return "; in this version it belongs under exactly"
    return f"; the fields here are {', '.join(sorted(fields))}"


def _bounded(text: str) -> str:
    return text if len(text) <= 160 else text[:157] + "..."


def _check_selectors(item: dict[str, Any], environment: Environment, at: Any) -> None:
    """Every CEL selector must compile, as the API server demands."""
    for path, expression in _expressions(item.get("spec"), "spec"):
        found = compile_selector(expression, environment)
        if isinstance(found, CompileError):
            snippet = f"\n{found.snippet}" if found.snippet else ""
            raise ManifestError(f"manifest: {path}: {found.problem} (column {found.column}) {at(path)}{snippet}")


def _expressions(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, entry in cast(dict[str, Any], value).items():
            inside = cast(dict[str, Any], entry) if isinstance(entry, dict) else {}
            if key == "cel" and isinstance(inside.get("expression"), str):
                yield f"{path}.cel.expression", inside["expression"]
            elif key not in ("opaque", "derivedAttributes"):
                yield from _expressions(entry, f"{path}.{key}")
    elif isinstance(value, list):
        for index, entry in enumerate(cast(list[Any], value)):
            yield from _expressions(entry, f"{path}[{index}]")
