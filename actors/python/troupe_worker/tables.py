"""The rows of a Parquet file as JSON."""

import datetime
import decimal
import json

from troupe_worker.channel import Refused, install_command

ROW_BYTES_MAX = 1 << 20  # as for a line of JSON Lines
BATCH_ROWS = 256
BATCH_BYTES = 4 << 20  # an answer ends when it has so many bytes


class Table:
    """A Parquet file, whose rows are read in their order."""

    def __init__(self, path):
        try:
            from pyarrow import parquet
        except ImportError as error:
            raise Refused(
                f"expected the package pyarrow, which reads Parquet, got: {error}; install it: "
                f"{install_command('pyarrow')}"
            ) from None
        try:
            file = parquet.ParquetFile(path)
        except Exception as error:  # pyarrow's errors have no class of their own in common
            raise Refused(f"expected a Parquet file, got: {error}") from None
        self.rows = self._rows_of(file)

    @staticmethod
    def _rows_of(file):
        for batch in file.iter_batches(batch_size=BATCH_ROWS):
            yield from batch.to_pylist()

    def next(self):
        """Returns the next rows, and whether there are no more."""
        rows, size = [], 0
        while len(rows) < BATCH_ROWS and size < BATCH_BYTES:
            try:
                row = next(self.rows)
            except StopIteration:
                return {"rows": rows, "ended": True}
            rows.append(_encoded(row))
            size += len(rows[-1].get("text", ""))
        return {"rows": rows, "ended": False}


def _encoded(row):
    """Returns the row as JSON, or the reason why it has none."""
    given = {}
    for column, value in row.items():
        try:
            json.dumps(value, default=_plain, allow_nan=False)
        except (TypeError, ValueError) as error:
            return {"refusal": f"{column}: expected values of JSON: {error}"}
        given[column] = _without_nulls(value)
    text = json.dumps(given, default=_plain, ensure_ascii=False)
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > ROW_BYTES_MAX:
        return {"refusal": f"expected a row of at most {ROW_BYTES_MAX} bytes, got {size}"}
    return {"text": text}


def _without_nulls(value):
    """Returns a value without the fields that are null, which other rows have and this one lacks."""
    if isinstance(value, dict):
        return {name: _without_nulls(part) for name, part in value.items() if part is not None}
    if isinstance(value, list):
        return [_without_nulls(part) for part in value]
    return value


def _plain(value):
    """Returns a value of a column as a value of JSON."""
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return float(value)
    raise TypeError(f"got a value of type {type(value).__name__}")


class Tables:
    """Carries out the commands of tables."""

    def do_open_table(self, path):
        self.table = Table(path)
        return {}

    def do_next_rows(self):
        return self.table.next()
