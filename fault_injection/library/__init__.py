"""The fault library: each folder under `fault_injection/faults/` is one failure, injected into a real control plane and recorded."""
