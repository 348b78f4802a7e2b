#include "algorithms/multi_agent/idle_policies.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/run/config.hpp"
#include "runtime/base/log.hpp"

namespace troupe {
namespace {

void warn_of_idle_policies(const agents_section& section, const network_shape& shape) {
  for (const auto& policy : shape.policies) {
    const bool frozen = std::ranges::find(section.frozen, policy.name) != section.frozen.end();
    if (!frozen || policy.script.empty()) continue;
    log::warn("agents.frozen has no effect on a policy of agents.scripted",
              {{"policy", policy.name}, {"script", policy.script}});
  }
  const auto learns = trained_policies(section, shape);
  if (std::ranges::find(learns, 1) == learns.end()) {
    log::warn("no policy learns, because agents.frozen and agents.scripted have them all");
  }
}

}  // namespace

algorithm warning_of_idle_policies(algorithm what, agents_section section) {
  what.check = [check = std::move(what.check), settings = what.settings,
                section = std::move(section)] {
    check();
    warn_of_idle_policies(section, shape_for(settings, spec_of(settings.env)));
  };
  return what;
}

}  // namespace troupe
