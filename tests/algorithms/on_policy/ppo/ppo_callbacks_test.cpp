#include "actors/torch/torch.hpp"

#include "actors/checkpoint/state.hpp"
#include "algorithms/loops/callbacks.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "algorithms/run/open_run.hpp"
#include "runtime/base/log.hpp"
#include "runtime/metrics/registry.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

constexpr std::int64_t steps_of_update = 2 * 32 * 2;

ppo_config short_run(training_mode mode, std::int64_t checkpoint_every) {
  ppo_config config;
  config.env = {.n_envs = 2};
  config.total_steps = 7 * steps_of_update;
  config.mode = mode;
  config.rollout = {.n_steps = 32, .batch = 2, .workers = 3};
  config.trainer.batch_size = 16;
  config.trainer.n_epochs = 2;
  config.policy.hidden = {8};
  config.evaluation = {.every_steps = 2 * steps_of_update, .episodes = 2, .final_episodes = 2};
  config.checkpoint.every_updates = checkpoint_every;
  config.deterministic = true;
  return config;
}

/// A user's callback, which notes what it is told and may say stop.
struct notes {
  std::vector<loops::progress> seen;
  std::vector<std::int64_t> evaluated;  ///< Steps.
  std::int64_t stop_at = -1;            ///< Update.
};

task<loops::verdict> note(notes& to, loops::progress now) {
  to.seen.push_back(now);
  co_return now.updates == to.stop_at ? loops::verdict::stop : loops::verdict::go_on;
}

task<> note_evaluation(notes& to, loops::progress now, evaluation seen) {
  CHECK(seen.returns.size() == 2);
  CHECK(seen.version == now.version);
  to.evaluated.push_back(now.steps);
  co_return;
}

run_callbacks noting(notes& to) {
  return {.on_update_end = [&to](loops::progress now) { return note(to, now); },
          .on_evaluation =
              [&to](loops::progress now, evaluation seen) {
                return note_evaluation(to, now, std::move(seen));
              }};
}

/// Every update of the whole run was told of once, in order.
void check_whole(const notes& of, std::int64_t updates) {
  REQUIRE(std::ssize(of.seen) == updates);
  for (std::int64_t i = 0; i < updates; ++i) {
    const auto& now = of.seen[static_cast<std::size_t>(i)];
    CAPTURE(i);
    CHECK(now.updates == i + 1);
    CHECK(now.version == i + 1);
    CHECK(now.steps == (i + 1) * steps_of_update);
    CHECK(now.steps_of_update == steps_of_update);
    CHECK(now.episodes >= 2 * (i + 1));
    if (i > 0) {
      CHECK(now.episodes >= of.seen[static_cast<std::size_t>(i - 1)].episodes);
      CHECK(now.seconds >= of.seen[static_cast<std::size_t>(i - 1)].seconds);
    }
  }
}

TEST_CASE(
    "run_callbacks: progress is that of the whole run, however often it was cut and resumed") {
  const temporary_folder folder;
  log::set_level("off");
  for (const auto mode : {training_mode::sync, training_mode::async}) {
    const auto config = short_run(mode, 1);
    notes whole;
    const auto in_one = train(config, {.root = folder.path}, {.callbacks = noting(whole)});
    check_whole(whole, 7);
    CHECK(whole.evaluated == std::vector<std::int64_t>{2 * 128, 4 * 128, 6 * 128});

    notes first, second;
    const auto stop = [&] { return first.seen.size() >= 3; };
    const auto half =
        train(config, {.root = folder.path}, {.stop_asked = stop, .callbacks = noting(first)});
    CHECK_FALSE(half.summary);
    CHECK(std::filesystem::exists(run_directory::open(half.run_directory).last_model()));
    metrics_registry metrics;
    auto again = open_run<ppo_config>(half.run_directory, metrics);
    const auto end = train(again.config, {.directory = half.run_directory},
                           {.callbacks = noting(second)}, std::move(again.from));
    REQUIRE(end.summary);
    CHECK(end.summary->weights_sha256 == in_one.summary->weights_sha256);
    first.seen.insert(first.seen.end(), second.seen.begin(), second.seen.end());
    check_whole(first, 7);
  }
  log::set_level("info");
}

TEST_CASE("run_callbacks: a verdict of stop ends training; a resumed run has been stopped, too") {
  const temporary_folder folder;
  log::set_level("off");
  for (const auto mode : {training_mode::sync, training_mode::async}) {
    for (const std::int64_t checkpoint_every : {0, 2}) {
      notes seen;
      seen.stop_at = 3;
      const auto config = short_run(mode, checkpoint_every);
      const auto result = train(config, {.root = folder.path}, {.callbacks = noting(seen)});
      REQUIRE(result.summary);
      CHECK(result.summary->stopped);
      CHECK(result.summary->stop_reason == "callback");
      CHECK(result.summary->steps == 3 * steps_of_update);
      CHECK(result.summary->eval_episodes == 2);
      CHECK(seen.seen.size() == 3);
      if (checkpoint_every == 0) continue;

      metrics_registry metrics;
      auto again = open_run<ppo_config>(result.run_directory, metrics);
      const auto end = train(again.config, {.directory = result.run_directory},
                             {.callbacks = noting(seen)}, std::move(again.from));
      CHECK(end.summary->steps == 3 * steps_of_update);
      CHECK(end.summary->weights_sha256 == result.summary->weights_sha256);
      CHECK(seen.seen.size() == 3);
    }
  }
  log::set_level("info");
}

TEST_CASE(
    "run_callbacks: stop rules see every evaluation of the run, also those before a "
    "checkpoint") {
  const temporary_folder folder;
  log::set_level("off");
  for (const std::int64_t checkpoint_every : {0, 1}) {
    std::int64_t most = 0;
    const loops::stop_rule third = [&](const loops::score_history& scores) {
      most = std::max(most, scores.evaluations);
      return scores.evaluations == 3;
    };
    const auto result = train(short_run(training_mode::sync, checkpoint_every),
                              {.root = folder.path}, {.callbacks = {.stop = {third}}});
    CHECK(most == 3);
    CHECK(result.summary->steps == 6 * steps_of_update);
    CHECK(result.summary->stopped);
  }
  log::set_level("info");
}

TEST_CASE("train: evaluation.stop_at ends training at an evaluation that reaches it") {
  const temporary_folder folder;
  log::set_level("off");
  auto config = short_run(training_mode::sync, 0);
  config.evaluation.stop_at = 1;  // a step's reward: any episode reaches it
  const auto early = train(config, {.root = folder.path}, {});
  CHECK(early.summary->steps == 2 * steps_of_update);
  CHECK(early.summary->stopped);
  CHECK(early.summary->stop_reason == "evaluation.stop_at");
  config.evaluation.stop_at = 1000;
  const auto never = train(config, {.root = folder.path}, {});
  CHECK(never.summary->steps == config.total_steps);
  CHECK_FALSE(never.summary->stopped);
  CHECK(never.summary->stop_reason.empty());
  log::set_level("info");
}

TEST_CASE("train: one that is at its goal goes on where it has another, or none") {
  const temporary_folder folder;
  log::set_level("off");
  auto config = short_run(training_mode::sync, 1);
  config.evaluation.stop_at = 1;
  const auto early = train(config, {.root = folder.path}, {});
  REQUIRE(early.summary);
  CHECK(early.summary->steps == 2 * steps_of_update);
  metrics_registry metrics;
  const auto from = open_run<ppo_config>(early.run_directory, metrics).from;
  REQUIRE(from);
  const auto settings = [](const ppo_config& of) { return algorithm_with(of).settings; };
  CHECK(is_at_goal(*from, settings(config)));
  const auto resumed = [&](const std::optional<double>& goal) {
    config.evaluation.stop_at = goal;
    return train(config, {.directory = early.run_directory}, {}, from).summary.value();
  };
  const auto same = resumed(1);
  CHECK(same.steps == 2 * steps_of_update);
  CHECK(same.stopped);
  for (const auto& goal : {std::optional(1000.0), std::optional<double>()}) {
    const auto further = resumed(goal);
    CHECK_FALSE(is_at_goal(*from, settings(config)));
    CHECK(further.steps == config.total_steps);
    CHECK_FALSE(further.stopped);
  }
  log::set_level("info");
}

TEST_CASE("checkpoint: a configuration with another length or goal is the same, any other is not") {
  const temporary_folder folder;
  log::set_level("off");
  const auto hash_of = [&](const ppo_config& config) {
    metrics_registry metrics;
    const auto made = train(config, {.root = folder.path}, {});
    return open_run<ppo_config>(made.run_directory, metrics).from.value().config_sha256;
  };
  const auto config = short_run(training_mode::sync, 1);
  auto longer = config;
  longer.total_steps += steps_of_update;
  longer.evaluation.stop_at = 1000;
  CHECK(hash_of(longer) == hash_of(config));
  auto other = config;
  other.trainer.lr = 1e-5;
  CHECK(hash_of(other) != hash_of(config));
  log::set_level("info");
}

TEST_CASE("run_callbacks: what they keep is saved with each checkpoint and restored") {
  const temporary_folder folder;
  log::set_level("off");
  std::int64_t count = 0;
  std::vector<std::int64_t> restored;
  run_callbacks own{
      .on_update_end = loops::stop_when([&](const loops::progress&) { return ++count < 0; }),
      .save =
          [&] {
            state_writer to;
            to.put("count", count);
            return to.bytes();
          },
      .restore =
          [&](const std::string& bytes) {
            state_reader(bytes).get("count", count);
            restored.push_back(count);
          }};
  const auto result = train(short_run(training_mode::sync, 3), {.root = folder.path},
                            {.callbacks = std::move(own)});
  CHECK(result.summary);
  CHECK(count == 7);
  CHECK(restored == std::vector<std::int64_t>{3, 6, 7});  // the last by the evaluation at the end
  log::set_level("info");
}

TEST_CASE("train_in: what a callback throws is thrown there") {
  const temporary_folder folder;
  log::set_level("off");
  const run_callbacks own{.on_update_end = loops::stop_when([](const loops::progress&) -> bool {
                            throw std::runtime_error("the user's own mistake");
                          })};
  system sys({.deterministic = true, .seed = 1});
  CHECK_THROWS_WITH(
      sys.run(train_in(sys, short_run(training_mode::sync, 0), {.root = folder.path}, own)),
      "the user's own mistake");
  log::set_level("info");
}

}  // namespace
}  // namespace troupe
