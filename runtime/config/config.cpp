#include "runtime/config/config.hpp"

#include <nlohmann/json.hpp>

namespace troupe {

nlohmann::json load_config(const std::filesystem::path& file,
                           const std::vector<std::string>& overrides) {
  auto document = file.empty() ? nlohmann::json::object() : read_json_file(file);
  for (const auto& text : overrides) apply_override(document, text);
  return document;
}

}  // namespace troupe
