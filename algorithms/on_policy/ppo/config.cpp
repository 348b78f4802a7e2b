#include "algorithms/on_policy/ppo/config.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace troupe {

ppo_options ppo_config::learner() const {
  auto options = trainer;
  options.n_steps = rollout.n_steps;
  options.network = network();
  return options;
}

std::string ppo_config::stored() const {
  return document.empty() ? to_json(*this).dump() : document;
}

void take_whole_batches(ppo_config& config) {
  // A batch of one row is one minibatch of two that is short.
  config.trainer.batch_size = static_cast<int>(std::max<std::int64_t>(config.steps_of_update(), 2));
  config.trainer.n_epochs = 1;
  config.trainer.clip_range = std::numeric_limits<double>::infinity();
}

void describe(enum_schema<optimizer_kind>& s) {
  s.name("adam", optimizer_kind::adam)
      .name("rmsprop", optimizer_kind::rmsprop)
      .name("rmsprop_tensorflow_like", optimizer_kind::rmsprop_tensorflow_like);
}

void describe(options_schema<ppo_options>& s) {
  describe_update_rule(s, "adam_eps");
  describe_advantages(s);
  s.field("batch_size", &ppo_options::batch_size)
      .also_known_as({"minibatch_size"})
      .at_least(2)
      .at_most(1 << 28)
      .unit("rows")
      .help("of a minibatch");
  s.field("n_epochs", &ppo_options::n_epochs)
      .also_known_as({"epochs", "update_epochs"})
      .at_least(1)
      .help("passes over a rollout");
  s.field("clip_range", &ppo_options::clip_range)
      .also_known_as({"clip", "clip_coef"})
      .above(0)
      .or_infinity()
      .help("Schulman et al. 2017, equation 7");
  s.field("clip_schedule", &ppo_options::clip_schedule)
      .help("of clip_range; linear: falls to 0 at the end");
  s.field("clip_range_vf", &ppo_options::clip_range_vf)
      .above(0)
      .unit("return")
      .help("value clipping; null: none");
  s.field("target_kl", &ppo_options::target_kl)
      .above(0)
      .help("an update stops at an approximate KL of 1.5 times this; null: never");
  s.field("proximal_correction", &ppo_options::proximal_correction)
      .help("correct fresh data as if it were stale: decoupled PPO");
  s.field("n_steps", &ppo_options::n_steps)
      .at_least(1)
      .unit("steps")
      .unlisted()
      .help("of each environment in a rollout");
  describe_optimizer(s, false);
  s.field("baseline", &ppo_options::baseline)
      .unlisted()
      .help("false: no critic; advantages are discounted returns");
  s.field("whole_episodes", &ppo_options::whole_episodes)
      .unlisted()
      .help("true: steps of episodes under way at a rollout's end don't count");
}

void describe(options_schema<ppo_config>& s) {
  describe_on_policy(s);
  describe_trainer(s);
}

}  // namespace troupe
