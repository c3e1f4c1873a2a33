"""Does a group start, whichever node each member gets? The trial in the model's order of nodes, in others where the order may matter, and
in each topology domain by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from ..objects import Pod
from ..scheduling.gang_scheduling import Gang, taking_part
from ..scheduling.places import Preference
from ..scheduling.placing import Known
from ..scheduling.pod_group_trial import Attempt, try_group
from ..scheduling.pod_signature import relates, signatures
from ..scheduling.topology_placement import domains
from ..view import ClusterView

OTHER_ORDERS: Final[tuple[Preference, ...]] = ("by score, reversed", "by name", "by name, reversed")


@dataclass(frozen=True, slots=True, eq=False)
class GangTrial:
    """`attempt` is the one to tell of: in the model's order, of topology domains that with most members placed (None: there is no domain).

    `certain`: no other choice of nodes changes whether the group starts; else between `fewest` and `most` members fitted. `domains`: value
    and how many fit, most first, and `attempts` what came of each (one with the key "" where there is no topology constraint).
    """

    attempt: Attempt | None
    attempts: Mapping[str, Attempt]
    starts: bool
    certain: bool = True
    fewest: int = 0
    most: int = 0
    domains: tuple[tuple[str, int], ...] = ()
    assumptions: tuple[str, ...] = ()
    error: str = ""
    not_modelled: str = ""
    known: Known = field(default_factory=Known)


def try_gang(view: ClusterView, gang: Gang, known: Known | None = None) -> GangTrial:
    """The whole judgement of a group that is in the queue. `known` gets, and may bring, what holds of each kind of member at the start."""
    known = {} if known is None else known
    if gang.topology_key:
        return _in_domains(view, gang, known)
    attempt = try_group(view, gang, known=known)
    counts = [attempt.scheduled]
    certain = attempt.independent or attempt.ended is not None
    if not certain:
        others = [try_group(view, gang, prefer=prefer, known=known) for prefer in OTHER_ORDERS]
        counts += [other.scheduled for other in others]
        same = all(other.starts == attempt.starts and other.ended is None for other in others)
        certain = same and (attempt.starts or _too_many(view, gang, known))
    return GangTrial(
        attempt,
        {"": attempt},
        attempt.starts,
        certain,
        min(counts),
        max(counts),
        assumptions=_assumed(view, attempt) if certain and attempt.starts else (),
        known=known,
    )


def _assumed(view: ClusterView, attempt: Attempt) -> tuple[str, ...]:
    found: list[str] = []
    if not attempt.independent:
        found.append("members are placed one after another; it starts in each of the 4 orders of nodes tried, others weren't")
    if view.release.minor < 36:
        found.append("members that wait for the rest hold their devices for up to 5 minutes without a trace in the API")
    return tuple(found)


def _too_many(view: ClusterView, gang: Gang, known: Known) -> bool:
    """Whether no assignment can place enough: the members of each kind fit so often at most, even if no other kind takes anything."""
    members = taking_part(view, gang)
    own = signatures(view, members)
    kinds: dict[object, list[Pod]] = {}
    for pod in members:
        kinds.setdefault(own[id(pod)], []).append(pod)
    most = len(gang.bound)
    alone = replace(gang, min_count=1)
    for pods in kinds.values():
        attempt = try_group(view, alone, known=known, members=pods)
        if not attempt.independent or attempt.ended is not None:
            return False
        most += len(attempt.placed)
    return most < gang.min_count


def _in_domains(view: ClusterView, gang: Gang, known: Known) -> GangTrial:
    found = domains(view, gang)
    if isinstance(found, str):
        return GangTrial(None, {}, False, error=found)
    attempts: dict[str, Attempt] = {}
    for value, nodes in found.items():
        attempts[value] = try_group(view, gang, nodes, known=known)
    if not attempts:
        return GangTrial(None, {}, False)
    counts = Counter({value: attempt.scheduled for value, attempt in attempts.items()})
    ordered = tuple(counts.most_common())
    ended = next((attempt for attempt in attempts.values() if attempt.ended is not None), None)
    starting = next((attempts[value] for value, _ in ordered if attempts[value].starts), None)
    attempt = ended or starting or attempts[ordered[0][0]]
    related = any(map(relates, gang.waiting))
    return GangTrial(
        attempt,
        attempts,
        ended is None and starting is not None,
        ended is not None or (starting or attempt).independent if starting is not None else all(a.independent for a in attempts.values()),
        min(counts.values()),
        max(counts.values()),
        domains=ordered,
        not_modelled="members that are spread or near each other, inside a topology domain" if related else "",
        known=known,
    )
