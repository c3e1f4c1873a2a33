"""The client by which the lab writes."""

from __future__ import annotations

import httpx
import pytest

from fault_injection.lab.client import Client
from fault_injection.lab.errors import ApiError

CLAIM = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "c", "namespace": "default"}}


def answering(status: int, asked: list[httpx.Request]) -> Client:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            return httpx.Response(200, json={"resources": [{"name": "resourceclaims", "kind": "ResourceClaim", "namespaced": True}]})
        asked.append(request)
        return httpx.Response(status, json={"kind": "Status", "reason": "Reason", "message": "said"} if status >= 400 else CLAIM)

    client = Client("http://127.0.0.1:1", None, verify=True)
    client.http = httpx.Client(base_url="http://127.0.0.1:1", transport=httpx.MockTransport(answer))
    return client


@pytest.mark.parametrize(("status", "fine"), [(200, True), (404, True), (409, False), (403, False)])
def test_that_what_is_let_go_has_gone_already_is_fine(status: int, fine: bool) -> None:
    """Its controller may have taken its finalizer away between a look and the patch."""
    asked: list[httpx.Request] = []
    client = answering(status, asked)
    if fine:
        client.let_go(CLAIM)
    else:
        with pytest.raises(ApiError, match=f"{status} Reason: said"):
            client.let_go(CLAIM)
    (request,) = asked
    assert (request.method, request.content) == ("PATCH", b'{"metadata":{"finalizers":null}}')
