#include "actors/torch.hpp"

#include "algorithms/off_policy/off_policy_trainer.hpp"

#include "actors/checkpoint/state.hpp"
#include "actors/weights/give_weights.hpp"

namespace troupe {

void off_policy_learner::stepped(std::int64_t, std::int64_t) {}

off_policy_trainer::off_policy_trainer(const maker& make, std::size_t batch_size,
                                       transition_widths widths,
                                       service<transition_store> transitions,
                                       service<weight_store> store)
    : learner_(make()),
      batch_size_(batch_size),
      widths_(widths),
      transitions_(std::move(transitions)),
      store_(std::move(store)) {
  batch_.rows = static_cast<int>(batch_size);
}

weights off_policy_trainer::current() const {
  const auto acting = learner_->acting();
  auto* first = const_cast<float*>(acting.data());  // cloned below
  const auto n = static_cast<std::int64_t>(acting.size());
  return {version_, at::from_blob(first, {n}, at::kFloat).clone(), {}};
}

task<> off_policy_trainer::catch_up() {
  const auto known = co_await store_.route<&weight_store::versions>();
  if (known.empty()) {
    co_await publish();
  } else {
    version_ = published_ = known.back();
  }
}

task<off_policy_report> off_policy_trainer::train(off_policy_update due,
                                                  service<collector> collectors) {
  learner_->stepped(due.steps_before, due.steps_after);
  const auto exchange = [](const char*, std::size_t, auto& mine, auto& other) { mine.swap(other); };
  for (std::int64_t i = 0; i < due.gradient_steps; ++i) {
    rows_ = co_await transitions_.route<&transition_store::draw>(std::move(rows_), batch_size_);
    for_each_column(widths_, exchange, rows_, batch_);
    learner_->update(batch_, due.progress_remaining);
    for_each_column(widths_, exchange, rows_, batch_);
  }
  ++version_;
  co_await give_weights<&collector::update>(std::move(collectors), current());
  co_return off_policy_report{version_, learner_->metrics()};
}

task<weights> off_policy_trainer::publish() {
  auto fresh = current();
  if (version_ > published_) {
    co_await store_.route<&weight_store::put>(fresh);
    published_ = version_;
  }
  co_return co_await store_.route<&weight_store::get>(version_);
}

std::string off_policy_trainer::save() const {
  state_writer to;
  to.put("learner", learner_->save());
  to.put("version", version_);
  return to.bytes();
}

void off_policy_trainer::restore(std::string bytes) {
  const state_reader from(bytes);
  learner_->restore(from.get<std::string>("learner"));
  from.get("version", version_);
}

}  // namespace troupe
