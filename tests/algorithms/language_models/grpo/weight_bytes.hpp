#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>

#include "tests/actors/recorder/temporary_folder.hpp"

namespace troupe::testing {

/// The weights of a model's folder: its file without the header, where a score is noted in the best
/// model alone.
inline std::string weight_bytes(const std::filesystem::path& model) {
  const auto text = read_text(model / "model.safetensors");
  std::uint64_t header = 0;
  std::memcpy(&header, text.data(), sizeof header);
  return text.substr(sizeof header + header);
}

}  // namespace troupe::testing
