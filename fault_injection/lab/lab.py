"""One lab: a real control plane that lives as long as its context.

with Lab("1.37", gates={"DRAConsumableCapacity": True}) as lab:
    lab.client.create(...)
    view = load_text(json.dumps(lab.snapshot()))
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import subprocess
import sys
import threading
import time  # noqa: TID251 - waits for processes
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx

from . import control_plane, credentials, folder, recording
from .build import binaries
from .client import Client, Object, secure
from .errors import ApiError, LabError
from .kubelets import Kubelets
from .releases import COMPONENTS, NEWEST, VERSIONS, apis_for

SUPERVISOR = Path(__file__).parent / "supervisor.py"
START = 60.0
"""Seconds that one component may take to be ready; on an idle machine the slowest takes two."""
ATTEMPTS = 3
"""Tries to start, should somebody take one of the free ports first."""


class Lab:
    """A control plane of one release on loopback.

    Parameters
    ----------
    release
        The minor, as "1.37".
    gates
        Feature gates of all components.
    component_gates
        Gates of one component, over those of all: {"kube-controller-manager": {"GenericWorkload": False}}.
    apis
        API versions to serve beyond the defaults and beyond those that the gates need.
    binaries
        A folder with prebuilt etcd, kube-apiserver, kube-scheduler and kube-controller-manager.
    name
        Labs of different names live side by side; without one it is made up.
    kubelets
        Whether a stand-in for kubelets runs.
    scheduler_config
        A KubeSchedulerConfiguration; client connection and leader election are filled in.
    """

    def __init__(
        self,
        release: str = NEWEST,
        *,
        gates: Mapping[str, bool] | None = None,
        component_gates: Mapping[str, Mapping[str, bool]] | None = None,
        apis: Sequence[str] = (),
        binaries: Path | None = None,
        name: str | None = None,
        kubelets: bool = True,
        scheduler_config: Object | None = None,
    ) -> None:
        if release not in VERSIONS:
            raise LabError(f"no lab for {release}; there is one for {', '.join(VERSIONS)}")
        self.release = release
        self.name = name or f"lab-{secrets.token_hex(4)}"
        self._gates = dict(gates or {})
        self._component_gates = {component: dict(own) for component, own in (component_gates or {}).items()}
        for component in self._component_gates:
            if component not in COMPONENTS:
                raise LabError(f"no component {component}; gates can be set for {', '.join(COMPONENTS)}")
        self._apis = tuple(apis)
        self._binaries = binaries
        self._scheduler_config = scheduler_config
        self._with_kubelets = kubelets
        self._folder: folder.Folder | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: list[dict[str, Any]] = []
        self._news = threading.Condition()
        self._commands: dict[str, list[str]] = {}
        self._stopping: set[str] = set()
        self._ports: control_plane.Ports | None = None
        self._context: Any = None
        self._tokens: dict[str, str] = {}
        self._client: Client | None = None
        self.kubelets: Kubelets | None = None

    # --- life -----------------------------------------------------------------------------------------------------------------

    def __enter__(self) -> Lab:
        return self.up()

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.down()

    def up(self) -> Lab:
        """Start everything; returns once the scheduler is ready. Raises LabError, and then nothing is left."""
        programs = binaries(self.release, self._binaries)
        for attempt in range(ATTEMPTS):
            try:
                self._start(programs)
                return self
            except LabError as error:
                self.down()
                if "address already in use" not in str(error) or attempt + 1 == ATTEMPTS:
                    raise
            except BaseException:
                self.down()
                raise
        return self

    def down(self) -> None:
        """Stop everything and remove all files. Done twice, it does nothing."""
        kubelets, self.kubelets = self.kubelets, None
        if kubelets is not None:
            kubelets.stopping.set()  # what ends now is no error; its watches end with the API server
        if self._client is not None:
            self._client.close()
            self._client = None
        process, self._process = self._process, None
        if process is not None:
            assert process.stdin is not None
            with contextlib.suppress(OSError):
                process.stdin.close()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()  # its children die with it; the folder goes with the lock
                process.wait()
        if kubelets is not None:
            kubelets.stop()
        made, self._folder = self._folder, None
        if made is not None:
            os.close(made.lock)
            folder.sweep()

    # --- use ------------------------------------------------------------------------------------------------------------------

    @property
    def client(self) -> Client:
        """A client with all rights."""
        if self._client is None:
            raise LabError(f"lab {self.name} isn't up")
        return self._client

    @property
    def path(self) -> Path:
        if self._folder is None:
            raise LabError(f"lab {self.name} isn't up")
        return self._folder.path

    @property
    def kubeconfig(self) -> Path:
        """A kubeconfig with all rights; it goes with the lab."""
        return self.path / "kubeconfig"

    @property
    def server(self) -> str:
        assert self._ports is not None
        return f"https://127.0.0.1:{self._ports.apiserver}"

    def snapshot(self) -> Object:
        """All that the product reads, as a v1 List with version and gates."""
        return recording.record(self.client, self.scheduler_metrics(), f"lab-{self.release}")

    def write_recording(self, target: Path) -> None:
        """The same as a folder of three files: objects.json, version.json, feature-gates.txt."""
        recording.write(self.client, self.scheduler_metrics(), target)

    def stop(self, component: str) -> None:
        """Kill a component; `start` brings it back."""
        self._stopping.add(component)
        seen = len(self._answers)
        self._order({"stop": component})
        with self._news:
            if not self._news.wait_for(lambda: any(fact.get("stopped") == component for fact in self._answers[seen:]), timeout=10):
                raise LabError(f"waited 10 s for {component} to stop")

    def start(self, component: str) -> None:
        """Start a component that was stopped, with the flags that it had."""
        self._stopping.discard(component)
        self._launch(component, self._commands[component])
        self._await_ready(component)

    def beside(self, name: str, argv: list[str]) -> None:
        """Run another program; it ends with the lab, and like a component it mustn't end before. `log(name)` has its words."""
        self._launch(name, argv)

    @property
    def supervisor(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise LabError(f"lab {self.name} isn't up")
        return self._process

    def wait(self, what: str, until: Callable[[], Any], seconds: float = 30.0, every: float = 0.1) -> Any:
        """What `until` returns once it is true. Raises LabError when time is up or a component died."""
        limit = time.monotonic() + seconds
        while True:
            found = until()
            if found:
                return found
            self._check_alive()
            if time.monotonic() > limit:
                raise LabError(f"waited {seconds:.0f} s for {what}")
            time.sleep(every)

    def log(self, component: str, lines: int = 12) -> str:
        """The end of a component's log."""
        try:
            return "\n".join((self.path / f"{component}.log").read_text(errors="replace").splitlines()[-lines:])
        except OSError:
            return "(no log)"

    def pids(self) -> dict[str, int]:
        """The supervisor's pid and those of the components that run."""
        found = {"supervisor": self._process.pid} if self._process is not None else {}
        with self._news:
            for fact in self._answers:
                if "started" in fact:
                    found[fact["started"]] = fact["pid"]
                else:
                    found.pop(fact.get("stopped") or fact["died"], None)
        return found

    # --- starting -------------------------------------------------------------------------------------------------------------

    def _start(self, programs: Path) -> None:
        made = self._folder = folder.claim(self.name)
        self._supervise(made)
        self._tell(up=False)
        ports = self._ports = control_plane.free_ports()
        own = credentials.make(made.path)
        self._context, self._tokens = secure(own.certificate.read_text()), own.tokens
        for user in ("kube-scheduler", "kube-controller-manager"):
            credentials.write_kubeconfig(made.path / f"{user}.kubeconfig", self.server, own.certificate, own.tokens[user], self.name)
        on = {name for gates in (self._gates, *self._component_gates.values()) for name, value in gates.items() if value}
        apis = tuple(dict.fromkeys((*apis_for(self.release, sorted(on)), *self._apis)))
        self._commands = {
            "etcd": control_plane.etcd(programs / "etcd", made.path, ports),
            "kube-apiserver": control_plane.apiserver(programs / "kube-apiserver", ports, own, self._gates_of("kube-apiserver"), apis),
            "kube-scheduler": control_plane.scheduler(
                programs / "kube-scheduler",
                ports,
                made.path / "kube-scheduler.kubeconfig",
                self._gates_of("kube-scheduler"),
                self._write_scheduler_config(made.path),
            ),
            "kube-controller-manager": control_plane.controllers(
                programs / "kube-controller-manager",
                ports,
                made.path / "kube-controller-manager.kubeconfig",
                own,
                self._gates_of("kube-controller-manager"),
            ),
        }
        self._launch("etcd", self._commands["etcd"])
        self._launch("kube-apiserver", self._commands["kube-apiserver"])
        self._client = self._connect("admin")
        self._await_ready("kube-apiserver")
        for component in ("kube-scheduler", "kube-controller-manager"):
            self._launch(component, self._commands[component])
        if self._with_kubelets:
            self.kubelets = Kubelets(lambda: self._connect("kubelet"), VERSIONS[self.release])
            self.kubelets.start()
        for component in ("kube-scheduler", "kube-controller-manager"):
            self._await_ready(component)
        self.wait("namespace default", lambda: self.client.find("v1", "Namespace", "default"))
        # Last: a kubeconfig that can be seen belongs to a lab that is up.
        credentials.write_kubeconfig(self.kubeconfig, self.server, own.certificate, own.tokens["admin"], self.name)
        self._tell(up=True)

    def _tell(self, up: bool) -> None:
        """What other processes can know of this lab."""
        told: dict[str, Any] = {
            "name": self.name,
            "up": up,
            "release": self.release,
            "version": VERSIONS[self.release],
            "gates": self._gates,
            "component gates": self._component_gates,
            "pids": self.pids(),
        }
        if up:
            told |= {"server": self.server, "scheduler": self._scheduler_url()}
        folder.write_facts(self.path, told)

    def _gates_of(self, component: str) -> dict[str, bool]:
        return {**self._gates, **self._component_gates.get(component, {})}

    def _connect(self, user: str) -> Client:
        return Client(self.server, self._tokens[user], self._context)

    def _write_scheduler_config(self, path: Path) -> Path | None:
        if self._scheduler_config is None:
            return None
        config: Object = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            **self._scheduler_config,
            "clientConnection": {"kubeconfig": str(path / "kube-scheduler.kubeconfig")},
            "leaderElection": {"leaderElect": False},
        }
        target = path / "scheduler-config.json"
        target.write_text(json.dumps(config))
        return target

    def _supervise(self, made: folder.Folder) -> None:
        with (made.path / "supervisor.log").open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-E", "-S", str(SUPERVISOR), str(made.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,  # not the harness's: whoever reads that to its end would wait for the supervisor
                start_new_session=True,  # Ctrl-C is the harness's to handle
                pass_fds=(made.lock,),
            )
        self._answers = []
        threading.Thread(target=self._listen, args=(self._process,), name="lab-supervisor", daemon=True).start()

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        with process.stdout as told:
            for line in told:
                with self._news:
                    self._answers.append(json.loads(line))
                    self._news.notify_all()

    def _launch(self, component: str, argv: list[str]) -> None:
        self._order({"start": component, "argv": argv, "log": str(self.path / f"{component}.log")})

    def _order(self, order: dict[str, Any]) -> None:
        process = self._process
        if process is None or process.stdin is None:
            raise LabError(f"lab {self.name} isn't up")
        process.stdin.write(json.dumps(order).encode() + b"\n")
        process.stdin.flush()

    def _await_ready(self, component: str) -> None:
        assert self._ports is not None
        port = {
            "kube-apiserver": self._ports.apiserver,
            "kube-scheduler": self._ports.scheduler,
            "kube-controller-manager": self._ports.controllers,
        }.get(component)
        if port is None:
            return
        page = "healthz" if component == "kube-controller-manager" else "readyz"
        own = component == "kube-apiserver"
        # The others make up their certificate at each start; the connection doesn't leave this machine.
        headers = {"Authorization": f"Bearer {self._tokens['admin']}"} if own else {}
        with httpx.Client(verify=self._context if own else False, headers=headers, timeout=5, trust_env=False) as http:

            def ready() -> bool:
                with contextlib.suppress(httpx.HTTPError):
                    return http.get(f"https://127.0.0.1:{port}/{page}").status_code == 200
                return False

            self.wait(f"{component} to be ready", ready, START, 0.05)

    def _check_alive(self) -> None:
        """A component that died by itself is an error of the lab, told with the end of its log."""
        with self._news:
            died = [fact for fact in self._answers if "died" in fact and fact["died"] not in self._stopping]
        if died:
            name = died[0]["died"]
            told = died[0].get("error") or self.log(name)
            raise LabError(f"{name} ended with {died[0]['code']}; its last words:\n{told}")

    def _scheduler_url(self) -> str:
        assert self._ports is not None
        return f"https://127.0.0.1:{self._ports.scheduler}"

    def scheduler_metrics(self) -> str:
        """The scheduler's /metrics."""
        return recording.metrics(self._scheduler_url())


__all__ = ["ApiError", "Lab", "LabError"]
