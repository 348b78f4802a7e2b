#pragma once
// The recorder of a run: the role that writes the files of the run directory and shows the
// progress.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actors/recorder/episode_history.hpp"
#include "actors/recorder/held_run.hpp"
#include "actors/recorder/learning_curve.hpp"
#include "actors/recorder/progress_bar.hpp"
#include "actors/recorder/progress_csv.hpp"
#include "actors/recorder/tensorboard_writer.hpp"

namespace troupe {

struct recorder_options {
  std::filesystem::path root = "runs";  ///< The run directory is root/algo/env_k.
  /// The run directory to continue; empty means a new one under `root`. The recorder continues from
  /// `saved` and drops everything that was recorded after it; if `saved` is empty, it drops
  /// everything. The caller must hold the run's lock.
  std::filesystem::path directory = {};
  std::string saved = {};
  std::string algo = {};      ///< The algorithm, such as "ppo".
  std::string env = {};       ///< The environment, such as "CartPole-v1".
  std::string config = "{}";  ///< The resolved configuration, stored as config.json.
  /// The number of environment steps of the run; 0 means unknown, so that no ETA is shown.
  std::int64_t total_steps = 0;
  run_labels labels = {};  ///< The words for steps, episodes and returns.
  /// The return that counts as solved, drawn as a line in the curve.
  std::optional<double> threshold = {};

  /// The numbers of episodes that become columns `rollout/ep_NAME_mean`.
  std::vector<std::string> info = {};

  bool table = false;            ///< Prints each row as a table on stdout.
  bool table_to_stderr = false;  ///< Prints the table on stderr instead.
  bool progress_bar = false;     ///< Shows a progress bar on stderr.

  /// The shortest time between two drawings of the learning curve. It is also drawn at the end.
  std::chrono::milliseconds curve_interval = std::chrono::seconds(5);

  /// Called with the run's board for the status page, at most once a second and at the end. It may
  /// be null.
  std::function<void(std::string)> board_changed = {};

  /// Called with each value that recorder::note is given, for a metric. It may be null.
  std::function<void(const std::string& name, double value)> noted = {};

  /// Called with the return of the first 100 episodes if it was the same for all of them. It may be
  /// null.
  std::function<void(double)> returns_are_equal = {};

  /// Called with the message of the first failed write; null means that it is printed on stderr.
  std::function<void(const std::string&)> on_failure = {};
  /// Called at every failed write, for a metric. It may be null.
  std::function<void()> write_failed = {};
  /// Returns the wall time for events and rates; null means the system's clock.
  std::function<std::chrono::system_clock::time_point()> now = {};
};

/// The values of one moment. Their names are those of Stable-Baselines3, such as `train/approx_kl`.
struct progress_row {
  std::int64_t step = 0;  ///< The number of environment steps so far.
  std::map<std::string, double> values;
};

/// The role that writes the files of a run: config.json, progress.csv, TensorBoard events,
/// learning_curve.png and summary.json. A failed write, as on a full disk, doesn't stop the
/// training: it is reported once and counted, and later writes are tried again.
class recorder {
 public:
  /// Makes the run directory, locks it and stores the configuration. Throws run_directory_error if
  /// that fails, and std::invalid_argument if `config` is not JSON.
  explicit recorder(recorder_options options);
  ~recorder();
  recorder(const recorder&) = delete;
  recorder& operator=(const recorder&) = delete;

  /// Returns the run directory; run_directory::open gives the names of the files in it.
  std::string directory() { return run_.directory.path().string(); }

  /// Adds a row to progress.csv, the events and the table. The following values are added if the
  /// row lacks them: `rollout/ep_rew_mean`, `rollout/ep_len_mean`, `rollout/success_rate` and the
  /// columns of recorder_options::info (over the last 100 episodes), `time/fps`,
  /// `time/time_elapsed` (seconds) and `time/total_timesteps`.
  void record(progress_row row);

  /// Records a value in the column `name`, such as "custom/minutes". It appears in the next row
  /// that `record` adds, where it replaces a value of the same name. If a name is noted several
  /// times before that, the last value counts. The value isn't checked. Throws
  /// std::invalid_argument for a name that require_column_name refuses.
  ///
  /// Any role or hook that holds the recorder's service may call it, in any process:
  ///
  ///   co_await records.route<&recorder::note>("custom/minutes", 1.5);
  void note(std::string name, double value);

  /// Records an episode of training that ended at `step`, with its undiscounted return and its
  /// length in steps. An episode whose return is not finite is ignored.
  void episode(std::int64_t step, double episode_return, std::int64_t length);
  /// Records an episode with its numbers (environment::info), too. A number that is not finite is
  /// ignored.
  void episode_with_info(std::int64_t step, double episode_return, std::int64_t length,
                         std::map<std::string, double> info);

  /// Records an evaluation of the policy at `step` as a point of the curve, and as a row with
  /// `eval/mean_reward`, `eval/std_reward`, `eval/mean_ep_length`, `time/total_timesteps` and the
  /// columns of `more`.
  void evaluation(std::int64_t step, double mean, double std, double mean_length,
                  std::map<std::string, double> more = {});

  /// Ends the run: writes summary.json, in the order of the keys of `summary`, and draws the curve.
  /// Returns true if summary.json was written. Throws std::invalid_argument if `summary` is not
  /// JSON.
  bool finish(std::string summary);

  /// Returns the state from which another recorder can continue. This one then draws no curve when
  /// it is destroyed.
  std::string save();

  /// The number of failed writes so far.
  std::int64_t write_failures() { return write_failures_; }

 private:
  using time_point = std::chrono::system_clock::time_point;
  struct state;

  void begin();
  void restore();
  bool is_recorded(const std::string& info) const;
  void add_info(progress_row& row);
  void write_row(const progress_row& row);
  void show_progress(std::int64_t step);
  learning_curve curve() const;
  void draw_curve();
  void show_board();
  /// Runs `write`. A failure is counted, and the first one is reported. Returns true if it
  /// succeeded.
  template <class Write>
  bool attempt(Write&& write);
  std::chrono::duration<double> elapsed() const { return options_.now() - started_; }
  progress_state progress() const;

  recorder_options options_;
  held_run run_;
  time_point started_;
  std::optional<progress_csv> csv_;
  std::optional<tensorboard_writer> events_;
  std::optional<progress_bar> bar_;
  episode_history history_;
  std::vector<curve_evaluation> evaluations_;
  std::map<std::string, double> noted_;  ///< Values of `note` that the next row will have.
  std::int64_t last_step_ = 0;
  bool info_is_checked_ = false;      // whether the names of `info` were compared with an episode's
  std::set<std::string> info_names_;  // of the numbers that the episodes until then have
  std::int64_t write_failures_ = 0;
  bool curve_is_old_ = false;  ///< True if something was recorded since the curve was drawn.
  std::chrono::duration<double> next_curve_{};
  std::chrono::duration<double> next_board_{};
};

}  // namespace troupe
