"""Settings that cannot be used: one line each, which names the setting, says where it stands, and repeats no secret."""

import pytest

from upwell.config import load
from upwell.errors import Misconfigured

DIGEST = "0" * 64


def refusal(tmp_path, text):
    file = tmp_path / "upwell.toml"
    file.write_text(text)
    with pytest.raises(Misconfigured) as refused:
        load(config=file)
    return str(refused.value)


def test_a_misspelt_setting_is_told_what_it_may_have_meant(tmp_path):
    assert refusal(tmp_path, "partitoins = 4") == "setting partitoins: there is none of this name; partitions is one"
    assert refusal(tmp_path, "zzz = 4") == "setting zzz: there is none of this name"


def test_a_misspelt_field_of_a_setting_is_named_with_its_place(tmp_path):
    said = refusal(tmp_path, '[sources.wiki]\nsecert = "geheim"')
    assert said == "setting sources.wiki.secert: there is none of this name"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "partitions = 0",
            "setting partitions: input should be greater than or equal to 1 (flag, UPWELL_PARTITIONS or",
        ),
        ('[[keys]]\nsha256 = "geheim"\nsource = "a"', "setting keys.0.sha256: string should match pattern"),
        (f'[[keys]]\nsha256 = "{DIGEST}"', "setting keys.0: a key names its source, or may feed the directory (flag,"),
    ],
)
def test_an_unusable_value_says_why_and_where_it_may_stand(tmp_path, text, line):
    said = refusal(tmp_path, text)
    assert said.startswith(line)
    assert said.endswith("or upwell.toml)")
    assert "geheim" not in said


def test_the_variable_that_is_named_is_one_that_is_read(tmp_path):
    """`UPWELL_KEYS.0.SHA256` is not: the setting comes whole."""
    assert "UPWELL_KEYS or upwell.toml" in refusal(tmp_path, '[[keys]]\nsha256 = "x"\nsource = "a"')


@pytest.mark.parametrize("name", ["keys", "sources", "blob_options"])
def test_a_variable_that_is_not_json_is_named(monkeypatch, name):
    monkeypatch.setenv(f"UPWELL_{name.upper()}", "geheim")
    with pytest.raises(Misconfigured) as refused:
        load()
    assert str(refused.value).startswith(f"UPWELL_{name.upper()} is not JSON")
    assert "geheim" not in str(refused.value)
