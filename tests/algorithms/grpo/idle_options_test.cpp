#include "algorithms/grpo/idle_options.hpp"

#include "tests/test.hpp"

namespace troupe {
namespace {

std::vector<std::string> idle_of(const grpo_options& options) {
  std::vector<std::string> names;
  for (const auto& each : idle_options(options)) names.push_back(each.name + "=" + each.value);
  return names;
}

using names = std::vector<std::string>;

TEST_CASE("idle_options: what is as by default is never blamed") {
  for (const auto variant :
       {grpo_variant::grpo, grpo_variant::dr_grpo, grpo_variant::dapo, grpo_variant::gspo,
        grpo_variant::cispo, grpo_variant::rloo, grpo_variant::reinforce}) {
    CHECK(idle_of({.variant = variant}) == names{});
  }
}

TEST_CASE("idle_options: options of another term are told") {
  const grpo_options clips{.clip_low = 0.1, .clip_high = 0.3, .dual_clip = 0.0};
  CHECK(idle_of(clips) == names{"clip_low=0.1", "clip_high=0.3", "dual_clip=0.0"});
  auto clipped = clips;
  clipped.variant = grpo_variant::grpo;
  CHECK(idle_of(clipped) == names{});
  clipped.cispo_max = 2.0;
  CHECK(idle_of(clipped) == names{"cispo_max=2.0"});
  CHECK(idle_of({.variant = grpo_variant::rloo,
                 .ratio = ratio_level::sequence,
                 .proximal = proximal_policy::recomputed}) ==
        names{"ratio=\"sequence\"", "proximal=\"recomputed\""});
}

TEST_CASE("idle_options: corrections where there is nothing to correct are told") {
  const grpo_options asked{.correction = correction_kind::truncate,
                           .correction_by = correction_level::sequence,
                           .correction_max = 2.0};
  CHECK(idle_of(asked) ==
        names{"correction=\"truncate\"", "correction_by=\"sequence\"", "correction_max=2.0"});
  auto corrected = asked;
  corrected.epochs = 2;
  CHECK(idle_of(corrected) == names{});
  corrected.correction_min = 0.5;
  CHECK(idle_of(corrected) == names{"correction_min=0.5"});
  corrected.correction = correction_kind::mask;
  CHECK(idle_of(corrected) == names{});
  corrected.correction = correction_kind::none;
  CHECK(idle_of(corrected) ==
        names{"correction_by=\"sequence\"", "correction_max=2.0", "correction_min=0.5"});
  CHECK(idle_of({.variant = grpo_variant::rloo, .correction = correction_kind::none}) == names{});
}

TEST_CASE("idle_options: penalties, deviations and flat groups that there aren't are told") {
  CHECK(idle_of({.kl_in = kl_place::reward, .kl = kl_kind::k2}) ==
        names{"kl_in=\"reward\"", "kl=\"k2\""});
  CHECK(idle_of({.kl_coef = 0.1, .kl_in = kl_place::reward, .kl = kl_kind::k2}) ==
        names{"kl=\"k2\""});
  CHECK(idle_of({.kl_coef = 0.1, .kl = kl_kind::k2}) == names{});
  CHECK(idle_of({.variant = grpo_variant::dr_grpo, .advantage_eps = 0.1}) ==
        names{"advantage_eps=0.1"});
  CHECK(idle_of({.advantage = advantage_kind::reward, .flat_groups = flat_group_rule::drop}) ==
        names{"flat_groups=\"drop\""});
  CHECK(idle_of({.flat_groups = flat_group_rule::drop}) == names{});
  CHECK(idle_options({.term = policy_term::clip, .cispo_max = 2.0}).front().why ==
        "only term cispo has such a bound");
}

}  // namespace
}  // namespace troupe
