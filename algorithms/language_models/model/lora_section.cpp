#include "algorithms/language_models/model/lora_section.hpp"

#include <algorithm>

namespace troupe {

std::optional<llm::lora_options> lora_section::adapters() const {
  if (rank == 0) return std::nullopt;
  return llm::lora_options{.targets = targets, .rank = rank, .alpha = alpha};
}

void describe(options_schema<lora_section>& s) {
  s.field("rank", &lora_section::rank)
      .also_known_as({"r", "lora_r"})
      .at_least(0)
      .at_most(1024)
      .help(
          "The rank of the adapters (LoRA, Hu et al. 2021). 0 means none: all weights are "
          "trained.");
  const auto has_adapters = [](const lora_section& o) { return o.rank > 0; };
  s.field("alpha", &lora_section::alpha)
      .has_effect_if("trainer.lora.rank is above 0", has_adapters)
      .also_known_as({"lora_alpha"})
      .above(0)
      .help("An adapter's product is multiplied by alpha / rank.");
  s.field("targets", &lora_section::targets)
      .has_effect_if("trainer.lora.rank is above 0", has_adapters)
      .also_known_as({"target_modules", "lora_target_modules"})
      .items(1, 7)
      .example("[q,v]")
      .help("The linear layers with an adapter beside them, each once.");
  s.rule("targets", "each layer once", [](const lora_section& lora) {
    auto sorted = lora.targets;
    std::ranges::sort(sorted);
    return std::ranges::adjacent_find(sorted) == sorted.end();
  });
}

namespace llm {

void describe(enum_schema<projection>& s) {
  s.name("q", projection::q)
      .name("k", projection::k)
      .name("v", projection::v)
      .name("o", projection::o)
      .name("gate", projection::gate)
      .name("up", projection::up)
      .name("down", projection::down);
}

}  // namespace llm
}  // namespace troupe
