#include "actors/torch/torch.hpp"

#include "algorithms/off_policy/off_policy_trainer.hpp"

#include <algorithm>

#include "actors/checkpoint/state_codec.hpp"
#include "actors/weights/give_weights.hpp"

namespace troupe {

off_policy_trainer::off_policy_trainer(const maker& make, std::size_t batch_size,
                                       transition_widths widths, std::int64_t target_update_steps,
                                       service<transition_replay> transitions,
                                       service<weight_store> store, std::shared_ptr<storage> on)
    : trainer_base(make, std::move(store), std::nullopt, on),
      storage_(std::move(on)),
      batch_size_(batch_size),
      widths_(widths),
      target_update_steps_(target_update_steps),
      transitions_(std::move(transitions)) {
  batch_.rows = static_cast<int>(batch_size);
}

task<> off_policy_trainer::fetch_obs_scale() {
  storage_->obs_scale = co_await transitions_.route<&transition_replay::obs_scale>();
}

task<> off_policy_trainer::catch_up() {
  const auto known = co_await store().route<&weight_store::versions>();
  if (known.empty()) {
    co_await fetch_obs_scale();
    co_await publish();
  } else {
    storage_->published = known.back();
    version() = std::max(version(), storage_->published);
  }
}

/// Draws a minibatch, and draws again if the replay's replica is lost. The endpoint is not
/// idempotent, because the arguments of an idempotent call are copied for another attempt.
task<transition_rows> off_policy_trainer::draw(double progress_remaining) {
  for (;;) {
    auto drawn = co_await transitions_.try_route<&transition_replay::draw>(
        std::move(rows_), batch_size_, progress_remaining);
    if (!is_kind(drawn.error(), error_kind::replica_lost)) co_return std::move(drawn).value();
    rows_ = {};
  }
}

task<> off_policy_trainer::take_step(double progress_remaining, std::optional<double> chosen_lr) {
  const auto exchange = [this] {
    const auto each = [](const char*, std::size_t, auto& mine, auto& other) { mine.swap(other); };
    for_each_column(widths_, each, rows_, batch_);
    rows_.weight.swap(batch_.weight);
  };
  rows_ = co_await draw(progress_remaining);
  exchange();
  const auto& made = learner().update(batch_, progress_remaining, chosen_lr);
  if (made.skipped_steps > 0) {
    ++storage_->skipped;
  } else {
    storage_->means.add(made.metrics);
  }
  ++storage_->taken;
  exchange();
  if (rows_.number.empty()) co_return;
  co_await transitions_.route<&transition_replay::update_priorities>(rows_.number, made.td_errors);
}

/// Updates the targets as often as steps that are multiples of the interval were taken.
void off_policy_trainer::update_targets(const off_policy_update& due) {
  if (target_update_steps_ == 0) return;
  learner().update_target(due.steps_after / target_update_steps_ -
                          due.steps_before / target_update_steps_);
}

task<off_policy_report> off_policy_trainer::train(off_policy_update due,
                                                  service<collector> collectors) {
  auto& at = *storage_;
  if (version() == due.version) {
    if (!at.begun) {
      update_targets(due);
      if (at.logged) at.means.clear();
      at.skipped = 0;
    }
    at.begun = true;
    while (at.taken < due.gradient_steps) co_await take_step(due.progress_remaining, due.chosen_lr);
    if (!at.obs_scale.empty()) co_await fetch_obs_scale();
    at.begun = false;
    at.logged = due.log;
    at.taken = 0;
    ++version();
  }
  co_await give_weights<&collector::update>(std::move(collectors), current(storage_->obs_scale));
  co_return off_policy_report{version(), due.log ? row() : std::vector<named_number>(), at.skipped,
                              learner().last().learning_rate};
}

std::vector<named_number> off_policy_trainer::row() const {
  auto columns = storage_->means.means();
  const auto& last = learner().last();
  columns.push_back({"train/learning_rate", last.learning_rate});
  columns.push_back({"train/n_updates", static_cast<double>(last.n_updates)});
  return columns;
}

task<published_model> off_policy_trainer::publish() {
  auto fresh = current(storage_->obs_scale);
  auto beside = learner().beside();
  if (version() > storage_->published) {
    co_await store().route<&weight_store::put>(fresh);
    storage_->published = fresh.version;
  }
  auto stored = co_await store().route<&weight_store::get>(fresh.version);
  co_return published_model{std::move(stored), std::move(beside)};
}

std::string off_policy_trainer::save() const {
  state_writer to;
  to.put("learner", learner().save());
  to.put("version", version());
  to.put("obs_scale", storage_->obs_scale);
  to.put("logged", storage_->logged);
  to.put("means", state_bytes(storage_->means));
  return to.bytes();
}

void off_policy_trainer::restore(std::string bytes) {
  const state_reader from(bytes);
  learner().restore(from.get<std::string>("learner"));
  from.get("version", version());
  from.get("obs_scale", storage_->obs_scale);
  from.get("logged", storage_->logged);
  storage_->means = state_of<metric_means>(from.get<std::string>("means"));
}

}  // namespace troupe
