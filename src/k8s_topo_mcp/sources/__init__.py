"""Where views come from: snapshots and live clusters. Only `server` and `cli` import this room."""
