"""The `modal` backend: programs in sandboxes of the Modal service, through its own SDK.

The SDK is imported when the first sandbox is wanted, never before. It reads the token itself, from
MODAL_TOKEN_ID and MODAL_TOKEN_SECRET or from its own configuration.
"""

from __future__ import annotations

import atexit
import contextlib
import socket
import threading
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final
from urllib.parse import urlsplit
from urllib.request import getproxies

from spanproof.sandbox.backend import Feature
from spanproof.sandbox.backends.remote.backend import RemoteSandbox
from spanproof.sandbox.backends.remote.service import Fault, Host, Service, Stream, build_package_feature
from spanproof.sandbox.backends.remote.settings import RemoteSettings, build_setting
from spanproof.sandbox.backends.remote.write import write_by_command

if TYPE_CHECKING:
    from modal import App, Client, Image
    from modal import Sandbox as Remote

_CONNECT_S: Final = 10.0
_AN_IMAGE_ID: Final = "im-"
_TOKEN: Final = "MODAL_TOKEN_ID and MODAL_TOKEN_SECRET"  # noqa: S105 - names of variables


@dataclass(frozen=True, slots=True)
class Settings(RemoteSettings):
    """Of machines of Modal."""

    image: str = build_setting(
        "python:3.12-slim-bookworm",
        "image of the machines: one of a registry, or the ID of one of Modal's; needs python3, 3.11 or newer,"
        " and sh",
    )
    app: str = build_setting("spanproof", "app that the machines belong to; made where there is none")
    environment: str | None = build_setting(
        None, "Modal's environment of the app, where it is not the account's default"
    )
    runtime: str | None = build_setting(
        None, "`gvisor` or `vm`; default Modal's own", choices=("gvisor", "vm")
    )
    region: str | None = build_setting(None, "region of the machines, where it is not the account's default")
    cpu: float = build_setting(1.0, "processors of a machine", least=0.125)
    memory_mib: int = build_setting(2048, "limit of a machine's memory, in MiB", least=128)
    lifetime_s: int = build_setting(
        1800, "seconds after which the service ends a machine that no one ended", least=60
    )


class ModalService(Service):
    """Sandboxes of Modal, by its SDK."""

    name = "modal"
    making = "make a sandbox"
    separating = "set `runtime` to `vm`, with an image whose user is root"
    remedy = "check the network, the token, and the settings `app` and `environment`"
    remedies: ClassVar = {
        Fault.REFUSED: f"the service refuses the token in {_TOKEN} ({{cause}}); set a valid one",
        Fault.NO_ANSWER: "the service does not answer ({cause}); check the network, and MODAL_SERVER_URL",
        Fault.NO_IMAGE: "no sandbox can be made of the {image} ({cause}); set `image`, `app` and"
        " `environment`",
    }
    prolongs = False
    settings: Settings

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings, f"image {settings.image!r}")
        self._lock = threading.Lock()
        self._opened: tuple[Client, App] | None = None
        self._hosts: weakref.WeakSet[ModalHost] = weakref.WeakSet()

    def list_requirements(self) -> tuple[Feature, ...]:
        """See `Service.list_requirements`: the SDK, and where it is there, the token."""
        sdk = build_package_feature("modal SDK", "modal", "the modal SDK is not installed", "modal")
        if not sdk.present:
            return (sdk,)
        from modal.config import config

        present = bool(config["token_id"] and config["token_secret"])
        detail = "" if present else f"{_TOKEN} are not set"
        remedy = f"set {_TOKEN}, or `modal token set`"
        return (sdk, Feature("token", present, required=True, detail=detail, remedy=remedy))

    def list_service_features(self) -> tuple[Feature, ...]:
        """See `Service.list_service_features`; looks the app up."""
        self._get_app()
        return (Feature("service", present=True, required=True, detail=f"app {self.settings.app!r}"),)

    def start_host(self, lifetime_s: int) -> Host:
        """See `Service.start_host`."""
        from modal import Sandbox as Remote

        client, app = self._get_app()
        settings = self.settings
        choices: dict[str, Any] = {"runtime": settings.runtime, "region": settings.region}
        remote = Remote.create(
            app=app,
            client=client,
            image=_build_image(settings.image),
            timeout=lifetime_s,
            block_network=True,
            cpu=settings.cpu,
            memory=(settings.memory_mib, settings.memory_mib),
            tags={"made-by": "spanproof"},
            **{name: value for name, value in choices.items() if value is not None},
        )
        host = ModalHost(remote)
        self._hosts.add(host)
        return host

    def _get_app(self) -> tuple[Client, App]:
        from modal import App, Client
        from modal.config import config

        with self._lock:
            if self._opened is None:
                _check_connection(config["server_url"])
                # One of our own: the SDK's is shared with whatever else this process does at Modal.
                client = Client.from_credentials(config["token_id"], config["token_secret"])
                app = App.lookup(
                    self.settings.app,
                    client=client,
                    environment_name=self.settings.environment,
                    create_if_missing=True,
                )
                self._opened = client, app
                # The SDK ends its own thread at the interpreter's end; what is registered later runs earlier.
                atexit.register(_close_all, self._hosts)
            return self._opened

    def find_fault(self, problem: Exception) -> Fault | None:
        """See `Service.find_fault`."""
        from modal import exception as errors

        if isinstance(problem, errors.AuthError | errors.PermissionDeniedError):
            return Fault.REFUSED
        if isinstance(problem, errors.ConnectionError | OSError):
            return Fault.NO_ANSWER
        missing = errors.NotFoundError | errors.ImageBuildError | errors.InvalidError
        return Fault.NO_IMAGE if isinstance(problem, missing) else None


class ModalHost:
    """One sandbox of the service."""

    def __init__(self, remote: Remote) -> None:
        self._remote = remote
        self.id = remote.object_id

    def write(self, path: str, data: bytes) -> None:
        """See `Host.write`."""
        write_by_command("modal", self, path, data)

    def start(self, command: str, *, talks: bool) -> Stream:
        """See `Host.start`."""
        fed = command if talks else f"{{ {command}\n}} </dev/null"
        return CommandStream(self._remote.exec("/bin/sh", "-c", fed, text=False))

    def update_lifetime(self, seconds: int) -> None:
        """See `Host.update_lifetime`."""
        raise NotImplementedError("Modal fixes a sandbox's lifetime when it is made")

    def close(self) -> None:
        """See `Host.close`; one that is gone already has ended."""
        from modal.exception import NotFoundError

        with contextlib.suppress(NotFoundError):
            self._remote.terminate()


class CommandStream:
    """A command that runs in a sandbox."""

    def __init__(self, process: Any) -> None:
        self._process = process

    def send_stdin(self, data: bytes) -> None:
        """Give it input."""
        self._process.stdin.write(data)
        self._process.stdin.drain()

    def __iter__(self) -> Iterator[tuple[str | None, str | None, object]]:
        """See `Stream`: its errors come after all of its output, as the service has them apart."""
        for piece in self._process.stdout:
            yield _decode_text(piece), None, None
        for piece in self._process.stderr:
            yield None, _decode_text(piece), None


def _check_connection(url: str) -> None:
    """Fail at once where nothing listens: the SDK tries for a minute.

    Raises:
        OSError: no connection can be made.
    """
    if getproxies():
        return  # the way is the SDK's to find
    found = urlsplit(url)
    port = found.port or (80 if found.scheme == "http" else 443)
    socket.create_connection((found.hostname or "", port), timeout=_CONNECT_S).close()


def _decode_text(data: bytes) -> str:
    return data.decode("utf-8", "replace")  # what is ours is ASCII


def _build_image(name: str) -> Image:
    from modal import Image

    if name.startswith(_AN_IMAGE_ID):
        return Image.from_id(name)
    return Image.from_registry(name)


def _close_all(hosts: weakref.WeakSet[ModalHost]) -> None:
    for host in list(hosts):
        # Its lifetime ends what cannot be ended here.
        with contextlib.suppress(Exception):
            host.close()


class ModalSandbox(RemoteSandbox):
    """Runs programs in sandboxes of Modal; `workers` of them at once."""

    name = "modal"
    settings = Settings.read_descriptions()

    def __init__(self, *, workers: int = 1, **settings: str) -> None:
        super().__init__(ModalService(Settings.parse(self.name, settings)), workers=workers)
