#include "actors/recorder/progress_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <system_error>

#include "runtime/base/regular_file.hpp"
#include "runtime/base/utf8.hpp"

namespace troupe {

void require_column_name(const std::string& name) {
  const auto is_refused = [](unsigned char c) { return c < 0x20 || c == ',' || c == '"'; };
  if (!name.empty() && name.size() <= column_bytes_max && detail::is_utf8(name) &&
      std::ranges::none_of(name, is_refused))
    return;
  throw std::invalid_argument(fmt::format(
      "column: expected the name of a column: UTF-8 of at most {} bytes, without commas, "
      "quotes and control "
      "characters, got \"{}\"",
      column_bytes_max, detail::printable(name, column_bytes_max)));
}

namespace {

std::string quoted(const std::string& field) {
  if (field.find_first_of(",\"\r\n") == field.npos) return field;
  std::string result = "\"";
  for (char c : field) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

std::string header_line(const std::vector<std::string>& keys) {
  std::string line;
  for (const auto& key : keys) line += (line.empty() ? "" : ",") + quoted(key);
  return line + '\n';
}

/// Returns the fields of a line that header_line made.
std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  bool inside = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (inside && line.substr(i, 2) == "\"\"") {
      fields.back() += line[i++];
    } else if (line[i] == '"') {
      inside = !inside;
    } else if (line[i] == ',' && !inside) {
      fields.emplace_back();
    } else {
      fields.back() += line[i];
    }
  }
  return fields;
}

/// Returns the end of the line that begins at `from`, including its line break; npos if it has
/// none.
std::size_t end_of_line(std::string_view text, std::size_t from) {
  bool inside = false;
  for (; from < text.size(); ++from) {
    if (text[from] == '"') inside = !inside;
    if (text[from] == '\n' && !inside) return from + 1;
  }
  return text.npos;
}

std::string read_file(const std::filesystem::path& path) {
  constexpr std::uint64_t bytes_max = std::uint64_t{4} << 30;
  return detail::read_regular_file(path, bytes_max);
}

}  // namespace

progress_csv::progress_csv(std::filesystem::path path) : file_(std::move(path)) {}

progress_csv progress_csv::resume(const std::filesystem::path& path, std::int64_t rows) {
  const auto text = std::filesystem::exists(std::filesystem::symlink_status(path)) ? read_file(path)
                                                                                   : std::string();
  const auto header = end_of_line(text, 0);
  if (header == text.npos) return progress_csv(path);
  auto end = header;
  std::int64_t kept = 0;
  while (kept < rows) {
    const auto next = end_of_line(text, end);
    if (next == text.npos) break;
    end = next;
    ++kept;
  }
  progress_csv csv(append_file::reopen(path, static_cast<std::int64_t>(end)));
  csv.keys_ = fields_of(std::string_view(text).substr(0, header - 1));
  csv.header_bytes_ = header;
  csv.rows_ = kept;
  return csv;
}

void progress_csv::write(const std::map<std::string, double>& values) {
  auto keys = keys_;
  for (const auto& [key, value] : values)
    if (std::find(keys_.begin(), keys_.end(), key) == keys_.end()) keys.push_back(key);
  if (keys.empty()) return;
  if (keys.size() > keys_.size()) rewrite(keys);

  std::string line;
  for (const auto& key : keys_) {
    if (&key != &keys_.front()) line += ',';
    if (const auto found = values.find(key); found != values.end())
      line += fmt::format("{}", found->second);
  }
  file_.append(line + '\n');
  ++rows_;
}

void progress_csv::rewrite(const std::vector<std::string>& keys) {
  const auto header = header_line(keys);
  const auto path = file_.path();
  std::string text = header;
  if (!keys_.empty()) {
    // Rows hold numbers only, so every line break after the header ends a row.
    const std::string empty_columns(keys.size() - keys_.size(), ',');
    const auto old = read_file(path);
    for (std::size_t i = std::min(header_bytes_, old.size()); i < old.size(); ++i) {
      if (old[i] == '\n') text += empty_columns;
      text += old[i];
    }
  }
  auto beside = path;
  beside += ".new";
  append_file replacement(beside);
  try {
    replacement.append(text);
    replacement.rename(path);
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(beside, ignored);
    throw;
  }
  file_ = std::move(replacement);
  keys_ = keys;
  header_bytes_ = header.size();
}

}  // namespace troupe
