"""The layers that a pod passes before and after the scheduler's filters, one module a layer.

In order: was it created (`created`), its queue (`queue`), its gates (`gates`), the claims that are to be generated for it (`claims`), does
its scheduler live (`schedulers`), the drivers behind its devices (`drivers`), the autoscaler (`autoscaler`), the device's own conditions
before binding (`binding`), pods that make room for it (`victims`), when it is tried again (`sleeping`), and what its node does with it
(`prepare`, with `compute_domain`), why it refused it (`admission`), or why its resize waits (`resize`). Each has `look`, which gives None
where the layer doesn't hold the pod. The first that does is the blocker; the others say what waits behind it.
"""
