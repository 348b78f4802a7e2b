#include "actors/data/jsonl.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "runtime/config/config_error.hpp"
#include "runtime/config/json_text.hpp"

namespace troupe {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 16;

/// Reads the lines of a file in blocks, and counts them.
class line_reader {
 public:
  line_reader(const std::filesystem::path& path, const jsonl_options& options)
      : name_(path.string()), options_(options) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    // Only regular files are read, because a pipe could block the reader for ever.
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
      throw jsonl_error(name_ + ": expected a regular file, got another kind");
    errno = 0;
    file_.open(path, std::ios::binary);
    if (!file_)
      throw jsonl_error(name_ + ": expected a readable file, got: " + std::strerror(errno));
  }

  /// A line without its line break.
  struct line {
    std::string text;
    bool is_too_long = false;  ///< True if it is longer than its bound; then there is no text.
  };

  /// Returns the next line; nullopt after the last one.
  std::optional<line> next() {
    line now;
    ++number_;
    for (;;) {
      const auto end = block_.find('\n', at_);
      const auto stop = end == block_.npos ? block_.size() : end;
      if (!now.is_too_long) now.text.append(block_, at_, stop - at_);
      if (now.text.size() > options_.line_bytes_max) now = {.text = {}, .is_too_long = true};
      at_ = stop + 1;
      if (end != block_.npos) return now;
      if (!read_block()) break;
    }
    if (now.text.empty() && !now.is_too_long) return std::nullopt;
    return now;
  }
  jsonl_error too_long() const {
    return error("expected a line of at most " + std::to_string(options_.line_bytes_max) +
                 " bytes, got a longer one");
  }

  jsonl_error error(const std::string& what) const {
    return jsonl_error(name_ + ':' + std::to_string(number_) + ": " + what);
  }
  const std::string& name() const { return name_; }

 private:
  bool read_block() {
    block_.resize(block_bytes);
    file_.read(block_.data(), static_cast<std::streamsize>(block_.size()));
    block_.resize(static_cast<std::size_t>(file_.gcount()));
    at_ = 0;
    if (file_.bad()) throw jsonl_error(name_ + ": expected a readable file, got a read error");
    bytes_ += block_.size();
    if (bytes_ > options_.file_bytes_max)
      throw jsonl_error(name_ + ": expected at most " + std::to_string(options_.file_bytes_max) +
                        " bytes, got a larger file");
    return !block_.empty();
  }

  std::string name_;
  jsonl_options options_;
  std::ifstream file_;
  std::string block_;
  std::size_t at_ = 0;
  std::uint64_t bytes_ = 0;
  std::int64_t number_ = 0;
};

nlohmann::json parse_line(const line_reader& lines, const std::string& line) {
  const std::string source = "JSON";
  nlohmann::json value;
  try {
    value = parse_json(line, source);
  } catch (const config_error& e) {
    std::string what = e.what();
    if (e.pointer() == source) what.erase(0, source.size() + 2);
    // The parser saw a single line, so its line number is removed; the error names the line of the
    // file.
    const std::string in_text = " at line 1, column";
    if (const auto at = what.find(in_text); at != what.npos) {
      what.replace(at, in_text.size(), " at column");
    }
    throw lines.error(what);
  }
  if (!value.is_object()) throw lines.error("expected an object, got " + detail::show(value));
  return value;
}

}  // namespace

void for_each_jsonl(const std::filesystem::path& path,
                    const std::function<void(const nlohmann::json&)>& take,
                    const jsonl_options& options) {
  for_each_jsonl_text(
      path, [&](const nlohmann::json& object, std::string_view) { take(object); }, options);
}

void for_each_jsonl_text(
    const std::filesystem::path& path,
    const std::function<void(const nlohmann::json&, std::string_view text)>& take,
    const jsonl_options& options) {
  line_reader lines(path, options);
  std::size_t objects = 0;
  const auto read = [&](const line_reader::line& line) {
    if (line.is_too_long) throw lines.too_long();
    const auto object = parse_line(lines, line.text);
    try {
      take(object, line.text);
    } catch (const std::exception& e) {
      throw lines.error(e.what());
    }
  };
  while (const auto line = lines.next()) {
    if (!line->is_too_long && line->text.find_first_not_of(" \t\r") == std::string::npos) continue;
    ++objects;
    try {
      read(*line);
    } catch (const jsonl_error& error) {
      if (!options.on_bad_line) throw;
      options.on_bad_line(error);
    }
  }
  if (objects == 0)
    throw jsonl_error(lines.name() + ": expected at least one JSON object, got none");
}

}  // namespace troupe
