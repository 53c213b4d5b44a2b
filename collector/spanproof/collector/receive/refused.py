"""Why a request is refused, once for both protocols.

A refusal carries the gRPC code, the HTTP status and, where a later attempt may succeed, how long to wait.
The mapping is OTLP 1.11's; which codes clients repeat is theirs to decide, so it must be exact: a client
that repeats a malformed request never ends, one that does not repeat a busy one loses spans.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import grpc
import orjson
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status


class Reason(StrEnum):
    """The kinds of refusal; their names are what counters and log lines say."""

    MALFORMED = "malformed"
    BAD_COMPRESSION = "bad_compression"
    UNAUTHENTICATED = "unauthenticated"
    FORBIDDEN = "forbidden"
    UNKNOWN_PATH = "unknown_path"
    WRONG_METHOD = "wrong_method"
    TOO_SLOW = "too_slow"
    TOO_LARGE = "too_large"
    UNSUPPORTED = "unsupported"
    FULL = "full"
    UNAVAILABLE = "unavailable"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True)
class _Answer:
    code: grpc.StatusCode
    http_status: int
    retry_after_s: int | None = None


_ANSWERS = {
    Reason.MALFORMED: _Answer(grpc.StatusCode.INVALID_ARGUMENT, 400),
    Reason.BAD_COMPRESSION: _Answer(grpc.StatusCode.INVALID_ARGUMENT, 400),
    Reason.UNAUTHENTICATED: _Answer(grpc.StatusCode.UNAUTHENTICATED, 401),
    Reason.FORBIDDEN: _Answer(grpc.StatusCode.PERMISSION_DENIED, 403),
    Reason.UNKNOWN_PATH: _Answer(grpc.StatusCode.UNIMPLEMENTED, 404),
    Reason.WRONG_METHOD: _Answer(grpc.StatusCode.UNIMPLEMENTED, 405),
    Reason.TOO_SLOW: _Answer(grpc.StatusCode.DEADLINE_EXCEEDED, 408),
    Reason.TOO_LARGE: _Answer(grpc.StatusCode.RESOURCE_EXHAUSTED, 413),
    Reason.UNSUPPORTED: _Answer(grpc.StatusCode.INVALID_ARGUMENT, 415),
    # Above 5 s a wait outlives the 10 s that clients allow for all attempts together.
    Reason.FULL: _Answer(grpc.StatusCode.UNAVAILABLE, 429, 2),
    Reason.UNAVAILABLE: _Answer(grpc.StatusCode.UNAVAILABLE, 503, 2),
    Reason.INTERNAL: _Answer(grpc.StatusCode.INTERNAL, 500),
}


class Refused(Exception):  # noqa: N818 - says what happened
    """The request is not taken; the message names what is wrong and, where the client can act, the remedy."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message

    @property
    def grpc_code(self) -> grpc.StatusCode:
        """The code to answer over gRPC."""
        return _ANSWERS[self.reason].code

    @property
    def http_status(self) -> int:
        """The status to answer over HTTP."""
        return _ANSWERS[self.reason].http_status

    @property
    def retry_after_s(self) -> int | None:
        """Seconds after which to come again; None where that would be in vain."""
        return _ANSWERS[self.reason].retry_after_s

    def build_status(self) -> Status:
        """Return the refusal as `google.rpc.Status`, which 4xx and 5xx bodies and gRPC's details carry."""
        status = Status(code=self.grpc_code.value[0], message=self.message)
        if self.retry_after_s is not None:
            status.details.append(_encode_retry_info(self.build_retry_info()))
        return status

    def encode_status(self) -> bytes:
        """Return the refusal as `google.rpc.Status` in OTLP/JSON."""
        body: dict[str, object] = {"code": self.grpc_code.value[0], "message": self.message}
        if self.retry_after_s is not None:
            kind = "type.googleapis.com/google.rpc.RetryInfo"
            body["details"] = [{"@type": kind, "retryDelay": f"{self.retry_after_s}s"}]
        return orjson.dumps(body)

    def build_retry_info(self) -> RetryInfo:
        """Return when to come again, as `google.rpc.RetryInfo`."""
        info = RetryInfo()
        info.retry_delay.seconds = self.retry_after_s or 0
        return info


def _encode_retry_info(info: RetryInfo) -> AnyMessage:
    packed = AnyMessage()
    packed.Pack(info)
    return packed
