"""The OTLP codec: `ExportTraceServiceRequest` from and to protobuf and JSON, and from files.

Bytes from outside come in; messages of the generated classes go out, or a `MalformedOtlp` that names the
place. Fields that this build does not know are kept where the message came as protobuf. Nothing here reads
what a span means: that is what the dialects are for.
"""

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.trace.otlp.errors import MalformedOtlp
from spanproof.trace.otlp.files import read_file, read_what_is_good
from spanproof.trace.otlp.jsonformat import decode_json, encode_json
from spanproof.trace.otlp.mending import Changes
from spanproof.trace.otlp.protobuf import decode_protobuf, encode_protobuf
from spanproof.trace.otlp.values import build_any_value, get_attribute_value, get_attributes

__all__ = [
    "Changes",
    "ExportTraceServiceRequest",
    "MalformedOtlp",
    "build_any_value",
    "decode_json",
    "decode_protobuf",
    "encode_json",
    "encode_protobuf",
    "get_attribute_value",
    "get_attributes",
    "read_file",
    "read_what_is_good",
]
