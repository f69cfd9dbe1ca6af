"""Write docs/commands.md from the commands themselves, docs/settings.md from the settings, and what `upwell explain`
prints into docs/parsing.md.

python tools/make_docs.py            write them
python tools/make_docs.py --check    exit with status 1 if a committed file differs
"""

import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from rich.console import Console

from upwell.cli.app import app
from upwell.cli.explain_view import view
from upwell.config import AclSettings, KeySettings, Settings, SourceSettings
from upwell.embed import MINILM, tokenizer_of
from upwell.parse.explanation import explanation
from upwell.parse.limits import DEFAULT_LIMITS
from upwell.parse.prepare import prepare_parsed
from upwell.parse.route import parse

DOCS = Path(__file__).parent.parent / "docs"
WIDTH = 100
HEAD = """# Commands

Generated from the commands by `tools/make_docs.py`; a test keeps it current. Exit status: 0 done, 1 failed, 2 wrong
usage or a wrong setting, 130 interrupted. With `--json` standard output holds one JSON document and nothing else;
progress, notes and errors go to standard error. `UPWELL_DEBUG=1` shows where an error came from.
"""


def walk(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Each command with its full name, groups included, in the order of the help."""
    yield path, command
    for name, child in getattr(command, "commands", {}).items():
        yield from walk(child, f"{path} {name}")


def commands() -> list[tuple[str, Any]]:
    """Every command of the application."""
    return list(walk(typer.main.get_command(app), "upwell"))


def help_of(command: Any, path: str) -> str:
    """The text of `--help`, as a terminal of WIDTH columns shows it."""
    names = ["-h", "--help"]
    context = command.make_context(
        path, [], resilient_parsing=True, terminal_width=WIDTH, max_content_width=WIDTH, help_option_names=names
    )
    return "\n".join(line.rstrip() for line in command.get_help(context).splitlines())


SETTINGS_HEAD = """# Settings

Generated from `upwell.config` by `tools/make_docs.py`; a test keeps it current. Strongest first: an option of the
command, the environment, the file (`--config FILE`, else `upwell.toml` where it stands), the default. In the file a
setting has its plain name; in the environment it is `UPWELL_` and the name in capitals, and what is not one value is
JSON: `UPWELL_KEYS='[{"sha256": "…", "source": "handbook"}]'`. A setting that is secret is never printed.

| setting | environment | default | |
|---|---|---|---|
"""


def settings_page() -> str:
    """Every setting: its name, its variable, its default, what it says."""
    rows = [
        f"| `{name}` | `UPWELL_{name.upper()}` | {default_of(field)} | {field.description} |"
        for name, field in Settings.model_fields.items()
    ]
    nested = {"keys": KeySettings, "sources": SourceSettings, "acl of a source": AclSettings}
    return SETTINGS_HEAD + "\n".join([*rows, *(part_of(name, model) for name, model in nested.items())]) + "\n"


def part_of(name: str, model: type[BaseModel]) -> str:
    """What one entry of a structured setting holds."""
    about = " ".join((model.__doc__ or "").split())
    rows = [f"| `{field}` | {default_of(info)} |" for field, info in model.model_fields.items()]
    return "\n".join([f"\n## {name}\n\n{about}\n\n| field | default |", "|---|---|", *rows])


def default_of(field: FieldInfo) -> str:
    """A default as one writes it; nothing for none, and `needed` where there is no default."""
    if field.is_required():
        return "needed"
    value = field.get_default(call_default_factory=False)
    return "" if value in (None, (), {}, frozenset(), AclSettings()) else f"`{value}`"


def page() -> str:
    """The whole page of commands."""
    sections = [f"## {path}\n\n```text\n{help_of(command, path)}\n```\n" for path, command in commands()]
    return "\n".join([HEAD, *sections])


SAMPLE = DOCS.parent / "services" / "upwell" / "sample" / "handbook"
SHOWN = re.compile(r"(\$ upwell explain (\S+)\n```\n\n```text\n).*?(?=```\n)", re.DOTALL)


def parsing_page() -> str:
    """The page of parsing as it stands, with what its examples print now."""
    text = (DOCS / "parsing.md").read_text(encoding="utf-8")
    return SHOWN.sub(lambda found: found[1] + explained(found[2]), text)


def explained(name: str) -> str:
    """What `upwell explain` prints of a document of the sample's handbook, as a terminal of WIDTH columns shows it."""
    parsed = parse((SAMPLE / name).read_bytes(), name, None, DEFAULT_LIMITS)
    shown = io.StringIO()
    console = Console(file=shown, width=WIDTH, markup=False, highlight=False)
    console.print(view(explanation(parsed, prepare_parsed(parsed, tokenizer_of(MINILM), MINILM)), name))
    return "".join(f"{line.rstrip()}\n" for line in shown.getvalue().splitlines())


PAGES = {DOCS / "commands.md": page, DOCS / "settings.md": settings_page, DOCS / "parsing.md": parsing_page}


def main() -> int:
    stale = []
    for target, text in PAGES.items():
        if "--check" not in sys.argv[1:]:
            target.write_text(text(), encoding="utf-8")
        elif not target.is_file() or target.read_text(encoding="utf-8") != text():
            stale.append(target.name)
    if stale:
        print(f"docs/ is not current ({', '.join(stale)}); run python tools/make_docs.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
