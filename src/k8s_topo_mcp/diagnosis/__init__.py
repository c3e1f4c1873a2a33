"""Why a pod is Pending, whether a claim fits, and what would help: layers, causes, remedies that are re-run, the report."""
