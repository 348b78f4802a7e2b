#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
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
  /// Where not empty, the run directory itself: this recorder goes on in it from `saved`, what
  /// recorder::save gave, and drops what was recorded after that; with nothing saved it drops all.
  /// Its caller holds the run's lock.
  std::filesystem::path directory;
  std::string saved;
  std::string algo;                 ///< "ppo"
  std::string env;                  ///< "CartPole-v1"
  std::string config = "{}";        ///< The resolved configuration, stored as config.json.
  std::int64_t total_steps = 0;     ///< Environment steps asked for; 0: unknown, so no ETA.
  run_words words = {};             ///< What these, episodes and their returns are called.
  std::optional<double> threshold;  ///< The return that counts as solved; a line in the curve.

  bool table = false;         ///< Print each row as a table on stdout.
  bool progress_bar = false;  ///< Show a progress bar on stderr.

  /// The learning curve is drawn at the end, and while the run goes on at most this often.
  std::chrono::milliseconds curve_interval = std::chrono::seconds(5);

  /// Told the run's board, for a status page, at most once a second and at the end. May be null.
  std::function<void(std::string)> board_changed;

  /// Told the first failure to write; by default it is printed on stderr.
  std::function<void(const std::string&)> on_failure;
  /// Told every one, for a metric. May be null.
  std::function<void()> write_failed;
  /// Wall time, for events and rates; the system's clock by default.
  std::function<std::chrono::system_clock::time_point()> now;
};

/// The numbers of one moment. Names are Stable-Baselines3's: `train/approx_kl`.
struct progress_row {
  std::int64_t step = 0;  ///< Environment steps so far.
  std::map<std::string, double> values;
};

/// The role that owns what a run leaves behind: config.json, progress.csv, TensorBoard events,
/// learning_curve.png and summary.json. Training never fails for it: a full disk is reported once
/// and counted, and later writes are tried again.
class recorder {
 public:
  /// Makes the run directory, holds its lock and stores the configuration. Throws
  /// run_directory_error where it can not, and std::invalid_argument where `config` is not JSON.
  explicit recorder(recorder_options options);
  ~recorder();
  recorder(const recorder&) = delete;
  recorder& operator=(const recorder&) = delete;

  /// The run directory; run_directory::open gives the names of the files in it.
  std::string directory() { return run_.directory.path().string(); }

  /// Adds a row to progress.csv, the events and the table. Where the row lacks them it gets
  /// `rollout/ep_rew_mean`, `rollout/ep_len_mean` (the last 100 episodes), `time/fps`,
  /// `time/time_elapsed` (seconds) and `time/total_timesteps`.
  void record(progress_row row);

  /// An episode of training that ended at `step`, with its undiscounted return and length in steps.
  /// One whose return is not finite is left out.
  void episode(std::int64_t step, double episode_return, std::int64_t length);

  /// An evaluation of the policy at `step`: a point of the curve, and a row of `eval/mean_reward`,
  /// `eval/std_reward`, `eval/mean_ep_length`, `time/total_timesteps` and the columns of `more`.
  void evaluation(std::int64_t step, double mean, double std, double mean_length,
                  std::map<std::string, double> more = {});

  /// Ends the run: writes summary.json, in the order of `summary`'s keys, and draws the curve.
  /// Returns whether the former was written. Throws std::invalid_argument where `summary` is not
  /// JSON.
  bool finish(std::string summary);

  /// What another recorder goes on from. This one draws no curve any more when it ends.
  std::string save();

  /// How many writes failed so far.
  std::int64_t write_failures() { return write_failures_; }

 private:
  using time_point = std::chrono::system_clock::time_point;
  struct state;

  void begin();
  void restore();
  void write_row(const progress_row& row);
  void show_progress(std::int64_t step);
  learning_curve curve() const;
  void draw_curve();
  void show_board();
  /// Runs `write`; a failure is counted, and the first one reported. Returns whether it succeeded.
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
  std::int64_t last_step_ = 0;
  std::int64_t write_failures_ = 0;
  bool curve_is_old_ = false;  ///< Something has come since the curve was drawn.
  std::chrono::duration<double> next_curve_{};
  std::chrono::duration<double> next_board_{};
};

}  // namespace troupe
