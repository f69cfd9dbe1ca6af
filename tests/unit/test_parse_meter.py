"""What is counted of parsing, under labels that no document and no sender can add to."""

import pytest

from upwell.metrics import Metrics
from upwell.parse import media
from upwell.records import ParsedDocument, ParseStatus
from upwell.runtime.parse_meter import count_parse, parser_label, type_label


@pytest.mark.parametrize(
    ("media_type", "label"),
    [
        (media.PDF, media.PDF),
        ("text/x-python", "code"),
        ("text/x-my-secret-project", "other"),
        ("image/png", "image"),
        ("image/of user:ana", "image"),
        ("user:ana", "other"),
        ("", "other"),
    ],
)
def test_a_media_type_is_one_that_we_know(media_type, label):
    assert type_label(media_type) == label


@pytest.mark.parametrize(
    ("parser", "label"), [("pdf/2", "pdf"), ("code/2:python", "code"), ("docling/2+ocr", "docling"), ("", "none")]
)
def test_a_parser_goes_by_its_name_alone(parser, label):
    assert parser_label(parser) == label


def test_a_document_and_its_parts_are_counted_by_how_they_ended():
    """One time for the whole; a status each; a choice where readings were weighed."""
    parts = (
        ParsedDocument(status=ParseStatus.ENCRYPTED, media_type=media.PDF),
        ParsedDocument(status=ParseStatus.OK, media_type=media.DOCX, parser="unstructured/1", choice="fuller text"),
    )
    metrics = Metrics()
    count_parse(
        metrics, ParsedDocument(status=ParseStatus.OK, media_type=media.EML, parser="mail/1", children=parts), 0.25
    )
    value = metrics.registry.get_sample_value
    assert value("upwell_parse_seconds_sum", {"media_type": media.EML, "parser": "mail"}) == 0.25
    for status, media_type in (("ok", media.EML), ("encrypted", media.PDF), ("ok", media.DOCX)):
        assert value("upwell_parsed_documents_total", {"status": status, "media_type": media_type}) == 1
    assert value("upwell_parse_arbitrations_total", {"media_type": media.DOCX, "parser": "unstructured"}) == 1
    assert value("upwell_parse_arbitrations_total", {"media_type": media.EML, "parser": "mail"}) is None
