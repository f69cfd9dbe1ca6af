"""The oracle's run: `python tests/oracle/run.py --seed 1 --searches 20000`; exit status 0 if no answer was wrong."""

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> int:
    sys.path[:0] = [str(HERE), str(HERE.parent / "property"), str(HERE.parent / "e2e"), str(HERE.parent)]
    from oracle_run import oracle_run
    from rich.console import Console

    parser = argparse.ArgumentParser(
        description="Search random histories in every way, and hold each answer to account."
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--searches", type=int, default=20_000)
    given = parser.parse_args()
    console = Console(stderr=True)
    tally = oracle_run(seed=given.seed, searches=given.searches, console=console)
    for table in tally.tables(f"oracle, seed {given.seed}"):
        Console().print(table)
    for way, kind, said in tally.faults[:50]:
        console.print(f"{way}: {kind}: {said}", style="red", markup=False, highlight=False)
    return 0 if tally.good else 1


if __name__ == "__main__":
    sys.exit(main())
