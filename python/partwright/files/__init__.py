"""Files of records in any format: some of their columns in batches, or the whole file with one more column."""

from partwright.files.formats import ColumnRequest, Records, text_type
from partwright.files.opening import open_records, read_file
from partwright.files.sink import open_sink

__all__ = ["ColumnRequest", "Records", "open_records", "open_sink", "read_file", "text_type"]
