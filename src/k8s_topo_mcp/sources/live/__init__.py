"""Live clusters: what the API server has, kept current by list and watch, read by GET alone.

`door` is the one way out; `credentials` says who we are; `discovery` which kinds are served; a `reflector` keeps one kind; `source` makes
views of it. What that may read is in `access`. Import `source` only when a cluster is to be read: httpx and the official client are slow to
import, and credentials may run a plugin.
"""
