"""Keys for the tape's server, made on the host for each run: an authority, whose own key is thrown away.

In: the hosts a recording is encrypted for. Out: the authority's certificate, which programs are to trust,
and a key with its certificate for the server. Needs trustme, imported when there is something to encrypt.
"""

from __future__ import annotations

import datetime

from spanproof.sandbox.errors import UnsupportedFixtures
from spanproof.sandbox.guest.wire import Header

LAST_S = 2_145_916_800.0
"""2038-01-01: when the authority's certificate ends; it begins with 2000."""
FIRST_S = 946_684_800.0
_NAME, _UNIT = "Spanproof", "recorded calls"

VARIABLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
"""Where clients are configured what to trust."""
BUNDLES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/ssl/cert.pem", "/etc/pki/tls/certs/ca-bundle.crt")
"""Where they look when they are not."""


def build_identity(hosts: frozenset[str]) -> Header:
    """Issue certificates for a server that is all of these hosts, in PEM.

    Raises:
        UnsupportedFixtures: trustme is missing, or one is no name a certificate can bear.
    """
    try:
        import trustme
    except ImportError as failure:
        raise UnsupportedFixtures(
            "recorded https calls need a certificate to be served with, and trustme, which makes it, is not"
            " installed; run: pip install 'spanproof[server]'"
        ) from failure
    authority = trustme.CA(organization_name=_NAME, organization_unit_name=_UNIT)
    ends = datetime.datetime.fromtimestamp(LAST_S, datetime.UTC)
    try:
        leaf = authority.issue_cert(
            *sorted(hosts), organization_name=_NAME, organization_unit_name=_UNIT, not_after=ends
        )
    except ValueError as problem:  # idna's are
        raise UnsupportedFixtures(
            f"no certificate can be made for one of the recorded https hosts: {problem}; leave its calls out"
        ) from problem
    return {
        "authority": authority.cert_pem.bytes().decode("ascii"),
        "server": leaf.private_key_and_cert_chain_pem.bytes().decode("ascii"),
    }
