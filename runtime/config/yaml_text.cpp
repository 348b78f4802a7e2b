#include "runtime/config/yaml_text.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <vector>

#include "runtime/base/utf8.hpp"
#include "runtime/config/config_error.hpp"
#include "runtime/config/json_text.hpp"

namespace troupe {
namespace {

using nlohmann::json;

constexpr std::string_view digits = "0123456789";
constexpr std::string_view core_tags = "tag:yaml.org,2002:";

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

/// Removes the digits in front of `text` and returns their number.
std::size_t skip_digits(std::string_view& text) {
  const auto count = std::min(text.find_first_not_of(digits), text.size());
  text.remove_prefix(count);
  return count;
}

std::string_view without_sign(std::string_view text) {
  return text.starts_with('-') || text.starts_with('+') ? text.substr(1) : text;
}

bool is_decimal(std::string_view text) {
  text = without_sign(text);
  return skip_digits(text) > 0 && text.empty();
}

/// Returns true if `text` is a float of the core schema:
///
///   [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
bool is_float(std::string_view text) {
  text = without_sign(text);
  auto count = skip_digits(text);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    count += skip_digits(text);
  }
  if (count == 0) return false;
  if (text.starts_with('e') || text.starts_with('E')) return is_decimal(text.substr(1));
  return text.empty();
}

bool is_not_finite(std::string_view text) {
  return is_one_of(without_sign(text), {".inf", ".Inf", ".INF"}) ||
         is_one_of(text, {".nan", ".NaN", ".NAN"});
}

template <class Integer>
std::optional<json> integer(std::string_view text, int base) {
  Integer value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Returns the number that `text` stands for, or nullopt if it is no number. Integers of more than
/// 64 bits become floats, as in JSON.
std::optional<json> number(std::string_view text) {
  if (text.starts_with("0o")) return integer<std::uint64_t>(text.substr(2), 8);
  if (text.starts_with("0x")) return integer<std::uint64_t>(text.substr(2), 16);
  if (!is_float(text)) return std::nullopt;
  if (text.starts_with('+')) text.remove_prefix(1);
  if (is_decimal(text)) {
    const bool negative = text.starts_with('-');
    if (const auto exact =
            negative ? integer<std::int64_t>(text, 10) : integer<std::uint64_t>(text, 10))
      return exact;
  }
  double value = 0;
  const auto error = std::from_chars(text.data(), text.data() + text.size(), value).ec;
  if (error == std::errc::result_out_of_range) return std::nullopt;
  return value;
}

/// Builds the document from the parser's events, and refuses input that the parser itself would
/// accept.
class yaml_builder : public YAML::EventHandler {
 public:
  explicit yaml_builder(const std::string& source) : source_(source) {}

  json take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) refuse(mark, "one document", "another one");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (wants_key()) refuse(mark, "a key", "null");
    add(mark, anchor, nullptr, 0);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (wants_key()) refuse(mark, "a key", "an alias");
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) refuse(mark, "an alias of a value before it", "one inside of it");
    const auto& [value, size, depth] = found->second;
    count(mark, size, depth);
    place(value);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    if (wants_key()) return take_key(mark, tag, anchor, text);
    add(mark, anchor, scalar(mark, tag, text), text.size());
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, "seq", anchor, json::array());
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, "map", anchor, json::object());
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& expected,
                           const std::string& got) const {
    const auto line = mark.is_null() ? 1 : mark.line + 1;
    throw config_error(fmt::format("{}:{}", source_, line),
                       fmt::format("expected {}, got {}", expected, got));
  }

 private:
  struct container {
    json value;
    YAML::anchor_t anchor;
    std::size_t size_before;  ///< The size of the document before this value.
    /// The levels of nesting of this value, itself included.
    std::size_t depth = 1;
    std::optional<std::string> key = std::nullopt;  ///< In a map, the key of the next value.
  };
  struct anchored {
    json value;
    std::size_t size;
    std::size_t depth = 0;
  };

  static std::string quoted(std::string_view text) {
    return '"' + detail::printable(text, 80) + '"';
  }

  bool wants_key() const {
    return !open_.empty() && open_.back().value.is_object() && !open_.back().key;
  }

  void take_key(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) {
    if (tag == "?" && text == "<<") refuse(mark, "no merge key", "<<");
    if (tag != "?" && tag != "!") check_tag(mark, tag, {"str"});
    if (open_.back().value.contains(text)) refuse(mark, "each key once", quoted(text) + " twice");
    count(mark, text.size(), 0);
    if (anchor != YAML::NullAnchor) anchors_[anchor] = {text, 1 + text.size()};
    open_.back().key = text;
  }

  void check_tag(const YAML::Mark& mark, const std::string& tag,
                 std::initializer_list<std::string_view> known) const {
    if (!tag.starts_with(core_tags) || !is_one_of(tag.substr(core_tags.size()), known))
      refuse(mark, "no tag, or one of the core schema that fits", quoted(tag));
  }

  json scalar(const YAML::Mark& mark, const std::string& tag, const std::string& text) const {
    if (tag == "!") return text;
    if (tag != "?") {
      check_tag(mark, tag, {"str", "null", "bool", "int", "float"});
      if (tag.ends_with(":str")) return text;
    }
    const auto value = plain(mark, text);
    const bool fits = tag == "?" || (tag.ends_with(":null") && value.is_null()) ||
                      (tag.ends_with(":bool") && value.is_boolean()) ||
                      (tag.ends_with(":int") && value.is_number_integer()) ||
                      (tag.ends_with(":float") && value.is_number());
    if (!fits) refuse(mark, "a value of its tag " + quoted(tag), quoted(text));
    return value;
  }

  json plain(const YAML::Mark& mark, const std::string& text) const {
    if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) return nullptr;
    if (is_one_of(text, {"true", "True", "TRUE"})) return true;
    if (is_one_of(text, {"false", "False", "FALSE"})) return false;
    if (is_not_finite(text)) refuse(mark, "a finite number", text);
    if (auto value = number(text)) return *std::move(value);
    if (is_float(text)) refuse(mark, "a number that a double can hold", quoted(text));
    return text;
  }

  void count(const YAML::Mark& mark, std::size_t size, std::size_t depth) {
    size_ += size;
    if (size_ > yaml_size_max)
      refuse(mark, fmt::format("at most {} bytes with what aliases stand for", yaml_size_max),
             "more");
    if (open_.size() + depth > json_depth_max)
      refuse(mark, fmt::format("at most {} nested values", json_depth_max), "more");
    for (std::size_t i = 0; i < open_.size(); ++i)
      open_[i].depth = std::max(open_[i].depth, open_.size() - i + depth);
  }

  void add(const YAML::Mark& mark, YAML::anchor_t anchor, json value, std::size_t bytes) {
    count(mark, 1 + bytes, 0);
    if (anchor != YAML::NullAnchor) anchors_[anchor] = {value, 1 + bytes};
    place(std::move(value));
  }

  void place(json value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (auto& into = open_.back(); into.value.is_array()) {
      into.value.push_back(std::move(value));
    } else {
      into.value[*into.key] = std::move(value);
      into.key.reset();
    }
  }

  void open(const YAML::Mark& mark, const std::string& tag, std::string_view kind,
            YAML::anchor_t anchor, json empty) {
    if (wants_key()) refuse(mark, "a key", empty.is_array() ? "a list" : "a map");
    if (tag != "?" && tag != "!" && !tag.empty()) check_tag(mark, tag, {kind});
    count(mark, 1, 1);
    open_.push_back({std::move(empty), anchor, size_ - 1});
  }

  void close() {
    auto done = std::move(open_.back());
    open_.pop_back();
    if (done.anchor != YAML::NullAnchor)
      anchors_[done.anchor] = {done.value, size_ - done.size_before, done.depth};
    place(std::move(done.value));
  }

  const std::string& source_;
  json root_;
  std::vector<container> open_;  ///< The containers around the next value, outermost first.
  std::map<YAML::anchor_t, anchored> anchors_;
  std::size_t size_ = 0;
  int documents_ = 0;
};

/// Refuses control characters. YAML allows none of these, and the parser silently ends a text at
/// some of them.
void refuse_control_characters(std::string_view text, const std::string& source) {
  const auto bad = std::ranges::find_if(text, [](char c) {
    return c == 0x7f || (c >= 0 && c < 0x20 && c != '\t' && c != '\n' && c != '\r');
  });
  if (bad == text.end()) return;
  throw config_error(fmt::format("{}:{}", source, 1 + std::count(text.begin(), bad, '\n')),
                     fmt::format("expected text, got the character {:#04x}", int{*bad}));
}

}  // namespace

json parse_yaml(std::string_view text, const std::string& source) {
  if (text.size() > yaml_bytes_max)
    throw config_error(
        source, fmt::format("expected at most {} bytes, got {}", yaml_bytes_max, text.size()));
  if (!detail::is_utf8(text)) throw config_error(source, "expected UTF-8, got other bytes");
  refuse_control_characters(text, source);
  yaml_builder builder(source);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    builder.refuse(error.mark, "YAML", detail::printable(error.msg, 200));
  }
  return builder.take();
}

json read_yaml_file(const std::filesystem::path& path) {
  return parse_yaml(detail::read_text_file(path, yaml_bytes_max), path.string());
}

bool is_yaml_name(const std::filesystem::path& path) {
  return path.extension() == ".yaml" || path.extension() == ".yml";
}

}  // namespace troupe
