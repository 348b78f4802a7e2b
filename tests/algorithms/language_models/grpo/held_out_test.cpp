#include "actors/torch/torch.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "actors/worlds/registry.hpp"
#include "algorithms/language_models/grpo/grpo_evaluation.hpp"
#include "algorithms/language_models/grpo/grpo_task.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

// What a run is asked, and when: of the evaluations before the first update and after the second
// and the fourth, of those updates, and of the evaluation at the end.

namespace troupe {
namespace {

grpo_config short_run(std::uint64_t seed) {
  grpo_config config;
  config.task.problems = {.size = 2, .training = 40, .held_out = 16};
  config.total_steps = 4;
  config.seed = seed;
  config.deterministic = true;
  config.warm_start.batches = 0;
  config.rollout.prompts = config.rollout.group = 4;
  config.rollout.max_completion_tokens = 3;
  config.evaluation = {.every_updates = 2, .problems = 5, .final_problems = 7, .stop_at = {}};
  return config;
}

std::map<std::string, int> times_asked;  // of the runs since it was cleared

/// Numbers of two digits. What is asked is counted where it is judged.
llm::problem_task counted_numbers() {
  return {.name = "counted_numbers",
          .draw =
              [](action_random& random, int) {
                const auto number = std::to_string(10 + random.below(90));
                return llm::problem{.question = number, .letters = number + ">", .expected = "1"};
              },
          .rewards = {{"counted", [](const llm::answered_problem& a) {
                         ++times_asked[a.asked.letters];
                         return 0.0;
                       }}}};
}

TEST_CASE("grpo: the problems that decide when a run ends are none of those that judge it") {
  const temporary_folder folder;
  const auto config = short_run(1);
  const auto task = counted_numbers();
  times_asked.clear();
  const auto run = train(algorithm_with(config, task), {.root = folder.path.string()}, {});
  const auto problems = problems_of(task, config);
  const auto asked = detail::held_out_problems_of(task, config, problems.held_out);
  REQUIRE(asked.during.size() == 5);
  REQUIRE(asked.at_the_end.size() == 11);
  for (const auto& each : asked.during) CHECK(times_asked[each.letters] == 3);
  for (std::size_t i = 0; i < 11; ++i)
    CHECK(times_asked[asked.at_the_end[i].letters] == (i < 7 ? 1 : 0));

  const auto model = std::filesystem::path(run.run_directory) / "last_model";
  evaluate_model(config, task, model, 11);  // as troupe eval does
  for (const auto& each : asked.during) CHECK(times_asked[each.letters] == 3);
  for (std::size_t i = 0; i < 11; ++i)
    CHECK(times_asked[asked.at_the_end[i].letters] == (i < 7 ? 2 : 1));
  CHECK_THROWS_WITH(evaluate_model(config, task, model, 12),
                    "problems: expected 1 to 11 problems, as many as are held out and not asked "
                    "during training, got 12");
}

TEST_CASE("grpo: without evaluations during training all held-out problems judge") {
  auto config = short_run(1);
  config.evaluation.every_updates = 0;
  const auto task = counted_numbers();
  const auto asked = detail::held_out_problems_of(task, config, problems_of(task, config).held_out);
  CHECK(asked.during.empty());
  CHECK(asked.at_the_end.size() == 16);
}

/// A game of one turn, which remembers how it was dealt. Where one is over a vector environment
/// deals again by itself, by a seed of 64 bits.
struct remembered_deals final : environment {
  inline static std::vector<std::uint64_t> seeds;  // of all that somebody has asked for

  env_spec spec() const override {
    return {.id = "RememberedDeals-v0",
            .observation_space = spaces::box(0.0f, 1.0f, {1}),
            .action_space = spaces::discrete(2)};
  }
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    if (seed.value() < std::uint64_t{1} << 31) seeds.push_back(*seed);
    obs[0] = 0.5f;
  }
  step_result step(action_view, std::span<float> obs) override {
    obs[0] = 0.5f;
    return {.terminated = true};
  }
};

openenv::text_game remembered_game() {
  const auto show = [](const nlohmann::json&) { return wording{"", "0>"}; };
  const auto act = [](const nlohmann::json&, std::string_view) {
    return std::optional(nlohmann::json{{"action", 0}});
  };
  return {.name = "remembered_deals",
          .what = "",
          .environment = "RememberedDeals-v0",
          .turns = 1,
          .view = {.rules = "", .show = show, .act = act, .practise = {}}};
}

/// How often each deal was played in such a run.
std::map<std::uint64_t, int> deals_of(std::uint64_t seed) {
  const temporary_folder folder;
  remembered_deals::seeds.clear();
  auto config = short_run(seed);
  config.trainer.kl_coef = 0.0;
  train(algorithm_with(config, remembered_game()), {.root = folder.path.string()}, {});
  std::map<std::uint64_t, int> times;
  for (const auto each : remembered_deals::seeds) ++times[each];
  return times;
}

TEST_CASE("grpo: neighbouring seeds share no deals, and held-out deals are none of training") {
  register_environment<remembered_deals>("RememberedDeals-v0");
  std::map<std::uint64_t, int> all;
  for (const std::uint64_t seed : {1, 2, 3}) {
    std::map<int, int> count;  // of deals, by how often each was played
    for (const auto& [deal, times] : deals_of(seed)) {
      ++count[times];
      ++all[deal];
    }
    // A group of four games each; three evaluations during training, and the one at the end.
    CHECK(count == std::map<int, int>{{4, 4 * 4}, {1, 3 * 5 + 7}});
  }
  CHECK(all.size() == 3 * (4 * 4 + 3 * 5 + 7));
}

}  // namespace
}  // namespace troupe
