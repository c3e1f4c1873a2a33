"""Kueue: which workload stands for a pod, in which queue it waits, and what keeps it from being admitted."""
