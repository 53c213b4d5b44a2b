"""Names outside the program: which module a name means, and the one spelling of each.

In: dotted names as the program spells them (`posix.system`, `np.load`, `subprocess.os.environ`). Out: the
canonical one (`os.system`, `numpy.load`, `os.environ`). Never looks at what is installed.
"""

from __future__ import annotations

import builtins
from functools import lru_cache
from typing import Final

from spanproof.sandbox.words import words

BUILTINS: Final = frozenset(name for name in dir(builtins) if not name.startswith("_")) | {
    "__import__", "__builtins__", "__build_class__", "get_ipython",
}  # fmt: skip

_SAME_MODULE: Final = {
    "posix": "os", "nt": "os", "posixpath": "os.path", "ntpath": "os.path", "_io": "io", "_socket": "socket",
    "_pickle": "pickle", "cPickle": "pickle", "_posixsubprocess": "subprocess", "_ctypes": "ctypes",
    "_thread": "threading", "__builtin__": "builtins", "__builtins__": "builtins", "imp": "importlib",
    "_imp": "importlib", "urllib2": "urllib.request", "httplib": "http.client", "commands": "subprocess",
    "dill": "pickle", "cloudpickle": "pickle", "_frozen_importlib": "importlib", "_sqlite3": "sqlite3",
    "urllib3.request": "urllib3.request", "_winapi": "subprocess", "tensorflow.keras": "keras",
}  # fmt: skip

_SAME_NAME: Final = {
    "io.open": "open", "codecs.open": "open", "os.popen2": "os.popen", "os.popen3": "os.popen",
    "urllib.urlopen": "urllib.request.urlopen", "urllib.urlretrieve": "urllib.request.urlretrieve",
    "os.getenvb": "os.getenv", "os.environb": "os.environ", "httpx.Client()": "requests.Session()",
    "httpx.AsyncClient()": "requests.Session()", "aiohttp.ClientSession()": "requests.Session()",
    "requests.session()": "requests.Session()", "requests.sessions.Session()": "requests.Session()",
    "urllib3.PoolManager()": "requests.Session()", "pathlib.PosixPath": "pathlib.Path",
    "pathlib.PurePath": "pathlib.Path", "pathlib.PurePosixPath": "pathlib.Path",
    "pathlib.WindowsPath": "pathlib.Path", "pathlib.PureWindowsPath": "pathlib.Path",
    "socket.create_connection()": "socket.socket()", "socket.SocketType": "socket.socket",
    "importlib.__import__": "__import__", "os.exec": "os.execv", "socket.socket.socket": "socket.socket",
    "subprocess.Popen.Popen": "subprocess.Popen", "requests.api.get": "requests.get",
    "requests.api.post": "requests.post", "tempfile._os": "os",
    "ssl.SSLContext().wrap_socket()": "socket.socket()",
    "ssl.wrap_socket()": "socket.socket()", "ssl.create_default_context().wrap_socket()": "socket.socket()",
    "threading.os": "os", "getpass.getuser": "os.getlogin", "io.FileIO": "open", "os.fdopen": "os.fdopen",
}  # fmt: skip

COMMON_ALIASES: Final = {
    "np": "numpy", "pd": "pandas", "plt": "matplotlib.pyplot", "sns": "seaborn", "sp": "subprocess",
    "ET": "xml.etree.ElementTree", "tf": "tensorflow", "Path": "pathlib.Path", "nx": "networkx",
    "b64decode": "base64.b64decode", "urlopen": "urllib.request.urlopen", "run_module": "runpy.run_module",
}  # fmt: skip
"""Names agents bind in an earlier step of the same session, as everybody spells them."""

KNOWN_MODULES: Final = words(
    "os sys subprocess socket shutil requests urllib httpx aiohttp pathlib glob io json re math"
    " random time datetime collections itertools functools base64 binascii codecs zlib gzip bz2 lzma"
    " pickle marshal shelve ctypes importlib builtins posix pty signal tempfile platform psutil"
    " paramiko smtplib ftplib telnetlib http ssl select multiprocessing threading asyncio concurrent"
    " sqlite3 csv statistics numpy pandas scipy sklearn yaml dill joblib runpy pkgutil inspect"
    " operator string struct types copy hashlib hmac secrets uuid logging webbrowser getpass pwd grp"
    " fcntl mmap zipfile tarfile boto3 openai torch seaborn matplotlib"
)
"""Modules a free name may mean: what an earlier step of the session imported."""

LEAKED_MODULES: Final = words("os sys subprocess socket shutil builtins importlib posix ctypes __builtins__")
"""Modules that other modules hold as an attribute (`glob.os`), which is a way around an import list."""


@lru_cache(maxsize=4096)
def canonical(name: str) -> str:
    """The one spelling of a dotted name."""
    head, dot, tail = name.partition(".")
    if head in _SAME_MODULE:
        name = head = _SAME_MODULE[head] + (dot + tail if dot else "")
    if name.startswith("builtins.") and name.count(".") == 1 and not name.endswith("__"):
        name = name[9:]
    parts = name.split(".")
    for index in range(len(parts) - 1, 0, -1):
        # `socket.socket` is a class of its module, not the module held by another.
        if (
            parts[index] in LEAKED_MODULES
            and parts[index] != parts[index - 1]
            and "()" not in parts[index]
            and parts[0] not in {"pandas", "?"}
        ):
            return canonical(".".join(parts[index:]))
    for prefix, same in _SAME_NAME.items():
        if name == prefix or name.startswith(prefix + "."):
            return same + name[len(prefix) :]
    return name


def module_of(name: str) -> str:
    """The top-level module of a canonical name."""
    return name.partition(".")[0].removesuffix("()")
