"""AsciiDoc, from its own lines (https://docs.asciidoctor.org/asciidoc/latest/)."""
