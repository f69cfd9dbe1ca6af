"""`python tests/fuzz/run.py --seed 1 --files 10000`: mutated documents through the sandbox; exit status 0 if none did harm.

Each case that failed is written to `--failures`; `--case N` sends one again, with the same seed and documents.
"""

import argparse
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> int:
    sys.path.insert(0, str(HERE))
    from fuzz_cases import case, documents
    from fuzz_run import counted, fuzz_run
    from rich.console import Console

    parser = argparse.ArgumentParser(description="Send mutated documents through the parsers' sandbox.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--case", type=int, action="append", help="this case alone (again for more)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--failures", type=Path, default=Path(".fuzz"), help="where failing cases are written")
    given = parser.parse_args()
    console, corpus = Console(stderr=True), documents()
    numbers = given.case or range(given.first, given.first + given.files)
    tally = fuzz_run(seed=given.seed, numbers=numbers, corpus=corpus, workers=given.workers, console=console)
    Console().print(tally.table(f"{tally.total:,} mutated documents, seed {given.seed}"))
    for (kind, said), number in counted(tally)[:50]:
        console.print(f"{number} x {kind}: {said}", style="red", markup=False, highlight=False)
    for failed, kind, said in tally.faults:
        given.failures.mkdir(parents=True, exist_ok=True)
        made = case(given.seed, failed.number, corpus)
        path = given.failures / f"{given.seed}-{made.number}.{made.kind}"
        path.write_bytes(made.data)
        line = f"case {made.number} ({', '.join(made.steps)}): {kind}: {said}"
        console.print(f"{line}; kept as {path}", style="red", markup=False, highlight=False)
    return 0 if tally.good else 1


if __name__ == "__main__":
    sys.exit(main())
