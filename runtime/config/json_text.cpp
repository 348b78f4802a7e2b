#include "runtime/config/json_text.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

#include "runtime/base/file_refusal.hpp"
#include "runtime/base/utf8.hpp"
#include "runtime/config/config_error.hpp"
#include "runtime/config/large_json.hpp"

namespace troupe {
namespace {

using nlohmann::json;

/// Builds the document from the parser's events, and refuses input that the parser itself would
/// accept.
class strict_builder : public nlohmann::json_sax<json> {
 public:
  strict_builder(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& value) override { return add(std::move(value)); }
  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    if (open_.back()->contains(name))
      throw config_error(detail::child_pointer(pointer(), name),
                         "expected each key once, got it twice in " + source_);
    key_ = std::move(name);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    const auto end = std::min(position > 0 ? position - 1 : 0, text_.size());
    constexpr int number_overflow = 406;
    std::string reason = error.what();
    if (error.id == number_overflow) {
      const auto quote = std::min(reason.find('\''), reason.size());
      const auto number = reason.substr(quote);
      // The parser is at the end of the number.
      refuse(end + 1 - std::min(end + 1, number.size() - 2),
             "a number that is too large, " + number);
    }
    // nlohmann's text starts with its own error code and position. The reason follows the first " -
    // ".
    if (const auto dash = reason.find(" - "); dash != reason.npos) reason = reason.substr(dash + 3);
    refuse(end, reason);
  }

  /// Throws config_error that names the place in the text.
  [[noreturn]] void refuse(std::size_t at, const std::string& got) const {
    const auto before = text_.substr(0, at);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const auto line_start = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
    throw config_error(source_, "expected JSON at line " + std::to_string(line) + ", column " +
                                    std::to_string(at - line_start + 1) +
                                    ", got: " + detail::printable(got, 200));
  }

 private:
  json* place(json&& value) {
    if (open_.empty()) return &(root_ = std::move(value));
    if (open_.back()->is_array()) {
      open_.back()->push_back(std::move(value));
      return &open_.back()->back();
    }
    return &((*open_.back())[key_] = std::move(value));
  }

  template <class Value>
  bool add(Value&& value) {
    place(json(std::forward<Value>(value)));
    return true;
  }

  bool open(json&& container) {
    keys_.push_back(key_);
    open_.push_back(place(std::move(container)));
    if (open_.size() > json_depth_max)
      throw config_error(detail::printable(pointer(), 160),
                         "expected at most " + std::to_string(json_depth_max) +
                             " nested values, got more in " + source_);
    return true;
  }

  bool close() {
    open_.pop_back();
    keys_.pop_back();
    return true;
  }

  std::string pointer() const {
    std::string result;
    for (std::size_t i = 1; i < open_.size(); ++i) {
      const bool in_array = open_[i - 1]->is_array();
      result = detail::child_pointer(
          result, in_array ? std::to_string(open_[i - 1]->size() - 1) : keys_[i]);
    }
    return result;
  }

  std::string_view text_;
  const std::string& source_;
  json root_;
  std::string key_;
  std::vector<json*> open_;        ///< The containers around the next value, outermost first.
  std::vector<std::string> keys_;  ///< The key that led to each of them.
};

}  // namespace

json parse_json(std::string_view text, const std::string& source) {
  return parse_large_json(text, json_bytes_max, source);
}

json parse_large_json(std::string_view text, std::size_t bytes_max, const std::string& source) {
  if (text.size() > bytes_max)
    throw config_error(source, "expected at most " + std::to_string(bytes_max) + " bytes, got " +
                                   std::to_string(text.size()));
  strict_builder builder(text, source);
  // The parser would take a NUL byte for the end of the text.
  if (const auto nul = text.find('\0'); nul != text.npos) builder.refuse(nul, "a NUL byte");
  json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

std::string detail::read_text_file(const std::filesystem::path& path, std::size_t bytes_max) {
  const auto source = path.string();
  try {
    return read_regular_file(path, bytes_max, file_kinds::regular_linked);
  } catch (const refused_file& e) {
    throw config_error(source, reason_of(e, path));
  } catch (const std::system_error& e) {
    throw config_error(source, "expected a readable file, got: " + reason_of(e, path));
  }
}

json read_json_file(const std::filesystem::path& path) {
  return parse_json(detail::read_text_file(path, json_bytes_max), path.string());
}

namespace detail {

std::string child_pointer(const std::string& pointer, std::string_view key) {
  std::string result = pointer + '/';
  for (char c : printable(key, 80)) {
    if (c == '~')
      result += "~0";
    else if (c == '/')
      result += "~1";
    else
      result += c;
  }
  return result;
}

std::string show(const json& value) {
  auto text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > 80) text = text.substr(0, 77) + "...";
  return text;
}

}  // namespace detail
}  // namespace troupe
