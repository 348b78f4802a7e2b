#pragma once
// The rows of a Parquet file, which a Python process with pyarrow reads.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "actors/python/python_options.hpp"

namespace troupe {

/// A row of a file.
struct parquet_row {
  std::int64_t number = 0;   ///< its number, from 1
  std::string text = {};     ///< the row as JSON, whose keys have the order of the columns
  std::string refusal = {};  ///< why the row has no text; empty if it has one
};

/// Calls `take` with each row of a file, in order. A field of a nested column that is null is left
/// out, as Parquet gives all structures of a column the same fields. Throws python_error if
/// Python or pyarrow is missing or the file can't be read, and python_ended.
void for_each_parquet_row(const std::filesystem::path& path, const python_options& python,
                          const std::function<void(const parquet_row&)>& take);

}  // namespace troupe
