"""Whether a framework is installed in a release that its instrumentor knows: one that its extra names."""

from __future__ import annotations

from importlib.metadata import requires, version


class VersionConflict(Exception):  # noqa: N818 - says what is the matter; it is reported
    """A framework is installed in a release that its instrumentor does not know."""


def check_release(extra: str) -> None:
    """Compare the installed framework with the requirement of the extra of its name.

    The check that `opentelemetry-instrument` makes would be of no use: it knows the requirements of a
    distribution, not of one instrumentor, and one framework's conflict would switch off all of ours.

    Raises:
        PackageNotFoundError: the framework is not installed.
        VersionConflict: it is, in a release out of range.
    """
    # Imported here, and only where a framework is instrumented.
    from packaging.requirements import Requirement

    for text in requires("spanproof") or ():
        wanted = Requirement(text)
        if wanted.marker is None or not wanted.marker.evaluate({"extra": extra}):
            continue
        found = version(wanted.name)
        if not wanted.specifier.contains(found, prereleases=True):
            raise VersionConflict(
                f"{wanted.name} {found} is installed, {wanted.name}{wanted.specifier} is needed"
            )
