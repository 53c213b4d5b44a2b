"""The `e2b` backend: programs in machines of the E2B service, through its own SDK.

`backend` is the contract, `machine` one remote sandbox, `service` the SDK and its errors, `guest` what runs
over there. The SDK is imported when the first machine is wanted, never before.
"""
