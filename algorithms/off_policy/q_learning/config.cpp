#include "algorithms/off_policy/q_learning/config.hpp"

namespace troupe {

q_learning_config::q_learning_config() {
  env.id = "Blackjack-v1";
  log.episodes = 100;
  exploration.fraction = 0.5;
}

off_policy_config q_learning_config::shared() const {
  off_policy_config c;
  c.algo = algo;
  c.env = env;
  c.total_steps = total_steps;
  c.schedule_steps = schedule_steps;
  c.seed = seed;
  c.mode = mode;
  c.collection = {.learning_starts = 0,
                  .train_freq = collection.train_freq,
                  .gradient_steps = 1,
                  .workers = collection.workers,
                  .max_staleness = collection.max_staleness};
  c.evaluation = evaluation;
  c.checkpoint = checkpoint;
  c.log = log;
  c.deterministic = deterministic;
  c.faults = faults;
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
  s.field("algo", &config::algo).one_of({config().algo}).help("The name of the algorithm.");
  s.field("env", &config::env).help("The environment that the policy learns on.");
  s.field("total_steps", &config::total_steps)
      .at_least(1)
      .at_most(1e15)
      .unit("environment steps")
      .help(
          "Training ends after at least so many environment steps; the last collection is "
          "completed.");
  describe_schedule_steps(s, &config::schedule_steps, "environment steps");
  s.field("seed", &config::seed).help("The seed of actions and environments.");
  s.field("mode", &config::mode)
      .help(
          "sync alternates between collections and updates; async collects while the trainer "
          "trains.");
  s.field("collection", &config::collection).help("The collection of experience.");
  describe_async(s, &config::collection, &q_collection_section::workers,
                 &q_collection_section::max_staleness);
  s.field("evaluation", &config::evaluation)
      .help("Evaluations play episodes without exploration and store nothing.");
  s.field("checkpoint", &config::checkpoint)
      .help("The checkpoints from which a run can be resumed.");
  s.field("log", &config::log).help("The rows of progress.csv.");
  s.field("trainer", &config::trainer).help("The options of the update rule.");
  s.field("exploration", &config::exploration).help("The share of random actions in collections.");
  describe_deterministic(s);
  s.option(&config::env, &env_section::normalize_obs)
      .must_be("false, as a table is indexed by the observation",
               [](const config& c) { return !c.env.normalize_obs; });
  s.option(&config::env, &env_section::normalize_reward)
      .must_be("false; env.reward_scale multiplies rewards by a constant",
               [](const config& c) { return !c.env.normalize_reward; });
}

}  // namespace troupe
