#include "actors/recorder/recorder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <iostream>
#include <string_view>
#include <utility>

#include "actors/checkpoint/state_codec.hpp"
#include "actors/recorder/evaluation_history.hpp"
#include "actors/recorder/file_io.hpp"
#include "actors/recorder/pretty_json.hpp"
#include "actors/recorder/progress_table.hpp"
#include "actors/recorder/run_board.hpp"
#include "runtime/base/print_error.hpp"

namespace troupe {
namespace {

constexpr std::chrono::duration<double> board_interval{1};
constexpr std::string_view success = "is_success";  // the number that finished_episode::info has

recorder_options with_defaults(recorder_options options) {
  if (!options.now) options.now = [] { return std::chrono::system_clock::now(); };
  if (!options.on_failure)
    options.on_failure = [](const std::string& message) { print_error(message); };
  options.config = pretty_json(options.config, "configuration");
  return options;
}

}  // namespace

recorder::recorder(recorder_options options)
    : options_(with_defaults(std::move(options))),
      run_(options_.directory.empty()
               ? begin_run(options_.root, options_.algo, options_.env, options_.config)
               : held_run{run_directory::open(options_.directory), nullptr}),
      started_(options_.now()),
      next_curve_(options_.curve_interval) {
  if (options_.progress_bar) bar_.emplace(std::cerr, ::isatty(STDERR_FILENO) == 1);
  if (options_.saved.empty()) {
    begin();
  } else {
    restore();
  }
}

void recorder::begin() {
  for (const auto& entry : std::filesystem::directory_iterator(run_.directory.path())) {
    if (!entry.path().filename().string().starts_with("events.out.tfevents.")) continue;
    attempt([&] { std::filesystem::remove(entry.path()); });
  }
  attempt([this] { csv_.emplace(run_.directory.progress_csv()); });
  attempt([this] { events_.emplace(run_.directory.path(), started_); });
}

struct recorder::state {
  episode_history history;
  std::vector<curve_evaluation> evaluations;
  std::map<std::string, double> noted;
  std::int64_t last_step;
  std::chrono::duration<double> elapsed, next_curve;
  bool curve_is_old;
  std::int64_t write_failures;
  std::int64_t csv_rows;
  std::string events;  ///< The name of the events file; empty if there is none.
  std::int64_t events_bytes;
};

std::string recorder::save() {
  const state now{history_,
                  evaluations_,
                  noted_,
                  last_step_,
                  elapsed(),
                  next_curve_,
                  curve_is_old_,
                  write_failures_,
                  csv_ ? csv_->rows() : std::int64_t{0},
                  events_ ? events_->path().filename().string() : std::string(),
                  events_ ? events_->size() : std::int64_t{0}};
  curve_is_old_ = false;
  return state_bytes(now);
}

void recorder::restore() {
  auto saved = state_of<state>(options_.saved);
  history_ = std::move(saved.history);
  // One that was saved before they had a bound may have more of them.
  evaluations_.clear();
  for (const auto& evaluation : saved.evaluations) add_evaluation(evaluations_, evaluation);
  noted_ = std::move(saved.noted);
  last_step_ = saved.last_step;
  started_ -= std::chrono::round<time_point::duration>(saved.elapsed);
  next_curve_ = saved.next_curve;
  curve_is_old_ = saved.curve_is_old;
  write_failures_ = saved.write_failures;
  attempt(
      [&] { csv_.emplace(progress_csv::resume(run_.directory.progress_csv(), saved.csv_rows)); });
  if (!saved.events.empty()) {
    attempt([&] { events_.emplace(run_.directory.path() / saved.events, saved.events_bytes); });
  }
  if (bar_) bar_->skip_to(progress());
}

recorder::~recorder() {
  // A run that ended by an exception gets its curve, too.
  if (curve_is_old_) draw_curve();
}

template <class Write>
bool recorder::attempt(Write&& write) {
  try {
    write();
    return true;
  } catch (const std::exception& error) {
    if (options_.write_failed) options_.write_failed();
    if (write_failures_++ > 0) return false;
    if (bar_) bar_->clear();
    options_.on_failure(std::string("the run is not recorded as it should be: ") + error.what() +
                        "; training goes on, further failures are only counted");
    return false;
  }
}

void recorder::record(progress_row row) {
  const double seconds = elapsed().count();
  for (const auto& [name, value] : std::exchange(noted_, {}))
    row.values.insert_or_assign(name, value);
  if (!history_.empty()) {
    row.values.try_emplace("rollout/ep_rew_mean", history_.mean_return());
    row.values.try_emplace("rollout/ep_len_mean", history_.mean_length());
    add_info(row);
  }
  if (seconds > 0)
    row.values.try_emplace("time/fps", std::floor(static_cast<double>(row.step) / seconds));
  row.values.try_emplace("time/time_elapsed", seconds);
  row.values.try_emplace("time/total_timesteps", static_cast<double>(row.step));
  write_row(row);
  show_progress(row.step);
}

void recorder::note(std::string name, double value) {
  require_column_name(name);
  if (options_.noted) options_.noted(name, value);
  noted_.insert_or_assign(std::move(name), value);
}

void recorder::episode(std::int64_t step, double episode_return, std::int64_t length) {
  episode_with_info(step, episode_return, length, {});
}

void recorder::episode_with_info(std::int64_t step, double episode_return, std::int64_t length,
                                 std::map<std::string, double> info) {
  if (!std::isfinite(episode_return)) return;
  if (!info_is_checked_ && !options_.info.empty())
    for (const auto& [name, value] : info) info_names_.insert(name);
  std::erase_if(info, [this](const auto& number) {
    return !std::isfinite(number.second) || !is_recorded(number.first);
  });
  history_.add(static_cast<double>(step), episode_return, static_cast<double>(length),
               std::move(info));
  if (const auto only = history_.only_return(); only && options_.returns_are_equal)
    options_.returns_are_equal(*only);
  curve_is_old_ = true;
  show_progress(step);
}

bool recorder::is_recorded(const std::string& info) const {
  return info == success || std::ranges::find(options_.info, info) != options_.info.end();
}

/// Adds the means of the episodes' numbers to a row, and shows them as metrics.
void recorder::add_info(progress_row& row) {
  for (const auto& [name, mean] : history_.mean_info()) {
    const auto column =
        name == success ? "rollout/success_rate" : std::string("rollout/") + "ep_" + name + "_mean";
    row.values.try_emplace(column, mean);
    if (options_.noted) options_.noted(column, mean);
  }
  if (std::exchange(info_is_checked_, true)) return;
  for (const auto& name : options_.info) {
    if (name == success || info_names_.contains(name)) continue;
    options_.on_failure(fmt::format(
        "env.info: no episode has a number \"{}\" so far; {}", name,
        info_names_.empty() ? "the last info of an episode has no numbers"
                            : fmt::format("the last infos have {}", fmt::join(info_names_, ", "))));
  }
  info_names_.clear();
}

void recorder::evaluation(std::int64_t step, double mean, double std, double mean_length,
                          std::map<std::string, double> more) {
  add_evaluation(evaluations_, {static_cast<double>(step), mean, std});
  curve_is_old_ = true;
  more.insert({{"eval/mean_reward", mean},
               {"eval/std_reward", std},
               {"eval/mean_ep_length", mean_length},
               {"time/total_timesteps", static_cast<double>(step)}});
  write_row({step, std::move(more)});
  show_progress(step);
}

bool recorder::finish(std::string summary) {
  const auto text = pretty_json(summary, "summary");
  draw_curve();
  show_board();
  const bool written = attempt([&] { write_file_atomically(run_.directory.summary_json(), text); });
  if (bar_) bar_->finish(progress());
  return written;
}

void recorder::write_row(const progress_row& row) {
  attempt([&] {
    if (!csv_) csv_.emplace(run_.directory.progress_csv());
    csv_->write(row.values);
  });
  attempt([&] {
    if (!events_) events_.emplace(run_.directory.path(), started_);
    events_->write(row.step, row.values, options_.now());
  });
  if (!options_.table) return;
  if (bar_) bar_->clear();
  auto& out = options_.table_to_stderr ? std::cerr : std::cout;
  out << progress_table(row.values) << std::flush;
}

void recorder::show_progress(std::int64_t step) {
  last_step_ = std::max(last_step_, step);
  if (bar_) bar_->update(progress());
  const auto now = elapsed();
  if (curve_is_old_ && now >= next_curve_) draw_curve();
  if (now >= next_board_) show_board();
}

learning_curve recorder::curve() const {
  learning_curve curve;
  for (char c : options_.algo) curve.title += c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  curve.title += " on " + options_.env;
  curve.x_label = options_.labels.axis;
  curve.dot = options_.labels.episode;
  curve.y_label = curve.dot + ' ' + options_.labels.score;
  curve.episodes = history_.episodes();
  curve.means = history_.means();
  curve.mean_window = history_.window();
  curve.evaluations = evaluations_;
  curve.threshold = options_.threshold;
  return curve;
}

void recorder::show_board() {
  next_board_ = elapsed() + board_interval;
  if (options_.board_changed) options_.board_changed(run_board(curve(), progress()));
}

void recorder::draw_curve() {
  attempt([&] { draw_learning_curve(curve(), run_.directory.learning_curve_png()); });
  curve_is_old_ = false;
  next_curve_ = elapsed() + options_.curve_interval;
}

progress_state recorder::progress() const {
  return {last_step_, options_.total_steps, elapsed(), history_.mean_return(), options_.labels};
}

}  // namespace troupe
