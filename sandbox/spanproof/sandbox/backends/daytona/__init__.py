"""The `daytona` backend: programs in sandboxes of the Daytona service, by its REST API.

`service` has the API and its errors, `stream` a command's output; all else is that of `remote`.
"""
