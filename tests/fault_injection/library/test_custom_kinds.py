"""A kind that a definition was made for is taken as served once its objects can be read, not once it is in discovery."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

import httpx
import pytest

from fault_injection.lab.client import Client
from fault_injection.lab.controllers.definitions import define
from fault_injection.lab.errors import ApiError, LabError
from fault_injection.library.custom_kinds import serve
from fault_injection.library.places import Place

Object = dict[str, Any]
POOL = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "general"}, "spec": {}}
KINDS = {"resources": [{"kind": "CustomResourceDefinition", "name": "customresourcedefinitions", "namespaced": False}]}
POOLS = {"resources": [{"kind": "NodePool", "name": "nodepools", "namespaced": False}]}
REFUSED = [(404, "the server could not find the requested resource"), (429, "storage is (re)initializing")]


class Starting:
    """An API server for which a new kind comes up in steps, one a look: not in discovery, there but refused in two ways, there."""

    def __init__(self) -> None:
        self.refused = [*REFUSED]
        self.defined: Object | None = None
        self.looks = 0
        self.client = Client("http://127.0.0.1:1", None, verify=True)
        self.client.http = httpx.Client(base_url="http://127.0.0.1:1", transport=httpx.MockTransport(self.answer))

    def answer(self, request: httpx.Request) -> httpx.Response:
        match request.method, request.url.path:
            case "GET", "/apis/apiextensions.k8s.io/v1":
                return httpx.Response(200, json=KINDS)
            case "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions":
                self.defined = json.loads(request.content)
                return httpx.Response(201, json=self.defined)
            case "GET", "/apis/karpenter.sh/v1" if self.looks > 1:
                return httpx.Response(200, json=POOLS)
            case "GET", "/apis/karpenter.sh/v1/nodepools" if not self.refused:
                return httpx.Response(200, json={"items": []})
            case "GET", "/apis/karpenter.sh/v1/nodepools":
                status, message = self.refused.pop(0)
                return httpx.Response(status, json={"reason": "r", "message": message})
            case _:
                return httpx.Response(404, json={"reason": "NotFound", "message": "the server could not find the requested resource"})

    def wait(self, what: str, until: Callable[[], Any], seconds: float = 30.0, every: float = 0.05) -> Any:
        for _ in range(9):
            self.looks += 1
            if found := until():
                return found
        raise LabError(f"waited {seconds:.0f} s for {what}")


@pytest.mark.parametrize(
    "make",
    [
        lambda place: serve(place, [POOL], lambda made: made),
        lambda place: define(
            place,
            [
                {
                    "apiVersion": "apiextensions.k8s.io/v1",
                    "kind": "CustomResourceDefinition",
                    "metadata": {"name": "nodepools.karpenter.sh"},
                    "spec": {"group": "karpenter.sh", "names": {"kind": "NodePool"}, "versions": [{"name": "v1", "served": True}]},
                }
            ],
        ),
    ],
    ids=["of a scene", "of a controller"],
)
def test_a_new_kind_is_waited_for_until_its_storage_is_ready(make: Callable[[Any], None]) -> None:
    place = Starting()
    make(place)
    assert (place.defined is not None, place.refused, place.looks) == (True, [], 4)


def test_another_refusal_is_no_matter_of_time() -> None:
    place = Starting()
    place.refused = [(403, "not you")]
    with pytest.raises(ApiError, match="403 r: not you"):
        serve(cast(Place, place), [POOL], lambda made: made)
