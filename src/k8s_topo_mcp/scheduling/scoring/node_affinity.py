"""NodeAffinity: the sum of the weights of the preferred terms that the node matches.

Source: k8s.io/kubernetes pkg/scheduler/framework/plugins/nodeaffinity, Score and NormalizeScore. Affinity that a scheduler profile adds
can't be read from the API.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...objects import Pod
from .candidate import Candidate, normalized

WEIGHT = 2


def score(pod: Pod, candidates: Sequence[Candidate]) -> list[int]:
    terms = pod.affinity.node.preferred

    def sum_up(entry: Candidate) -> int:
        node = entry.info.node
        return sum(term.weight for term in terms if term.term.matches(node.name, node.metadata.labels))

    return normalized([sum_up(entry) for entry in candidates])
