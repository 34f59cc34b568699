"""Import and export of tables (CSV, TSV, JSON, JSONL, XLSX) from untrusted files.

This package does not use Django. Rows are streamed within `Limits`. Invalid content raises
`UnreadableFile` with file, row, column and reason; nothing is repaired silently.
"""

from .binary_formats import SheetRow, WorkbookReader
from .export import (
    csv_pieces,
    spreadsheet_safe,
    spreadsheet_unsafe,
    write_csv,
    write_jsonl,
    write_parquet,
    write_xlsx,
)
from .reader import (
    beginning,
    is_lines,
    open_lines,
    open_table,
    open_table_or_lines,
    open_workbook,
    preview,
)
from .shapes import (
    DEFAULT_LIMITS,
    BadCell,
    FilePreview,
    Limits,
    Problem,
    ReadingLog,
    Table,
    TableRow,
    UnreadableFile,
    Value,
    printable_name,
)

__all__ = [
    "DEFAULT_LIMITS", "BadCell", "FilePreview", "Limits", "Problem", "ReadingLog", "SheetRow",
    "Table", "TableRow", "UnreadableFile", "Value", "WorkbookReader", "beginning", "csv_pieces",
    "is_lines", "open_lines", "open_table", "open_table_or_lines", "open_workbook", "preview",
    "printable_name", "spreadsheet_safe", "spreadsheet_unsafe", "write_csv", "write_jsonl",
    "write_parquet", "write_xlsx",
]  # fmt: skip
