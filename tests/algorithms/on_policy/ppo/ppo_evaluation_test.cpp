#include "actors/torch/torch.hpp"

#include <set>

#include "actors/networks/model_file.hpp"
#include "actors/recorder/run_directory.hpp"
#include "actors/worlds/registry.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "algorithms/run/open_run.hpp"
#include "runtime/base/log.hpp"
#include "runtime/metrics/registry.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/algorithms/stop_after.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using testing::stop_after;

/// Notes each seed that it is reset with. Its episodes have one step, which pays what stands at the
/// seed's place in `pay`, 0 beyond its end; or `always`, if that is said.
class payday : public environment {
 public:
  env_spec spec() const override {
    return {.id = "Payday-v0",
            .observation_space = spaces::box(0.0f, 1.0f, {1}),
            .action_space = spaces::discrete(2)};
  }
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    if (seed) {
      reward_ = always.value_or(seeds.size() < pay.size() ? pay[seeds.size()] : 0);
      seeds.push_back(*seed);
    }
    obs[0] = 0;
  }
  step_result step(action_view, std::span<float> obs) override {
    obs[0] = 0;
    return {.reward = reward_, .terminated = true};
  }
  bool save(state_writer& to) const override {
    to.put("reward", reward_);
    return true;
  }
  void restore(const state_reader& from) override { from.get("reward", reward_); }

  static inline std::vector<std::uint64_t> seeds;
  static inline std::vector<double> pay;
  static inline std::optional<double> always;

 private:
  double reward_ = 0;
};

/// Eight updates of eight steps, evaluated by one episode after each third, and at the end by two.
ppo_config short_run() {
  static const bool known = [] {
    register_environment<payday>("Payday-v0");
    return true;
  }();
  (void)known;
  ppo_config config;
  config.env = {.id = "Payday-v0"};
  config.rollout.n_steps = 8;
  config.total_steps = 64;
  config.trainer.batch_size = 8;
  config.trainer.n_epochs = 1;
  config.policy.hidden = {4};
  config.evaluation = {.every_steps = 24, .episodes = 1, .final_episodes = 2};
  config.deterministic = true;
  return config;
}

struct quiet {
  quiet() { log::set_level("off"); }
  ~quiet() { log::set_level("info"); }
  temporary_folder folder;

  /// What was played with: training, two evaluations, two episodes at the end, one of the last
  /// weights.
  std::vector<std::uint64_t> seeds_of(const ppo_config& config) {
    payday::seeds.clear();
    train(config, {.root = folder.path}, {});
    return payday::seeds;
  }
};

TEST_CASE("evaluation: each plays episodes of its own, as does each neighbouring seed") {
  quiet on;
  auto config = short_run();
  const auto first = on.seeds_of(config);
  REQUIRE(first.size() == 6);
  CHECK(on.seeds_of(config) == first);
  config.seed = 2;
  const auto second = on.seeds_of(config);
  std::set<std::uint64_t> all(first.begin(), first.end());
  all.insert(second.begin(), second.end());
  CHECK(all.size() == 12);
}

TEST_CASE("evaluation: a run that was resumed plays the same episodes as one that went on") {
  quiet on;
  auto config = short_run();
  config.checkpoint.every_updates = 1;
  const auto whole = on.seeds_of(config);
  payday::seeds.clear();
  const auto between = stop_after(4);  // the two evaluations
  const auto half = train(config, {.root = on.folder.path}, between);
  REQUIRE_FALSE(half.summary);
  const auto played = payday::seeds.size();
  CHECK(played < whole.size());
  metrics_registry metrics;
  auto again = open_run<ppo_config>(half.run_directory, metrics);
  REQUIRE(again.from);
  train(again.config, {.directory = half.run_directory}, {}, std::move(again.from));
  CHECK(payday::seeds == whole);
}

/// What a run's callbacks were told, by environment steps.
struct told {
  std::vector<std::int64_t> updates, evaluations;

  run_callbacks callbacks() {
    return {.on_update_end = [this](loops::progress now) { return note(updates, now); },
            .on_evaluation = [this](loops::progress now,
                                    evaluation) { return note_evaluation(evaluations, now); }};
  }
  static task<loops::verdict> note(std::vector<std::int64_t>& to, loops::progress now) {
    to.push_back(now.steps);
    co_return loops::verdict::go_on;
  }
  static task<> note_evaluation(std::vector<std::int64_t>& to, loops::progress now) {
    to.push_back(now.steps);
    co_return;
  }
};

TEST_CASE(
    "evaluation: one that a stop has ended is played when the run goes on, and told of then") {
  quiet on;
  auto config = short_run();
  const auto whole = on.seeds_of(config);
  config.deterministic = false;
  config.checkpoint.every_updates = 2;
  payday::seeds.clear();
  told first, second;
  const auto half = train(
      config, {.root = on.folder.path},
      {.stop_asked = [] { return payday::seeds.size() == 2; }, .callbacks = first.callbacks()});
  REQUIRE_FALSE(half.summary);
  CHECK(half.steps == 24);
  CHECK(first.updates == std::vector<std::int64_t>{8, 16});
  CHECK(first.evaluations.empty());

  metrics_registry metrics;
  auto again = open_run<ppo_config>(half.run_directory, metrics);
  const auto end = train(again.config, {.directory = half.run_directory},
                         {.callbacks = second.callbacks()}, std::move(again.from));
  REQUIRE(end.summary);
  CHECK(second.updates == std::vector<std::int64_t>{24, 32, 40, 48, 56, 64});
  CHECK(second.evaluations == std::vector<std::int64_t>{24, 48});
  auto expected = whole;
  expected.insert(expected.begin() + 1, whole[1]);
  CHECK(payday::seeds == expected);
}

TEST_CASE("evaluation: a stop ends the one at the end, and that of the last weights") {
  quiet on;
  auto config = short_run();
  config.checkpoint.every_updates = 4;
  const auto whole = on.seeds_of(config);
  for (const std::size_t played : {4, 6}) {  // of 5 at the end, and one more
    CAPTURE(played);
    payday::seeds.clear();
    const auto stop = [&] { return payday::seeds.size() >= played; };
    const auto half = train(config, {.root = on.folder.path}, {.stop_asked = stop});
    REQUIRE_FALSE(half.summary);
    CHECK(half.steps == 64);
    CHECK_FALSE(std::filesystem::exists(run_directory::open(half.run_directory).summary_json()));
    metrics_registry metrics;
    auto again = open_run<ppo_config>(half.run_directory, metrics);
    payday::seeds.clear();
    const auto end =
        train(again.config, {.directory = half.run_directory}, {}, std::move(again.from));
    REQUIRE(end.summary);
    CHECK(payday::seeds == std::vector(whole.begin() + 3, whole.end()));
  }
}

std::uint64_t best_version_in(const std::string& run) {
  return load_model(run_directory::open(run).best_model()).policy_version;
}

TEST_CASE("evaluation: the best model is judged by means of as many episodes") {
  quiet on;
  const auto best_version = [&](std::vector<double> pay) {
    payday::pay = std::move(pay);
    payday::seeds.clear();
    const auto result = train(short_run(), {.root = on.folder.path}, {});
    payday::pay.clear();
    CHECK(result.summary->eval_episodes == 2);
    return best_version_in(result.run_directory);
  };
  // Training, two evaluations, two episodes at the end, one of the last weights.
  CHECK(best_version({0, 5, 4, 100, 100, 3}) == 3);
  CHECK(best_version({0, 4, 5, 0, 0, 3}) == 6);
  CHECK(best_version({0, 5, 4, 0, 0, 6}) == 8);
}

task<loops::verdict> pay_more_after_the_last_update(loops::progress now) {
  if (now.updates == 8) payday::always = 6;
  co_return loops::verdict::go_on;
}

TEST_CASE("evaluation: a run that goes on keeps the best model of what came after its checkpoint") {
  quiet on;
  auto config = short_run();
  config.checkpoint.every_updates = 1;
  payday::always = 5;
  const run_options paying{.callbacks = {.on_update_end = pay_more_after_the_last_update}};
  const auto run = train(config, {.root = on.folder.path}, paying).run_directory;
  CHECK(best_version_in(run) == 8);  // by its evaluation at the end, after the last checkpoint
  metrics_registry metrics;
  payday::always = 5.5;
  config.total_steps *= 2;
  const auto longer =
      train(config, {.directory = run}, {}, open_run<ppo_config>(run, metrics).from);
  CHECK(longer.summary->steps == 128);
  CHECK(best_version_in(run) == 8);
  payday::always = 6.5;
  config.total_steps += 64;
  train(config, {.directory = run}, {}, open_run<ppo_config>(run, metrics).from);
  CHECK(best_version_in(run) == 18);  // after 144 steps
  payday::always.reset();
}

std::filesystem::path in_the_way;

task<loops::verdict> clear_the_way(loops::progress now) {
  if (now.updates == 4) std::filesystem::remove_all(in_the_way);
  co_return loops::verdict::go_on;
}

TEST_CASE("evaluation: a score whose model could not be written is not the one to beat") {
  quiet on;
  const auto run = on.folder.path / "run";
  in_the_way = run / "best_model";
  std::filesystem::create_directories(in_the_way / "folder");
  payday::seeds.clear();
  payday::pay = {0, 5, 4, 0, 0, 3};
  train(short_run(), {.directory = run}, {.callbacks = {.on_update_end = clear_the_way}});
  payday::pay.clear();
  CHECK(best_version_in(run) == 6);
}

TEST_CASE("evaluation: without any during training the last model is the best") {
  quiet on;
  auto config = short_run();
  config.evaluation.every_steps = 0;
  const auto seeds = on.seeds_of(config);
  CHECK(seeds.size() == 3);
}

}  // namespace
}  // namespace troupe
