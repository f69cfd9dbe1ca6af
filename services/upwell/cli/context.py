"""`upwell context QUERY`: what to put into a prompt, within a budget of tokens."""

from pathlib import Path
from typing import Annotated

import typer

from upwell.cli import options
from upwell.cli.opening import opened, settings_of
from upwell.cli.output import emit, note, write
from upwell.cli.principals import reader_of
from upwell.reading import ContextAnswer

MOST_BUDGET = 100_000


def register(app: typer.Typer) -> None:
    app.command(
        short_help="Assemble a context for a model, within a budget",
        help="Assemble a context for a model, with the rights of a reader: all that they may see if it fits the "
        "budget, else the best of what matches, with citation ids. Equal passages give equal bytes.",
        epilog=options.examples(
            'upwell context "how long is parental leave" --budget 2000',
            'upwell context "kiln temperature" --as ana --group staff --source handbook --json',
            'upwell context "release steps" --budget 8000 --tokenizer ./tokenizer.json',
        ),
    )(context)


def context(
    query: options.Query,
    budget: Annotated[
        int, typer.Option("--budget", min=1, max=MOST_BUDGET, metavar="N", help="The most tokens, all told.")
    ] = 4000,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            "--tokenizer",
            metavar="NAME|FILE",
            callback=options.text_of,
            help="Whose tokens: `minilm`, `bytes` (a token a byte: never too few), a tokenizer.json.  "
            "[default: the lake's embedder's]",
        ),
    ] = None,
    reader: options.Reader = None,
    group: options.Groups = None,
    tenant: options.Tenant = "default",
    source: options.Sources = None,
    lake: options.Lake = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    who = reader_of(reader, group)
    with opened(settings_of(lake, config)) as api:
        from upwell.runtime.reading import operator_as

        answer = api.reading().context(
            query,
            reader=operator_as(who, tenant),
            budget=budget,
            tokenizer=standing_here(tokenizer),
            sources=frozenset(source or ()),
        )
    if as_json:
        emit(answer)
    else:
        write(answer.text)
    note(summary(answer, who))


def standing_here(tokenizer: str | None) -> str | None:
    """A path made absolute, for the lake's owner may stand elsewhere; a name as it is."""
    if tokenizer is None or not tokenizer.endswith(".json"):
        return tokenizer
    return str(Path(tokenizer).expanduser().absolute())


def summary(answer: ContextAnswer, who: frozenset[str]) -> str:
    """What the context is, in a line for a person."""
    if answer.passages:
        what = "all there is" if answer.whole else "the best of what matches"
        passages = "1 passage" if len(answer.passages) == 1 else f"{len(answer.passages)} passages"
        return f"{passages}, {what}: {answer.tokens:,} of {answer.budget:,} tokens ({answer.tokenizer})"
    if answer.whole:
        return f"nothing here that {' '.join(sorted(who))} may read; `upwell status` says what is in the lake"
    return f"nothing relevant that {' '.join(sorted(who))} may read fits {answer.budget:,} tokens"
