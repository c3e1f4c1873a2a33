"""Somebody else's cluster, as an API server that only remembers: what `clean` takes away, and what it leaves."""

from __future__ import annotations

from typing import Any

import pytest

from fault_injection.lab.errors import LabError
from fault_injection.library import foreign
from fault_injection.library.foreign import LABEL
from fault_injection.library.shelf import entry


class Cluster:
    """Keeps objects and knows label selectors; its lists answer for every kind that it has an object of."""

    def __init__(self, *items: dict[str, Any]) -> None:
        self.items = list(items)

    def versions(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for item in self.items:
            group = item["apiVersion"].rpartition("/")[0]
            found.setdefault(group, []).append(item["apiVersion"])
        return found

    def serves(self, version: str, kind: str) -> bool:
        return any((item["apiVersion"], item["kind"]) == (version, kind) for item in self.items)

    def list(self, version: str, kind: str, namespace: str | None = None, **parameters: str) -> list[dict[str, Any]]:
        key, _, value = parameters.get("labelSelector", "").partition("=")
        name = parameters.get("fieldSelector", "").removeprefix("metadata.name=")
        return [
            item
            for item in self.items
            if (item["apiVersion"], item["kind"]) == (version, kind)
            and namespace in (None, item["metadata"].get("namespace"))
            and (not key or (key in item["metadata"].get("labels", {}) and value in ("", item["metadata"]["labels"][key])))
            and name in ("", item["metadata"]["name"])
        ]

    def find(self, version: str, kind: str, name: str, namespace: str = "default") -> dict[str, Any] | None:
        return next((item for item in self.items if (item["kind"], item["metadata"]["name"]) == (kind, name)), None)

    def delete(self, item: dict[str, Any], grace: int | None = None) -> None:
        self.items.remove(item)

    def names(self) -> set[str]:
        return {item["metadata"]["name"] for item in self.items}


def thing(kind: str, name: str, run: str = "", version: str = "v1", namespace: str = "", **fields: Any) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name, "uid": f"uid-{name}", "labels": {LABEL: run} if run else {}}
    return {"apiVersion": version, "kind": kind, "metadata": {**metadata, **({"namespace": namespace} if namespace else {})}, **fields}


def definition(run: str) -> dict[str, Any]:
    spec = {"group": "karpenter.sh", "versions": [{"name": "v1"}], "names": {"kind": "NodePool"}}
    return thing("CustomResourceDefinition", "nodepools.karpenter.sh", run, "apiextensions.k8s.io/v1", spec=spec)


def test_the_status_of_the_clusters_own_autoscaler_is_left_alone() -> None:
    theirs = thing("ConfigMap", "cluster-autoscaler-status", namespace="kube-system")
    cluster = Cluster(theirs, thing("Pod", "mine", "run-1"), thing("Pod", "theirs"))
    assert foreign.clean(cluster, None) == 1  # type: ignore[arg-type]
    assert cluster.names() == {"cluster-autoscaler-status", "theirs"}


def test_the_status_that_a_scene_wrote_goes() -> None:
    cluster = Cluster(thing("ConfigMap", "cluster-autoscaler-status", "run-1", namespace="kube-system"))
    assert foreign.clean(cluster, "run-2") == 0  # type: ignore[arg-type]
    assert foreign.clean(cluster, "run-1") == 1  # type: ignore[arg-type]
    assert not cluster.items


def test_a_kind_that_the_cluster_was_taught_goes_with_its_objects() -> None:
    cluster = Cluster(definition("run-1"), thing("NodePool", "pool", "run-1", "karpenter.sh/v1"))
    assert foreign.clean(cluster, "run-1") == 2  # type: ignore[arg-type]
    assert not cluster.items


def test_a_kind_stays_that_others_have_objects_of_or_have_taught() -> None:
    used = Cluster(
        definition("run-1"), thing("NodePool", "mine", "run-1", "karpenter.sh/v1"), thing("NodePool", "pool", "", "karpenter.sh/v1")
    )
    assert foreign.clean(used, None) == 1  # type: ignore[arg-type]
    assert used.names() == {"nodepools.karpenter.sh", "pool"}
    theirs = Cluster(definition(""))
    assert foreign.clean(theirs, None) == 0  # type: ignore[arg-type]


def test_a_server_that_takes_no_selector_loses_nothing_of_its_own() -> None:
    class Careless(Cluster):
        def list(self, version: str, kind: str, namespace: str | None = None, **parameters: str) -> list[dict[str, Any]]:
            return super().list(version, kind, namespace)

    cluster = Careless(thing("Pod", "theirs"), thing("Pod", "mine", "run-1"))
    assert foreign.clean(cluster, None) == 1  # type: ignore[arg-type]
    assert cluster.names() == {"theirs"}


# --- an injection that doesn't come to its end ----------------------------------------------------------------------------------------


class Interrupted(Cluster):
    """Takes a few objects; then something happens."""

    def __init__(self, happens: BaseException) -> None:
        super().__init__(thing("Pod", "theirs"))
        self.happens = happens
        self.most = 0

    def serves(self, version: str, kind: str) -> bool:
        return not version.startswith("apiextensions")

    def create(self, item: dict[str, Any]) -> dict[str, Any]:
        self.most = max(self.most, len(self.items))
        if len(self.items) == 4:
            raise self.happens
        self.items.append({**item, "metadata": {**item["metadata"], "uid": f"real-{item['metadata']['name']}"}})
        return self.items[-1]

    def status(self, item: dict[str, Any], status: dict[str, Any]) -> dict[str, Any]:
        return item

    def close(self) -> None:
        pass


@pytest.mark.parametrize("happens", [KeyboardInterrupt(), ZeroDivisionError(), LabError("refused")])
def test_an_injection_that_is_interrupted_takes_back_what_it_made(happens: BaseException) -> None:
    cluster = Interrupted(happens)
    told: list[tuple[str, int]] = []

    def tell(run: str) -> None:
        told.append((run, len(cluster.items)))

    with (
        pytest.raises(type(happens)),
        foreign.injected(entry("slice-without-devices"), lambda: cluster, 1, 0, kubelets=False, tell=tell),  # type: ignore[arg-type, return-value]
    ):
        pass
    assert cluster.most == 4
    assert cluster.names() == {"theirs"}
    assert [(run[:4], made) for run, made in told] == [("run-", 1)], "its name is told before anything is made"


def test_what_an_injection_could_not_take_back_is_told_with_its_name() -> None:
    class Away(Interrupted):
        def delete(self, item: dict[str, Any], grace: int | None = None) -> None:
            raise LabError("it is gone")

    told: list[str] = []
    with (
        pytest.raises(LabError) as raised,
        foreign.injected(
            entry("slice-without-devices"),
            lambda: Away(KeyboardInterrupt()),  # type: ignore[arg-type, return-value]
            1,
            0,
            kubelets=False,
            tell=told.append,
        ),
    ):
        pass
    assert str(raised.value) == f"KeyboardInterrupt; what was made couldn't be removed (it is gone): `clean --run {told[0]}` does"
