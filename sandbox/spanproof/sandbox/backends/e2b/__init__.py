"""The `e2b` backend: programs in machines of the E2B service, through its own SDK.

`service` has the SDK and its errors; all else is that of `remote`. The SDK is imported when the first machine
is wanted, never before.
"""
