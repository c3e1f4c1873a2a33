"""Nodes that don't exist yet: what groups of them there are, what a new one would be like, and what pods would do with it."""
