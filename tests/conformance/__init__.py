"""Our matching core against the real allocator: one comparison, two feeds (recorded answers, the live oracle)."""
