"""Who we are to the API server: kubeconfig, credential plugins and in-cluster accounts, as the official client reads them.

Everything here blocks and may run a plugin (`aws eks get-token`, `gke-gcloud-auth-plugin`, …), so it is called on a worker thread, and
never before the server has taken over stdin: a plugin inherits it. What a plugin or the identity provider says when it fails is shown
bounded and without secrets; tokens, keys and certificates are never part of a message or a representation.
"""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import logging
import os
import ssl
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote, urlsplit
from urllib.request import getproxies, proxy_bypass

import yaml

from ..source import SourceError
from .errors import foreign

IN_CLUSTER = "in-cluster"
_DEFAULT = "~/.kube/config"
_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount/token")
_OF_PROVIDER = ("client-secret", "id-token", "refresh-token", "access-token")
_AGAIN = 5.0
"""Seconds in which credentials aren't renewed twice: all watches learn at once that a token has run out."""
_MAYBE = 60.0
"""The same where it isn't clear that it is for the credentials: a server that is away must not have the plugin run all the time."""


class CredentialsError(SourceError):
    """Credentials that can't be had, or that the cluster doesn't take."""


def kubeconfig_paths(given: str | None) -> list[str]:
    """The kubeconfig files that exist, as kubectl finds them: the one given, else $KUBECONFIG, else ~/.kube/config."""
    paths = given or os.environ.get("KUBECONFIG") or _DEFAULT
    return [path for path in map(os.path.expanduser, paths.split(os.pathsep)) if path and os.path.isfile(path)]


def in_cluster() -> bool:
    """Whether this process runs in a pod with an account."""
    return bool(os.environ.get("KUBERNETES_SERVICE_HOST")) and _ACCOUNT.is_file()


class Credentials:
    """The way to one API server. `load` first; everything else is as of the last load."""

    def __init__(self, kubeconfig: str | None = None, context: str | None = None) -> None:
        self._paths = kubeconfig_paths(kubeconfig)
        self._given = kubeconfig
        self._context = context
        self._lock = threading.Lock()
        self._configuration: Any = None
        self._loaded = float("-inf")
        self._secrets: set[str] = set()
        self._material = ""
        self.name = context or (IN_CLUSTER if not self._paths and in_cluster() else "")
        self.cluster: str | None = None
        self.host = ""
        self.tls: ssl.SSLContext | None = None
        self.proxy: str | None = None
        self.headers: tuple[tuple[str, str], ...] = ()
        self.generation = 0
        """Goes up when the TLS side has changed: connections made before use the old certificate."""

    def __repr__(self) -> str:
        return f"Credentials({self.name!r})"

    @property
    def shows_certificate(self) -> bool:
        """Whether connections are made with a client certificate."""
        return self.tls is not None and bool(self._configuration.cert_file)

    @property
    def secrets(self) -> frozenset[str]:
        """What must never be shown."""
        return frozenset(self._secrets)

    def load(self) -> None:
        """Read the configuration, running a plugin if it names one. Raises CredentialsError."""
        with self._lock:
            self._load()

    def authorization(self) -> str | None:
        """The Authorization header, renewed when it is known to run out. Raises CredentialsError."""
        with self._lock:
            if self._configuration is None:
                self._load()
            return self._header()

    def renew(self, refused: str | None) -> None:
        """After a 401 to a request with the header `refused`: get new ones, unless that has happened since. Raises CredentialsError."""
        with self._lock:
            if self._header() == refused and time.monotonic() - self._loaded > _AGAIN:
                self._load()

    def renew_certificate(self, generation: int) -> None:
        """After a connection that was ended in place of an answer: it may be for its certificate. Get a new one, unless that has happened
        since `generation`. Raises CredentialsError."""
        with self._lock:
            if self.generation == generation and time.monotonic() - self._loaded > _MAYBE:
                self._load()

    def _header(self) -> str | None:
        with _plugin_errors():
            try:
                setting: Any = self._configuration.auth_settings().get("BearerToken")
            except Exception as error:  # the official client raises whatever went wrong inside
                raise self._failure(error) from None
        value = None if setting is None else setting.get("value")
        if not isinstance(value, str) or not value.strip():
            return None
        header = " ".join(value.split())
        self._remember(header)
        return header

    def _remember(self, header: str) -> None:
        scheme, _, token = header.partition(" ")
        self._secrets.add(token or scheme)
        if scheme.lower() == "basic":
            try:
                self._secrets.add(base64.b64decode(token).decode().partition(":")[2])
            except ValueError:
                return

    def _failure(self, error: object) -> CredentialsError:
        return CredentialsError(f"credentials of {self.name or 'the kubeconfig'}", foreign(error, self._secrets) or "can't be read")

    def _load(self) -> None:
        # Imported here: half a second, and nobody needs it before a cluster is read.
        from kubernetes import config as official
        from kubernetes.client import Configuration

        config: Any = official
        fresh: Any = Configuration()
        with _plugin_errors() as said:
            try:
                if not self._paths and in_cluster() and self._given is None:
                    config.load_incluster_config(client_configuration=fresh)
                else:
                    self._identify()
                    config.load_kube_config(
                        config_file=os.pathsep.join(self._paths), context=self._context, client_configuration=fresh, persist_config=False
                    )
            except SourceError:
                raise
            except Exception as error:  # the official client raises whatever went wrong inside
                raise self._of_another_kind() or self._failure(error) from None
        if said and not fresh.api_key and not fresh.cert_file:
            raise self._failure(said[-1])
        self._configuration = fresh
        self._loaded = time.monotonic()
        self._reach(fresh)
        self._header()

    def _of_another_kind(self) -> CredentialsError | None:
        """That a file is of something else, on which the official client fails without its name."""
        for path in self._paths:
            try:
                content = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
            except (OSError, ValueError, yaml.YAMLError):
                continue  # that is told by the client
            if not isinstance(content, Mapping) and not (content is None and len(self._paths) > 1):
                return CredentialsError(path, "isn't a kubeconfig; right would be a mapping with clusters, users and contexts")
        return None

    def _identify(self) -> None:
        """Names of context and cluster, and whom to impersonate, which the official client doesn't read."""
        from kubernetes.config.kube_config import KubeConfigMerger

        if not self._paths:
            where = self._given or os.environ.get("KUBECONFIG") or _DEFAULT
            raise CredentialsError(where, "there is no such kubeconfig; right would be a file as in --kubeconfig ~/.kube/config")
        merged: Any = KubeConfigMerger(os.pathsep.join(self._paths)).config
        config = cast(Mapping[str, Any], merged.value)
        name = self._context or str(config.get("current-context") or "")
        names = [entry for entry in (_field(item, "name") for item in config.get("contexts") or ()) if entry]
        if not name:
            raise CredentialsError("kubeconfig", f"has no current context; right would be --context {' or '.join(names[:4]) or 'NAME'}")
        context = _named(config, "contexts", name).get("context")
        if not isinstance(context, Mapping):
            raise CredentialsError("kubeconfig", f"has no context {name!r}; it has {', '.join(names[:8]) or 'none'}")
        known = cast(Mapping[str, Any], context)
        self.name = name
        self.cluster = str(known.get("cluster") or "") or None
        user = _named(config, "users", str(known.get("user") or "")).get("user")
        if isinstance(user, Mapping):
            self.headers = _impersonation(cast(Mapping[str, Any], user))
            self._secrets.update(_written(cast(Mapping[str, Any], user)))
        else:
            self.headers = ()

    def _reach(self, fresh: Any) -> None:
        self.host = str(fresh.host).rstrip("/")
        self.proxy = _proxy(self.host, fresh.proxy)
        if self.proxy is not None and urlsplit(self.proxy).password:
            self._secrets.add(str(urlsplit(self.proxy).password))
        if not self.host.startswith("https"):
            self.tls = None
            return
        material = f"{_digest(fresh.ssl_ca_cert, fresh.cert_file, fresh.key_file)}{fresh.verify_ssl}{fresh.tls_server_name}"
        if material != self._material:
            try:
                self.tls = _context(fresh)
            except (OSError, ValueError) as error:
                raise self._failure(f"its certificates can't be used: {error}") from None
            self._material = material
            self.generation += 1


def _context(fresh: Any) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=fresh.ssl_ca_cert or None)
    # Python 3.13 refuses CAs without an authority key identifier, which many clusters have; Go, and so kubectl, takes them.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if not fresh.verify_ssl:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if fresh.cert_file:
        context.load_cert_chain(fresh.cert_file, fresh.key_file or None)
    if fresh.tls_server_name:
        _demand(context, str(fresh.tls_server_name))
    return context


def _demand(context: ssl.SSLContext, name: str) -> None:
    """Have every server prove this name, whatever host it is reached by. By the context itself: httpcore's own way (the extension
    sni_hostname) doesn't reach a connection through an HTTP proxy (httpcore/_async/http_proxy.py), which then proves the host's name."""
    wrap = context.wrap_bio

    def wrapped(
        incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO, server_side: bool = False, server_hostname: Any = None, session: Any = None
    ) -> ssl.SSLObject:
        return wrap(incoming, outgoing, server_side, name, session)

    context.wrap_bio = wrapped


def _digest(*paths: str | None) -> str:
    digest = hashlib.sha256()
    for path in paths:
        try:
            digest.update(Path(path).read_bytes() if path else b"")
        except OSError:
            digest.update(b"?")
        digest.update(b"\0")
    return digest.hexdigest()


def _proxy(host: str, configured: str | None) -> str | None:
    """The proxy for `host`: the kubeconfig's own always, one of the environment unless NO_PROXY or the host says otherwise (as in Go)."""
    found = urlsplit(host)
    from_environment = getproxies().get(found.scheme)
    if configured and configured != from_environment:
        return configured
    name = found.hostname or ""
    if not from_environment or name == "localhost" or _is_loopback(name) or proxy_bypass(found.netloc) or proxy_bypass(name):
        return None
    return from_environment


def _is_loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _field(item: object, key: str) -> str:
    # Items of a merged kubeconfig are the official client's ConfigNode.
    value: object = getattr(item, "value", item)
    return str(cast(Mapping[str, Any], value).get(key) or "") if isinstance(value, Mapping) else ""


def _named(config: Mapping[str, Any], section: str, name: str) -> Mapping[str, Any]:
    for item in config.get(section) or ():
        value: object = getattr(item, "value", item)
        if isinstance(value, Mapping) and cast(Mapping[str, Any], value).get("name") == name:
            return cast(Mapping[str, Any], value)
    return {}


def _written(user: Mapping[str, Any]) -> set[str]:
    """Secrets that stand in the kubeconfig itself, those for an identity provider among them."""
    provider: object = user.get("auth-provider")
    config: object = cast(Mapping[str, Any], provider).get("config") if isinstance(provider, Mapping) else None
    given: Mapping[str, Any] = cast(Mapping[str, Any], config) if isinstance(config, Mapping) else {}
    values: tuple[Any, ...] = (*(user.get(key) for key in ("token", "password")), *(given.get(key) for key in _OF_PROVIDER))
    return {value for value in values if isinstance(value, str) and value}


def _impersonation(user: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """`as` and its companions: kubectl acts with them, so what we read must be what that account may read.

    Source: k8s.io/client-go transport/round_trippers.go, one header a group and a value.
    """
    if not user.get("as"):
        return ()
    headers = [("Impersonate-User", str(user["as"]))]
    if user.get("as-uid"):
        headers.append(("Impersonate-Uid", str(user["as-uid"])))
    groups, extra = cast(list[object], user.get("as-groups") or []), cast(dict[str, list[object]], user.get("as-user-extra") or {})
    headers += [("Impersonate-Group", str(group)) for group in groups]
    headers += [(f"Impersonate-Extra-{quote(key.lower(), safe='')}", str(value)) for key, values in extra.items() for value in values]
    return tuple(headers)


class _Capture(logging.Filter):
    """Takes what the official client logs about plugins (on the root logger, with the plugin's own words) out of the log.

    Handlers of the root logger would print it, secrets and all. Kept per thread, as credentials are loaded on worker threads.
    """

    def __init__(self) -> None:
        super().__init__()
        self.heard = threading.local()

    def filter(self, record: logging.LogRecord) -> bool:
        said: list[str] | None = getattr(self.heard, "said", None)
        if said is None or record.module not in ("kube_config", "exec_provider", "incluster_config"):
            return True
        said.append(record.getMessage())
        return False


_capture = _Capture()


@contextmanager
def _plugin_errors() -> Generator[list[str]]:
    """What the official client would have logged in the meantime."""
    root = logging.getLogger()
    if _capture not in root.filters:
        root.addFilter(_capture)
    said: list[str] = []
    outer = getattr(_capture.heard, "said", None)
    _capture.heard.said = said
    try:
        yield said
    finally:
        _capture.heard.said = outer
