"""Whom guests are on the machine, where we may become another user."""

from __future__ import annotations

HIGH_ID = 0xFFFE7
"""The user a guest is on the machine when the host is root: a number no account has."""


def find_unused_id(uid: int, uid_map: str) -> int | None:
    """Pick a user that is no other account's, for guests; None where we may not become another.

    Root of the machine may be anyone; root of a container only who is mapped into it, and root of a user
    namespace with a single user is no more than that user.
    """
    ranges = [[int(field) for field in line.split()] for line in uid_map.splitlines()]
    if uid != 0 or not ranges:
        return None
    first, _outside, count = max(ranges)
    last = first + count - 1
    return min(HIGH_ID, last) if last > 0 else None
