"""`upwell verify FILE`: whether a certificate of erasure is what the lake's key has signed."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from upwell.answers import VerifyAnswer
from upwell.cli import options
from upwell.cli.opening import settings_of
from upwell.cli.output import emit
from upwell.cli.text import name
from upwell.errors import Misconfigured

if TYPE_CHECKING:
    from upwell.erase.certificate import Verifier


def register(app: typer.Typer) -> None:
    app.command(
        short_help="Check a certificate of erasure",
        help="Check that a certificate of erasure, or the JSON of `upwell erase`, is what the lake has signed. Exit "
        "status 0: it is, 1: it is not.",
        epilog=options.examples("upwell verify certificate.json", "upwell verify certificate.json --key jwks.json"),
    )(verify)


def verify(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The certificate; - for standard input.")],
    key: Annotated[
        Path | None,
        typer.Option("--key", metavar="JWKS", help="A JWK Set with the lake's public keys.  [default: the lake's own]"),
    ] = None,
    lake: options.Lake = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    from upwell.erase.certificate import verified

    data = sys.stdin.buffer.read() if file == "-" else _read(Path(file))
    answer = verified(data, _verifier(key, lake, config))
    emit(answer, None if as_json else line(answer))
    if not answer.valid:
        raise typer.Exit(1)


def line(answer: VerifyAnswer) -> str:
    """The verdict for a person."""
    if answer.valid:
        return f"valid: certificate {name(answer.id)} of {name(answer.issued_at)}, signed by key {name(answer.kid)}"
    return f"not valid: {name(answer.reason)}"


def _verifier(key: Path | None, lake: Path | None, config: Path | None) -> "Verifier":
    if key is None:
        from upwell import wiring

        return wiring.certificate_verifier(settings_of(lake, config))
    from upwell.erase.certificate import jwks_verifier

    try:
        return jwks_verifier(_read(key))
    except ValueError:
        raise Misconfigured(f"--key {key}: not a JWK Set with Ed25519 keys") from None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as e:
        raise Misconfigured(f"{path}: {e.strerror or 'not readable'}") from e
