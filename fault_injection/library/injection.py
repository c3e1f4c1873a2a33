"""Carries a scene out at a place, proves that its symptom is there, and brings what the variant asks for at the end."""

from __future__ import annotations

import datetime
import re
import time  # noqa: TID251 - the bounded wait for what must not show
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from fault_injection.lab.errors import LabError
from fault_injection.lab.kubelets import now

from .custom_kinds import serve
from .places import Place
from .roles import Named, Roles, Value
from .signs import Sign
from .steps import Component, Create, Delete, Found, Hold, Patch, Said, Step, Wait
from .world import World

Object = dict[str, Any]

SETTLED, PER_NODE = 60.0, 0.2
"""Seconds until nodes are ready and bound pods run, and for each node more."""
MANY, WORKERS = 100, 4
"""Objects from which on several are made at a time."""
OWNERS = ("Job", "CronJob", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "ReplicationController")


class NotThere(LabError):
    """A sign of the symptom wasn't seen: the fault didn't land."""


@dataclass(slots=True)
class Injection:
    """A scene at a place. `mark` may change an object before it is made (a label for the clean-up)."""

    world: World
    place: Place
    mark: Callable[[Object], Object] = lambda item: item
    found: dict[str, Named] = field(default_factory=dict[str, Named])
    held: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    def run(self) -> None:
        """Every step, then the symptom, then what the variant does to the end. Raises NotThere, LabError, ApiError."""
        for step in self.world.steps:
            self._step(step)
        for sign in self.world.fault.symptom:
            self._see(sign, NotThere)

    def finish(self) -> None:
        """What the variant asks for once the symptom was seen: a change after the scheduler's last word, no events any more."""
        variant = self.world.variant
        if variant.old_condition:
            self.place.component("kube-scheduler", up=False)
            self._create(self.world.late())
        if variant.events_expired:
            self.place.client.call("DELETE", f"/api/v1/namespaces/{self.world.scene.namespace}/events")
            self.place.client.call("DELETE", "/api/v1/namespaces/default/events")

    def roles(self) -> dict[str, Named | Value]:
        """The roles as they are now, with the claims that were generated for pods."""
        found: dict[str, Named | Value] = {}
        for name, of in self.named().items():
            item = self._find(of) if isinstance(of, Named) else None
            found[name] = of if item is None else Named.of(item)
        return found

    def logs(self) -> dict[str, dict[str, dict[str, list[str]]]]:
        """What containers have written, by pod, container, and whether it is the present or the previous one's (`replay.logs`)."""
        found: dict[str, dict[str, dict[str, list[str]]]] = {}
        for log in self.world.logs:
            pod = self._named(log.pod, self.named()) if isinstance(log.pod, str) else Named.of(log.pod)
            own = found.setdefault(str(pod), {}).setdefault(log.container, {})
            lines = [f"{_ago(age, micro=True)[:-1]}000Z {text}" for age, text in log.lines]
            own["previous" if log.previous else "current"] = lines
        return found

    def named(self) -> dict[str, Named | Value]:
        """The roles as names, also of what controllers made."""
        return {**self.world.named(), **self.found}

    # --- steps --------------------------------------------------------------------------------------------------------------------

    def _step(self, step: Step) -> None:
        match step:
            case Create():
                self._create(step.items)
            case Wait():
                self._see(step.sign, LabError)
            case Patch():
                self.place.client.patch(step.item, _timed(self.world.scene.with_real_uids(step.change)), step.subresource)
            case Delete():
                self.place.client.delete(step.item, grace=0 if step.item["kind"] == "Pod" else None)
            case Component():
                self.place.component(step.name, step.up)
            case Hold():
                self.place.hold(step.item["metadata"]["name"], step.item["metadata"]["namespace"])
                self.held.add((step.item["metadata"]["namespace"], step.item["metadata"]["name"]))
            case Said():
                self._say(step)
            case Found():
                self.found[step.role] = self.place.wait(
                    f"the {step.kind} of {step.owner['metadata']['name']}", lambda: self._made_for(step)
                )

    def _create(self, items: Sequence[Object]) -> None:
        """Hardware and what runs first; then, on a quiet cluster, what waits, one after the other."""
        serve(self.place, items, self.mark)
        later = [item for item in items if _waits(item)]
        first = [item for item in items if not _waits(item)]
        self.world.scene.apply(self, first, workers=WORKERS if len(first) > MANY else 1)
        self._settle(first)
        for item in later:
            self.world.scene.apply(self, [item])

    def create(self, item: Object) -> Object:
        """As a scene's API server: every object gets its mark."""
        return self.place.client.create(self.mark(_timed(item)))

    def status(self, item: Object, status: Object) -> Object:
        return self.place.client.status(item, status)

    def _settle(self, items: Sequence[Object]) -> None:
        """Until the nodes among them are ready and the pods run, but for those that are held."""
        nodes = {item["metadata"]["name"] for item in items if item["kind"] == "Node" and _gets_ready(item)}
        pods = {(item["metadata"]["namespace"], item["metadata"]["name"]) for item in items if item["kind"] == "Pod"} - self.held
        client = self.place.client

        def settled() -> bool:
            if nodes and any(
                any("not-ready" in taint["key"] for taint in node["spec"].get("taints") or ())
                for node in client.list("v1", "Node")
                if node["metadata"]["name"] in nodes
            ):
                return False
            return not pods or all(
                pod["status"].get("phase") == "Running"
                for pod in client.list("v1", "Pod")
                if (pod["metadata"]["namespace"], pod["metadata"]["name"]) in pods
            )

        if nodes or pods:
            limit = SETTLED + PER_NODE * len(nodes)
            self.place.wait("nodes and pods to be ready", settled, limit, 0.05 if len(nodes) <= MANY else 1.0)

    def _made_for(self, step: Found) -> Named | None:
        """Owned by it, or by something that it owns; controllers give their pods its name and more."""
        metadata = step.owner["metadata"]
        for item in self.place.client.list(step.api_version, step.kind, metadata["namespace"]):
            own = any(owner["name"].startswith(metadata["name"]) for owner in item["metadata"].get("ownerReferences") or ())
            right = step.bound is None or bool(item["spec"].get("nodeName")) is step.bound
            if own and right and not item["metadata"].get("deletionTimestamp"):
                return Named.of(item)
        return None

    def _say(self, said: Said) -> None:
        metadata = said.about["metadata"]
        about = {"apiVersion": said.about["apiVersion"], "kind": said.about["kind"], "name": metadata["name"]}
        namespace = metadata.get("namespace")
        found = None if said.uid else self._find(Named.of(said.about))
        if namespace:
            about["namespace"] = namespace
        about["uid"] = said.uid or (metadata["name"] if said.about["kind"] == "Node" else (found or said.about)["metadata"]["uid"])
        moment = _ago(said.age)
        self.create(
            {
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {"name": f"{metadata['name']}.{self.world.draw.getrandbits(64):016x}", "namespace": namespace or "default"},
                "involvedObject": about,
                "reason": said.reason,
                "message": said.message,
                "type": said.type,
                "source": {"component": said.source},
                "reportingComponent": said.source,
                "firstTimestamp": _ago(said.age + 60 * (said.count - 1)),
                "lastTimestamp": moment,
                "count": said.count,
            }
        )

    # --- signs --------------------------------------------------------------------------------------------------------------------

    def _see(self, sign: Sign, error: type[LabError]) -> None:
        if sign.absent:
            self._see_not(sign, error)
            return
        try:
            self.place.wait(sign.words(), lambda: self.shows(sign), sign.seconds, 0.05)
        except LabError as failure:
            raise error(f"{failure}; {self._state_of(sign.of)}") from None

    def _see_not(self, sign: Sign, error: type[LabError]) -> None:
        """Nothing can be seen of an object that isn't there either: it has to be."""
        limit = time.monotonic() + sign.seconds
        while time.monotonic() < limit:
            if not sign.is_of_existence and self._find(of := self._named(sign.of, self.named())) is None:
                raise error(f"{sign.words()}: {of.ref} isn't there at all")
            if self.shows(sign):
                raise error(f"seen, but must not be: {sign.words()}; {self._state_of(sign.of)}")
            time.sleep(0.2)

    def shows(self, sign: Sign) -> bool:
        """Whether the sign is seen now."""
        roles = self.named()
        of = self._named(sign.of, roles)
        return sign.seen(self._find(of), lambda: self._events(of), roles)

    def _named(self, role: str, roles: Roles) -> Named:
        of = roles.get(role)
        if not isinstance(of, Named):
            raise LabError(f"a sign is of role {role!r}, which is no object of the scene; it has {', '.join(sorted(roles))}")
        return of

    def _find(self, of: Named) -> Object | None:
        return self.place.client.find(of.api_version, of.kind, of.name, of.namespace or "default")

    def _events(self, of: Named) -> list[Object]:
        where = of.namespace or "default"
        return self.place.client.list("v1", "Event", where, fieldSelector=f"involvedObject.name={of.name},involvedObject.kind={of.kind}")

    def _state_of(self, role: str) -> str:
        """What there is instead."""
        of = self.named().get(role)
        return self.state_of(of) if isinstance(of, Named) else f"no role {role}"

    def state_of(self, of: Named) -> str:
        """What an object says of itself, and the events about it."""
        item = self._find(of)
        if item is None:
            return f"{of.ref} isn't there"
        said = [
            f"{entry['type']}={entry['status']} {entry.get('reason', '')} {entry.get('message', '')!r}"
            for entry in (item.get("status") or {}).get("conditions") or ()
        ]
        said += [f"{entry['reason']}: {entry.get('message', '')!r}" for entry in self._events(of)]
        return f"{of.ref} says {'; '.join(said) or 'nothing'}"


def _waits(item: Object) -> bool:
    return item["kind"] in OWNERS or (item["kind"] == "Pod" and not item["spec"].get("nodeName"))


def _gets_ready(node: Object) -> bool:
    conditions = (node.get("status") or {}).get("conditions") or ()
    return not any(entry["type"] == "Ready" and entry["status"] != "True" for entry in conditions)


_MOMENT = re.compile(r"<now-(?P<age>[0-9.]+?)(?P<micro>\.micro)?>")


def _timed(value: Any) -> Any:
    """A structure with its moments put in."""
    match value:
        case str():
            return _MOMENT.sub(lambda match: _ago(float(match["age"]), micro=match["micro"] is not None), value)
        case dict():
            return {key: _timed(inner) for key, inner in value.items()}
        case list():
            return [_timed(inner) for inner in value]
        case _:
            return value


def _ago(seconds: float, micro: bool = False) -> str:
    moment = datetime.datetime.fromisoformat(now()) - datetime.timedelta(seconds=seconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ" if micro else "%Y-%m-%dT%H:%M:%SZ")
