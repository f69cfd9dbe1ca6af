"""What of each language's syntax tree is a definition, and which nodes only stand around one: data, no code.

Node names are those of the grammars' own `node-types.json`.
"""

from types import MappingProxyType

from upwell.records import Record

COMMENTS = frozenset({"comment", "line_comment", "block_comment", "multiline_comment", "doc_comment"})


class Grammar(Record, frozen=True, kw_only=True):
    """One language. `types` and `callables` are definitions (a callable only with a body: without one it is a line of
    its type), `wrappers` stand around one (decorators, `export`, `template`), `open` are looked through, `modules` name
    what follows them, `attached` belongs to the definition that it stands before, `bound`
    may give a function its name, `open_bodies` hold what they define beside their body's comments. Of several
    `functions` (dialects) the first that reads the source without an error is taken.
    """

    package: str
    functions: tuple[str, ...] = ("language",)
    types: frozenset[str] = frozenset()
    callables: frozenset[str] = frozenset()
    wrappers: frozenset[str] = frozenset()
    open: frozenset[str] = frozenset()
    modules: frozenset[str] = frozenset()
    imports: frozenset[str] = frozenset()
    attached: frozenset[str] = COMMENTS
    bound: frozenset[str] = frozenset()
    open_bodies: frozenset[str] = frozenset()


def _of(words: str) -> frozenset[str]:
    return frozenset(words.split())


_SCRIPT_TYPES = "class_declaration class interface_declaration type_alias_declaration enum_declaration"
_SCRIPT = Grammar(
    package="tree_sitter_javascript",
    types=_of(f"{_SCRIPT_TYPES} abstract_class_declaration internal_module module"),
    callables=_of("function_declaration generator_function_declaration method_definition function_expression"),
    wrappers=_of("export_statement ambient_declaration expression_statement"),
    imports=_of("import_statement"),
    attached=COMMENTS | {"decorator"},
    bound=_of("lexical_declaration variable_declaration public_field_definition field_definition expression_statement"),
)
_TYPESCRIPT = "tree_sitter_typescript"
_C = Grammar(
    package="tree_sitter_c",
    types=_of("struct_specifier union_specifier enum_specifier type_definition"),
    callables=_of("function_definition"),
    open=_of("preproc_ifdef preproc_if preproc_else preproc_elif linkage_specification"),
    imports=_of("preproc_include using_declaration"),
)

GRAMMARS: MappingProxyType[str, Grammar] = MappingProxyType(
    {
        "python": Grammar(
            package="tree_sitter_python",
            types=_of("class_definition"),
            callables=_of("function_definition"),
            wrappers=_of("decorated_definition"),
            open=_of("block"),
            open_bodies=_of("class_definition"),
            imports=_of("import_statement import_from_statement future_import_statement"),
        ),
        "javascript": _SCRIPT,
        "typescript": Grammar(
            package=_TYPESCRIPT,
            functions=("language_typescript", "language_tsx"),
            types=_SCRIPT.types,
            callables=_SCRIPT.callables,
            wrappers=_SCRIPT.wrappers,
            imports=_SCRIPT.imports,
            attached=_SCRIPT.attached,
            bound=_SCRIPT.bound,
        ),
        "go": Grammar(
            package="tree_sitter_go",
            types=_of("type_declaration"),
            callables=_of("function_declaration method_declaration"),
            modules=_of("package_clause"),
            imports=_of("import_declaration"),
        ),
        "rust": Grammar(
            package="tree_sitter_rust",
            types=_of("struct_item enum_item union_item trait_item impl_item mod_item macro_definition type_item"),
            callables=_of("function_item"),
            open=_of("foreign_mod_item"),
            imports=_of("use_declaration extern_crate_declaration"),
            attached=COMMENTS | {"attribute_item"},
        ),
        "java": Grammar(
            package="tree_sitter_java",
            types=_of(
                "class_declaration interface_declaration enum_declaration record_declaration "
                "annotation_type_declaration"
            ),
            callables=_of("method_declaration constructor_declaration compact_constructor_declaration"),
            open=_of("enum_body_declarations"),
            modules=_of("package_declaration"),
            imports=_of("import_declaration"),
        ),
        "kotlin": Grammar(
            package="tree_sitter_kotlin",
            types=_of("class_declaration object_declaration companion_object type_alias"),
            callables=_of("function_declaration secondary_constructor"),
            modules=_of("package_header"),
            imports=_of("import import_header"),
        ),
        "scala": Grammar(
            package="tree_sitter_scala",
            types=_of("class_definition object_definition trait_definition enum_definition type_definition"),
            callables=_of("function_definition"),
            modules=_of("package_clause"),
            imports=_of("import_declaration"),
        ),
        "c": _C,
        "cpp": Grammar(
            package="tree_sitter_cpp",
            types=_C.types | _of("class_specifier namespace_definition concept_definition alias_declaration"),
            callables=_C.callables,
            wrappers=_of("template_declaration"),
            open=_C.open,
            imports=_C.imports,
        ),
        "csharp": Grammar(
            package="tree_sitter_c_sharp",
            types=_of(
                "class_declaration struct_declaration interface_declaration record_declaration enum_declaration "
                "delegate_declaration namespace_declaration"
            ),
            callables=_of("method_declaration constructor_declaration destructor_declaration operator_declaration"),
            modules=_of("file_scoped_namespace_declaration"),
            imports=_of("using_directive"),
        ),
        "ruby": Grammar(
            package="tree_sitter_ruby",
            types=_of("class module singleton_class method singleton_method"),
            open=_of("body_statement"),
            open_bodies=_of("class module singleton_class"),
        ),
        "php": Grammar(
            package="tree_sitter_php",
            functions=("language_php",),
            types=_of("class_declaration interface_declaration trait_declaration enum_declaration"),
            callables=_of("method_declaration function_definition"),
            modules=_of("namespace_definition"),
            imports=_of("namespace_use_declaration"),
        ),
        "bash": Grammar(package="tree_sitter_bash", callables=_of("function_definition")),
    }
)
