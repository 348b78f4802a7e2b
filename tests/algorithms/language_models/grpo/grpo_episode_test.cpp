#include "actors/torch/torch.hpp"

#include "algorithms/language_models/grpo/grpo_episode.hpp"

#include <cstdlib>
#include <limits>
#include <numeric>

#include "runtime/base/log.hpp"
#include "runtime/coroutine/combine.hpp"
#include "runtime/system/system.hpp"
#include "tests/algorithms/language_models/grpo/small_groups.hpp"
#include "tests/paths.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using judge_function = std::function<double(const llm::answered_problem&)>;

/// The services of an episode, with a judge of the test's own. `deadline`: of the generator, whose
/// messages alone are late where a test says that any are.
task<answer_roles> serve_roles(system& sys, judge_function judge, duration deadline = no_limit) {
  auto config = small_model();
  auto store = co_await sys.serve<weight_store>({.name = "weights", .faults = false});
  weights first{3, small_weights(), {}};
  co_await store.route<&weight_store::put>(first);
  answer_roles roles;
  auto format = std::make_shared<prompt_format>(prompt_format_of({}));
  format->config = config;
  roles.format = format;
  llm::generator_options writing{
      .config = config, .engine = {}, .texts = llm::texts_of(format->tokens)};
  roles.generators = co_await sys.serve<llm::generator>({.name = "generator", .deadline = deadline},
                                                        writing, store);
  auto problems = llm::make_problems(llm::sum_digits_task(), {.training = 20, .held_out = 5}, 1);
  roles.prompts = co_await sys.serve<prompt_source>({.name = "prompts", .faults = false},
                                                    problems.training, true, 1);
  const std::vector<reward_function<llm::answered_problem>> functions{{"test", judge}};
  roles.tasks.resize(1);
  roles.tasks[0].rewards =
      co_await sys.serve<answer_judge>({.name = "rewards", .faults = false}, functions);
  roles.replay =
      co_await sys.serve<replay_queue<answer_group>>({.name = "replay"}, replay_options{});
  roles.group = 6;
  roles.max_completion_tokens = 4;
  co_return roles;
}

void play(task<> (*what)(system&), const fault_plan& faults = {}) {
  troupe::system sys({.deterministic = true, .seed = 1, .faults = faults});
  sys.run(what(sys));
}

double length_of(const llm::answered_problem& a) { return double(a.answer.size()); }

task<> answer_one_prompt(system& sys) {
  const auto roles = co_await serve_roles(sys, length_of);
  const auto group = co_await generate_answers(roles);
  CHECK(group.version == 3);
  CHECK(group.answers.size() == 6);
  CHECK(group.prompt == roles.format->prompt_of(group.asked));
  CHECK(group.dropped.empty());
  const auto stop = roles.format->stop_ids();
  for (const auto& a : group.answers) {
    CHECK(a.tokens.size() == a.log_probs.size());
    CHECK(a.reward == double(a.text.size()));
    // The token that ends an answer is trained on, too.
    CHECK(a.truncated == (a.tokens.back() != stop.back()));
    CHECK(a.text.size() + !a.truncated == a.tokens.size());
  }
  const auto next = co_await generate_answers(roles);
  CHECK(next.asked.letters != group.asked.letters);
}

TEST_CASE("generate_answers: a prompt, its answers and their rewards") { play(answer_one_prompt); }

double always_one(const llm::answered_problem&) { return 1.0; }

task<> weigh_rewards(system& sys) {
  auto roles = co_await serve_roles(sys, length_of);
  const std::vector<reward_function<llm::answered_problem>> functions{{"length", length_of, 0.25},
                                                                      {"one", always_one, 3.0}};
  roles.tasks[0].rewards =
      co_await sys.serve<answer_judge>({.name = "weighted", .faults = false}, functions);
  const auto group = co_await generate_answers(roles);
  for (const auto& a : group.answers) {
    CHECK(a.reward == 0.25 * double(a.text.size()) + 3.0);
    CHECK(a.right == double(a.text.size()));
  }
}

TEST_CASE("generate_answers: a reward is the weighted sum, and right is its first part") {
  play(weigh_rewards);
}

double sometimes_broken(const llm::answered_problem& a) {
  if (a.answer.size() == 4) throw std::runtime_error("the judge has fallen asleep");
  if (a.answer.size() == 3) return std::numeric_limits<double>::quiet_NaN();
  return length_of(a);
}

task<> drop_what_cannot_be_judged(system& sys) {
  auto roles = co_await serve_roles(sys, sometimes_broken);
  roles.group = 40;
  const auto group = co_await generate_answers(roles);
  CHECK(group.answers.size() > 0);
  CHECK(group.dropped.at("reward") == 40 - std::ssize(group.answers));
  CHECK(group.dropped.at("reward") > 0);
  for (const auto& a : group.answers) CHECK(a.text.size() < 3);
}

TEST_CASE("generate_answers: an answer whose reward throws or is NaN is dropped and counted") {
  play(drop_what_cannot_be_judged);
}

/// Three prompts are asked, and none of the answers can be trained on.
task<> check_all_dropped(answer_roles roles, std::string reasons) {
  roles.rounds = 3;
  std::string said;
  try {
    co_await generate_answers(roles);
  } catch (const std::runtime_error& e) {
    said = e.what();
  }
  CHECK(said ==
        "grpo: none of the 6 answers to each of 3 prompts can be trained on; dropped, by reason: " +
            reasons);
}

double always_broken(const llm::answered_problem&) { throw std::runtime_error("no"); }

task<> ask_in_vain(system& sys) {
  const auto roles = co_await serve_roles(sys, always_broken);
  co_await check_all_dropped(roles, "reward 18; the last error: reward \"test\": no");
}

TEST_CASE("generate_answers: a group without any answer is asked anew, and then an error") {
  play(ask_in_vain);
}

/// Requests and replies take up to ten seconds each: one of 22 calls ends within three.
const fault_plan slow_messages{.delay = 1, .delay_limit = std::chrono::seconds(10)};

task<> drop_what_is_late(system& sys) {
  auto roles = co_await serve_roles(sys, length_of, std::chrono::seconds(3));
  roles.rounds = 100;
  const auto group = co_await generate_answers(roles);
  CHECK(group.answers.size() == 6);
  CHECK(group.dropped.at("deadline") > 0);
  CHECK(group.dropped.at("deadline") % 6 == 0);
}

TEST_CASE("generate_answers: a group that is written too late is dropped and counted") {
  play(drop_what_is_late, slow_messages);
}

task<> wait_in_vain(system& sys) {
  const auto roles = co_await serve_roles(sys, length_of, std::chrono::milliseconds(1));
  co_await check_all_dropped(roles, "deadline 18");
}

TEST_CASE("generate_answers: where none is written in time that is an error, after all rounds") {
  play(wait_in_vain, slow_messages);
}

task<> drop_what_is_judged_late(system& sys) {
  auto roles = co_await serve_roles(sys, length_of);
  const std::vector<reward_function<llm::answered_problem>> functions{{"test", length_of}};
  roles.tasks[0].rewards = co_await sys.serve<answer_judge>(
      {.name = "slow", .deadline = std::chrono::seconds(10)}, functions);
  roles.group = 40;
  const auto group = co_await generate_answers(roles);
  CHECK(group.answers.size() > 0);
  CHECK(group.dropped.at("reward") == 40 - std::ssize(group.answers));
  CHECK(group.dropped.at("reward") > 0);
}

TEST_CASE("generate_answers: an answer that is judged too late is dropped and counted") {
  play(drop_what_is_judged_late, slow_messages);
}

task<> serve_python(system& sys, answer_roles& roles, const char* function) {
  ::setenv("PYTHONPATH", testing::source_path("tests/actors/python/functions").c_str(), 1);
  python_reward_options options{
      .functions = {function}, .timeout = 20, .python = {.interpreter = "/usr/bin/python3"}};
  serve_options serving{.name = "python",
                        .placement = placement::thread,
                        .max_batch = 4,
                        .max_restarts = 100,
                        .idempotent = {endpoint<&python_reward::evaluate>}};
  roles.tasks[0].rewards = {};
  roles.tasks[0].python_rewards =
      co_await sys.serve<python_reward>(std::move(serving), std::move(options));
}

/// What rewards.py computes by the same name.
double fingerprint(const llm::answered_problem& a) {
  std::uint64_t value = 0;
  for (const char c : a.asked.letters + '|' + a.answer + '|' + a.asked.expected)
    value = (value * 31 + static_cast<unsigned char>(c)) % 1000003;
  return double(value);
}

task<> judge_in_both(system& sys) {
  auto roles = co_await serve_roles(sys, fingerprint);
  co_await serve_python(sys, roles, "rewards:fingerprint");
  std::vector<task<answer_group>> groups;
  for (int i = 0; i < 8; ++i) groups.push_back(generate_answers(roles));
  const auto written = co_await all(std::move(groups));
  for (const auto& group : written) {
    CHECK(group.answers.size() == 6);
    for (const auto& a : group.answers) {
      CHECK(a.reward == fingerprint({group.asked, a.text}));
      CHECK(a.right == a.reward);
    }
  }
}

TEST_CASE("generate_answers: rewards in Python are those of the same function in C++") {
  system sys({.threads = 1});
  sys.run(judge_in_both(sys));
}

task<> give_what_trl_gives(system& sys) {
  auto roles = co_await serve_roles(sys, fingerprint);
  co_await serve_python(sys, roles, "rewards:of_ids");
  auto group = co_await generate_answers(roles);
  for (const auto& a : group.answers)
    CHECK(a.reward == double(std::accumulate(a.tokens.begin(), a.tokens.end(), 0)));
}

TEST_CASE("generate_answers: rewards in Python get the tokens of the answers") {
  system sys({.threads = 1});
  sys.run(give_what_trl_gives(sys));
}

task<> give_the_progress(system& sys) {
  auto roles = co_await serve_roles(sys, fingerprint);
  co_await serve_python(sys, roles, "rewards:of_state");
  roles.tasks[0].updates = 7;
  roles.tasks[0].epochs_per_update = 2.0;
  const auto group = co_await generate_answers(roles);
  // The weights have version 3, so that three updates of two epochs each have passed.
  for (const auto& a : group.answers) CHECK(a.reward == 3 + 100 * 7 + 10000 * 6);
}

TEST_CASE("generate_answers: rewards in Python get the progress of the run") {
  system sys({.threads = 1});
  sys.run(give_the_progress(sys));
}

task<> drop_what_kills(system& sys) {
  auto roles = co_await serve_roles(sys, fingerprint);
  const auto first = co_await roles.prompts.route<&prompt_source::next>();
  ::setenv("TROUPE_TEST_PROMPT", first.asked.letters.c_str(), 1);
  co_await roles.prompts.route<&prompt_source::rewind>(std::uint64_t{1});
  co_await serve_python(sys, roles, "rewards:dies_for_a_prompt");
  roles.rounds = 2;
  const auto group = co_await generate_answers(roles);
  CHECK(group.asked.letters != first.asked.letters);
  CHECK(group.answers.size() == 6);
  CHECK(group.dropped == std::map<std::string, std::int64_t>{{"reward", 6}});
}

TEST_CASE("generate_answers: answers whose reward ends its process in Python are dropped") {
  log::set_level("off");
  system sys({.threads = 1});
  sys.run(drop_what_kills(sys));
  log::set_level("info");
}

double constant(const llm::answered_problem&) { return 0.5; }

task<> refill(system& sys) {
  auto roles = co_await serve_roles(sys, constant);
  roles.rounds = 3;
  const auto first = co_await generate_answers(roles);
  CHECK(first.zero_variance_before == 0);
  roles.refill_zero_variance = true;
  const auto group = co_await generate_answers(roles);
  CHECK(group.zero_variance_before == 2);
  CHECK(group.answers.size() == 6);
}

TEST_CASE("generate_answers: groups without variance are replaced, as often as is allowed") {
  play(refill);
}

}  // namespace
}  // namespace troupe
