#pragma once
// Reward functions in Python, with the signature that TRL's GRPOTrainer expects of its
// reward_funcs:
//
//   def score(prompts, completions, answer, **columns):      # lists of equal length
//       return [1.0 if c.strip() == a else 0.0 for c, a in zip(completions, answer)]
//
// Each replica has a Python process of its own (python_worker.hpp).

#include <cstdint>
#include <deque>
#include <exception>
#include <limits>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "actors/python/python_worker.hpp"
#include "actors/reward/weighted_reward.hpp"
#include "runtime/service/options/batch.hpp"

namespace troupe {

struct python_reward_options {
  /// The functions, such as "my_rewards:score" for `score` of the module my_rewards, which is found
  /// on PYTHONPATH or in the working directory. A coroutine function is run until it returns.
  std::vector<std::string> functions;
  std::vector<double> weights = {};  ///< A weight for each function; empty means 1 each.
  /// The seconds that a function may take for an answer. A call for several answers that takes so
  /// long is given up, and they are judged one by one.
  double timeout = 60;
  /// The columns that the items have. A function that takes another parameter without a default is
  /// refused when the role is made. Unset means that the columns are not known before.
  std::optional<std::vector<std::string>> columns = {};
  /// The interpreter, the limit of memory, and start_timeout, the limit of the imports.
  python_options python = {};
  bool operator==(const python_reward_options&) const = default;
};

/// A text that a model wrote, with what it was asked.
struct judged_completion {
  std::string prompt;
  std::string completion;
  /// A JSON object whose values the functions get under its keys, in lists with a value for each
  /// completion of the batch, or None for a completion without that key.
  std::string columns = "{}";
  /// The messages of the prompt, a JSON list. Functions then get them in place of `prompt`, and
  /// [{"role": "assistant", "content": completion}] as the completion. Empty means a text.
  std::string conversation = {};
  std::vector<std::int32_t> completion_ids = {};  ///< The tokens of the completion.
  /// The trainer_state of the functions: the updates so far, those of the whole run, and the epochs
  /// so far. A batch has the state of its newest completion.
  std::int64_t global_step = 0, max_steps = 0;
  std::optional<double> epoch = {};
};

/// Thrown for a completion of a function that has judged nothing for long: it was late or ended its
/// process for so many completions in a row that it would be so for the next ones, too.
class reward_broken : public reward_error {
 public:
  using reward_error::reward_error;
};

/// The role whose reward functions are in Python. A call waits for the process, so it is for
/// placement::thread or another placement that may block.
///
///   auto rewards = co_await sys.serve<python_reward>(
///       {.name = "reward", .placement = placement::thread, .idempotent = {...}},
///       python_reward_options{.functions = {"my_rewards:score"}}, &sys.metrics());
///   const auto judged = co_await rewards.route<&python_reward::evaluate>(written);
class python_reward {
 public:
  /// Starts the process and imports the functions. Throws std::invalid_argument for options that
  /// are wrong, python_error with Python's traceback, and python_ended.
  explicit python_reward(python_reward_options options, metrics_registry* metrics = nullptr);
  ~python_reward();

  /// Judges concurrent calls as one batch. A value is NaN where the function has returned None,
  /// because it does not apply to the completion; the total is the sum of weight times value over
  /// the others.
  ///
  /// A completion gets a reward_error of its own if a function throws for it, takes longer than the
  /// timeout or ends the process, if its value is not a finite number of at most reward_size_max,
  /// or if no function applies to it. It is found by judging parts of the batch; the others are
  /// judged. A process that was ended is replaced. A completion for which a function was late or
  /// ended the process is not tried again. All completions of a part get a reward_error if a
  /// function returns another number of values for it, or no list.
  ///
  /// A function that was late or ended its process for `broken_at_first` completions in a row
  /// before it has judged any, or for `broken_later` after that, is taken as broken: the completion
  /// after these, and all others, get reward_broken. Of each later batch one completion is tried,
  /// and the others are judged if it is.
  ///
  /// Throws fatal if the process can't be replaced.
  batch<reward_result> evaluate(batch<judged_completion> completions);

  static constexpr int broken_at_first = 16, broken_later = 64;

  /// The names of the functions, in the order of `values`. They are also the labels of the metrics
  /// that weighted_reward has.
  std::vector<std::string> names() const { return meter_.names(); }

 private:
  struct item;
  struct answer;
  /// The completions that were late or ended the process, for a function each. The oldest are
  /// forgotten first.
  class given_up {
   public:
    bool contains(std::size_t key) const { return keys_.contains(key); }
    void add(std::size_t key);

   private:
    std::unordered_set<std::size_t> keys_;
    std::deque<std::size_t> order_;
  };

  /// What is known of a function by its answers so far.
  struct record {
    /// The most completions of a call, which was too slow for more.
    std::size_t most_at_once = std::numeric_limits<std::size_t>::max();
    bool has_judged = false;
    int in_vain = 0;  ///< Completions since it has judged one that were late or ended a process.
    std::string why = {};      ///< What the last of these did.
    bool many_faults = false;  ///< Many completions of the last batch were at fault.

    bool is_broken() const { return in_vain >= (has_judged ? broken_later : broken_at_first); }
  };

  void start();
  static std::size_t key_for(std::size_t which, const item& one);
  void refuse_given_up(std::size_t which, std::vector<item*>& items, std::size_t from);
  void judge(std::size_t which, std::vector<item*> items);
  void judge_if_mended(std::size_t which, std::vector<item*> items);
  std::size_t judge_alone(std::size_t which, std::span<item* const> part);
  void refuse_broken(std::size_t which, std::span<item* const> part);
  bool settle(std::size_t which, std::span<item* const> part, const answer& found);
  answer ask(std::size_t which, std::span<item* const> part);
  void take(std::size_t which, std::span<item* const> part, const answer& from);
  void refuse(std::size_t which, item& one, const std::string& why) const;
  reward_result result_of(const item& judged) const;

  python_reward_options options_;
  detail::reward_meter meter_;
  std::unique_ptr<python_worker> worker_;
  given_up given_up_;
  std::vector<record> records_;  ///< For each function.
};

/// The form of `MODULE:FUNCTION` in a configuration: "python:" before it. Returns MODULE:FUNCTION.
/// Throws std::invalid_argument for any other text.
std::string python_function_of(std::string_view text);

}  // namespace troupe
