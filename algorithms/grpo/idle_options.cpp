#include "algorithms/grpo/idle_options.hpp"

#include <nlohmann/json.hpp>

namespace troupe {

namespace {

/// Where it holds, these options change nothing.
struct idle_rule {
  bool holds = false;
  std::string why;
  std::vector<const char*> options;
};

bool has_deviation(advantage_kind kind) {
  return kind == advantage_kind::group_std || kind == advantage_kind::batch_std;
}

std::vector<idle_rule> rules_for(const grpo_options& o) {
  const auto term = o.loss_term();
  const auto kind = o.correction_used();
  return {
      {term != policy_term::clip,
       "only term clip clips the ratio",
       {"clip_low", "clip_high", "dual_clip"}},
      {term != policy_term::cispo, "only term cispo has such a bound", {"cispo_max"}},
      {term == policy_term::reinforce, "term reinforce has no ratio", {"ratio", "proximal"}},
      {!o.corrects(),
       "the ratio is to the weights that sampled, which leaves nothing to correct",
       {"correction", "correction_by", "correction_max", "correction_min"}},
      {o.corrects() && kind == correction_kind::none,
       "correction is none",
       {"correction_by", "correction_max", "correction_min"}},
      {o.corrects() && kind == correction_kind::truncate,
       "correction is truncate, which has no smallest weight",
       {"correction_min"}},
      {o.penalty() == 0.0, "kl_coef is 0", {"kl_in", "kl"}},
      {o.penalty() != 0.0 && o.kl_in == kl_place::reward, "in the reward it is k1", {"kl"}},
      {!has_deviation(o.advantages()), "advantages have no deviation in them", {"advantage_eps"}},
      {o.flat_rule() != o.flat_groups.value_or(o.flat_rule()),
       "with advantage reward such groups teach as others do",
       {"flat_groups"}},
  };
}

}  // namespace

std::vector<idle_option> idle_options(const grpo_options& options) {
  const auto all = to_json(options), usual = to_json(grpo_options{});
  std::vector<idle_option> idle;
  for (const auto& rule : rules_for(options)) {
    if (!rule.holds) continue;
    for (const auto* name : rule.options) {
      if (all.at(name) != usual.at(name)) idle.push_back({name, all.at(name).dump(), rule.why});
    }
  }
  return idle;
}

}  // namespace troupe
