"""What goes wrong between a client and the API."""

from __future__ import annotations


class ClientError(Exception):
    """A request was refused or not answered.

    Attributes:
        status: of HTTP; 0 where no answer came.
        detail: what is wrong with which input, and what to do.
    """

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(f"{status}: {detail}" if status else detail)
        self.status = status
        self.detail = detail
