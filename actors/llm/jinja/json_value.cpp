#include "actors/llm/jinja/json_value.hpp"

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <unordered_map>

namespace troupe::llm::jinja {
namespace {

constexpr std::size_t json_depth_max = 90;

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument("JSON: " + what); }

/// Builds a value from the events of the parser.
class value_builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit value_builder(char mark) : mark_(mark) {}

  bool null() override { return add(none{}); }
  bool boolean(bool of) override { return add(of); }
  bool number_integer(std::int64_t of) override { return add(of); }
  bool number_unsigned(std::uint64_t of) override {
    if (of > std::uint64_t(std::numeric_limits<std::int64_t>::max())) too_large(std::to_string(of));
    return add(static_cast<std::int64_t>(of));
  }
  bool number_float(double of, const std::string& chars) override {
    // The parser makes a float of a whole number that is too large, which would be written
    // otherwise.
    if (chars.find_first_of(".eE") == chars.npos) too_large(chars);
    return add(of);
  }
  bool string(std::string& of) override { return add(marked(of, mark_)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(true); }
  bool start_array(std::size_t) override { return open(false); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& of) override {
    open_.back().key = of;
    return true;
  }
  bool parse_error(std::size_t at, const std::string&, const nlohmann::json::exception&) override {
    refuse("expected another character at byte " + std::to_string(at));
  }

  value take() { return std::move(whole_); }

 private:
  struct container {
    bool is_object = false;
    dict entries = {};
    list items = {};
    std::string key = {};
    std::unordered_map<std::string, std::size_t> places = {};
  };

  [[noreturn]] static void too_large(const std::string& chars) {
    refuse("expected whole numbers that 64 bits can hold, got " + chars.substr(0, 60));
  }

  bool open(bool is_object) {
    if (open_.size() == json_depth_max)
      refuse("expected at most " + std::to_string(json_depth_max) + " levels");
    open_.push_back({.is_object = is_object});
    return true;
  }
  bool close() {
    auto done = std::move(open_.back());
    open_.pop_back();
    return done.is_object ? add(std::move(done.entries)) : add(std::move(done.items));
  }
  bool add(value of) {
    if (open_.empty()) {
      whole_ = std::move(of);
      return true;
    }
    auto& to = open_.back();
    if (!to.is_object) {
      to.items.depth = std::max(to.items.depth, of.depth() + 1);
      to.items.items.push_back(std::move(of));
      return true;
    }
    // As in Python, the last value of a key counts, at the place of the first.
    to.entries.depth = std::max(to.entries.depth, of.depth() + 1);
    const auto [at, is_new] = to.places.emplace(to.key, to.entries.entries.size());
    if (is_new) {
      to.entries.entries.emplace_back(marked(to.key, mark_), std::move(of));
    } else {
      to.entries.entries[at->second].second = std::move(of);
    }
    return true;
  }

  char mark_;
  std::vector<container> open_;
  value whole_;
};

}  // namespace

value value_of_json(std::string_view json, char mark) {
  value_builder builder(mark);
  nlohmann::json::sax_parse(json, &builder);
  return builder.take();
}

}  // namespace troupe::llm::jinja
