"""Refuse raw credentials: by the name of a key, nested, and by the shape of a text.

Resources are shown, exported and kept for ever; a secret belongs where the worker reads it at execution. The fault
names the field and never repeats the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from core.errors import Fault, Invalid

KEYS: Final = frozenset(
    {
        "apikey",
        "accesstoken",
        "privatekey",
        "authorization",
        "clientsecret",
        "credential",
        "credentials",
        "password",
        "passphrase",
        "refreshtoken",
        "secret",
        "token",
    }
)
_ENDINGS: Final = (*sorted(KEYS - {"authorization"}), "accesskey", "secretkey", "passwd")
_SHAPES: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("a PEM block", re.compile(r"-----BEGIN [A-Z0-9 ]+-----")),
    ("a bearer token", re.compile(r"\A\s*bearer\s+[^\s{]\S*\s*\Z", re.IGNORECASE)),
    ("a bearer token", re.compile(r"\bbearer\s+(?=[\w.~+/=-]*\d)[\w.~+/=-]{8,}", re.IGNORECASE)),
    ("basic credentials", re.compile(r"\bauthorization:?\s*basic\s+[A-Za-z0-9+/=]{6,}", re.IGNORECASE)),
    ("a GitHub token", re.compile(r"(?<![A-Za-z0-9])(?:gh[opusr]_[A-Za-z0-9]{10,}|github_pat_\w{10,})")),
    ("a Slack token", re.compile(r"(?<![A-Za-z0-9])xox[a-z]-[A-Za-z0-9-]{8,}")),
    ("an AWS access key", re.compile(r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{12,}")),
    ("an API key", re.compile(r"(?<![A-Za-z0-9_-])sk-[A-Za-z0-9_-]{16,}")),
    ("a GitLab token", re.compile(r"(?<![A-Za-z0-9])glpat-[\w-]{8,}")),
    ("a JSON Web Token", re.compile(r"(?<![A-Za-z0-9])eyJ[\w-]{6,}\.[\w-]{6,}\.[\w-]*")),
    ("a password in a URL", re.compile(r"\b[a-z][a-z0-9+.-]*://[^/\s:@{}]*:[^/\s:@{}]+@", re.IGNORECASE)),
)
_TEMPLATE: Final = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_SCHEME: Final = re.compile(r"\s*(?:bearer|basic|token)?\s*", re.IGNORECASE)
_SCHEMAS: Final = frozenset({"inputSchema", "schema"})
_NAMED: Final = frozenset({"env", "headers"})
_REMEDY: Final = "keep it outside and name it, in a key that ends in Ref or as {secretRef: NAME}"


def credential_faults(value: object, field: str, *, flow: bool = False) -> list[Fault]:
    """Return a fault for each raw credential in a value.

    In a Flow (`flow=True`) JSON Schemas name fields and hold no values, templates are filled at execution, and names
    of headers and environment variables are judged by their ending too (`DB_PASSWORD`).
    """
    return list(_walk(value, field, flow=flow, named=False))


def refuse_credentials(value: object, field: str) -> None:
    """Raise Invalid with a fault for each raw credential in a value that is going to be kept."""
    if faults := credential_faults(value, field):
        raise Invalid(faults)


def _walk(value: object, field: str, *, flow: bool, named: bool) -> Iterator[Fault]:
    if isinstance(value, str):
        shape = shape_of(value)
        if shape:
            yield Fault(field, f"holds {shape}", _REMEDY, code="raw_credential")
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _entry(str(key), inner, f"{field}.{key}" if field else str(key), flow=flow, named=named)
    elif isinstance(value, Sequence):
        for place, inner in enumerate(value):
            yield from _walk(inner, f"{field}[{place}]", flow=flow, named=False)


def _entry(key: str, value: object, field: str, *, flow: bool, named: bool) -> Iterator[Fault]:
    if flow and key in _SCHEMAS and isinstance(value, Mapping):
        yield from _texts(value, field)
    elif is_credential_key(key, by_ending=named) and not _harmless(value, flow=flow):
        yield Fault(field, "names a credential, and credentials are not stored", _REMEDY, code="raw_credential")
    else:
        yield from _walk(value, field, flow=flow, named=flow and key in _NAMED)


def _texts(value: object, field: str) -> Iterator[Fault]:
    """Judge by shape alone, whatever the keys are called."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(inner, f"{field}.{key}")
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _texts(inner, f"{field}[{place}]")
    else:
        yield from _walk(value, field, flow=True, named=False)


def is_credential_key(key: str, *, by_ending: bool = False) -> bool:
    """Return whether a key is called like a credential, ignoring case, `_` and `-`."""
    plain = key.rpartition("/")[2].casefold().replace("_", "").replace("-", "")
    return plain in KEYS or (by_ending and plain.endswith(_ENDINGS))


def is_reference_key(key: str) -> bool:
    """Return whether a key says that it holds a reference."""
    return key.casefold().endswith(("ref", "reference"))


def shape_of(text: str) -> str:
    """Return what kind of credential a text looks like, else nothing."""
    return next((what for what, pattern in _SHAPES if pattern.search(text)), "")


def _harmless(value: object, *, flow: bool) -> bool:
    """Return whether what stands under a credential's name is no credential: nothing, a reference, or a template."""
    if value is None or value == "":
        return True
    if isinstance(value, Mapping):
        return bool(value) and all(is_reference_key(str(key)) for key in value) and not credential_faults(value, "")
    return flow and isinstance(value, str) and "{{" in value and bool(_SCHEME.fullmatch(_TEMPLATE.sub("", value)))
