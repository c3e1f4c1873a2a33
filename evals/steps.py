"""The steps of a fix, carried out one by one as kubectl would: applied, patched, deleted; first with the names that a fresh copy has."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence, Set
from typing import Any

from fault_injection.library.changes import put, remove
from fault_injection.library.injection import Injection
from fault_injection.library.roles import Named, Roles
from k8s_topo_mcp.objects import KINDS

from .answers import Ref, Step
from .keys import ObjectKey

Object = dict[str, Any]


class BadStep(Exception):
    """A step can't be carried out. Says which and why."""


def renamed(fix: Sequence[Step], recorded: Roles, now: Roles) -> list[Step]:
    """The fix with what controllers named in the recording replaced by what they named here."""
    pairs = _renamings(recorded, now)
    made: list[Step] = []
    for step in fix:
        text = step.model_dump_json()
        for old in sorted(pairs, key=len, reverse=True):
            text = text.replace(old, pairs[old])
        made.append(Step.model_validate_json(text))
    return made


def here(objects: Set[ObjectKey], recorded: Roles, now: Roles) -> frozenset[ObjectKey]:
    """The recording's objects as they are called here."""
    pairs = _renamings(recorded, now)
    return frozenset((kind, pairs.get(name, name), namespace) for kind, name, namespace in objects)


def _renamings(recorded: Roles, now: Roles) -> dict[str, str]:
    """The names of the recording that are others here."""
    return {
        old: new
        for role, of in recorded.items()
        if isinstance(of, Named) and isinstance(other := now.get(role), Named)
        for old, new in zip((of.name, *of.claims), (other.name, *other.claims), strict=False)
        if old != new
    }


def carry(injection: Injection, step: Step) -> None:
    """Do what a step says. Raises BadStep, ApiError, LabError."""
    place = injection.place
    if step.apply is not None:
        made = step.manifest()
        if made is None:
            raise BadStep(step.problem() or "no manifest")
        namespace = made["metadata"].get("namespace") or "default"
        item = place.client.find(made["apiVersion"], made["kind"], made["metadata"]["name"], namespace)
        if item is None:
            place.client.create(made)
        else:
            put(place, item, _over(item, made))
        return
    assert step.object is not None
    item = _find(injection, step.object)
    if step.delete:
        remove(place.client, place.wait, item)
    else:
        put(place, item, patched(item, step))


def _find(injection: Injection, ref: Ref) -> Object:
    """The object that a reference names. Raises BadStep."""
    client = injection.place.client
    kind = ref.kind.rsplit("/", 1)[-1].lower().partition(".")[0]
    namespace, _, name = ref.name.rpartition("/")
    where = namespace or ref.namespace or injection.world.scene.namespace
    served = client.versions()
    for group, known in sorted(KINDS):
        if kind not in (known.lower(), f"{known.lower()}s", f"{known.lower()}es"):
            continue
        for version in served.get(group, ()):
            if client.serves(version, known):
                found = client.find(version, known, name, where)
                if found is not None:
                    return found
    raise BadStep(f"there is no {ref}")


def _over(item: Object, manifest: Object) -> Object:
    """What apply makes of an object: the manifest's fields over its own."""
    return merged(item, {name: value for name, value in manifest.items() if name not in ("status",)})


def patched(item: Object, step: Step) -> Object:
    """An object with a patch in it. Raises BadStep."""
    if isinstance(step.patch, list):
        made = copy.deepcopy(item)
        for operation in step.patch:
            _operate(made, operation)
        return made
    return merged(item, step.patch or {})


def merged(item: Any, patch: Any) -> Any:
    """A JSON merge patch (RFC 7386): objects are merged, null takes away, everything else replaces."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    made = dict(item) if isinstance(item, dict) else {}
    for name, value in patch.items():
        if value is None:
            made.pop(name, None)
        else:
            made[name] = merged(made.get(name), value)
    return made


def _operate(item: Object, operation: Mapping[str, Any]) -> None:
    """One operation of a JSON patch (RFC 6902): add, replace, remove; and test, which must hold. Raises BadStep."""
    verb, path = operation.get("op"), operation.get("path")
    if verb not in ("add", "replace", "remove", "test") or not isinstance(path, str) or not path.startswith("/"):
        raise BadStep(f"a patch's operation is add, replace, remove or test of a /path, not {json.dumps(operation)[:100]}")
    *way, last = (part.replace("~1", "/").replace("~0", "~") for part in path[1:].split("/"))
    holder: Any = item
    try:
        for part in way:
            holder = holder[int(part)] if isinstance(holder, list) else holder[part] if verb != "add" else holder.setdefault(part, {})
        if isinstance(holder, list):
            place = len(holder) if last == "-" else int(last)
            if verb == "add":
                holder.insert(place, operation["value"])
            elif verb == "replace":
                holder[place] = operation["value"]
            elif verb == "remove":
                del holder[place]
        elif verb in ("add", "replace"):
            holder[last] = operation["value"]
        elif verb == "remove":
            del holder[last]
        if verb == "test" and (holder[int(last)] if isinstance(holder, list) else holder[last]) != operation["value"]:
            raise BadStep(f"test {path} doesn't hold")
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        raise BadStep(f"the patch's path {path} leads nowhere in {item.get('kind')} {item['metadata']['name']}") from None
