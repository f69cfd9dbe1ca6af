"""What a definition in a syntax tree is called, as the parts of its path."""

import re
from typing import Any

GENERIC = re.compile(r"<[^<>]*>|\[[^\[\]]*\]")
FUNCTIONS = frozenset({"arrow_function", "function_expression", "function", "generator_function", "class"})
IDENTIFIERS = frozenset({"identifier", "type_identifier", "simple_identifier", "constant", "name"})
LONGEST_NAME = 120
DEEPEST_DECLARATOR = 20
UNNAMED = {"companion_object": "companion", "secondary_constructor": "constructor"}
PREFIXED = {"mod_item": "mod", "macro_definition": "macro_rules!"}
EXPORTED = frozenset({"class", "function_expression", "function_declaration", "class_declaration"})


def names_of(node: Any) -> tuple[str, ...]:
    """The parts of a definition's own name, outermost first; none for one without a name."""
    kind = node.type
    if kind == "method_declaration" and node.child_by_field_name("receiver") is not None:
        return _parts(_receiver(node), _field(node, "name"))
    if kind == "impl_item":
        trait, of = _plain(_field(node, "trait")), _plain(_field(node, "type"))
        return _parts(f"{trait} for {of}" if trait else of)
    if kind == "type_declaration":
        specs = [_field(child, "name") for child in node.named_children if child.type in {"type_spec", "type_alias"}]
        return _parts(", ".join(specs))
    if kind == "operator_declaration":
        return _parts(f"operator {_field(node, 'operator')}")
    if kind == "singleton_class":
        return _parts(_field(node, "value"))
    name = _field(node, "name")
    if name and kind in PREFIXED:
        return _parts(f"{PREFIXED[kind]} {name}")
    if name and kind != "type_definition":
        return _parts(*name.split("::"))
    if kind in EXPORTED:
        return ("default",)
    return _parts(*_declared(node).split("::")) or _parts(_first(node) or UNNAMED.get(kind, ""))


def bound_function(node: Any) -> tuple[str, Any] | None:
    """The name and the function of `const f = () => …`, `x.f = function …` or a field that holds one."""
    holder = node
    if node.type in {"lexical_declaration", "variable_declaration"}:
        holder = next((c for c in node.named_children if c.type == "variable_declarator"), None)
    elif node.type == "expression_statement":
        holder = next((c for c in node.named_children if c.type == "assignment_expression"), None)
    if holder is None:
        return None
    value = holder.child_by_field_name("value") or holder.child_by_field_name("right")
    if value is None or value.type not in FUNCTIONS:
        return None
    name = _field(holder, "name") or _field(holder, "property") or _field(holder, "left")
    return (name, value) if name else None


def module_name(node: Any) -> str:
    """What a package or namespace clause names."""
    name = _field(node, "name") or next((_text(c) for c in node.named_children if not c.type.endswith("comment")), "")
    return _plain(name)


def _receiver(node: Any) -> str:
    """`Bucket` of `(b *Bucket[K])`."""
    inside = _field(node, "receiver").strip("() ")
    return _plain(inside).split(" ")[-1].lstrip("*")


def _declared(node: Any) -> str:
    """The name inside C's declarators: `f` of `char *(*f(int))`."""
    start = node
    for _ in range(DEEPEST_DECLARATOR):
        inner = node.child_by_field_name("declarator")
        if inner is None:
            inner = next((c for c in node.named_children if c.type.endswith("_declarator")), None)
        if inner is None:
            break
        node = inner
        if node.type in {"qualified_identifier", *IDENTIFIERS}:
            break
    else:
        return ""
    return _plain(_text(node)) if node is not start else ""


def _first(node: Any) -> str:
    return next((_text(c) for c in node.named_children if c.type in IDENTIFIERS), "")


def _field(node: Any, name: str) -> str:
    found = node.child_by_field_name(name)
    return _text(found) if found is not None else ""


def _text(node: Any) -> str:
    return " ".join(node.text[: 4 * LONGEST_NAME].decode("utf-8", "replace").split())


def _plain(name: str) -> str:
    """A name without its type arguments."""
    for _ in range(4):
        name = GENERIC.sub("", name)
    return name.strip()


def _parts(*names: str) -> tuple[str, ...]:
    return tuple(name[:LONGEST_NAME] for name in (_plain(n) if "operator" not in n else n for n in names) if name)
