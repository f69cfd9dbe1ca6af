"""PDF without models: cells from docling-parse; order, paragraphs, headings and tables are ours."""
