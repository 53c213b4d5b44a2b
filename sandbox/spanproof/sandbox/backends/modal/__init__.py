"""The `modal` backend: programs in sandboxes of the Modal service, through its own SDK.

`service` has the SDK and its errors; all else is that of `remote`. The SDK is imported when the first sandbox
is wanted, never before.
"""
