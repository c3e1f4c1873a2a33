"""What each path answers. Nothing here knows of sockets."""

from __future__ import annotations

import json
import re
import threading
import time  # noqa: TID251 - a server has a clock
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import discovery, status
from .access import USER, Access
from .faults import Faults
from .lists import Refused, answer, page, whole
from .logs import Logs, Options, log
from .request import Answer, Form, Request
from .resources import Resource
from .store import Kept, Store
from .tables import OFFERS_LIST, OFFERS_ONE, metadata_list, metadata_of, table
from .watches import Watch

AVAILABLE = "application/json, application/json;stream=watch"
READING = ("GET", "HEAD", "OPTIONS")
ETCD = {"timeout": "etcdserver: request timed out", "leader": "etcdserver: leader changed"}

_DISCOVERY = re.compile(r"/api(?:/[^/]+)?|/apis(?:/[^/]+){0,2}")
_OBJECTS = re.compile(r"/(?:api/(?P<core>[^/]+)|apis/(?P<group>[^/]+)/(?P<version>[^/]+))/(?P<watch>watch/)?(?P<rest>.+)")


@dataclass(frozen=True, slots=True)
class Target:
    """The resource that a path names, and the namespace, name and subresource in it ("" where there is none)."""

    kept: Kept
    namespace: str
    name: str
    subresource: str
    watch: bool

    @property
    def resource(self) -> Resource:
        return self.kept.resource


class Api:
    """The API server without its sockets."""

    def __init__(self, store: Store, faults: Faults, access: Access, version: Mapping[str, Any], gates: str, logs: Logs) -> None:
        self.store = store
        self.faults = faults
        self.access = access
        self.version = version
        self.gates = gates
        self.logs = logs
        self.writes: list[Request] = []
        self.requests: list[Request] = []
        self.keep_requests = 10_000
        self._lock = threading.Lock()

    def resources(self) -> Sequence[Resource]:
        """What discovery tells."""
        return [resource for resource in self.store.resources() if self.faults.value("not-served", resource.name) is None]

    def target(self, request: Request) -> Target | None:
        """The resource of a path; None for every other path."""
        found = _OBJECTS.fullmatch(request.path.rstrip("/"))
        if found is None:
            return None
        group, version = (found["group"], found["version"]) if found["group"] else ("", found["core"])
        parts = found["rest"].split("/")
        namespace = ""
        if parts[0] == "namespaces" and len(parts) > 2 and not (group == "" and parts[2] in ("status", "finalize")):
            namespace, parts = parts[1], parts[2:]
        if len(parts) > 3:
            return None
        with self.store.lock:
            kept = self.store.kept.get((group, version, parts[0]))
        if kept is None or (namespace and not kept.resource.namespaced):
            return None
        name, subresource = [*parts[1:], "", ""][:2]
        watch = request.flag("watch") or found["watch"] is not None
        return Target(kept, namespace, name, subresource, watch and not name)

    def answer(self, request: Request, target: Target | None, address: str) -> Answer | Watch:
        """What a request gets. Raises Refused."""
        with self._lock:
            self.requests.append(request)
            del self.requests[: -self.keep_requests]
            if request.method not in READING:
                self.writes.append(request)
        if not self.access.knows(request) or self.faults.strike("unauthorized", "" if target is None else target.resource.name) is not None:
            raise Refused(status.unauthorized())
        if request.method != "GET":
            raise Refused(status.method_not_allowed())
        if target is None:
            return self._page(request, address)
        self._permit(request, target)
        return self._objects(request, target)

    def _permit(self, request: Request, target: Target) -> None:
        resource = target.resource
        if self.faults.strike("not-served", resource.name) is not None:
            raise Refused(status.not_served())
        denied = self.faults.value("forbidden", resource.name)
        hit = denied is not None and (not denied or target.namespace in denied.split(","))
        if hit:
            self.faults.strike("forbidden", resource.name)
        if hit or not self.access.allows(resource.namespaced, target.namespace):
            verb = "get" if target.name else "watch" if target.watch else "list"
            raise Refused(status.forbidden(USER, verb, resource, target.namespace, target.name, target.subresource))

    # --- objects --------------------------------------------------------------------------------------------------------------------

    def _objects(self, request: Request, target: Target) -> Answer | Watch:
        kept, now = target.kept, time.time()
        if target.subresource == "log" and (kept.resource.group, kept.resource.plural) == ("", "pods"):
            return self._log(request, target, now)
        if target.subresource not in ("", "status"):
            raise Refused(status.not_served())
        form = Form.negotiate(request.headers.get("accept", ""), OFFERS_ONE if target.name or target.watch else OFFERS_LIST)
        if form is None:
            raise Refused(status.not_acceptable(AVAILABLE))
        if target.watch:
            watch_list = self.faults.value("no-watch-list", kept.resource.name) is None
            if not watch_list and request.flag("sendInitialEvents"):
                self.faults.strike("no-watch-list", kept.resource.name)
            return self._watch(request, target, form, now, watch_list)
        if (trouble := self.faults.strike("etcd", kept.resource.name)) is not None:
            raise Refused(status.etcd(ETCD.get(trouble, trouble)))
        if target.name:
            return self._one(request, target, form, now)
        if request.query.get("continue") and self.faults.strike("gone", kept.resource.name) is not None:
            raise Refused(status.expired(status.CONTINUE_EXPIRED))
        found = page(self.store, kept, target.namespace, request)
        if form.kind == "Table":
            include = request.query.get("includeObject", "Metadata")
            return Answer.json(table(kept, found.entries, found.metadata(), include, now))
        return Answer.json(metadata_list(found)) if form.kind else answer(kept, found)

    def _one(self, request: Request, target: Target, form: Form, now: float) -> Answer:
        kept = target.kept
        with self.store.lock:
            entry = kept.entries.get(f"{target.namespace}/{target.name}" if kept.resource.namespaced else target.name)
        if entry is None:
            raise Refused(status.not_found(kept.resource, target.name))
        if form.kind == "Table":
            metadata = {"resourceVersion": str(entry.revision)}
            return Answer.json(table(kept, [entry], metadata, request.query.get("includeObject", "Metadata"), now))
        return Answer.json(metadata_of(entry)) if form.kind else Answer(200, [whole(kept, entry), b"\n"])

    def _log(self, request: Request, target: Target, now: float) -> Answer:
        options = Options.of(request, target.name)
        if (trouble := self.faults.strike("etcd", target.resource.name)) is not None:
            raise Refused(status.etcd(ETCD.get(trouble, trouble)))
        with self.store.lock:
            entry = target.kept.entries.get(f"{target.namespace}/{target.name}")
        if entry is None:
            raise Refused(status.not_found(target.resource, target.name))
        found = log(self.logs, entry.value(target.resource), options, now)
        return Answer(204, [], "") if found is None else Answer(200, [found], "text/plain")

    def _watch(self, request: Request, target: Target, form: Form, now: float, watch_list: bool) -> Watch:
        watch = Watch(self.store, target.kept, target.namespace, request, form.kind, now, watch_list)
        if watch.since is not None and (how := self.faults.strike("gone", target.resource.name)) is not None:
            failure = status.expired(f"too old resource version: {watch.since} ({self.store.revision})")
            if how == "http":
                watch.close()
                raise Refused(failure)
            watch.fail(failure)
        return watch

    # --- everything else ------------------------------------------------------------------------------------------------------------

    def _page(self, request: Request, address: str) -> Answer:
        path = request.path.rstrip("/") or "/"
        if path in ("/healthz", "/livez", "/readyz") or path.startswith(("/livez/", "/readyz/", "/healthz/")):
            return self._health(path)
        if path == "/version":
            return Answer(200, [json.dumps(self.version, indent=2).encode()])
        if path == "/metrics":
            if self.faults.strike("forbidden", "/metrics") is not None:
                raise Refused(status.forbidden_path(USER, "get", "/metrics"))
            return Answer(200, [self.gates.encode()], "text/plain; version=0.0.4; charset=utf-8; escaping=underscores")
        if path == "/openapi/v2":
            return Answer.json(discovery.open_api_v2(str(self.version.get("gitVersion", ""))))
        if path == "/openapi/v3":
            return Answer.json(discovery.open_api_v3())
        if path == "/":
            return Answer.json({"paths": ["/api", "/api/v1", "/apis", "/healthz", "/livez", "/metrics", "/readyz", "/version"]})
        return self._discovery(request, path, address)

    def _discovery(self, request: Request, path: str, address: str) -> Answer:
        resources = self.resources()
        closed = self.faults.value("no-discovery")
        if closed is not None and (path in closed.split(",") if closed else _DISCOVERY.fullmatch(path)):
            self.faults.strike("no-discovery")
            raise Refused(status.forbidden_path(USER, "get", path))
        if path in ("/api", "/apis"):
            whole = not any(below.count("/") > 1 for below in (closed or "").split(","))
            form = Form.negotiate(request.headers.get("accept", ""), (discovery.OFFER,) if whole else ())
            if form is None:
                raise Refused(status.not_acceptable(AVAILABLE))
            if form.kind:
                return Answer.json(discovery.aggregated(resources, path == "/api"), content_type=discovery.AGGREGATED)
            return Answer.json(discovery.api_versions(address) if path == "/api" else discovery.api_groups(resources))
        parts = path.split("/")[1:]
        found = None
        if parts[0] == "api" and len(parts) == 2:
            found = discovery.api_resources(resources, "", parts[1])
        elif parts[0] == "apis" and len(parts) == 3:
            found = discovery.api_resources(resources, parts[1], parts[2])
        elif parts[0] == "apis" and len(parts) == 2 and discovery.versions_of(resources, parts[1]):
            found = {"kind": "APIGroup", "apiVersion": "v1", **discovery.api_group(resources, parts[1])}
        if found is not None:
            return Answer.json(found)
        known = {(resource.group, resource.version) for resource in resources}
        if (parts[0] == "api" and ("", parts[1]) in known) or (parts[0] == "apis" and tuple(parts[1:3]) in known):
            raise Refused(status.not_served())
        return Answer.text("404 page not found\n", 404)

    def _health(self, path: str) -> Answer:
        name = path.split("/")[1]
        if name != "livez" and self.faults.strike("etcd") is not None:
            return Answer.text(f"[+]ping ok\n[-]etcd failed: reason withheld\n{name} check failed\n", 500)
        return Answer.text("ok")
