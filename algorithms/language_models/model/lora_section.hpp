#pragma once
// The configuration section of LoRA adapters. Its `describe` function has the range and the meaning
// of each option.

#include <cstdint>
#include <optional>
#include <vector>

#include "actors/llm/training/lora.hpp"
#include "runtime/config/config.hpp"

namespace troupe {

/// The adapters. A rank of 0 means that all weights are trained instead.
struct lora_section {
  std::int64_t rank = 0;
  double alpha = llm::lora_options{}.alpha;
  std::vector<llm::projection> targets = llm::lora_options{}.targets;

  /// The adapters, or none if all weights are trained.
  std::optional<llm::lora_options> adapters() const;
};

void describe(options_schema<lora_section>& s);

namespace llm {
void describe(enum_schema<projection>& s);
}

}  // namespace troupe
