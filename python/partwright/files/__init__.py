"""Files of records, whatever their format: some of their columns in batches, or all of a file with one column more."""

from partwright.files.formats import Records, Wanted, text_type
from partwright.files.opening import open_records
from partwright.files.sink import open_sink

__all__ = ["Records", "Wanted", "open_records", "open_sink", "text_type"]
