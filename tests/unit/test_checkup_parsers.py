"""What `doctor` says of the parsers."""

from msgspec.structs import replace

from upwell.parse.policy import DEFAULT_POLICY
from upwell.runtime.checkup_parsers import formats, parsers


def found(policy=DEFAULT_POLICY, without=""):
    return {check.name: check for check in parsers(policy, lambda module: module != without)}


def test_formats_are_those_that_have_a_reader():
    """Each once, by the extension that people know it by; source code stands in a line of its own."""
    named = formats()
    assert {"pdf", "docx", "xlsx", "pptx", "html", "md", "csv", "eml", "ipynb"} <= set(named)
    assert named == sorted(set(named))
    assert not {"py", "htm", "markdown", "doc"} & set(named)


def test_source_code_names_its_languages():
    """Of this installation: every grammar is a dependency."""
    check = {check.name: check for check in parsers(DEFAULT_POLICY)}["source code"]
    assert check.state == "ok"
    assert "python" in check.detail


def test_a_grammar_that_is_lost_is_named_with_its_remedy():
    check = found(without="tree_sitter_rust")["source code"]
    assert (check.state, check.detail) == ("missing", "no grammar of rust")
    assert check.remedy


def test_an_extra_is_there_or_says_how_to_get_it():
    checks = found(without="rapidocr")
    assert (checks["extra ocr"].state, checks["extra ocr"].remedy) == ("missing", "pip install 'upwell[ocr]'")
    assert (checks["extra layout"].state, checks["extra layout"].remedy) == ("ok", "")


def test_an_extra_that_a_setting_switches_off_says_so():
    off = found(replace(DEFAULT_POLICY, ocr=False))
    assert off["extra ocr"].detail.endswith("not used: the setting `ocr` is off")
    assert "not used" not in off["extra layout"].detail
