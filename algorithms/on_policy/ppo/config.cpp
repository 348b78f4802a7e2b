#include "algorithms/on_policy/ppo/config.hpp"

#include <nlohmann/json.hpp>

namespace troupe {

void describe(enum_schema<value_clipping>& s) {
  s.name("clipped", value_clipping::clipped).name("larger", value_clipping::larger);
}

void describe(options_schema<ppo_options>& s) { describe_ppo(s); }

std::vector<idle_rule> idle_rules_of(const ppo_options& c) {
  return {{!c.clip_range_vf, "trainer.clip_range_vf is null", {"trainer.clip_vf_loss"}},
          {c.vf_coef == 0,
           "trainer.vf_coef is 0",
           {"trainer.clip_range_vf", "trainer.clip_vf_loss", "trainer.huber_delta"}},
          {c.weight_decay == 0, "trainer.weight_decay is 0", {"trainer.weight_decay_of"}}};
}

std::vector<idle_rule> idle_rules_of(const ppo_config& c) {
  auto rules = idle_rules_of(static_cast<const on_policy_config&>(c));
  for (auto& rule : idle_rules_of(c.trainer)) rules.push_back(std::move(rule));
  return rules;
}

void describe(options_schema<ppo_config>& s) {
  describe_on_policy(s);
  describe_trainer(s);
}

}  // namespace troupe
