"""What is deleted and made again, at an API server that only remembers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from fault_injection.lab import as_told
from fault_injection.lab.anew import remake, remove
from fault_injection.lab.client import Client
from fault_injection.lab.errors import LabError

Object = dict[str, Any]
POD: Object = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "n", "uid": "first", "resourceVersion": "7", "labels": {"a": "b"}, "ownerReferences": [{}]},
    "spec": {"priority": 3, "priorityClassName": "high", "schedulingGates": [{"name": "g"}], "containers": []},
    "status": {"phase": "Pending"},
}


class Memory:
    """One object; `slow`: it isn't gone the first times that it is looked for."""

    def __init__(self, slow: int = 0) -> None:
        self.there: Object | None = POD
        self.slow = slow
        self.graces: list[int | None] = []

    def delete(self, item: Object, grace: int | None = None) -> None:
        self.graces.append(grace)

    def find(self, version: str, kind: str, name: str, namespace: str) -> Object | None:
        assert (version, kind, name, namespace) == ("v1", "Pod", "p", "n")
        self.slow -= 1
        if self.slow < 0:
            self.there = None
        return self.there

    def create(self, item: Object) -> Object:
        assert self.there is None, "the old one is still there"
        self.there = {**item, "metadata": {**item["metadata"], "uid": "second"}}
        return self.there


def patient(what: str, until: Callable[[], Any], seconds: float) -> Any:
    for _ in range(3):
        if found := until():
            return found
    raise LabError(f"waited {seconds:.0f} s for {what}")


def test_it_is_made_again_once_the_old_one_is_gone_without_what_others_wrote() -> None:
    memory = Memory(slow=2)
    made = remake(cast(Client, memory), patient, POD)
    assert made["metadata"] == {"name": "p", "namespace": "n", "labels": {"a": "b"}, "uid": "second"}
    assert made["spec"] == {"priorityClassName": "high", "schedulingGates": [{"name": "g"}], "containers": []}
    assert "status" not in made
    assert memory.graces == [0], "a pod ends at once"


def test_it_may_get_another_spec_and_keeps_its_name() -> None:
    other = {**POD, "metadata": {"name": "q"}, "spec": {"priority": 9, "nodeName": "here"}}
    made = remake(cast(Client, Memory()), patient, POD, other)
    assert (made["metadata"]["name"], made["spec"]) == ("p", {"nodeName": "here"})
    assert POD["spec"]["priority"] == 3


def test_one_that_stays_is_told() -> None:
    with pytest.raises(LabError, match="waited 15 s for Pod p to be gone"):
        remove(cast(Client, Memory(slow=9)), patient, POD)


def test_gates_of_the_check_do_not_come_back() -> None:
    assert "schedulingGates" not in as_told._bare(POD)["spec"]
