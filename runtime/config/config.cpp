#include "runtime/config/config.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace troupe {

void detail::check_options(const struct_kind& schema, const void* options, void* scratch,
                           std::string_view name) {
  try {
    schema.check(options, scratch, std::string(name));
  } catch (const config_error& error) {
    throw std::invalid_argument(error.what());
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
