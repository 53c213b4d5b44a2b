"""The errors of the sandbox.

    SandboxError
    ├── SandboxUnavailable      the backend cannot run here; the message says what to install or configure
    │   └── EnvironmentUnavailable  a package set cannot be had; the message names the pin and the remedy
    ├── UnsupportedLanguage     the backend has no such language
    ├── UnsupportedFixtures     the backend cannot fix what the program is to find
    ├── BadFixture              a fixture file does not say what it must
    ├── BadSetting              a backend is opened with a setting it does not know, or a value it cannot take
    ├── SandboxBroken           the sandbox itself failed (never the program in it); worth one retry
    │   └── SandboxSilent       it gave no answer in time
    └── PolicyError             a policy file does not say what it must

A program that fails is not an error: it is an `Execution`.
"""

from __future__ import annotations


class SandboxError(Exception):
    """Root of all errors the sandbox raises."""


class SandboxUnavailable(SandboxError):  # noqa: N818 - a state of this machine, not a mistake
    """The backend cannot run on this machine; the message names what is missing and the remedy."""


class EnvironmentUnavailable(SandboxUnavailable):
    """A package set cannot be built into an environment; the message names the pin and the remedy."""


class UnsupportedLanguage(SandboxError):  # noqa: N818 - a state of the backend
    """The backend cannot run this language; the message names those it can."""


class UnsupportedFixtures(SandboxError):  # noqa: N818 - a state of the backend
    """The backend cannot give a program these fixtures; the message names the one and a backend that can."""


class BadFixture(SandboxError):  # noqa: N818 - says what is wrong
    """A file of fixtures is not valid; the message names the file, the place in it and the remedy."""


class BadSetting(SandboxError):  # noqa: N818 - says what is wrong
    """A backend's setting is not known or not valid; the message names it, those known and the remedy."""


class SandboxBroken(SandboxError):  # noqa: N818 - says what happened
    """The sandbox failed while running a program; says nothing about the program."""


class SandboxSilent(SandboxBroken):
    """The sandbox gave no answer in time: it hangs, or the machine is too busy."""


class PolicyError(SandboxError):
    """A policy is not valid; the message names the file, the key, the value and the remedy."""
