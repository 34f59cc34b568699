"""Tables as files in every format, and finished files on their way to a browser."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import Any, BinaryIO

from django.http import FileResponse, StreamingHttpResponse

from cqa_site.tabular import csv_pieces, write_csv, write_jsonl, write_parquet, write_xlsx
from cqa_site.web.downloads import attachment, guarded

from .models import ExportFile

Row = tuple[Any, ...]
Format = ExportFile.Format
CONTENT_TYPES: dict[str, str] = {
    Format.CSV: "text/csv; charset=utf-8",
    Format.JSONL: "application/jsonl",
    Format.XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    Format.PARQUET: "application/vnd.apache.parquet",
}


@dataclass(frozen=True)
class FileTable:
    """Columns with their types, and rows in that order."""

    types: dict[str, type]
    rows: Iterator[Row]


def write_table(
    target: BinaryIO, table: FileTable, rows: Iterable[Row], format: str, *, is_raw: bool
) -> None:
    """Write rows under the columns of a table; a CSV file is made safe unless it ``is_raw``."""
    columns = list(table.types)
    if format == Format.CSV:
        write_csv(target, columns, rows, for_spreadsheets=not is_raw)
    elif format == Format.PARQUET:
        write_parquet(target, columns, rows, types=table.types)
    else:
        (write_xlsx if format == Format.XLSX else write_jsonl)(target, columns, rows)


def sent_table(table: FileTable, *, name: str, format: str, is_raw: bool = False) -> FileResponse:
    """A table that is made for this request."""
    # Closed, and gone, with the response.
    target = TemporaryFile()  # noqa: SIM115
    write_table(target, table, table.rows, format, is_raw=is_raw)
    target.seek(0)
    return guarded(
        FileResponse(target, as_attachment=True, filename=name, content_type=CONTENT_TYPES[format])
    )


def streamed_table(table: FileTable, *, name: str) -> StreamingHttpResponse:
    """A long table as CSV that goes out while its rows are read, and is kept nowhere.

    Its rows must not hold a query open: whoever reads slowly would keep others from writing.
    """
    response = StreamingHttpResponse(
        csv_pieces(list(table.types), table.rows), content_type=CONTENT_TYPES[Format.CSV]
    )
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return guarded(response)


def sent_file(file: ExportFile) -> FileResponse:
    """A finished file; raises NotThere once it has expired."""
    return attachment(file.path, name=file.shown_name, content_type=CONTENT_TYPES[file.format])


def sent_manifest(file: ExportFile) -> FileResponse:
    """The description beside a finished file."""
    name = f"{file.shown_name}.manifest.json"
    return attachment(file.manifest_path, name=name, content_type="application/json")
