"""What backends share whose programs run on a service's machines: the guest there, and how it is spoken to.

`service` is what a backend brings of its service, `backend` the contract over it, `machine` one machine,
`guest` what runs over there.
"""
