"""Tools of a hotel: rooms, guests, invoices, a kitchen, reviews and a till."""

from __future__ import annotations

import json
from typing import Any

_ROOMS = [
    {"room": "101", "type": "single", "rate": 92.5, "nights": 3, "guest": "Brandt"},
    {"room": "102", "type": "double", "rate": 131.0, "nights": 2, "guest": "Okafor"},
    {"room": "204", "type": "double", "rate": 138.75, "nights": 5, "guest": "Lindqvist"},
    {"room": "301", "type": "suite", "rate": 244.9, "nights": 1, "guest": "Marchetti"},
]


def list_rooms(floor: str) -> list:
    """Return the rooms of a floor with rate per night, nights and guest; `all` for the house.

    Args:
        floor: 1, 2, 3 or all.
    """
    return [room for room in _ROOMS if floor == "all" or room["room"].startswith(floor)]


def find_guest(name: str) -> str:
    """Return a guest's card as XML.

    Args:
        name: of the guest.
    """
    if name == "Lindqvist":
        return (
            "<guest><name>Lindqvist</name><room>204</room><breakfast>true</breakfast>"
            "<since>2026-05-04</since></guest>"
        )
    return "<error><code>GUEST_NOT_FOUND</code><message>no guest of that name</message></error>"


def invoice(number: str) -> str:
    """Return an invoice as text.

    Args:
        number: of the invoice.
    """
    if number == "R-8812":
        return (
            "Invoice R-8812\nGuest: Okafor\n2 x double room   262.00\nMinibar            18.40\n"
            "City tax            7.20\nTotal             287.60 EUR\nStatus: unpaid\n"
        )
    raise LookupError(f"invoice {number} is not on file")


def kitchen(question: str) -> dict[str, Any]:
    """Ask the kitchen's system.

    Args:
        question: `stock` or `orders`.
    """
    if question == "stock":
        return {"success": False, "data": None, "message": "inventory is being counted, try again later"}
    return {"success": True, "data": {"open": 7, "served": 112, "avg_minutes": 14.3}}


def reviews(stars: int) -> dict[str, Any]:
    """Return the reviews with so many stars.

    Args:
        stars: from 1 to 5.
    """
    texts = {
        1: ["The shower failed twice and the lift had an error all week."],
        5: ["Wonderful breakfast.", "Quiet, clean, kind people.", "Best stay in years."],
    }
    found = texts.get(stars, [])
    return {"stars": stars, "count": len(found), "items": found, "next_page": None}


def till(day: str) -> str:
    """Return the takings of a day as CSV.

    Args:
        day: as YYYY-MM-DD.
    """
    if day == "2026-05-08":
        return "outlet;takings\nbar;1.204,50\nrestaurant;3.988,00\nspa;612,25\n"
    return "outlet;takings\n"


def reserve(room: str, guest: str, nights: int) -> dict[str, Any]:
    """Reserve a room.

    Args:
        room: its number.
        guest: a name.
        nights: how many.
    """
    if room == "102":
        return {"reserved": False, "conflict": "R-1 until 2026-05-10"}
    return {"reserved": True, "reference": "HX-40917", "room": room, "nights": nights}


def send_mail(to: str, text: str) -> str:
    """Send a mail.

    Args:
        to: the address.
        text: what to write.
    """
    raise ConnectionRefusedError("[Errno 111] Connection refused")


def exchange(currency: str) -> str:
    """Return what a euro is in a currency.

    Args:
        currency: its code.
    """
    if currency == "SEK":
        return json.dumps({"base": "EUR", "quote": "SEK", "rate": 11.3475, "as_of": "2026-05-08"})
    return "429 Too Many Requests: quota of 50 calls a day is used up"


def occupancy(month: str) -> str:
    """Return the occupancy of a month as a Markdown table.

    Args:
        month: as YYYY-MM.
    """
    rows = {"2026-04": (("1", 61), ("2", 74), ("3", 33)), "2026-05": (("1", 68), ("2", 81), ("3", 29))}
    if month not in rows:
        return "No data for this month."
    lines = [f"| {floor} | {share} % |" for floor, share in rows[month]]
    return "\n".join(["| floor | occupancy |", "| --- | --- |", *lines])


HOTEL_TOOLS = (
    *(list_rooms, find_guest, invoice, kitchen, reviews),
    *(till, reserve, send_mail, exchange, occupancy),
)
