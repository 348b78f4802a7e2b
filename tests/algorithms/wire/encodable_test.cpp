// Every endpoint of the roles in actors/ and algorithms/ can be called from another process: its
// arguments and its result are encodable. (Handles of services, which travel as names, are not
// looked at here.)

#include "actors/data/dataset.hpp"
#include "actors/evaluator/evaluator.hpp"
#include "actors/metrics/training_metrics.hpp"
#include "actors/policy/policy.hpp"
#include "actors/recorder/recorder.hpp"
#include "actors/replay/replay_queue.hpp"
#include "actors/replay/transition_replay.hpp"
#include "actors/reward/weighted_reward.hpp"
#include "algorithms/loops/curriculum_levels.hpp"
#include "algorithms/loops/task_schedule.hpp"
#include "algorithms/off_policy/collector.hpp"
#include "algorithms/off_policy/off_policy_trainer.hpp"
#include "algorithms/off_policy/q_learning/q_learner.hpp"
#include "algorithms/off_policy/q_learning/q_rollout.hpp"
#include "algorithms/off_policy/q_learning/tabular_learner.hpp"
#include "algorithms/off_policy/q_learning/tabular_policy.hpp"
#include "algorithms/on_policy/on_policy.hpp"
#include "algorithms/on_policy/rollout.hpp"
#include "algorithms/run/algorithm.hpp"
#include "algorithms/run/config.hpp"
#include "algorithms/run/environment_algorithm.hpp"
#include "runtime/metrics/registry.hpp"
#include "runtime/wire/codec.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

struct item {
  std::string text;
  double priority = 0;
};
using ppo_trainer = on_policy_trainer;
using rollout_queue = replay_queue<rollout>;

/// What is in the way, with the endpoint; empty: nothing.
template <auto F>
std::string in_the_way() {
  using traits = detail::endpoint_of<F>;
  std::string found = not_encodable<typename traits::arguments>();
  if constexpr (!std::is_void_v<typename traits::result>) {
    found += not_encodable<typename traits::result>();
  }
  return found.empty() ? "" : std::string(detail::endpoint_name<F>()) + ": " + found + "\n";
}

template <auto... F>
std::string all_in_the_way() {
  return (std::string() + ... + in_the_way<F>());
}

TEST_CASE("encodable: everything that endpoints of the roles in actors/ take and give") {
  CHECK(all_in_the_way<&dataset<item>::next, &dataset<item>::sample, &dataset<item>::size,
                       &dataset<item>::epoch, &dataset<item>::save, &dataset<item>::restore>() ==
        "");
  CHECK(all_in_the_way<&weight_store::put, &weight_store::get, &weight_store::latest,
                       &weight_store::wait_for, &weight_store::versions>() == "");
  CHECK(all_in_the_way<&policy::act, &policy::values, &policy::update, &policy::version,
                       &policy::save, &policy::restore>() == "");
  CHECK(all_in_the_way<&hosted_environment::spec, &hosted_environment::size,
                       &hosted_environment::observe, &hosted_environment::step,
                       &hosted_environment::save, &hosted_environment::restore,
                       &hosted_environment::set_level, &hosted_environment::set_turns,
                       &hosted_environment::take_graded>() == "");
  CHECK(all_in_the_way<&vector_environment::reset, &evaluator::evaluate,
                       &weighted_reward<item>::evaluate, &weighted_reward<item>::names>() == "");
  CHECK(all_in_the_way<&recorder::record, &recorder::episode, &recorder::evaluation,
                       &recorder::finish, &recorder::directory, &recorder::save>() == "");
  CHECK(all_in_the_way<&transition_replay::admit, &transition_replay::insert,
                       &transition_replay::sample, &transition_replay::trained,
                       &transition_replay::draw, &transition_replay::update_priorities,
                       &transition_replay::obs_scale, &transition_replay::counts,
                       &transition_replay::version, &transition_replay::save,
                       &transition_replay::restore>() == "");
}

TEST_CASE("encodable: everything that endpoints of the roles in algorithms/ take and give") {
  CHECK(all_in_the_way<&rollout_queue::admit, &rollout_queue::insert, &rollout_queue::sample,
                       &rollout_queue::take, &rollout_queue::trained, &rollout_queue::version,
                       &rollout_queue::counts, &rollout_queue::save, &rollout_queue::restore>() ==
        "");
  CHECK(all_in_the_way<&ppo_trainer::train_step, &ppo_trainer::save, &ppo_trainer::restore,
                       &trainer<tabular_learner>::train_step>() == "");
  CHECK(all_in_the_way<&collector::collect, &collector::update, &collector::save,
                       &collector::set_level, &collector::set_turns, &collector::take_graded,
                       &off_policy_trainer::publish, &off_policy_trainer::save>() == "");
  CHECK(encodable<off_policy_update>);
  CHECK(encodable<off_policy_report>);
  CHECK(all_in_the_way<&loops::task_schedule::next, &loops::task_schedule::ended,
                       &loops::task_schedule::measured, &loops::curriculum_levels::level,
                       &loops::curriculum_levels::ended>() == "");
  CHECK(all_in_the_way<&q_learner::learn, &q_learner::table, &tabular_policy::act,
                       &tabular_policy::update, &replay_queue<q_rollout>::insert>() == "");
}

TEST_CASE("encodable: what roles are made with, but for handles of services and storage") {
  CHECK(not_encodable<std::tuple<hosted_environment::factory, env_observers, policy_options,
                                 evaluator_options, collector_options>>() == "");
  CHECK(not_encodable<std::tuple<on_policy_trainer::maker, replay_options,
                                 transition_replay_options, transition_widths>>() == "");
  CHECK(not_encodable<std::tuple<std::vector<reward_function<item>>, metrics_registry*,
                                 dataset_options, dataset<item>::items_type>>() == "");
  CHECK(not_encodable<std::tuple<loops::schedule_options, loops::curriculum_options,
                                 q_learning_options, q_table, training_metrics>>() == "");
}

TEST_CASE("encodable: environments and what observes them are made again by what crossed") {
  metrics_registry here, there;
  const env_section env{.id = "CartPole-v1"};
  const auto bytes = detail::encode(
      std::pair(environments_of(env, 3), observers_of(training_metrics(here, env.id), env.id)));
  const auto back = detail::decode<std::pair<hosted_environment::factory, env_observers>>(
      bytes.bytes(), {&there});
  CHECK(back.first()->size() == 3);
  back.second.stepped(5);
  back.second.episode_ended(10, 7, true);
  const auto counted = R"(troupe_env_steps_total{env="CartPole-v1"} 5)";
  CHECK_THAT(there.text(), Catch::Matchers::Contains(counted));
  CHECK_THAT(here.text(), !Catch::Matchers::Contains(counted));
  CHECK_THROWS_AS(
      detail::decode<training_metrics>(detail::encode(training_metrics(here, env.id)).bytes()),
      wire_error);
}

TEST_CASE("encodable: a rollout comes back as it was") {
  rollout made{.policies = {{}, {}}, .steps = 2, .environments = 3};
  made.policies[1].obs = {1, 2, 3};
  made.policies[1].cuts = {{1, 2}};
  made.policies[1].acting.final_step = {7};
  made.episodes = {{.step = 1, .episode_return = 0.5, .length = 2, .environment = 0}};
  made.failure = "threw";
  const auto bytes = detail::encode(made);
  const auto back = detail::decode<rollout>(bytes.bytes());
  CHECK(detail::encode(back).size() == bytes.size());
  CHECK(back.steps == 2);
  REQUIRE(back.policies.size() == 2);
  CHECK(back.policies[1].obs == made.policies[1].obs);
  CHECK(back.policies[1].cuts[0].index == 2);
  CHECK(back.policies[1].acting.final_step == made.policies[1].acting.final_step);
  CHECK(back.episodes[0].episode_return == 0.5);
  CHECK(back.failure == "threw");
}

}  // namespace
}  // namespace troupe
