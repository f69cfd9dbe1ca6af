"""Source code as blocks: each definition with what documents it, under its path of names; nothing is lost."""

import pytest

from upwell.parse.code.grammars import GRAMMARS
from upwell.parse.limits import DEFAULT_LIMITS
from upwell.parse.route import parse
from upwell.records import ParseStatus


def parts(text, name):
    parsed = parse(text.encode(), name, None, DEFAULT_LIMITS)
    assert parsed.status is ParseStatus.OK
    assert "".join("".join(b.text for b in parsed.blocks).split()) == "".join(text.split())
    return [(" > ".join(b.heading_path), b.text) for b in parsed.blocks]


def paths(text, name):
    return [path for path, _ in parts(text, name)]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "a.java",
            (
                "package a.b;\nimport x.Y;\n/** d */\n@A public class L<T> {\n int x;\n enum S { P, Q }\n L() {}\n"
                " @Override public void post(int a) { }\n interface H { void m(); }\n}\n"
            ),
            ["a.b", "a.b > L", "a.b > L > S", "a.b > L > L", "a.b > L > post", "a.b > L > H"],
        ),
        (
            "a.ts",
            (
                'import a from "b";\nexport interface Job { id: string }\nexport class Q<T> {\n  push(a: T) {}\n}\n'
                "export const drain = async () => {};\nnamespace N { export function f() {} }\n"
            ),
            ["", "Job", "Q > push", "drain", "N > f"],
        ),
        ("a.tsx", "/** B */\nexport const B: F<P> = ({x}) => { return <i>{x}</i>; };\n", ["B"]),
        (
            "a.js",
            'const a = require("x");\nclass A {\n  m() {}\n}\nmodule.exports.z = () => {};\nexport default function () {}\n',
            ["", "A > m", "module.exports.z", "default"],
        ),
        (
            "a.go",
            (
                'package p\n\nimport "x"\n\n// B is\ntype B struct { a int }\n\nfunc New() *B { return nil }\n\n'
                "func (b *B) Take() bool { return true }\n\nfunc (s Set[K, V]) Add() {}\n"
            ),
            ["p", "p > B", "p > New", "p > B > Take", "p > Set > Add"],
        ),
        (
            "a.rs",
            (
                "use a;\n/// doc\n#[derive(A)]\npub enum S { A }\nimpl S {\n fn a() {}\n}\nimpl<T> fmt::Display for W<T> {\n"
                " fn fmt() {}\n}\nmod tests {\n #[test]\n fn r() {}\n}\n"
            ),
            ["", "S", "S > a", "fmt::Display for W > fmt", "mod tests > r"],
        ),
        (
            "a.c",
            "#include <x>\n\nstatic char *name(int x) { return 0; }\ntypedef struct { int a; } foo;\n",
            ["", "name", "foo"],
        ),
        (
            "a.cpp",
            (
                "#ifndef A\n#define A\nnamespace a::b {\ntemplate<class T> class R {\n int x;\n bool push(T x) { return 1; }\n};\n"
                "int R<T>::go() { return 1; }\n}\n#endif\n"
            ),
            ["", "a > b > R", "a > b > R > push", "a > b > R > go"],
        ),
        (
            "a.cs",
            "using System;\nnamespace A.B;\npublic class F : B {\n  int x;\n  [Fact]\n  public void G() {}\n}\nrecord P(int x);\n",
            ["A.B", "A.B > F", "A.B > F > G", "A.B > P"],
        ),
        (
            "a.rb",
            "require 'x'\nmodule A\n  # doc\n  class B < C\n    def self.x; end\n    # why\n    def y\n      1\n    end\n  end\nend\n",
            ["", "A > B", "A > B > x", "A > B > y"],
        ),
        (
            "a.php",
            "<?php\nnamespace A;\nuse X;\nfinal class F {\n  #[A] public function g() {}\n}\n",
            ["A", "A", "A > F > g"],
        ),
        ("a.sh", "set -e\n# doc\nfoo() {\n  echo\n}\n", ["", "foo"]),
        (
            "a.kt",
            "package a\nclass F {\n  companion object {\n    fun z() = 1\n  }\n}\n",
            ["a", "a > F > companion > z"],
        ),
        ("a.scala", "package a\nobject O {\n  def q = 1\n}\ncase class P(x: Int)\n", ["a", "a > O > q", "a > P"]),
        ("a.lua", "local x = 1\n\n-- doc\nfunction M.foo(a)\nend\n", ["", "M.foo"]),
        ("a.sql", "-- people\nCREATE TABLE IF NOT EXISTS users (id int);\n", ["users"]),
        ("a.tf", 'resource "aws_x" "y" {\n  a = 1\n}\n', ["aws_x.y"]),
    ],
)
def test_every_definition_is_under_its_path_of_names(name, text, expected):
    """Packages and namespaces, types, methods: in the words of the source, each once."""
    assert paths(text, name) == expected


def test_what_documents_a_definition_is_in_its_block():
    """Comments and decorators directly above, at the indentation they had; not a licence above a blank line."""
    source = "# licence\n\n# adds\n@cached\ndef add(a):\n    return a\n\n\nclass A:\n    # doubles\n    def two(self):\n        return 2  # two\n"
    assert parts(source, "a.py") == [
        ("", "# licence"),
        ("add", "# adds\n@cached\ndef add(a):\n    return a"),
        ("A > two", "class A:\n    # doubles\n    def two(self):\n        return 2  # two"),
    ]


def test_imports_are_apart_from_other_statements():
    """A search for code should not find a list of imports first."""
    assert parts("import a\nimport b\nX = 1\nprint(X)\n", "a.py") == [
        ("", "import a\nimport b"),
        ("", "X = 1\nprint(X)"),
    ]


def test_code_that_does_not_parse_still_has_its_definitions():
    """What a grammar cannot read is looked through."""
    assert (
        paths("package q;\npublic class X {\n  void a( { int x = ; }\n  void b() { return; }\n", "a.java")[-1]
        == "q > X > b"
    )


@pytest.mark.parametrize("language", sorted(GRAMMARS))
def test_each_grammar_is_installed_and_survives_nesting(language):
    """A hundred thousand open braces are read within the limits, whatever the language."""
    extension = {"python": "py", "csharp": "cs", "rust": "rs", "ruby": "rb", "kotlin": "kt", "bash": "sh"}.get(
        language, language
    )
    parsed = parse(
        b"class A { " * 20_000,
        f"a.{extension.replace('javascript', 'js').replace('typescript', 'ts')}",
        None,
        DEFAULT_LIMITS,
    )
    assert parsed.status in {ParseStatus.OK, ParseStatus.TOO_LARGE}
    assert parsed.language == language
