#include "actors/recorder/pretty_json.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace troupe {

std::string pretty_json(const std::string& text, const char* what) {
  try {
    return nlohmann::ordered_json::parse(text).dump(2) + '\n';
  } catch (const nlohmann::json::exception& error) {
    throw std::invalid_argument(std::string(what) + ": expected JSON: " + error.what());
  }
}

}  // namespace troupe
