"""Sends the cases of a seed through confined children, as a lake does, and judges each answer."""

import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed

import msgspec
from fuzz_cases import case
from fuzz_judge import ANSWERS, faults
from fuzz_tally import DEATH, ESCAPED, WRONG, Tally
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from upwell.errors import Rejected
from upwell.parse.confined.sandbox import SandboxPreparer
from upwell.records import ParseStatus

LINE_EVERY = 500  # where no bar can be drawn


class Runner(threading.local):
    """A child of its own for each thread, so that a death is its case's."""

    def __init__(self, made):
        self.preparer = SandboxPreparer("hash", "fuzz", workers=1)
        made.append(self.preparer)

    def send(self, case, tally, lock):
        deaths, start = self.preparer.pool.deaths, time.monotonic()
        status, found = self._answer(case)
        seconds = time.monotonic() - start
        if self.preparer.pool.deaths > deaths:
            found.append((DEATH, f"a child ended ({status})"))
        with lock:
            tally.add(case, status, seconds)
            for kind, said in found:
                tally.fault(case, kind, said)

    def _answer(self, case):
        try:
            answer = ANSWERS.decode(self.preparer.explain(case.data, case.name))
        except Rejected as e:
            return str(e.reason), [(ESCAPED, str(e))]
        except msgspec.DecodeError as e:
            return "no answer", [(WRONG, f"no answer of ours: {e}")]
        except Exception as e:  # noqa: BLE001  what escapes is what is looked for
            return type(e).__name__, [(ESCAPED, f"{type(e).__name__}: {e}")]
        return ParseStatus(answer.status), [(WRONG, said) for said in faults(answer)]


def fuzz_run(*, seed, numbers, corpus, workers, console):
    """A tally of these cases."""
    tally, lock, made = Tally(), threading.Lock(), []
    runner = Runner(made)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console) as progress:
        bar = progress.add_task(f"fuzz, seed {seed}", total=len(numbers))
        try:
            with ThreadPoolExecutor(workers) as pool:
                futures = [pool.submit(lambda n=n: runner.send(case(seed, n, corpus), tally, lock)) for n in numbers]
                for done, future in enumerate(as_completed(futures), 1):
                    future.result()
                    if done % LINE_EVERY == 0 and not console.is_terminal:
                        console.print(f"{done:,} of {len(numbers):,} read, {len(tally.faults)} faults")
                    wrong = len(tally.faults)
                    progress.update(bar, advance=1, description=f"fuzz, seed {seed}" + f", {wrong} wrong" * bool(wrong))
        finally:
            for preparer in made:
                preparer.close()
    return tally


def counted(tally):
    """Faults of one kind and text together, most frequent first."""
    return Counter((kind, said) for _, kind, said in tally.faults).most_common()
