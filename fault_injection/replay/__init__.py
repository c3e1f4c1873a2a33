"""A snapshot served as a read-only Kubernetes API server, with a switch for every fault: the one fake API server of the project.

    with serve("tests/scenes/four-h100-nodes") as server:
        server.apply({...})
        server.faults.on("cut", resource="pods", times=1)

It serves JSON alone (protobuf, CBOR and YAML are answered with 406, or in JSON where the client takes that too), converts nothing between
versions, and has no subresource but `status`.
"""

from .access import Access
from .faults import FAULTS, Fault, Faults, UnknownFault
from .request import Request
from .server import Server, serve

__all__ = ["FAULTS", "Access", "Fault", "Faults", "Request", "Server", "UnknownFault", "serve"]
