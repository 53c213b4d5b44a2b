"""Certificates, ciphers, hashes and randomness (CWE-295, 327, 328).

In: a call. Out: rule and message.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from spanproof.sandbox.scanners.weak_python.names import Names, argument, is_false, keyword

_WEAK_CIPHER: Final = re.compile(
    r"(?:^|\.)(?:DES3?|ARC[24]|RC4|Blowfish|CAST5?|IDEA|TripleDES)(?:\.new)?$|(?:^|\.)modes\.ECB$"
)


def judge_cryptography(names: Names, call: ast.Call) -> Iterator[tuple[str, str]]:
    """What protects less than it seems."""
    name = names.dotted(call.func)
    if is_false(keyword(call, "verify")) and name.rpartition(".")[2] not in {"decode", "loads"}:
        yield "weakness.certificate", f"{name} does not verify certificates"
    if name in {"ssl._create_unverified_context", "paramiko.AutoAddPolicy", "paramiko.WarningPolicy"}:
        yield "weakness.certificate", f"{name} trusts any peer"
    if _WEAK_CIPHER.search(name) or any(_mode_is_ecb(names, one) for one in call.args):
        yield "weakness.cipher", f"{name} is a weak cipher or mode"
    version = argument(call, 0, "ssl_version") if "ssl" in name.lower() else None
    if version is not None and re.search(r"PROTOCOL_(?:SSLv\w+|TLSv1(?:_1)?)$", names.dotted(version)):
        yield "weakness.cipher", f"{name} speaks an outdated protocol"
    if is_weak_hash(names, call):
        yield "weakness.hash", f"{name} is a weak hash"


def is_weak_hash(names: Names, call: ast.Call) -> bool:
    """Whether a call makes an MD5 or SHA-1 hash that is not declared as a mere checksum."""
    if is_false(keyword(call, "usedforsecurity")):
        return False
    name = names.dotted(call.func)
    first = argument(call, 0, "name")
    named = isinstance(first, ast.Constant) and str(first.value).lower() in {"md5", "sha1", "md4"}
    return name in {"hashlib.md5", "hashlib.sha1"} or (name == "hashlib.new" and named)


def _mode_is_ecb(names: Names, node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and names.dotted(node).endswith(".MODE_ECB")
