// GRPO composed by hand, for programs that change the algorithm. The episode and the reward role
// are this program's own, and the other parts are those of `troupe train --algo grpo`.
//
// The roles:
//   prompts     draws numbers of two digits, whose sum is asked; an evaluation asks each once
//   generator   writes a group of answers to each prompt with the newest weights
//   judges      score an answer; their class is in this file
//   replay      hands each group to the trainer once, unless it is too stale
//   trainer     updates the weights by GRPO, which go to the store and the generator
//   weights     stores the weights
//
//   ./grpo_from_parts
//
// The change to the algorithm takes a few lines of the episode: it writes sixteen answers to a
// prompt and learns from the four best and the four worst (Xu et al., "Not All Rollouts are
// Useful", 2025). It takes eight seconds of CPU and prints the share of right answers to its eighty
// numbers, which begins at a third after a few supervised batches.

#include <algorithm>
#include <cstdio>
#include <functional>

#include "actors/torch/torch_threads.hpp"
#include "algorithms/language_models/grpo/grpo_episode.hpp"
#include "algorithms/language_models/grpo/grpo_trainer.hpp"
#include "algorithms/loops/loops.hpp"
#include "runtime/system/run.hpp"

namespace llm = troupe::llm;
namespace loops = troupe::loops;

// readme: judge
/// A role is any class. This one could also ask a model or a server.
struct judge {
  double score(llm::problem asked, std::string answer) const {
    return answer == asked.expected ? 1.0 : 0.0;
  }
};
// readme: end

/// The roles of generate_answers, and this program's own.
struct roles : troupe::answer_roles {
  troupe::service<judge> judges;
  troupe::service<troupe::grpo_trainer> learner;
  troupe::service<troupe::prompt_source> held_out;
};

// The number of best answers, and of worst answers, that are kept.
constexpr std::ptrdiff_t kept = 4;

// readme: episode_of_parts
/// The episode. The loops below all run it, and so does the evaluation, with a group of one.
troupe::task<troupe::answer_group> generate(roles r) {
  auto drawn = co_await r.prompts.route<&troupe::prompt_source::next>();
  auto group = co_await troupe::write_group(r, std::move(drawn));
  auto& answers = group.answers;
  for (auto& each : answers) {
    each.reward = co_await r.judges.route<&judge::score>(group.asked, each.text);
    each.right = each.reward;
  }
  if (std::ssize(answers) > 2 * kept) {
    std::ranges::stable_sort(answers, std::greater(), &troupe::sampled_answer::reward);
    answers.erase(answers.begin() + kept, answers.end() - kept);
  }
  co_return group;
}
// readme: end

/// One update: the trainer learns, and the generator gets its weights.
troupe::task<std::int64_t> train(roles r, std::vector<troupe::answer_group> groups) {
  co_await r.learner.route<&troupe::grpo_trainer::train_step>(std::move(groups), 1.0, std::nullopt);
  co_return co_await troupe::push_weights(r.learner, r.generators);
}

/// The share of right answers if the likeliest tokens are taken.
troupe::task<double> right_answers(roles r, int count) {
  co_await r.held_out.route<&troupe::prompt_source::rewind>(std::uint64_t{2});
  r.prompts = r.held_out;
  r.group = 1;
  r.sampling.temperature = 0;
  double right = 0;
  for (int i = 0; i < count; ++i) {
    const auto asked = co_await generate(r);
    right += asked.answers.front().right;
  }
  co_return right / count;
}

troupe::task<roles> serve_roles(troupe::system& sys) {
  roles r;
  const auto problems =
      make_problems(llm::sum_digits_task(), {.size = 2, .training = 80, .held_out = 10}, 1);
  r.prompts =
      co_await sys.serve<troupe::prompt_source>({.name = "prompts"}, problems.training, true, 1);
  r.held_out =
      co_await sys.serve<troupe::prompt_source>({.name = "held_out"}, problems.training, false, 2);
  r.judges = co_await sys.serve<judge>({.name = "judges", .replicas = 2});
  r.replay = co_await sys.serve<troupe::replay_queue<troupe::answer_group>>(
      {.name = "replay"}, troupe::replay_options{.batch = 16});

  // A few right answers have taught the letters model the form of an answer.
  const troupe::grpo_config config{.warm_start = {.batches = 8, .batch_size = 32, .lr = 3e-3}};
  const auto format =
      std::make_shared<const troupe::prompt_format>(troupe::prompt_format_of(config));
  const auto start = co_await troupe::starting_weights(
      config, *format, troupe::answer_problems(*format, problems.training));
  r.format = format;
  r.group = 16;
  r.max_completion_tokens = 3;

  const auto store = co_await sys.serve<troupe::weight_store>({.name = "weights"});
  const troupe::grpo_model model{
      .config = format->config, .max_completion_tokens = r.max_completion_tokens, .lr = 6e-4};
  std::function<std::unique_ptr<troupe::grpo_learner>()> make = [=] {
    return std::make_unique<troupe::grpo_learner>(model, troupe::grpo_options{}, start, 1);
  };
  r.learner = co_await sys.serve<troupe::grpo_trainer>(
      {.name = "trainer", .placement = troupe::placement::thread}, make, store);
  const llm::generator_options writing{
      .config = format->config, .engine = {.slots = 64}, .texts = llm::texts_of(format->tokens)};
  r.generators = co_await sys.serve<llm::generator>(
      {.name = "generator", .placement = troupe::placement::thread, .max_ongoing = 16}, writing,
      store);
  co_return r;
}

troupe::task<> tell(roles r, std::int64_t updates) {
  if (updates % 10 != 0) co_return;
  const double right = co_await right_answers(r, 80);
  std::printf("update %lld: %.0f %% right\n", static_cast<long long>(updates), 100 * right);
}

troupe::task<> learn(troupe::system& sys) {
  const auto r = co_await serve_roles(sys);
  co_await tell(r, 0);
  loops::hooks<troupe::answer_group> hooks{
      .train =
          [&](std::vector<troupe::answer_group> groups) { return train(r, std::move(groups)); },
      .updated = [&](std::int64_t version) { return tell(r, version); }};
  co_await loops::synchronous(r, generate, hooks, {.batch = 16, .updates = 40});
}

int main(int argc, char** argv) {
  troupe::use_one_torch_thread();
  return troupe::run(argc, argv, learn);
}
