"""A headless Chromium, driven over the WebDriver protocol by chromedriver on loopback. Nothing but httpx is needed in Python.

Debian and Ubuntu have both: `apt-get install chromium chromium-driver`. Where they are missing, tests that need them are left out, and
`make test` says so at its end.
"""

from __future__ import annotations

import base64
import os
import re
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
"""The key under which WebDriver hands out elements (W3C WebDriver, 12.1)."""
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Left": "\ue012", "Up": "\ue013", "Right": "\ue014", "Down": "\ue015", "End": "\ue010"}
PATIENCE = 150
"""Seconds that a page may take before a test gives up; none of them is measured."""
# As root Chromium can't have its sandbox; without the others it asks for its maker's servers at every start.
ARGUMENTS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip
SIZE = (1280, 800)
_PORT = re.compile(r"started successfully on port (\d+)")


def programs() -> tuple[str, str] | None:
    """Paths of the browser and of its driver."""
    browser = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    driver = shutil.which("chromedriver")
    return None if browser is None or driver is None else (browser, driver)


MISSING = "no browser: chromium and chromedriver aren't both on PATH (apt-get install chromium chromium-driver)"
needs_browser = [pytest.mark.browser, pytest.mark.skipif(programs() is None, reason=MISSING)]


class Browser:
    """One window. Elements are found by CSS selectors; what isn't there is waited for."""

    def __init__(self, client: httpx.Client, session: str) -> None:
        self._client = client
        self._session = session

    def _call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        answer = self._client.request(method, f"/session/{self._session}{path}", json=body)
        value = answer.json()["value"]
        if answer.is_error:
            raise AssertionError(f"{value['error']}: {value['message'].splitlines()[0]}")
        return value

    def size(self, width: int, height: int) -> None:
        """Make the page exactly so large, in CSS pixels."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": metrics})

    def open(self, path: Path, fragment: str = "") -> None:
        """A page from a file, loaded from nothing."""
        self._call("POST", "/url", {"url": "about:blank"})
        self.messages()
        self._call("POST", "/url", {"url": path.as_uri() + fragment})

    def run(self, script: str, *arguments: Any) -> Any:
        """What a script returns."""
        return self._call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def text(self, selector: str) -> str:
        """The text of an element, as it is seen."""
        return self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def texts(self, selector: str) -> list[str]:
        """The texts of all elements."""
        return self.run("return [...document.querySelectorAll(arguments[0])].map((one) => one.innerText)", selector)

    def count(self, selector: str) -> int:
        """How many elements there are."""
        return self.run("return document.querySelectorAll(arguments[0]).length", selector)

    def click(self, selector: str, with_text: str = "") -> None:
        """A real click on the first element that has the text."""
        find = "return [...document.querySelectorAll(arguments[0])].find((one) => one.innerText.includes(arguments[1])) ?? null"
        found = self.until(lambda: self.run(find, selector, with_text), f"{selector} with {with_text!r}")
        self._call("POST", f"/element/{found[ELEMENT]}/click", {})

    def press(self, *keys: str) -> None:
        """Keys as a keyboard sends them: names of KEYS, or texts."""
        actions = [{"type": kind, "value": char} for key in keys for char in KEYS.get(key, key) for kind in ("keyDown", "keyUp")]
        self._call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def back(self) -> None:
        """As the browser's button does."""
        self._call("POST", "/back", {})

    def until(self, found: Callable[[], Any], what: str) -> Any:
        """The first true value, or an error that says what was waited for."""
        end = time.monotonic() + PATIENCE
        while True:
            value = found()
            if value:
                return value
            assert time.monotonic() < end, f"not seen in {PATIENCE} s: {what}"
            time.sleep(0.05)

    def messages(self) -> list[str]:
        """Everything that the console has said since the last time: errors of scripts, requests refused, warnings."""
        return [f"{entry['level']}: {entry['message']}" for entry in self._call("POST", "/se/log", {"type": "browser"})]

    def scheme(self, value: str) -> None:
        """Make the page see a preference for `light` or `dark`."""
        features = [{"name": "prefers-color-scheme", "value": value}]
        self._call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {"features": features}})

    def screenshot(self, path: Path) -> None:
        """The window as PNG."""
        path.write_bytes(base64.b64decode(self._call("GET", "/screenshot")))


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser of its own with an empty profile, gone at the end."""
    found = programs()
    assert found is not None
    binary, driver = found
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [driver, "--port=0", "--allowed-ips=127.0.0.1"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL
        )
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{_port(process)}", timeout=PATIENCE, trust_env=False) as client:
                options = {"binary": binary, "args": [*ARGUMENTS, f"--user-data-dir={profile}"]}
                limits = {"script": PATIENCE * 1000, "pageLoad": PATIENCE * 1000}
                wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}, "timeouts": limits}
                answer = client.post("/session", json={"capabilities": {"alwaysMatch": wanted}}).json()["value"]
                assert "sessionId" in answer, answer
                try:
                    window = Browser(client, answer["sessionId"])
                    window.size(*SIZE)
                    yield window
                finally:
                    client.delete(f"/session/{answer['sessionId']}")
        finally:
            process.terminate()
            process.wait(PATIENCE)
            assert process.stdout is not None
            process.stdout.close()


def _port(process: subprocess.Popen[bytes]) -> int:
    """The free port that the driver took: it says so when it is ready."""
    assert process.stdout is not None
    said = ""
    while (found := _PORT.search(said)) is None:
        assert select.select([process.stdout], [], [], PATIENCE)[0], f"chromedriver said nothing more than {said!r}"
        piece = os.read(process.stdout.fileno(), 4096)
        assert piece, f"chromedriver ended: {said!r}"
        said += piece.decode(errors="replace")
    return int(found[1])
