#include "actors/torch/torch.hpp"

#include "tests/bench/grpo_loops.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>

#include "actors/environments/vector_env.hpp"
#include "actors/openenv/server/server.hpp"
#include "actors/openenv/text/text_view.hpp"
#include "algorithms/language_models/grpo/grpo_episode.hpp"
#include "algorithms/loops/loops.hpp"
#include "runtime/coroutine/combine.hpp"
#include "tests/bench/grpo_stage.hpp"
#include "tests/bench/slow_symbols.hpp"

namespace troupe {
namespace {

using nlohmann::json;

constexpr std::size_t groups = 8, games = 4;  // under way at once, and of one update
constexpr std::int64_t updates = 40;
constexpr std::size_t evaluation_games = 128;

wording symbol(std::size_t which) { return {.words = {}, .letters = {char('a' + which)}}; }
wording move(std::size_t which) { return {.words = {}, .letters = {char('0' + which)}}; }

wording show(const json& observation) {
  const auto obs = observation.at("obs").get<std::vector<double>>();
  return symbol(std::size_t(std::ranges::max_element(obs) - obs.begin()));
}

std::optional<json> act(const json&, std::string_view said) {
  if (said.size() != 1 || said[0] < '0' || said[0] >= '0' + slow_symbols::symbols)
    return std::nullopt;
  return json{{"action", said[0] - '0'}};
}

std::vector<dialogue_turn> practise(action_random& random) {
  std::vector<dialogue_turn> turns;
  for (int i = 0; i < slow_symbols::episode_steps; ++i) {
    const auto shown = random.below(slow_symbols::symbols),
               said = random.below(slow_symbols::symbols);
    turns.push_back({symbol(shown), move(said)});
  }
  return turns;
}

openenv::text_view view() { return {.rules = {}, .show = show, .act = act, .practise = practise}; }

/// Two layers of 64, so that time is mostly waited.
prompt_format small_letters() {
  auto made = prompt_format_of(grpo_config{});
  auto& c = made.config;
  c.hidden_size = 64;
  c.intermediate_size = 176;
  c.layers = 2;
  c.heads = c.kv_heads = 2;
  c.max_positions = 128;
  return made;
}

/// Says legal moves, and no better ones than chance.
task<at::Tensor> first_weights() {
  grpo_config config;
  config.warm_start = {.batches = 40, .batch_size = 16, .lr = 3e-3};
  const auto format = small_letters();
  const auto start = co_await starting_weights(config, format, practise_replies(format, practise));
  co_return start.parameters;
}

struct services {
  grpo_stage stage;
  answer_roles evaluation;
};

task<services> serve_roles(system& sys, std::string url, std::int64_t max_staleness) {
  const auto start = co_await first_weights();
  grpo_stage_options options{.format = small_letters(),
                             .start = start,
                             .groups = groups,
                             .answers = games,
                             .max_completion_tokens = 2,
                             .max_staleness = max_staleness,
                             .lr = 1e-3};
  services made{.stage = co_await serve_grpo_stage(sys, std::move(options)), .evaluation = {}};
  auto& roles = made.stage.roles;
  const std::vector<llm::problem> deals(1);  // a prompt is a seed
  roles.prompts = co_await sys.serve<prompt_source>({.name = "prompts"}, deals, false, 1u);
  const auto worlds = openenv::worlds_on({.urls = {url}});
  serve_options playing{.name = "worlds", .replicas = groups * games};
  const openenv::text_game game{.view = view()};
  roles.tasks.resize(1);
  roles.tasks[0].worlds =
      co_await sys.serve<text_world>(std::move(playing), text_environment_of(game, worlds).make,
                                     text_world_options{.refusal_ends = true});
  roles.tasks[0].turns = slow_symbols::episode_steps;
  made.evaluation = roles;
  made.evaluation.prompts =
      co_await sys.serve<prompt_source>({.name = "evaluation"}, deals, false, 1000u);
  made.evaluation.group = 1;
  made.evaluation.sampling = {.temperature = 0};
  co_return made;
}

/// One update, which takes slow_update_time.
task<std::int64_t> train(grpo_stage with, std::vector<answer_group> made, std::int64_t version) {
  co_await train_on(with, std::move(made), slow_update_time);
  co_return version;
}

task<> play_some(answer_roles roles, std::size_t count, double* sum) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto group = co_await generate_answers(roles);
    *sum += group.answers.front().reward;
  }
}

task<double> mean_return(answer_roles evaluation) {
  constexpr std::size_t at_once = groups * games;
  double sum = 0;
  std::vector<task<>> all_of_them;
  for (std::size_t i = 0; i < at_once; ++i)
    all_of_them.push_back(play_some(evaluation, evaluation_games / at_once, &sum));
  co_await all(std::move(all_of_them));
  co_return sum / double(evaluation_games);
}

struct measured {
  double episodes_per_second = 0, start_return = 0, final_return = 0;
  std::int64_t staleness_max = 0;
};

/// In `whole` the loop is asynchronous, and new weights wait until the episodes under way have
/// ended.
enum class loop_kind { sync, whole, partial };

task<measured> run_loop(system& sys, std::string url, loop_kind kind) {
  const bool async = kind != loop_kind::sync;
  auto with = co_await serve_roles(sys, url, async ? 4 : 0);
  if (kind == loop_kind::whole) with.stage.roles.gate = std::make_shared<loops::update_gate>();
  const double start_return = co_await mean_return(with.evaluation);
  std::int64_t version = 0;
  const loops::hooks<answer_group> hooks{.train = [&](std::vector<answer_group> made) {
    return train(with.stage, std::move(made), ++version);
  }};
  const loops::asynchronous_options overlapping{.rollouts = groups, .updates = updates};
  const loops::synchronous_options in_turn{.batch = groups, .updates = updates};
  const auto& roles = with.stage.roles;
  auto looping = async ? loops::asynchronous(roles, generate_answers, hooks, overlapping)
                       : loops::synchronous(roles, generate_answers, hooks, in_turn);
  const auto totals = co_await std::move(looping);
  const auto seen = co_await roles.replay.route<&replay_queue<answer_group>::counts>();
  const double final_return = co_await mean_return(with.evaluation);
  co_return measured{double(totals.steps * std::int64_t(games)) / totals.wall, start_return,
                     final_return, seen.staleness_max};
}

measured measure(const std::string& url, loop_kind kind) {
  system sys({.threads = 2});
  const auto seen = sys.run(run_loop(sys, url, kind));
  const char* const names[] = {"synchronous", "asynchronous, whole episodes",
                               "asynchronous, partial episodes"};
  std::printf("  %-30s: %.1f episodes/s, staleness up to %lld, return %.1f, then %.1f of %lld\n",
              names[static_cast<int>(kind)], seen.episodes_per_second,
              static_cast<long long>(seen.staleness_max), seen.start_return, seen.final_return,
              static_cast<long long>(slow_symbols::episode_steps));
  return seen;
}

}  // namespace

void measure_grpo_loops(nlohmann::ordered_json& results) {
  metrics_registry metrics;
  // As many threads as there may be steps under way.
  const openenv_server::server slow([] { return std::make_unique<vector_env<slow_symbols>>(1); },
                                    {.port = 0, .threads = 2 * groups * games}, metrics);
  const auto url = "http://127.0.0.1:" + std::to_string(slow.port());
  const auto sync = measure(url, loop_kind::sync);
  const auto whole = measure(url, loop_kind::whole);
  const auto async = measure(url, loop_kind::partial);
  results["grpo_async_over_sync"] = async.episodes_per_second / sync.episodes_per_second;
  // The games of a group are of one deal, and so of one length.
  results["grpo_async_over_sync_ceiling"] =
      async_ceiling(groups, std::chrono::duration<double>(slow_update_time).count());
  results["grpo_start_return"] = sync.start_return;
  results["grpo_sync_return"] = sync.final_return;
  results["grpo_async_return"] = async.final_return;
  results["grpo_async_staleness_max"] = async.staleness_max;
  results["partial_over_whole"] = async.episodes_per_second / whole.episodes_per_second;
  results["grpo_whole_return"] = whole.final_return;
}

}  // namespace troupe
