"""A small client of the API server: objects in, objects out, addressed by apiVersion and kind.

With a fence it writes only into the given namespaces and refuses everything that isn't namespaced.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from .errors import ApiError, LabError

Object = dict[str, Any]

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"


class Client:
    """Reads and writes one cluster. Raises ApiError for what the API server refuses."""

    def __init__(self, server: str, token: str | None, verify: ssl.SSLContext | bool, fence: set[str] | None = None) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.http = httpx.Client(base_url=server, headers=headers, verify=verify, timeout=30, trust_env=False)
        self.fence = fence
        self._kinds: dict[str, dict[str, tuple[str, bool]]] = {}

    def close(self) -> None:
        self.http.close()

    # --- objects --------------------------------------------------------------------------------------------------------------

    def get(self, api_version: str, kind: str, name: str, namespace: str = "default") -> Object:
        return self.call("GET", self.path(api_version, kind, name, namespace))

    def find(self, api_version: str, kind: str, name: str, namespace: str = "default") -> Object | None:
        """Like `get`, None where there is none."""
        try:
            return self.get(api_version, kind, name, namespace)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def list(self, api_version: str, kind: str, namespace: str | None = None, **parameters: str) -> list[Object]:
        """All objects of a kind, in one namespace or everywhere, each with apiVersion and kind."""
        found = self.call("GET", self.path(api_version, kind, None, namespace), parameters=parameters)
        return [{"apiVersion": api_version, "kind": kind, **item} for item in found.get("items") or ()]

    def create(self, item: Object) -> Object:
        """Create an object; a status that it carries is written too."""
        self._check_fence(item)
        namespace = item["metadata"].get("namespace", "default")
        made = self.call("POST", self.path(item["apiVersion"], item["kind"], None, namespace), json=item)
        return self.status(made, item["status"]) if item.get("status") else made

    def patch(self, item: Object, change: Object, subresource: str = "", content: str = MERGE) -> Object:
        """Merge a change into an object."""
        self._check_fence(item)
        return self.call("PATCH", self.path_of(item, subresource), json=change, content=content)

    def replace(self, item: Object, subresource: str = "") -> Object:
        self._check_fence(item)
        return self.call("PUT", self.path_of(item, subresource), json=item)

    def status(self, item: Object, status: Object) -> Object:
        """Merge into the status of an object."""
        return self.patch(item, {"status": status}, "status")

    def delete(self, item: Object, grace: int | None = None) -> None:
        """Delete an object; that there is none is fine."""
        self._check_fence(item)
        try:
            self.call("DELETE", self.path_of(item), json=None if grace is None else {"gracePeriodSeconds": grace})
        except ApiError as error:
            if error.status != 404:
                raise

    def let_go(self, item: Object) -> None:
        """Take the finalizers of an object away; that it is gone already is fine: whoever put them there may be about to."""
        try:
            self.patch(item, {"metadata": {"finalizers": None}})
        except ApiError as error:
            if error.status != 404:
                raise

    # --- addresses ------------------------------------------------------------------------------------------------------------

    def path_of(self, item: Object, subresource: str = "") -> str:
        metadata = item["metadata"]
        path = self.path(item["apiVersion"], item["kind"], metadata["name"], metadata.get("namespace", "default"))
        return f"{path}/{subresource}" if subresource else path

    def path(self, api_version: str, kind: str, name: str | None, namespace: str | None) -> str:
        """The address of an object, or of a list; without a namespace the list of all namespaces."""
        plural, namespaced = self._resource(api_version, kind)
        parts = ["/api" if "/" not in api_version else "/apis", api_version]
        if namespaced and namespace is not None:
            parts += ["namespaces", namespace]
        parts.append(plural)
        if name is not None:
            parts.append(name)
        return "/".join(parts)

    def serves(self, api_version: str, kind: str) -> bool:
        """Whether the API server serves a kind in a version."""
        return kind in self._served(api_version)

    def forget(self, api_version: str) -> None:
        """Ask anew what is served in a version, the next time it matters: a definition was added."""
        self._kinds.pop(api_version, None)

    def is_ready(self, api_version: str, kind: str) -> bool:
        """Whether a kind whose definition was just made can be used: it is in discovery, asked anew, and its list isn't refused any more
        (404, or 429: storage is (re)initializing), as it is for a while after that."""
        self.forget(api_version)
        try:
            return self.serves(api_version, kind) and self.list(api_version, kind) is not None
        except ApiError as error:
            if error.status not in (404, 429):
                raise
            return False

    def is_namespaced(self, api_version: str, kind: str) -> bool:
        return self._resource(api_version, kind)[1]

    def versions(self) -> dict[str, list[str]]:
        """group -> the API versions that are served, preferred first; the core group is ""."""
        found: dict[str, list[str]] = {"": ["v1"]}
        for group in self.call("GET", "/apis")["groups"]:
            served = [entry["groupVersion"] for entry in group["versions"]]
            preferred = group["preferredVersion"]["groupVersion"]
            found[group["name"]] = [preferred, *(version for version in served if version != preferred)]
        return found

    def _resource(self, api_version: str, kind: str) -> tuple[str, bool]:
        found = self._served(api_version).get(kind)
        if found is None:
            raise LabError(f"the API server doesn't serve {api_version} {kind}; turn on its gate or name its API")
        return found

    def _served(self, api_version: str) -> dict[str, tuple[str, bool]]:
        if api_version not in self._kinds:
            root = "/api" if "/" not in api_version else "/apis"
            try:
                resources = self.call("GET", f"{root}/{api_version}")["resources"]
            except ApiError as error:
                if error.status != 404:
                    raise
                resources = []
            self._kinds[api_version] = {
                entry["kind"]: (entry["name"], entry["namespaced"]) for entry in resources if "/" not in entry["name"]
            }
        return self._kinds[api_version]

    # --- requests -------------------------------------------------------------------------------------------------------------

    def call(
        self,
        method: str,
        path: str,
        json: Object | None = None,
        parameters: dict[str, str] | None = None,
        content: str = "application/json",
    ) -> Object:
        """One request."""
        headers = {"Content-Type": content} if json is not None else {}
        response = self.http.request(method, path, json=json, params=parameters, headers=headers)
        if response.is_success:
            return response.json()
        try:
            told = response.json()
        except ValueError:
            told = {}
        reason, message = told.get("reason", response.reason_phrase), told.get("message", response.text[:200])
        raise ApiError(method, path, response.status_code, reason, message)

    def text(self, path: str) -> str:
        """A page that isn't JSON: /metrics, /readyz."""
        response = self.http.get(path)
        if not response.is_success:
            raise ApiError("GET", path, response.status_code, response.reason_phrase, response.text[:200])
        return response.text

    @contextmanager
    def watch(self, path: str, version: str, seconds: int = 60) -> Iterator[Iterator[str]]:
        """The lines of a watch from a resource version on."""
        parameters = {"watch": "1", "resourceVersion": version, "timeoutSeconds": str(seconds), "allowWatchBookmarks": "true"}
        with self.http.stream("GET", path, params=parameters, timeout=httpx.Timeout(10, read=seconds + 10)) as response:
            if not response.is_success:
                raise ApiError("WATCH", path, response.status_code, response.reason_phrase, "")
            yield response.iter_lines()

    def _check_fence(self, item: Object) -> None:
        if self.fence is None:
            return
        metadata = item["metadata"]
        if not self.is_namespaced(item["apiVersion"], item["kind"]) or metadata.get("namespace") not in self.fence:
            where = metadata.get("namespace", "no namespace")
            raise LabError(f"{item['kind']} {metadata.get('name')} ({where}) isn't in a namespace of this lab; the rest is left alone")


def secure(certificate: str) -> ssl.SSLContext:
    """Trust of exactly one certificate (PEM text)."""
    return ssl.create_default_context(cadata=certificate)
