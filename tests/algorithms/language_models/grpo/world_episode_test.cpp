#include "actors/torch/torch.hpp"

#include "algorithms/language_models/grpo/world_episode.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <set>

#include "actors/openenv/server/local_world.hpp"
#include "runtime/system/system.hpp"
#include "tests/algorithms/language_models/grpo/small_groups.hpp"
#include "tests/algorithms/language_models/thinking_model.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using nlohmann::json;

/// Counts down; a word's reward is how many letters it has.
struct countdown final : openenv::json_world {
  explicit countdown(int turns = 3) : turns(turns) {}

  int turns;
  int left = 0;
  std::uint64_t seed = 0;

  task<openenv::result> reset(json with) override {
    seed = with["seed"].get<std::uint64_t>();
    left = turns;
    co_return shown(0);
  }
  task<openenv::result> step(json said) override {
    --left;
    co_return shown(double(said["said"].get<std::string>().size()));
  }
  void end_episode() override { ++ended_by_caller; }

  static inline std::atomic<int> ended_by_caller{0};

 private:
  openenv::result shown(double reward) const {
    return {
        .observation = {{"left", left}, {"deal", seed % 10}}, .reward = reward, .ended = left == 0};
  }
};

openenv::text_view countdown_view() {
  const auto show = [](const json& now) {
    return wording{
        "", std::to_string(now["deal"].get<int>()) + "-" + std::to_string(now["left"].get<int>())};
  };
  const auto act = [](const json&, std::string_view said) {
    return std::optional(json::object({{"said", said}}));
  };
  return {.rules = "", .show = show, .act = act, .practise = {}};
}

std::shared_ptr<const prompt_format> format_for(std::int64_t max_positions) {
  const auto format = std::make_shared<prompt_format>(prompt_format_of({}));
  format->config = small_model();
  format->config.max_positions = max_positions;
  return format;
}

/// The services of an episode on such worlds, of which generator and worlds have that deadline, and
/// the generator alone has late messages where a test says that any are.
task<answer_roles> serve_roles(system& sys, openenv::world_maker make,
                               duration deadline = no_limit) {
  const auto store = co_await sys.serve<weight_store>({.name = "weights", .faults = false});
  weights first{3, small_weights(), {}};
  co_await store.route<&weight_store::put>(first);
  answer_roles roles;
  roles.format = format_for(64);
  llm::generator_options writing{
      .config = small_model(), .engine = {}, .texts = llm::texts_of(roles.format->tokens)};
  roles.generators = co_await sys.serve<llm::generator>(
      {.name = "generator", .max_ongoing = 64, .deadline = deadline}, writing, store);
  roles.prompts = co_await sys.serve<prompt_source>({.name = "prompts", .faults = false},
                                                    std::vector<llm::problem>(1), true, 1u);
  const openenv::text_game game{.view = countdown_view()};
  roles.tasks.resize(1);
  roles.tasks[0].worlds = co_await sys.serve<text_world>(
      {.name = "worlds", .replicas = 3, .deadline = deadline, .faults = false},
      openenv::text_environment_of(game, make).make,
      text_world_options{.refusal_ends = true, .refusal_reward = -1});
  roles.group = 6;
  roles.max_completion_tokens = 4;
  roles.tasks[0].turns = 5;
  co_return roles;
}

openenv::world_maker countdowns(int turns = 3) {
  return [turns] { return std::make_unique<countdown>(turns); };
}

void play(task<> (*what)(system&), const fault_plan& faults = {}) {
  troupe::system sys({.deterministic = true, .seed = 1, .faults = faults});
  sys.run(what(sys));
}

/// Pieces of the answer that were sampled, and those that were read, in turn.
std::vector<std::vector<llm::token_id>> pieces_of(const sampled_answer& a) {
  std::vector<std::vector<llm::token_id>> pieces;
  std::int64_t next = 0;
  const auto add = [&](std::int64_t end) {
    pieces.emplace_back(a.tokens.begin() + next, a.tokens.begin() + end);
    next = end;
  };
  for (const auto& range : a.read) {
    add(range.begin);
    add(range.end);
  }
  add(std::ssize(a.tokens));
  return pieces;
}

task<> play_one_group(system& sys) {
  const auto roles = co_await serve_roles(sys, countdowns());
  const auto group = co_await generate_answers(roles);
  CHECK(group.version == 3);
  CHECK(group.dropped.empty());
  REQUIRE(group.answers.size() == 6);
  const auto& letters = roles.format->tokens;
  const auto deal = group.asked.letters.substr(0, 1);
  CHECK(group.asked.letters == deal + "-3");
  CHECK(group.prompt == letters.encode(deal + "-3"));
  llm::token_group trained{.prompt = group.prompt, .answers = {}, .read = {}};
  std::vector<float> as_drawn;
  for (const auto& a : group.answers) {
    const auto pieces = pieces_of(a);
    REQUIRE(pieces.size() == 5);
    std::size_t sampled = 0, said = 0;
    bool cut = false;
    for (std::size_t i = 0; i < 5; i += 2) {
      const auto& move = pieces[i];
      const bool ended = move.back() == roles.format->stop_ids().back();
      sampled += move.size();
      said += move.size() - ended;
      CHECK((ended || move.size() == 4));
      cut = cut || !ended;
      if (i == 4) break;
      // What the game said, after an end of the turn that the model may have owed.
      auto expected = letters.encode(deal + "-" + std::to_string(2 - i / 2));
      if (!ended) expected.insert(expected.begin(), roles.format->stop_ids().back());
      CHECK(pieces[i + 1] == expected);
    }
    CHECK(a.log_probs.size() == sampled);
    CHECK(a.reward == double(said));
    CHECK(a.right == (said > 0));
    CHECK(a.truncated == cut);
    trained.answers.push_back(a.tokens);
    trained.read.push_back(a.read);
    as_drawn.insert(as_drawn.end(), a.log_probs.begin(), a.log_probs.end());
  }
  // What was sampled in later turns saw the turns before it, in the trainer, too.
  const at::NoGradGuard no_grad;
  const auto weights = small_weights();
  const auto config = small_model();
  const auto found = llm::answer_log_probs(config, llm::weights_in(config, weights), {&trained, 1});
  const auto apart = (found - at::tensor(as_drawn)).abs().max().item<double>();
  CHECK(apart < 1e-4);
  CHECK(found.std().item<double>() > 0.5);
  trained.read.clear();  // so it isn't for nothing
  CHECK(llm::answer_log_probs(config, llm::weights_in(config, weights), {&trained, 1}).size(0) >
        found.size(0));

  const auto again = co_await generate_answers(roles);
  CHECK(again.answers[0].tokens != group.answers[0].tokens);
}

TEST_CASE("world episodes: turns on one list of tokens, of which the sampled ones are trained on") {
  play(play_one_group);
}

task<> play_a_group_twice(system& sys) {
  const auto roles = co_await serve_roles(sys, countdowns());
  const auto group = co_await generate_answers(roles);
  co_await roles.prompts.route<&prompt_source::rewind>(std::uint64_t{1});
  auto alone = roles;
  alone.group = 2;
  const auto two = co_await generate_answers(alone);
  CHECK(two.asked.letters == group.asked.letters);
  for (std::size_t i = 0; i < 2; ++i) CHECK(two.answers[i].tokens == group.answers[i].tokens);
}

TEST_CASE("world episodes: what a game is doesn't depend on those beside it") {
  play(play_a_group_twice);
}

task<> cut_long_games(system& sys) {
  auto roles = co_await serve_roles(sys, countdowns());
  countdown::ended_by_caller = 0;
  co_await generate_answers(roles);  // the world ends these games
  CHECK(countdown::ended_by_caller == 0);
  roles.tasks[0].turns = 2;
  const auto group = co_await generate_answers(roles);
  for (const auto& a : group.answers) {
    CHECK(a.truncated);
    CHECK(a.read.size() == 1);
  }
  CHECK(countdown::ended_by_caller == 6);  // so that slots of servers are free
  // Prompt, four tokens, an end and three letters leave no room for another move.
  roles.format = format_for(3 + 4 + 4);
  roles.tasks[0].turns = 5;
  const auto short_of_room = co_await generate_answers(roles);
  for (const auto& a : short_of_room.answers) {
    CHECK(a.truncated);
    CHECK(std::ssize(a.tokens) <= 3 + 4 + 4);
  }
  CHECK(countdown::ended_by_caller == 12);
}

TEST_CASE("world episodes: a game ends at the limit of turns, and where the context is full") {
  play(cut_long_games);
}

/// The trainer finds the tokens of all parts as likely as they were when they were drawn.
void check_log_probs(const answer_group& group, const llm::model_config& config = small_model()) {
  llm::token_group trained{.prompt = group.prompt, .answers = {}, .read = {}};
  std::vector<float> as_drawn;
  const auto add = [&](const auto& part) {
    trained.answers.push_back(part.tokens);
    trained.read.push_back(part.read);
    as_drawn.insert(as_drawn.end(), part.log_probs.begin(), part.log_probs.end());
  };
  for (const auto& a : group.answers) {
    for (const auto& part : a.earlier) add(part);
    add(a);
  }
  const at::NoGradGuard no_grad;
  const auto weights = 3 * llm::flatten_weights(config, llm::random_weights(config, 3));
  const auto found = llm::answer_log_probs(config, llm::weights_in(config, weights), {&trained, 1});
  CHECK((found - at::tensor(as_drawn)).abs().max().item<double>() < 1e-4);
}

task<> show_two_turns(system& sys) {
  auto roles = co_await serve_roles(sys, countdowns(6));
  roles.tasks[0].turns = 6;
  roles.tasks[0].history = 2;
  const auto group = co_await generate_answers(roles);
  REQUIRE(group.answers.size() == 6);
  const auto& letters = roles.format->tokens;
  for (const auto& a : group.answers) {
    CHECK(a.turns.size() == 6);
    // Turns 1 to 3 see all that was before; each later one has a part of its own.
    REQUIRE(a.earlier.size() == 3);
    CHECK(a.earlier[0].read.size() == 2);
    for (std::size_t i = 1; i < 3; ++i) CHECK(a.earlier[i].read.size() == 1);
    REQUIRE(a.read.size() == 1);
    CHECK(a.read[0].begin == 0);
    // The last reply is written after two turns.
    const auto context = letters.decode({a.tokens.begin(), a.tokens.begin() + a.read[0].end});
    CHECK(context.find("-2") != std::string::npos);
    CHECK(context.find("-1") != std::string::npos);
    CHECK(context.find("-3") == std::string::npos);
    std::int64_t tokens = 0;
    double reward = 0;
    for (const auto& turn : a.turns) {
      tokens += turn.tokens;
      reward += turn.reward;
    }
    CHECK(a.sampled_tokens() == tokens);
    CHECK(a.reward == reward);
  }
  check_log_probs(group);
}

TEST_CASE("world episodes: with a history of two turns a reply sees the first text and two turns") {
  play(show_two_turns);
}

/// The same services with a model that reads words in the format of Qwen3.
task<answer_roles> serve_thinking(system& sys, std::optional<bool> thinking, bool keep,
                                  int shared_turns = 0) {
  auto roles = co_await serve_roles(sys, countdowns(4));
  const auto format = std::make_shared<prompt_format>(testing::thinking_format(thinking, keep));
  const auto store = co_await sys.serve<weight_store>({.name = "words weights", .faults = false});
  weights first{
      3, 3 * llm::flatten_weights(format->config, llm::random_weights(format->config, 3)), {}};
  co_await store.route<&weight_store::put>(first);
  llm::generator_options writing{
      .config = format->config, .engine = {}, .texts = llm::texts_of(format->tokens)};
  roles.generators = co_await sys.serve<llm::generator>(
      {.name = "words generator", .max_ongoing = 64}, writing, store);
  auto view = countdown_view();
  view.show = [](const json& now) {
    return wording{"left: " + std::to_string(now["left"].get<int>()), ""};
  };
  const openenv::text_game game{.view = view};
  roles.tasks[0].worlds = co_await sys.serve<text_world>(
      {.name = "words worlds", .replicas = 3, .faults = false},
      openenv::text_environment_of(game, countdowns(4)).make, text_world_options{});
  roles.tasks[0].shared_turns = shared_turns;
  roles.format = format;
  co_return roles;
}

/// The tokens that the model read before each of its replies, from all parts of an episode.
std::vector<std::vector<llm::token_id>> contexts_of(const answer_group& group,
                                                    const sampled_answer& answer) {
  std::vector<std::vector<llm::token_id>> contexts;
  const auto add = [&](const auto& part) {
    auto whole = group.prompt;
    whole.insert(whole.end(), part.tokens.begin(), part.tokens.end());
    const auto until = [&](std::int64_t end) {
      contexts.emplace_back(whole.begin(), whole.begin() + std::ssize(group.prompt) + end);
    };
    if (part.read.empty() || part.read.front().begin > 0) until(0);
    for (const auto& range : part.read) until(range.end);
  };
  for (const auto& part : answer.earlier) add(part);
  add(answer);
  return contexts;
}

/// Each reply comes after what the chat template makes of the conversation until then.
task<> drop_thoughts(system& sys, int shared_turns) {
  const auto roles = co_await serve_thinking(sys, false, false, shared_turns);
  const auto& format = *roles.format;
  const auto group = co_await generate_answers(roles);
  REQUIRE(group.answers.size() == 6);
  for (const auto& a : group.answers) {
    REQUIRE(a.turns.size() == 4);
    const auto contexts = contexts_of(group, a);
    auto said = format.opening(group.asked);
    std::size_t trained = 0;
    std::int64_t tokens = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      if (!a.turns[i].shared) {
        CHECK(contexts.at(trained++) == format.prompt_of(said));
        tokens += a.turns[i].tokens;
      }
      said.push_back({"assistant", a.turns[i].said});
      said.push_back({"user", "left: " + std::to_string(3 - i)});
    }
    CHECK(trained == contexts.size());
    CHECK(a.sampled_tokens() == tokens);
  }
  check_log_probs(group, format.config);
}

task<> drop_thoughts_alone(system& sys) { co_await drop_thoughts(sys, 0); }
task<> drop_thoughts_after_shared_turns(system& sys) { co_await drop_thoughts(sys, 2); }

TEST_CASE("world episodes: each reply is trained after the turns as the template writes them") {
  play(drop_thoughts_alone);
  play(drop_thoughts_after_shared_turns);
}

task<> keep_thoughts(system& sys) {
  const auto roles = co_await serve_thinking(sys, false, true);
  const auto group = co_await generate_answers(roles);
  REQUIRE(group.answers.size() == 6);
  for (const auto& a : group.answers) {
    CHECK(a.earlier.empty());  // one list of tokens, in which nothing is encoded again
    const auto last = roles.format->tokens.decode(contexts_of(group, a).back());
    const std::string empty = "<think>\n\n</think>\n\n";
    std::size_t times = 0;
    for (auto at = last.find(empty); at != last.npos; at = last.find(empty, at + 1)) ++times;
    CHECK(times == 4);
  }
  check_log_probs(group, roles.format->config);
}

TEST_CASE("world episodes: with kept thoughts the turns stay on one list of tokens") {
  play(keep_thoughts);
}

task<> forget_where_it_is_full(system& sys) {
  auto roles = co_await serve_roles(sys, countdowns(6));
  roles.tasks[0].turns = 6;
  roles.format = format_for(3 + 3 * (4 + 4) + 4);  // room for the prompt and four replies
  roles.tasks[0].context = full_context_rule::forget;
  const auto group = co_await generate_answers(roles);
  bool forgot = false;
  for (const auto& a : group.answers) {
    CHECK(a.turns.size() == 6);
    forgot = forgot || !a.earlier.empty();
    CHECK(std::ssize(group.prompt) + std::ssize(a.tokens) <= roles.format->config.max_positions);
  }
  CHECK(forgot);
  check_log_probs(group);
}

TEST_CASE("world episodes: where the context is full the older half of the turns is forgotten") {
  play(forget_where_it_is_full);
}

task<> share_first_turns(system& sys) {
  auto roles = co_await serve_roles(sys, countdowns(6));
  roles.tasks[0].turns = 6;
  roles.tasks[0].shared_turns = 3;
  std::set<std::int64_t> counts;
  for (int round = 0; round < 12; ++round) {
    const auto group = co_await generate_answers(roles);
    REQUIRE(group.answers.size() == 6);
    const auto shared = std::ranges::count_if(group.answers[0].turns, &answer_turn::shared);
    counts.insert(shared);
    for (const auto& a : group.answers) {
      REQUIRE(a.turns.size() == 6);
      double reward = 0;
      std::int64_t trained = 0;
      for (std::size_t i = 0; i < 6; ++i) {
        CHECK(a.turns[i].shared == (std::int64_t(i) < shared));
        if (a.turns[i].shared) CHECK(a.turns[i].said == group.answers[0].turns[i].said);
        reward += a.turns[i].reward;
        trained += a.turns[i].shared ? 0 : a.turns[i].tokens;
      }
      CHECK(a.reward == reward);
      CHECK(a.sampled_tokens() == trained);
    }
    check_log_probs(group);
  }
  CHECK(counts == std::set<std::int64_t>{0, 1, 2, 3});
}

TEST_CASE("world episodes: a group shares a number of first turns, which are not trained on") {
  play(share_first_turns);
}

task<> end_while_sharing(system& sys) {
  auto roles = co_await serve_roles(sys, countdowns(2));
  roles.tasks[0].turns = 6;
  roles.tasks[0].shared_turns = 5;
  for (int round = 0; round < 6; ++round) {
    const auto group = co_await generate_answers(roles);
    REQUIRE(group.answers.size() == 6);
    for (const auto& a : group.answers) {
      CHECK(a.turns.size() == 2);
      CHECK_FALSE(a.turns.back().shared);
    }
  }
}

TEST_CASE("world episodes: the last turn of an episode is never shared") {
  play(end_while_sharing);
}

/// A world that goes wrong, at its second turn, if the count of its episode says so.
struct frail final : openenv::json_world {
  enum class fault { none, dies, cheats, pays_nan };

  explicit frail(std::shared_ptr<int> episodes) : episodes(std::move(episodes)) {}

  task<openenv::result> reset(json with) override {
    faulty = fault((*episodes)++ % 4);
    if (faulty == fault::cheats) with["seed"] = with["seed"].get<std::uint64_t>() + 1;
    return inner.reset(std::move(with));
  }
  task<openenv::result> step(json said) override {
    if (inner.left == 2 && faulty == fault::dies)
      throw openenv::error(openenv::failure::closed, "the server is gone");
    auto made = co_await inner.step(std::move(said));
    if (faulty == fault::pays_nan) made.reward = std::numeric_limits<double>::quiet_NaN();
    co_return made;
  }

  std::shared_ptr<int> episodes;
  countdown inner;
  fault faulty = fault::none;
};

task<> drop_what_goes_wrong(system& sys) {
  const auto episodes = std::make_shared<int>(0);
  auto roles = co_await serve_roles(sys, [=] { return std::make_unique<frail>(episodes); });
  roles.group = 8;
  const auto group = co_await generate_answers(roles);
  CHECK(*episodes == 8);
  CHECK(group.answers.size() == 2);
  CHECK(group.dropped ==
        std::map<std::string, std::int64_t>{{"deal", 2}, {"environment", 2}, {"reward", 2}});
  for (const auto& a : group.answers) CHECK(a.read.size() == 2);
}

TEST_CASE(
    "world episodes: games whose world dies, deals otherwise or pays NaN are dropped and counted") {
  play(drop_what_goes_wrong);
}

task<> drop_late_moves(system& sys) {
  auto roles = co_await serve_roles(sys, countdowns(), std::chrono::seconds(10));
  roles.group = 8;
  roles.rounds = 10;
  const auto group = co_await generate_answers(roles);
  CHECK(group.answers.size() > 0);
  CHECK(group.answers.size() < 8);
  CHECK(group.dropped.at("deadline") > 0);
  std::int64_t dropped = 0;  // those that have waited too long for a world among them
  for (const auto& [reason, count] : group.dropped) dropped += count;
  CHECK(dropped % 8 == 8 - std::ssize(group.answers));
}

TEST_CASE("world episodes: a game whose move is written too late is dropped and counted") {
  play(drop_late_moves, {.delay = 1, .delay_limit = std::chrono::seconds(10)});
}

/// A world that takes its time.
struct slow final : openenv::json_world {
  task<openenv::result> reset(json with) override {
    auto made = co_await inner.reset(std::move(with));
    co_return made;
  }
  task<openenv::result> step(json said) override {
    co_await sleep_for(std::chrono::seconds(30));
    auto made = co_await inner.step(std::move(said));
    co_return made;
  }

  countdown inner;
};

task<> wait_for_worlds(system& sys) {
  // Six games want three worlds, each of which is busy with its first for a minute and a half.
  auto roles =
      co_await serve_roles(sys, [] { return std::make_unique<slow>(); }, std::chrono::seconds(61));
  const auto group = co_await generate_answers(roles);
  CHECK(group.answers.size() == 3);
  CHECK(group.dropped == std::map<std::string, std::int64_t>{{"environment", 3}});
}

TEST_CASE("world episodes: a game that waits too long for a world is dropped") {
  play(wait_for_worlds);
}

struct dead final : openenv::json_world {
  task<openenv::result> reset(json) override {
    throw openenv::error(openenv::failure::connect, "nobody is there");
  }
  task<openenv::result> step(json) override { throw std::logic_error("no episode"); }
};

task<> play_in_vain(system& sys) {
  auto roles = co_await serve_roles(sys, [] { return std::make_unique<dead>(); });
  roles.rounds = 3;
  std::string said;
  try {
    co_await generate_answers(roles);
  } catch (const std::runtime_error& e) {
    said = e.what();
  }
  CHECK(said ==
        "grpo: none of the 6 answers to each of 3 prompts can be trained on; dropped, by reason: "
        "environment 18");
}

TEST_CASE(
    "world episodes: where no world answers, other deals are tried, and then it is an error") {
  play(play_in_vain);
}

}  // namespace
}  // namespace troupe
