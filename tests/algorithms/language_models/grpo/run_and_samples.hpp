#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "algorithms/language_models/grpo/config.hpp"

namespace troupe::testing {

/// Checks a run and trains to its end.
inline run_result run(const grpo_config& config, const std::string& root) {
  const auto what = algorithm_with(config);
  what.check();
  return train(what, {.root = root}, {});
}

/// The lines of samples.jsonl.
inline std::vector<nlohmann::json> samples_of(const std::filesystem::path& run) {
  std::vector<nlohmann::json> samples;
  std::ifstream file(run / "samples.jsonl");
  for (std::string line; std::getline(file, line);) samples.push_back(nlohmann::json::parse(line));
  return samples;
}

}  // namespace troupe::testing
