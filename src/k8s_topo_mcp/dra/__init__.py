"""The matching core: which devices a claim gets on a node, or why none."""
