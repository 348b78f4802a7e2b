#pragma once
// Reward functions in Python, with the signature that TRL's GRPOTrainer expects of its
// reward_funcs:
//
//   def score(prompts, completions, answer, **columns):      # lists of equal length
//       return [1.0 if c.strip() == a else 0.0 for c, a in zip(completions, answer)]
//
// Each replica has a Python process of its own (python_worker.hpp).

#include <exception>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
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
  /// The seconds that all functions together may take for a batch. Then the process is ended.
  double timeout = 60;
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
};

/// The role whose reward functions are in Python. A call waits for the process, so it is for
/// placement::thread or another placement that may block. If the process ends or does not answer in
/// time, the replica is restarted. List `evaluate` in serve_options::idempotent, so that the calls
/// are then made again.
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
  /// the others. Throws reward_error with the traceback if a function throws or returns another
  /// number of values. A completion whose value is not a finite number, or to which no function
  /// applies, gets a reward_error of its own.
  batch<reward_result> evaluate(batch<judged_completion> completions);

  /// The names of the functions, in the order of `values`. They are also the labels of the metrics
  /// that weighted_reward has.
  std::vector<std::string> names() const { return meter_.names(); }

 private:
  nlohmann::json score(const nlohmann::json& command);
  /// Throws the error of a function that has failed for the whole batch.
  [[noreturn]] void fail(const nlohmann::json& answer, std::size_t completions) const;
  /// The errors of single completions, by their places in the batch.
  std::map<std::size_t, std::exception_ptr> errors_of(const nlohmann::json& answer) const;
  reward_result result_of(std::size_t item, const std::vector<std::vector<double>>& values) const;

  python_reward_options options_;
  detail::reward_meter meter_;
  std::unique_ptr<python_worker> worker_;
};

/// The form of `MODULE:FUNCTION` in a configuration: "python:" before it. Returns MODULE:FUNCTION.
/// Throws std::invalid_argument for any other text.
std::string python_function_of(std::string_view text);

}  // namespace troupe
