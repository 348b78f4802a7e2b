#include "actors/llm/files/json_file.hpp"

#include <nlohmann/json.hpp>

#include "actors/llm/files/input_file.hpp"
#include "actors/llm/files/llm_file_error.hpp"
#include "runtime/config/config_error.hpp"
#include "runtime/config/large_json.hpp"

namespace troupe::llm {

nlohmann::json read_model_json(const std::filesystem::path& path) {
  return parse_model_json(read_whole_file(path, model_json_bytes_max), path.string());
}

nlohmann::json parse_model_json(std::string_view text, const std::string& place) {
  const std::string source = "JSON";
  try {
    return parse_large_json(text, model_json_bytes_max, source);
  } catch (const config_error& e) {
    throw llm_file_error(place + ": " + e.what());
  }
}

}  // namespace troupe::llm
