// What every built-in algorithm allocates, counted on short deterministic runs.

#include "actors/torch/torch.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "actors/llm/generator/generation_engine.hpp"
#include "algorithms/run/training_run.hpp"
#include "tests/algorithms/allocations/count.hpp"
#include "tests/algorithms/contract/subjects.hpp"
#include "tests/algorithms/stage.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using namespace testing;

constexpr int environments = 2;
constexpr int updates = 32;
constexpr int updates_of_texts = 6;  // of language models, which take longer
constexpr int calls = 100;

/// What an update of a run has.
struct work {
  int steps;         ///< Of each environment.
  int episodes = 1;  ///< That end in each environment.
  bool row = false;  ///< True if it writes a row of progress.csv.
};

/// Numbers of allocations. Supervised fine-tuning has no steps and no episodes.
struct counts {
  std::int64_t step = 0;     ///< Of a step of all environments, with the actions for it.
  std::int64_t episode = 0;  ///< Of an episode's end and its report.
  /// Of an update that writes a row of progress.csv, without its steps and with the ends of two
  /// episodes.
  std::int64_t update = 0;
  std::int64_t call = 0;  ///< Of a routed call that returns the newest weights.
};

// ---- runs of any size ------------------------------------------------------------------------

std::string sized(const std::string& option, std::int64_t value) {
  return option + '=' + std::to_string(value);
}

options with_episodes(const work& of) {
  return {sized("env.n_envs", environments), sized("env.max_episode_steps", of.steps / of.episodes),
          "evaluation.every_steps=0"};
}

options on_policy(const work& of) {
  return with_episodes(of) + options{"mode=sync", "rollout.batch=1",
                                     sized("rollout.n_steps", of.steps),
                                     sized("total_steps", updates * of.steps * environments),
                                     sized("log.every_updates", of.row ? 1 : 1000)};
}

/// The number of minibatches doesn't depend on the number of steps.
options with_minibatches(const work& of) {
  return on_policy(of) + options{sized("trainer.batch_size", of.steps * environments)};
}

/// The number of gradient steps is even, because TD3 updates its policy in every second one.
options off_policy(const work& of) {
  const int steps = of.steps * environments;
  return with_episodes(of) + options{sized("collection.train_freq", of.steps),
                                     sized("collection.learning_starts", steps),
                                     sized("total_steps", (1 + updates) * steps),
                                     "collection.gradient_steps=2",
                                     "replay.capacity=4096",
                                     sized("log.episodes", of.row ? 1 : 1000)};
}

options tables(const work& of) {
  return with_episodes(of) + options{sized("collection.train_freq", of.steps),
                                     sized("total_steps", updates * of.steps * environments),
                                     sized("log.episodes", of.row ? 1 : 1000)};
}

/// In this environment no episode ends before its limit.
template <options (*Sized)(const work&)>
options in_mountains(const work& of) {
  return Sized(of) + options{"env.id=MountainCar-v0"};
}

options texts(const work&) {
  return {sized("total_steps", updates_of_texts), "trainer.batch_size=6",
          "evaluation.every_updates=0"};
}

/// Takes the likeliest token each time, so that the answers are about as long in each update.
options answers(const work&) {
  return {sized("total_steps", updates_of_texts), "evaluation.every_updates=0",
          "warm_start.batches=0", "rollout.top_k=1"};
}

// ---- counting --------------------------------------------------------------------------------

task<loops::verdict> note(std::vector<std::int64_t>& seen) {
  seen.push_back(allocations());
  co_return loops::verdict::go_on;
}

task<> train_only(training_run& run) {
  co_await run.serve_roles(nullptr);
  co_await run.train_until(run.settings.updates, false);
}

task<std::int64_t> call(training_run& run, int times) {
  const auto before = allocations();
  for (int i = 0; i < times; ++i) co_await run.store.route<&weight_store::latest>();
  co_return allocations() - before;
}

struct counts_of_run {
  std::int64_t update = 0;  ///< With its steps and episodes.
  std::int64_t calls = 0;
};

/// Counts what is allocated from the end of an update to the end of the next one, so that a run's
/// beginning and end are left out. Of all updates it takes the fewest: in the others, lists that
/// are kept for the whole run grow, or the simulated scheduler's queue, or a board is drawn because
/// a second has passed.
counts_of_run count(const algorithm& what, const std::filesystem::path& folder) {
  std::vector<std::int64_t> seen;
  seen.reserve(updates);
  system sys({.deterministic = true, .seed = 1});
  training_run run(sys, what, {.root = folder},
                   {.on_update_end = [&seen](loops::progress) { return note(seen); }});
  sys.run(train_only(run));
  counts_of_run counted{.update = std::numeric_limits<std::int64_t>::max()};
  for (std::size_t i = 1; i < seen.size(); ++i) {
    counted.update = std::min(counted.update, seen[i] - seen[i - 1]);
  }
  sys.run(call(run, calls));
  const auto once = sys.run(call(run, calls));
  counted.calls = sys.run(call(run, 2 * calls)) - once;
  return counted;
}

/// The number that `times` things have, if each has the same.
std::int64_t each_of(std::int64_t times, std::int64_t all) {
  INFO(all << " allocations of " << times);
  CHECK(all % times == 0);
  return all / times;
}

/// The first subject of the algorithm, in runs of several sizes.
class sizes_of_run {
 public:
  sizes_of_run(const std::string& algo, options (*sized)(const work&))
      : subjects_(make_subjects(stage_.folder.path)),
        subject_(*std::ranges::find(subjects_, algo, &subject::algo)),
        sized_(sized) {}

  counts_of_run count(const work& of) const {
    return troupe::count(algorithm_of_subject(subject_, sized_(of)), stage_.folder.path);
  }

 private:
  quiet_stage stage_;
  std::vector<subject> subjects_;
  subject subject_;
  options (*sized_)(const work&);
};

template <options (*Sized)(const work&)>
counts count_run(const std::string& algo) {
  constexpr int n = 32;
  const sizes_of_run runs(algo, Sized);
  const auto once = runs.count({.steps = n});
  const auto longer = runs.count({.steps = 2 * n});
  const auto two = runs.count({.steps = n, .episodes = 2});
  const auto four = runs.count({.steps = n, .episodes = 4});
  const auto rows = runs.count({.steps = n, .row = true});
  counts seen;
  seen.step = each_of(n, longer.update - once.update);
  // From two to four episodes in all environments a list of them grows as from four to eight.
  seen.episode = each_of(environments, (four.update - two.update) - (two.update - once.update));
  seen.update = rows.update - n * seen.step;
  seen.call = each_of(calls, once.calls);
  return seen;
}

template <options (*Sized)(const work&)>
counts count_texts(const std::string& algo) {
  const auto once = sizes_of_run(algo, Sized).count({.steps = 0});
  return {.update = once.update, .call = each_of(calls, once.calls)};
}

/// Counts what the engine of a generator allocates for answers of so many tokens to one prompt.
std::int64_t count_answers(llm::generation_engine& engine, std::int64_t tokens,
                           std::int64_t answers) {
  const auto once = [&] {
    llm::generation_request request{
        .prompt = {1, 2, 3}, .max_tokens = tokens, .stop_at_eos = false};
    request.sampling.seed = 1;
    const auto before = allocations();
    const auto ticket = engine.submit(std::move(request), answers);
    while (!engine.finished(ticket)) engine.step();
    engine.take(ticket);
    return allocations() - before;
  };
  once();
  return once();
}

std::int64_t count_tensor() {
  const auto before = allocations();
  const auto logits = at::empty({2, 16}, at::kFloat);
  return allocations() - before;
}

/// Of GRPO a step is the next token of four answers, and an episode an answer of 16 tokens. A step
/// is counted without the tensor of its logits, which is libtorch's.
counts count_grpo(const std::string& algo) {
  const llm::model_config config{.hidden_size = 32,
                                 .intermediate_size = 64,
                                 .layers = 1,
                                 .heads = 2,
                                 .kv_heads = 2,
                                 .head_dim = 16,
                                 .vocab_size = 16,
                                 .max_positions = 128,
                                 .tied_embeddings = true};
  llm::generation_engine engine(llm::pack_weights(config, llm::random_weights(config, 1)), 1, {},
                                {});
  constexpr std::int64_t n = 16;
  const auto of = [&](std::int64_t tokens, std::int64_t answers) {
    return count_answers(engine, tokens, answers);
  };
  auto seen = count_texts<answers>(algo);
  // From n to 2n tokens, and from two to four answers, lists grow as at the next doubling.
  seen.step = each_of(n, of(4 * n, 4) - 2 * of(2 * n, 4) + of(n, 4)) - count_tensor();
  seen.episode = each_of(2, of(n, 8) - 2 * of(n, 4) + of(n, 2));
  return seen;
}

// ---- the counts ------------------------------------------------------------------------------

struct counted_algorithm {
  std::string algo;
  counts (*count)(const std::string& algo);
  counts expected;  ///< The update's is an upper bound.
};

/// Steps, episodes and calls allocate the same everywhere. Updates don't: libtorch makes tensors
/// and graphs in them, with other numbers of allocations in other versions, and the numbers of a
/// row become texts of other lengths. So they have bounds, a fifth above what was counted with
/// libtorch 1.13. The one allocation of a call is the text of the weights' SHA-256.
const std::vector<counted_algorithm> counted = {
    {"ppo", count_run<in_mountains<with_minibatches>>, {0, 0, 480, 1}},
    {"a2c", count_run<in_mountains<on_policy>>, {0, 0, 480, 1}},
    {"impala", count_run<in_mountains<on_policy>>, {0, 0, 480, 1}},
    {"reinforce", count_run<in_mountains<on_policy>>, {0, 0, 480, 1}},
    {"dqn", count_run<in_mountains<off_policy>>, {0, 0, 150, 1}},
    {"q_learning", count_run<tables>, {0, 0, 250, 1}},
    {"sac", count_run<off_policy>, {0, 0, 190, 1}},
    {"td3", count_run<off_policy>, {0, 0, 165, 1}},
    {"ddpg", count_run<off_policy>, {0, 0, 165, 1}},
    {"ippo", count_run<with_minibatches>, {0, 4, 1230, 1}},
    {"mappo", count_run<with_minibatches>, {0, 4, 850, 1}},
    {"coma", count_run<with_minibatches>, {0, 7, 870, 1}},
    {"iql", count_run<off_policy>, {0, 3, 400, 1}},
    {"vdn", count_run<off_policy>, {0, 3, 380, 1}},
    {"qmix", count_run<off_policy>, {0, 3, 390, 1}},
    {"maddpg", count_run<off_policy>, {0, 3, 400, 1}},
    {"matd3", count_run<off_policy>, {0, 3, 400, 1}},
    {"sft", count_texts<texts>, {0, 0, 6000, 1}},
    {"grpo", count_grpo, {6, 18, 41000, 1}},
};

TEST_CASE("allocations: every algorithm is counted") {
  std::set<std::string> tested, known;
  for (const auto& one : counted) tested.insert(one.algo);
  for (const auto& one : known_algorithms()) known.insert(one.name);
  CHECK(tested == known);
}

TEST_CASE("allocations: those of a step, an episode, an update and a call of every algorithm") {
  for (const auto& [algo, count, expected] : counted) {
    INFO(algo);
    const auto seen = count(algo);
    CHECK(seen.step == expected.step);
    CHECK(seen.episode == expected.episode);
    CHECK(seen.update <= expected.update);
    CHECK(seen.call == expected.call);
  }
}

}  // namespace
}  // namespace troupe
