#!/usr/bin/python3
"""The worker's reading of Parquet, without its process: tables_test.py BUILD_DIR

A module with its name stands in for pyarrow, so that no package is needed.
"""
import datetime
import json
import pathlib
import sys
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/deploy"), str(ROOT / "actors/python")]

import deployment  # noqa: E402
from troupe_worker import tables  # noqa: E402
from troupe_worker.channel import Refused  # noqa: E402


class Batch:
    def __init__(self, rows):
        self.rows = rows

    def to_pylist(self):
        return self.rows


class Tables(unittest.TestCase):
    def tearDown(self):
        for name in ("pyarrow", "pyarrow.parquet"):
            sys.modules.pop(name, None)

    def answers_for(self, *batches):
        """Returns the answers for a file whose batches have these rows."""
        file = types.SimpleNamespace(iter_batches=lambda batch_size: map(Batch, batches))
        parquet = types.SimpleNamespace(ParquetFile=lambda path: file)
        sys.modules["pyarrow"] = types.SimpleNamespace(parquet=parquet)
        sys.modules["pyarrow.parquet"] = parquet
        owner = tables.Tables()
        owner.do_open_table("train.parquet")
        answers = [owner.do_next_rows()]
        while not answers[-1]["ended"]:
            answers.append(owner.do_next_rows())
        return answers

    def test_nested_columns_keep_their_structure_and_lose_the_fields_of_other_rows(self):
        call = {"name": "weather", "arguments": {"city": "Oslo", "day": None}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        (answer,) = self.answers_for([{"messages": [message], "tools": None}])
        row = json.loads(answer["rows"][0]["text"])
        self.assertIsNone(row["tools"])
        self.assertEqual(
            row["messages"],
            [{"role": "assistant", "tool_calls": [{"name": "weather", "arguments": {"city": "Oslo"}}]}],
        )

    def test_all_rows_are_given_in_their_order_whatever_the_batches(self):
        rows = [{"n": n} for n in range(600)]
        answers = self.answers_for(rows[:500], rows[500:])
        self.assertGreater(len(answers), 1)
        given = [json.loads(row["text"])["n"] for answer in answers for row in answer["rows"]]
        self.assertEqual(given, list(range(600)))

    def test_a_row_that_is_no_json_is_refused_by_its_column_and_those_after_it_are_read(self):
        (answer,) = self.answers_for([{"image": b"x"}, {"score": float("nan")}, {"day": datetime.date(2020, 1, 2)}])
        first, second, third = answer["rows"]
        self.assertIn("image: expected values of JSON: got a value of type bytes", first["refusal"])
        self.assertIn("score: expected values of JSON", second["refusal"])
        self.assertEqual(json.loads(third["text"]), {"day": "2020-01-02"})

    def test_a_row_that_is_too_long_is_refused(self):
        (answer,) = self.answers_for([{"text": "x" * tables.ROW_BYTES_MAX}])
        self.assertIn("expected a row of at most 1048576 bytes", answer["rows"][0]["refusal"])

    def test_without_pyarrow_its_installation_is_named(self):
        sys.modules["pyarrow"] = None
        with self.assertRaises(Refused) as caught:
            tables.Table("train.parquet")
        self.assertIn("pip install 'pyarrow'", str(caught.exception))


if __name__ == "__main__":
    deployment.main()
