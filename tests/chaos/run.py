"""The chaos run: `python tests/chaos/run.py --seed 1 --kills 40 --events 2000`; exit status 0 if every law held."""

import argparse
import signal
import sys
from pathlib import Path

HERE = Path(__file__).parent
NUMBERS = {"seed": 1, "kills": 40, "events": 2000, "documents": 300}


def main() -> int:
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    from chaos_run import chaos, make_reference
    from rich.console import Console

    parser = argparse.ArgumentParser(description="Kill everything, and see whether the laws hold.")
    for name, default in NUMBERS.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--keep", action="store_true", help="keep the run's folder, with the logs of all machines")
    parser.add_argument("--reference", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.reference is not None:
        make_reference(given.reference)
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # by the way that ends every machine
    console = Console(stderr=True)
    verdict = chaos(**{name: getattr(given, name) for name in NUMBERS}, keep=given.keep, console=console)
    Console().print(verdict.table(f"chaos, seed {given.seed}"))
    for line in verdict.wrong:
        console.print(line, style="red", markup=False, highlight=False)
    return 0 if verdict.good else 1


if __name__ == "__main__":
    sys.exit(main())
