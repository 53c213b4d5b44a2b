"""The `kubernetes` backend: programs in Jobs of a cluster, through Kubernetes' own Python client.

`service` has the Jobs and the client's errors, `manifests` what is made in the cluster; all else is that of
`remote`. The client is imported when the first machine is wanted, never before.
"""
