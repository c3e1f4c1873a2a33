"""What a made-up machine publishes where the catalogue of shapes leaves a value open, and the classes that come with its drivers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from k8s_topo_mcp.scaleup.drivers import Open

Uid = Callable[[], str]


class Filled(Open):
    """A machine that is made up: identities and versions are drawn, places that aren't known left out."""

    def __init__(self, uid: Uid) -> None:
        self._uid = uid

    def uuid(self, prefix: str = "", name: str = "") -> Any:
        """An identity."""
        return f"{prefix}{self._uid()}"

    def version(self, text: str, name: str) -> Any:
        """A version of software."""
        return ("version", text) if name != "neuronDriverVersion" else text

    def setting(self, usual: Any, name: str) -> Any:
        """What an administrator sets."""
        return usual

    def member(self, number: int | None, of: str) -> Any:
        """The name of a group of devices."""
        return None if number is None else f"group-{number}"

    def address(self, known: Any) -> Any:
        """A PCI address."""
        return known

    def place(self, known: Any, group: str = "") -> Any:
        """A PCIe root or NUMA node."""
        return known


CLASSES = {
    "gpu.nvidia.com": "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'gpu'",
    "mig.nvidia.com": "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'mig'",
    "gpu.amd.com": "device.driver == 'gpu.amd.com'",
    "tpu.google.com": "device.driver == 'tpu.google.com'",
    "neuron.aws.com": "device.driver == 'neuron.aws.com'",
    "dra.net": "device.driver == 'dra.net'",
}
"""The classes that come with each driver, with their selector."""
