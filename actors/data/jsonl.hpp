#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace troupe {

struct jsonl_options {
  std::uint64_t file_bytes_max = std::uint64_t{1} << 30;
  std::size_t line_bytes_max = std::size_t{1} << 20;
};

/// A file of examples that is refused: the message begins with its name and the number of the line,
/// as in `questions.jsonl:17: expected an object, got 3`.
class jsonl_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Calls `take` with every line of a JSON Lines file (https://jsonlines.org), a JSON object each,
/// in order. Lines of white space only are passed over. Reads line by line, so that no more than
/// one line is held. Throws jsonl_error for a file that can not be read, is no regular file, is
/// above its bound or has no object in it; and for a line that is above its bound, that is not
/// JSON, not an object, or for which `take` throws a std::exception.
void for_each_jsonl(const std::filesystem::path& path,
                    const std::function<void(const nlohmann::json&)>& take,
                    const jsonl_options& options = {});

/// The objects of such a file as items: `to_item` makes one, and refuses an object by throwing.
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
