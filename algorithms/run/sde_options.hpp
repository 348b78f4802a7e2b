#pragma once

#include "runtime/config/config.hpp"

namespace troupe {

/// How actors/policy/state_dependent_noise.hpp is configured, of any Section with these members.
template <class Section>
void describe_sde(options_schema<Section>& s) {
  s.field("use_sde", &Section::use_sde)
      .help("generalised state-dependent exploration: Raffin et al. 2021; of continuous actions");
  s.field("use_expln", &Section::use_expln)
      .help("with use_sde, standard deviations grow as log(1 + p) + 1 above 1; else as exp(p)");
  s.field("sde_sample_freq", &Section::sde_sample_freq)
      .at_least(-1)
      .unit("steps")
      .help("with use_sde, between draws of its noise; -1: one draw a rollout");
  s.rule("sde_sample_freq", "-1 or a number > 0",
         [](const Section& o) { return o.sde_sample_freq != 0; });
}

}  // namespace troupe
