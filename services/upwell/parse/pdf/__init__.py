"""PDF without models: characters and shapes from PDFium; order, paragraphs, headings and tables are ours."""
