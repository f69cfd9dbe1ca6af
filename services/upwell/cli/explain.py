"""`upwell explain FILE...`: how files would be read, chunked and prefixed; nothing is written but a page asked for."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from upwell.cli import options
from upwell.cli.explain_view import count_of, view
from upwell.cli.opening import settings_of
from upwell.cli.output import emit, note
from upwell.errors import Misconfigured

if TYPE_CHECKING:
    from upwell.explain import Explainer
    from upwell.parse.drawn import Drawings


def register(app: typer.Typer) -> None:
    app.command(
        short_help="How a file would be read and chunked",
        help="Show how files would be parsed, chunked and prefixed. Nothing is written but the page of --html. Several "
        "files are one JSON list.",
        epilog=options.examples(
            "upwell explain report.pdf",
            "upwell explain report.pdf --html report.html",
            "upwell explain mail.eml slides.pptx --json",
        ),
    )(explain)


def explain(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="The files to look at.")],
    html: Annotated[
        Path | None,
        typer.Option(
            "--html",
            metavar="OUT.html",
            help="Write a page that shows it: PDF pages with the boxes of blocks and chunks.",
        ),
    ] = None,
    embedder: options.Embedder = None,
    lake: options.Lake = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    for file in files:
        options.text_of(str(file))  # a name that is not UTF-8 is wrong usage
        if not file.is_file():
            raise Misconfigured(
                f"{file}: {'is not a file' if file.exists() else 'no such file'}; name the document to explain"
            )
    if html is not None:
        _check_target(html, files)
    settings = settings_of(lake, config, embedder)
    from upwell import wiring
    from upwell.explain import FAILURES

    explainer = wiring.explainer(settings)
    try:
        answers = [explainer.explain(file) for file in files]
        if html is not None:
            _write_page(html, files, answers, explainer)
    finally:
        explainer.close()
    if as_json:
        emit(answers[0] if len(files) == 1 else [_named(answer, f) for answer, f in zip(answers, files, strict=True)])
    elif html is None:
        for answer, file in zip(answers, files, strict=True):
            emit(answer, view(answer, str(file)))
    if any(answer["status"] in FAILURES for answer in answers):
        raise typer.Exit(1)


def _named(answer: dict[str, Any], file: Path) -> dict[str, Any]:
    return {**answer, "name": str(file)}


def _check_target(html: Path, files: list[Path]) -> None:
    """Said before anything is parsed."""
    if html.is_dir() or not html.absolute().parent.is_dir():
        raise Misconfigured(f"--html {html}: {'is a folder' if html.is_dir() else 'its folder does not exist'}")
    if html.exists() and any(html.samefile(file) for file in files):
        raise Misconfigured(f"--html {html}: is a document to explain; name another file for the page")


def _write_page(html: Path, files: list[Path], answers: list[dict[str, Any]], explainer: "Explainer") -> None:
    from upwell.explain import page

    drawings: list[Drawings] = [explainer.draw(file) for file in files]
    shown = page(list(zip(map(str, files), answers, drawings, strict=True)))
    html.write_bytes(shown.encode(errors="replace"))
    pages = sum(len(drawing.pages) for drawing in drawings)
    note(f"wrote {html}: {count_of(pages, 'page')} drawn")
    for file, drawing in zip(files, drawings, strict=True):
        if drawing.left_out:
            note(f"{file}: {drawing.left_out}")
