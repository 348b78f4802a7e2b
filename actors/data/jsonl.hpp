#pragma once
// Reading of JSON Lines files, for datasets.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Thrown for a file that is refused. The message begins with the name of the file and the number
/// of the line, as in `questions.jsonl:17: expected an object, got 3`.
class jsonl_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The limits of a JSON Lines file, and what becomes of its bad lines.
struct jsonl_options {
  std::uint64_t file_bytes_max = std::uint64_t{1} << 30;
  std::size_t line_bytes_max = std::size_t{1} << 20;
  /// Called for each line that is refused; the reading then goes on. Null means that the error is
  /// thrown.
  std::function<void(const jsonl_error&)> on_bad_line = nullptr;
};

/// Calls `take` with the object on every line of a JSON Lines file (https://jsonlines.org), in
/// order. Lines of white space only are skipped. The file is read line by line, so that only one
/// line is held in memory. Throws jsonl_error if the file can't be read, is no regular file, is
/// larger than its bound or has no object in it. Throws it also if a line is longer than its bound,
/// is not JSON or not an object, or if `take` throws a std::exception for it, unless on_bad_line
/// takes the error.
void for_each_jsonl(const std::filesystem::path& path,
                    const std::function<void(const nlohmann::json&)>& take,
                    const jsonl_options& options = {});

/// Does the same as for_each_jsonl, and gives `take` also the text of the line, which has the keys
/// of objects in their order.
void for_each_jsonl_text(
    const std::filesystem::path& path,
    const std::function<void(const nlohmann::json&, std::string_view text)>& take,
    const jsonl_options& options = {});

/// Reads the objects of a JSON Lines file as items. `to_item` makes an item from an object, and
/// refuses an object by throwing. Throws like for_each_jsonl.
template <class Item>
std::vector<Item> read_jsonl(const std::filesystem::path& path,
                             const std::function<Item(const nlohmann::json&)>& to_item,
                             const jsonl_options& options = {}) {
  std::vector<Item> items;
  for_each_jsonl(
      path, [&](const nlohmann::json& object) { items.push_back(to_item(object)); }, options);
  return items;
}

}  // namespace troupe
