"""The reduced tier: a jail for places that give no namespace, as a container under Docker's default profile.

The same guest, filter, record and verdicts as the full tier; what namespaces hold there is held here by
Landlock, by calls the supervisor makes in the guest's stead, and by counting. docs/sandbox.md says what stays
open.
"""
