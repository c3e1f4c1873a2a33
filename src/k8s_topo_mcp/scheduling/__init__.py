"""The scheduler's own checks, one module per plugin, and the placement of a pod on every node."""
