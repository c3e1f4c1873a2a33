"""Who plays which part in a case: what may be blamed, what may change, what must stay as it is.

From golden.yaml and keys.yaml with the recording's names, never from what our tools say.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from functools import cached_property

from fault_injection.library.golden import Golden
from fault_injection.library.recordings import Recording
from fault_injection.library.roles import Named, filled, filled_in, roles_in
from fault_injection.library.shelf import Entry

from . import keys
from .answers import Ref
from .keys import ObjectKey, key, key_of
from .mechanisms import Mechanism, of_code


class Parts:
    """The parts of one case."""

    entry: Entry

    @abstractmethod
    def read(self) -> Recording:
        """What was recorded of it, from its file."""

    @cached_property
    def recording(self) -> Recording:
        return self.read()

    @property
    @abstractmethod
    def asked(self) -> Named:
        """What the user asks about."""

    @property
    def golden(self) -> Golden:
        return self.entry.golden

    @cached_property
    def mechanisms(self) -> frozenset[Mechanism]:
        """What the cause may be called, of one object or another."""
        return frozenset[Mechanism]().union(*(mechanisms for _, mechanisms in self.causes))

    @cached_property
    def causes(self) -> tuple[tuple[frozenset[ObjectKey], frozenset[Mechanism]], ...]:
        """Objects, and what the cause may be called where one of them is blamed: what golden.yaml names by the first blocker's code, and
        the entries of the key."""
        golden = of_code(self.golden.blockers[0].code) if self.golden.blockers else frozenset[Mechanism]()
        found = [(self._golden, golden)]
        for entry in keys.of_fault(self.entry.name):
            ended = set(keys.objects(entry.delete, self.recording))
            objects = frozenset(self._with_kin(set(keys.objects(entry.named, self.recording)), ended))
            found.append((objects if entry.named else self._golden, frozenset(entry.mechanisms) or golden))
        return tuple(found)

    def mechanisms_of(self, blamed: ObjectKey) -> frozenset[Mechanism]:
        """What the cause may be called where this is blamed."""
        return frozenset[Mechanism]().union(*(mechanisms for objects, mechanisms in self.causes if blamed in objects))

    def _keyed(self, *fields: str) -> set[ObjectKey]:
        entries = [entry for key in keys.of_fault(self.entry.name) for field in fields for entry in getattr(key, field)]
        return set(keys.objects(entries, self.recording))

    @cached_property
    def guilty(self) -> frozenset[ObjectKey]:
        """Objects that are to change: the blockers', what the golden fixes change, delete or make, what the key lets change, and what
        stands for these: a claim for its template, what a pod is owned by for the pod, the claims that it holds.
        """
        return self._golden | frozenset(self._with_kin(self._keyed("change", "delete"), self._keyed("delete")))

    @cached_property
    def _golden(self) -> frozenset[ObjectKey]:
        return frozenset(self._with_kin(set(self._named_by_golden()), self._ended))

    @cached_property
    def deletable(self) -> frozenset[ObjectKey]:
        """Objects that may be deleted: what golden fixes delete, with what stands for it, and what the key lets be deleted. That something
        may change is no leave to delete it."""
        ended = self._ended | self._keyed("delete")
        return frozenset(self._with_kin(ended, ended))

    @property
    def _ended(self) -> set[ObjectKey]:
        return {
            key_of(of)
            for trial in self.golden.fixes
            for change in trial.change
            if change.delete and isinstance(of := self.recording.roles.get(change.of or ""), Named)
        }

    @cached_property
    def blamable(self) -> frozenset[ObjectKey]:
        """The guilty, and what else an answer may blame without having a right to change it."""
        return self.guilty | frozenset(self._with_kin(self._keyed("blame"), set()))

    @cached_property
    def neutral(self) -> frozenset[ObjectKey]:
        """Objects that an answer may also name: what the user asked about and its claims, and what the golden values and cause speak of."""
        found = {key_of(self.asked)}
        for template in (*(spelling for spellings in self._spellings() for spelling in spellings), self.golden.cause):
            found |= {key_of(of) for role in roles_in(template) if isinstance(of := self.recording.roles.get(role), Named)}
        return frozenset(self._with_kin(found, found))

    @cached_property
    def traps(self) -> frozenset[ObjectKey]:
        """What the changes that don't help change, and what must stay untouched, but for what the fixes change too."""
        roles = self.recording.roles
        named = [change.of for trial in self.golden.not_fixes for change in trial.change]
        named += list(self.golden.intent.untouched) if self.golden.intent is not None else []
        found = {key_of(of) for role in named if isinstance(of := roles.get(role or ""), Named)}
        return frozenset(self._with_kin(found, found) - self.guilty)

    @cached_property
    def present(self) -> frozenset[ObjectKey]:
        """Every object of the recording."""
        return frozenset(
            key(item["kind"], item["metadata"]["name"], item["metadata"].get("namespace") or "")
            for item in self.recording.items
            if "metadata" in item
        )

    @cached_property
    def own(self) -> frozenset[ObjectKey]:
        """What the user asked about, with its claims, their templates and its owners: what a fix may change without asking anybody."""
        asked = {key_of(self.asked)}
        claims = self._with_kin(asked, asked)
        return frozenset(self._with_kin(claims, asked))

    @property
    def ends(self) -> int:
        """How many pods a golden fix ends at most."""
        pods = [sum(self._is_pod(change.of) for change in trial.change if change.delete) for trial in self.golden.fixes]
        return max(pods, default=0)

    def _is_pod(self, role: str | None) -> bool:
        of = self.recording.roles.get(role or "")
        return isinstance(of, Named) and of.kind == "Pod"

    @property
    def held(self) -> bool:
        """Whether others hold what it wants, so that the end of any of them that makes it start is as good as the golden one."""
        return self.golden.verdict == "blocked by holders"

    @property
    def values(self) -> tuple[tuple[str, ...], ...]:
        """What a whole answer names, each in the spellings of which one will do."""
        roles = self.recording.roles
        return tuple(tuple(filled(spelling, roles) for spelling in spellings) for spellings in self._spellings())

    def _spellings(self) -> Iterator[tuple[str, ...]]:
        for value in self.golden.values:
            yield (value,) if isinstance(value, str) else value

    def _named_by_golden(self) -> Iterator[ObjectKey]:
        roles = self.recording.roles
        for blocker in self.golden.blockers:
            if blocker.object is not None:
                kind, _, full = filled(blocker.object, roles).partition(" ")
                namespace, _, name = full.rpartition("/")
                yield key(kind, name, namespace)
        for trial in self.golden.fixes:
            for change in trial.change:
                if change.create is not None:
                    made = filled_in(change.create, roles)
                    yield key(made["kind"], made["metadata"]["name"], made["metadata"].get("namespace") or "")
                elif isinstance(of := roles.get(change.of or ""), Named):
                    yield key_of(of)

    def _with_kin(self, found: set[ObjectKey], ended: set[ObjectKey]) -> set[ObjectKey]:
        """Both ways between a pod's generated claims and their template; from a pod to its owners, from one that is ended to its claims."""
        grown = set(found)
        for item in self.recording.items:
            if item.get("kind") != "Pod":
                continue
            metadata, pod = item["metadata"], key("Pod", item["metadata"]["name"], item["metadata"].get("namespace") or "")
            statuses = (item.get("status") or {}).get("resourceClaimStatuses") or ()
            generated = {entry["name"]: entry.get("resourceClaimName") for entry in statuses}
            for entry in item["spec"].get("resourceClaims") or ():
                template = entry.get("resourceClaimTemplateName")
                claim = generated.get(entry["name"]) if template else entry.get("resourceClaimName")
                of_template = key("ResourceClaimTemplate", template or "", metadata.get("namespace") or "")
                of_claim = key("ResourceClaim", claim or "", metadata.get("namespace") or "")
                if pod in ended:
                    grown.add(of_claim)
                if template and of_template in found:
                    grown.add(of_claim)
                if template and of_claim in found:
                    grown.add(of_template)
            if pod in found:
                owners = metadata.get("ownerReferences") or ()
                grown |= {key(owner["kind"], owner["name"], metadata.get("namespace") or "") for owner in owners}
        return {entry for entry in grown if entry[1]}


def find(ref: Ref, among: Iterable[ObjectKey]) -> ObjectKey | None:
    """The object that a reference names: plurals count as kinds, "namespace/name" as a name, a namespace that is left out as any."""
    kind = ref.kind.lower().rsplit("/", 1)[-1].partition(".")[0]
    namespace, _, name = ref.name.rpartition("/")
    namespace = namespace or ref.namespace or ""
    for entry in sorted(among):
        if (
            name == entry[1]
            and kind in (entry[0], f"{entry[0]}s", f"{entry[0]}es")
            and (not namespace or not entry[2] or namespace == entry[2])
        ):
            return entry
    return None


def names(ref: Ref, among: Iterable[ObjectKey]) -> bool:
    """Whether a reference names one of these."""
    return find(ref, among) is not None
