#include "algorithms/off_policy/q_learning/config.hpp"

namespace troupe {

q_learning_config::q_learning_config() {
  algo = "q_learning";
  env.id = "Blackjack-v1";
  log.episodes = 100;
  exploration.fraction = 0.5;
}

off_policy_config q_learning_config::shared() const {
  off_policy_config c;
  static_cast<run_config&>(c) = *this;
  c.collection = {.learning_starts = 0,
                  .train_freq = collection.train_freq,
                  .gradient_steps = 1,
                  .workers = collection.workers,
                  .max_staleness = collection.max_staleness};
  c.log = log;
  return c;
}

void describe(options_schema<q_rule_options>& s) {
  s.field("lr", &q_rule_options::lr)
      .also_known_as({"alpha", "learning_rate"})
      .above(0)
      .at_most(1)
      .help("The share of a TD error by which a value changes, at the start of training.");
  s.field("lr_schedule", &q_rule_options::lr_schedule)
      .help("How lr changes: constant keeps it, linear lets it fall to 0 at the end of training.");
  describe_gamma(s);
  s.field("initial_value", &q_rule_options::initial_value)
      .help("The initial value of every entry; a high value makes the greedy policy explore.");
}

void describe(options_schema<q_collection_section>& s) {
  describe_train_freq(s);
  describe_async_collections(s);
}

void describe(options_schema<q_learning_config>& s) {
  using config = q_learning_config;
  describe_run(s, "collection", "actions", "without exploration", [&] {
    s.field("collection", &config::collection).help("The collection of experience.");
    describe_async(s, &config::collection, &q_collection_section::workers,
                   &q_collection_section::max_staleness);
    s.field("trainer", &config::trainer).help("The options of the update rule.");
    s.field("exploration", &config::exploration)
        .help("The share of random actions in collections.");
  });
  s.option(&config::env, &env_section::normalize_obs)
      .must_be("false, as a table is indexed by the observation",
               [](const config& c) { return !c.env.normalize_obs; });
  s.option(&config::env, &env_section::normalize_reward)
      .must_be("false; env.reward_scale multiplies rewards by a constant",
               [](const config& c) { return !c.env.normalize_reward; });
}

}  // namespace troupe
