"""Presentation MathML as LaTeX, as far as office programs write it."""

from types import MappingProxyType
from typing import Any

from upwell.parse.failures import too_large
from upwell.parse.limits import Limits
from upwell.parse.office.package import attribute, local

OPERATORS = MappingProxyType(
    {
        "∑": r"\sum", "∏": r"\prod", "∫": r"\int", "∂": r"\partial", "∞": r"\infty", "±": r"\pm", "×": r"\times",
        "⋅": r"\cdot", "÷": r"\div", "≤": r"\leq", "≥": r"\geq", "≠": r"\neq", "≈": r"\approx", "→": r"\to",
        "∈": r"\in", "∉": r"\notin", "⊂": r"\subset", "∪": r"\cup", "∩": r"\cap", "∀": r"\forall", "∃": r"\exists",
        "√": r"\surd", "∇": r"\nabla", "α": r"\alpha", "β": r"\beta", "γ": r"\gamma", "δ": r"\delta",
        "ε": r"\epsilon", "ζ": r"\zeta", "η": r"\eta", "θ": r"\theta", "λ": r"\lambda", "μ": r"\mu", "ν": r"\nu",
        "ξ": r"\xi", "π": r"\pi", "ρ": r"\rho", "σ": r"\sigma", "τ": r"\tau", "φ": r"\phi", "χ": r"\chi",
        "ψ": r"\psi", "ω": r"\omega", "Γ": r"\Gamma", "Δ": r"\Delta", "Θ": r"\Theta", "Λ": r"\Lambda", "Π": r"\Pi",
        "Σ": r"\Sigma", "Φ": r"\Phi", "Ψ": r"\Psi", "Ω": r"\Omega", "−": "-", "{": r"\{", "}": r"\}", "%": r"\%",
    }
)  # fmt: skip
PAIRS = MappingProxyType({"msub": "_", "msup": "^", "munder": "_", "mover": "^"})
TRIPLES = frozenset({"msubsup", "munderover"})


def latex_of(math: Any, limits: Limits, depth: int = 0) -> str:
    """The formula in one line. Raises `too_large` past the limit of nesting."""
    if depth > limits.nesting:
        raise too_large("nested too deeply")
    tag = local(math)
    if tag in {"annotation", "annotation-xml", ""}:
        return ""
    if tag in {"mi", "mn", "mo", "mtext", "ms"}:
        return _token(tag, "".join(math.itertext()).strip())
    parts = [part for child in math if local(child) for part in [latex_of(child, limits, depth + 1)]]
    if tag == "mfrac" and len(parts) == 2:
        return rf"\frac{{{parts[0]}}}{{{parts[1]}}}"
    if tag == "msqrt":
        return rf"\sqrt{{{' '.join(parts)}}}"
    if tag == "mroot" and len(parts) == 2:
        return rf"\sqrt[{parts[1]}]{{{parts[0]}}}"
    if tag in PAIRS and len(parts) == 2:
        return f"{_base(parts[0])}{PAIRS[tag]}{{{parts[1]}}}"
    if tag in TRIPLES and len(parts) == 3:
        return f"{_base(parts[0])}_{{{parts[1]}}}^{{{parts[2]}}}"
    if tag == "mtable":
        rows = r" \\ ".join(parts)
        return rf"\begin{{matrix}}{rows}\end{{matrix}}"
    if tag == "mtr":
        return " & ".join(parts)
    if tag == "mfenced":
        opening, closing = attribute(math, "open") or "(", attribute(math, "close") or ")"
        return f"{opening}{','.join(parts)}{closing}"
    return " ".join(part for part in parts if part)


def _token(tag: str, text: str) -> str:
    if text in OPERATORS:
        return OPERATORS[text]
    if tag == "mtext" or (tag == "mi" and len(text) > 1):
        return rf"\mathrm{{{text}}}" if tag == "mi" else rf"\text{{{text}}}"
    return text


def _base(text: str) -> str:
    return text if len(text) == 1 or (text.startswith("\\") and text[1:].isalpha()) else f"{{{text}}}"
