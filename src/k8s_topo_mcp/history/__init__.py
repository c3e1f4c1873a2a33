"""What changed: between two states of an object or a view, by what objects say of themselves, and what of it matters to a pod.

One module a subject says which fields count for scheduling (`slices`, `claims`, `nodes`, `pods`, `rules`, `queues`, `owners`);
`comparing` applies them, `saying` reads times out of objects, `recent` puts all sources together, `relevance` ranks.
"""
