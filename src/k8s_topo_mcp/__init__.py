"""k8s-topo-mcp: why accelerator pods are Pending, whether and where a DRA claim fits, and what the hardware looks like."""

__version__ = "0.1.0"
