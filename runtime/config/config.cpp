#include "runtime/config/config.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "runtime/base/utf8.hpp"

namespace troupe {

namespace {

using nlohmann::json;

/// Reads a text that is not JSON: a list or an object of YAML's flow style, or a string.
json flow_or_string(std::string_view text, const std::string& pointer) {
  if (!text.starts_with('[') && !text.starts_with('{')) return std::string(text);
  try {
    auto value = parse_yaml(text, pointer);
    if (value.is_structured()) return value;
  } catch (const config_error&) {
  }
  return std::string(text);
}

}  // namespace

void detail::check_options(const struct_kind& schema, const void* options, void* scratch,
                           std::string_view name) {
  try {
    schema.check(options, scratch, std::string(name));
  } catch (const config_error& error) {
    throw std::invalid_argument(error.what());
  }
}

void apply_override(json& document, std::string_view path_and_value) {
  const auto whole = detail::printable(path_and_value, 200);
  const auto equals = path_and_value.find('=');
  if (equals == path_and_value.npos)
    throw config_error(
        whole, std::string("expected an override such as trainer.lr=3e-4, got no '='") +
                   (whole.ends_with(']') ? "; a list has no spaces, or quotes around it" : ""));
  const auto path = path_and_value.substr(0, equals);
  const auto text = path_and_value.substr(equals + 1);

  if (document.is_null()) document = json::object();
  json* at = &document;
  std::string pointer;
  std::size_t depth = 0;
  for (std::size_t start = 0; start <= path.size();) {
    const auto dot = std::min(path.find('.', start), path.size());
    const auto key = path.substr(start, dot - start);
    if (key.empty() || ++depth > json_depth_max)
      throw config_error(whole, "expected 1 to " + std::to_string(json_depth_max) +
                                    " keys joined by '.', got " +
                                    (key.empty() ? "an empty key" : "more"));
    if (!at->is_object())
      throw config_error(pointer, "expected an object to set \"" + std::string(key) +
                                      "\" in, got " + detail::show(*at));
    pointer = detail::child_pointer(pointer, key);
    if (!detail::is_utf8(key)) throw config_error(pointer, "expected a key in UTF-8");
    at = &(*at)[std::string(key)];
    if (at->is_null() && dot < path.size()) *at = json::object();
    start = dot + 1;
  }
  try {
    *at = parse_json(text, pointer);
  } catch (const config_error&) {
    if (!detail::is_utf8(text))
      throw config_error(pointer,
                         "expected a value in UTF-8, got \"" + detail::printable(text, 80) + '"');
    *at = flow_or_string(text, pointer);
  }
}

nlohmann::json load_config(const std::filesystem::path& file,
                           const std::vector<std::string>& overrides) {
  auto document = nlohmann::json::object();
  if (is_yaml_name(file)) {
    document = read_yaml_file(file);
  } else if (!file.empty()) {
    document = read_json_file(file);
  }
  for (const auto& text : overrides) apply_override(document, text);
  return document;
}

}  // namespace troupe
