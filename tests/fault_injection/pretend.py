"""A program that behaves as etcd or a component does towards a lab: it listens, says it is ready, and stays until it is killed.

A test puts it under the four names. What it can't do is anything with objects: namespace `default` always exists, nothing else does.
"""

from __future__ import annotations

import json
import ssl
import stat
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

NAMES = ("etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager")


def programs(folder: Path, failing: str | None = None) -> Path:
    """A folder of four executables; `failing` ends at once with a word in its log."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        target = folder / name
        target.write_text(f'#!/bin/sh\nexec {sys.executable} -E -S {__file__} {"failing" if name == failing else name} "$@"\n')
        target.chmod(target.stat().st_mode | stat.S_IXUSR)
    return folder


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        pages = {
            "/api/v1": {"resources": [{"kind": "Namespace", "name": "namespaces", "namespaced": False}]},
            "/api/v1/namespaces/default": {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}},
        }
        body = json.dumps(pages.get(self.path, {})).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


def main(name: str, flags: list[str]) -> int:
    if name == "failing":
        print("unknown feature gate Frobnicate", flush=True)
        return 3
    given: dict[str, str] = {}
    for flag in flags:
        key, _, value = flag.removeprefix("--").partition("=")
        given[key] = value
    port = int(given.get("secure-port") or given["listen-client-urls"].rpartition(":")[2])
    server = ThreadingHTTPServer(("127.0.0.1", port), Page)
    if name != "etcd":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain("server.crt", "server.key")  # the lab's folder is where components run
        server.socket = context.wrap_socket(server.socket, server_side=True)
    server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
