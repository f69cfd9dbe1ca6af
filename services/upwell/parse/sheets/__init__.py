"""Workbooks (XLSX, XLS), and sheets of any format as blocks."""
