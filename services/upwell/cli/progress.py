"""A progress bar on standard error, where that is a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from upwell.answers import Progress
from upwell.cli.output import console
from upwell.cli.text import name

CURRENT_WIDTH = 40


@contextmanager
def progress_bar() -> Iterator[Callable[[Progress], None]]:
    """Yields a function to report with; it may be called from any thread, and after the bar has gone."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[current]}", style="dim", markup=False),
    )
    with Bar(*columns, console=console(sys.stderr), transient=True) as bar:
        task = bar.add_task("starting", total=None, current="")

        def report(progress: Progress) -> None:
            current = name(progress.current)[-CURRENT_WIDTH:]
            bar.update(
                task,
                description=name(progress.phase),
                completed=progress.done,
                total=progress.total or None,
                current=current,
            )

        yield report
