"""The oracles: upstream's own allocator and CEL compiler, built from their Go modules, and generators of problems for them."""
