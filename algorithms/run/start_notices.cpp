#include "actors/torch/torch.hpp"

#include "algorithms/run/start_notices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "actors/networks/acting_network.hpp"
#include "actors/networks/shape_of.hpp"
#include "runtime/base/log.hpp"

namespace troupe {
namespace {

constexpr int large = 2 * 4 * 84 * 84;

/// Returns the milliseconds that the network takes for one action, the least of three.
double acting_ms(const env_spec& spec, const network_shape& shape, network_options options) {
  options.ortho_init = false;  // it is slow for wide layers, and the network is discarded
  const auto network = make_acting_network(shape, options, spec.action_space, 0);
  const std::vector<float> obs(static_cast<std::size_t>(shape.obs_size));
  std::vector<std::int64_t> choice(static_cast<std::size_t>(shape.choice_count()));
  std::vector<float> taken(static_cast<std::size_t>(shape.continuous_size));
  action_random random(0);
  auto least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    const auto began = std::chrono::steady_clock::now();
    network->act(obs.data(), 1, random, false, {choice.data(), taken.data()});
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
    least = std::min(least, took.count());
  }
  return least;
}

std::string advice_for(const env_section& env) {
  if (env.id.find("ALE/") != env.id.npos) {
    return "env.options.frameskip=1 env.wrappers=[AtariPreprocessing] env.frame_stack=4 make it "
           "4x84x84, see docs/guides/atari.md";
  }
  if (env.id.starts_with("gymnasium:")) {
    return "env.wrappers=[GrayscaleObservation,\"ResizeObservation(shape=(84, 84))\"] makes it "
           "smaller";
  }
  return "an environment that shows smaller pictures, such as 84x84, is faster";
}

}  // namespace

void tell_no_images(const run_settings& of, const env_spec& spec) {
  const auto notes = of.shape ? agent_image_notes(spec) : image_notes(spec, of.network.body);
  for (const auto& note : notes) log::warn(note, {{"env", spec.id}});
}

void tell_idle_options(const run_settings& of) {
  for (const auto& each : of.idle) {
    log::warn("an option has no effect",
              {{"option", each.name}, {"value", each.value}, {"why", each.why}});
  }
}

void tell_sizes(const run_settings& of) {
  if (!of.update_options.empty()) {
    // A program of the user's own may have no configuration.
    const auto asked = nlohmann::json::parse(of.config).value("total_steps", of.total_steps);
    // Most runs take a few steps more, which changes nothing.
    const bool many_more = of.total_steps - asked > asked / 10;
    if (many_more)
      log::warn("the run takes more steps than total_steps, for it takes whole updates",
                {{"total_steps", asked},
                 {"steps", of.total_steps},
                 {"steps_of_an_update", of.steps_of_update},
                 {"which_is", of.update_options}});
  }
  if (of.replicas_at_once > 0 && of.env.replicas > of.replicas_at_once)
    log::warn("more replicas of the environments are asked for than are used at once",
              {{"env.replicas", of.env.replicas},
               {"at_once", of.replicas_at_once},
               {"see", of.replicas_option}});
}

void tell_large_images(const env_section& env, const env_spec& spec, const network_shape& shape,
                       const network_options& network) {
  if (shape.image.empty() || shape.obs_size <= large) return;
  log::info("observations are large images, so every step and every update takes long",
            {{"observation", to_string(spec.observation_space)},
             {"numbers", shape.obs_size},
             {"acting_ms", acting_ms(spec, shape, network)},
             {"hint", advice_for(env)}});
}

void tell_equal_returns(const env_spec& spec, double every_return) {
  if (spec.reward_threshold && every_return >= *spec.reward_threshold) return;
  log::warn("the first 100 episodes have all had the same return, so there may be nothing to learn",
            {{"env", spec.id},
             {"return", every_return},
             {"try",
              "a reward that differs between good and bad episodes, an easier start or more "
              "exploration; docs/guides/debugging.md says more"}});
}

}  // namespace troupe
