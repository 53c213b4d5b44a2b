"""Tools of a parcel depot: each reports success and failure in the form of another producer."""

from __future__ import annotations

import sqlite3

_TABLES = """
CREATE TABLE parcels (id TEXT, city TEXT, weight_kg REAL, fee REAL, state TEXT);
INSERT INTO parcels VALUES ('P-301', 'Linz', 4.2, 11.9, 'stored'), ('P-302', 'Linz', 7.6, 18.4, 'stored'),
  ('P-303', 'Wels', 2.1, 9.35, 'on the road');
"""
_ON_THE_ROAD = {"P-303"}
_KNOWN = {"P-301": 4.2, "P-302": 7.6, "P-303": 2.1}
_tried: set[tuple[str, str]] = set()


def _fails_once(tool: str, target: str) -> bool:
    """Whether this is the first try for this target; the next one is again after it worked."""
    if (tool, target) in _tried:
        _tried.discard((tool, target))
        return False
    _tried.add((tool, target))
    return True


def cancel_parcel(parcel: str) -> dict:
    """Cancel the delivery of a parcel.

    Args:
        parcel: its number.
    """
    if parcel in _ON_THE_ROAD:
        return {"status": "error", "error_message": f"{parcel} has left the depot"}
    return {"status": "success", "parcel": parcel}


def notify_customers(emails: list) -> dict:
    """Send the notice of arrival to customers.

    Args:
        emails: their addresses.
    """
    return {
        "results": [
            {"email": each, "status": "bounced" if each.startswith("old") else "sent"} for each in emails
        ]
    }


def reschedule_delivery(parcel: str, day: str) -> dict:
    """Move the delivery of a parcel to another day.

    Args:
        parcel: its number.
        day: of the week.
    """
    if day == "Sunday":
        return {"success": False, "parcel": parcel, "reason": "no driver on Sunday"}
    return {"success": True, "parcel": parcel, "day": day}


def refund_fee(parcel: str) -> dict:
    """Refund the fee of a parcel.

    Args:
        parcel: its number.
    """
    if parcel == "P-302" and _fails_once("refund_fee", parcel):
        raise TimeoutError("payment provider timed out")
    if parcel == "P-303":
        return {
            "error": {"type": "card_error", "code": "charge_disputed", "message": "The charge is disputed."}
        }
    return {"id": f"re_{parcel}", "object": "refund", "status": "succeeded"}


def list_parcels(city: str) -> list:
    """List the parcels for a city.

    Args:
        city: its name.
    """
    with sqlite3.connect(":memory:") as database:
        database.executescript(_TABLES)
        found = database.execute("SELECT id, weight_kg, fee, state FROM parcels WHERE city = ?", (city,))
        return [dict(zip(("id", "weight_kg", "fee", "state"), row, strict=True)) for row in found]


def count_parcels(city: str) -> int:
    """Count the parcels for a city.

    Args:
        city: its name.
    """
    return len(list_parcels(city))


def get_weight(parcel: str) -> dict:
    """Return the weight of a parcel.

    Args:
        parcel: its number.
    """
    if parcel not in _KNOWN:
        return {"errorCode": "PARCEL_UNKNOWN", "errorMessage": f"no parcel {parcel}"}
    return {"parcel": parcel, "weight_kg": _KNOWN[parcel]}


def unlock_gate(gate: str) -> dict:
    """Unlock a gate of the yard.

    Args:
        gate: its name.
    """
    if gate == "north":
        return {"statusCode": 503, "body": "controller offline"}
    return {"statusCode": 200, "body": "unlocked"}


def assign_driver(parcel: str, driver: str) -> str:
    """Assign a parcel to a driver.

    Args:
        parcel: its number.
        driver: their name.
    """
    if driver == "Imre":
        return "429 Too Many Requests"
    return f"{parcel} assigned to {driver}"


def import_manifest(rows: int) -> dict:
    """Import the rows of a manifest.

    Args:
        rows: how many.
    """
    return (
        {"succeeded": rows - 1, "failed": 1, "errors_at": [rows]}
        if rows > 3
        else {"succeeded": rows, "failed": 0}
    )


def update_address(parcel: str, address: str) -> dict:
    """Change the address of a parcel.

    Args:
        parcel: its number.
        address: the new one.
    """
    return {"rows_affected": int(parcel in _KNOWN)}


def ship_pallet(pallet: str) -> dict:
    """Ship a pallet.

    Args:
        pallet: its number.
    """
    if pallet == "L-7":
        return {"data": None, "errors": [{"message": "pallet L-7 is not weighed"}]}
    return {"data": {"shipPallet": {"pallet": pallet, "shipped": True}}}


def storage_price(days: int) -> dict:
    """Return the price of storage.

    Args:
        days: how many.
    """
    raise ConnectionError("price service is down")


DEPOT_TOOLS = (
    *(cancel_parcel, notify_customers, reschedule_delivery, refund_fee, list_parcels, count_parcels),
    *(get_weight, unlock_gate, assign_driver, import_manifest, update_address, ship_pallet, storage_price),
)
