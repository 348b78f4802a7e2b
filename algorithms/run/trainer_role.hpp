#pragma once
// The trainer of a run: how it is served, and what one update does.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/trainer/learn_and_push.hpp"
#include "actors/weights/give_weights.hpp"
#include "algorithms/run/initial_model.hpp"
#include "algorithms/run/run_state.hpp"
#include "algorithms/run/training_run.hpp"

namespace troupe {

/// Puts the run's initial model, if there is one, into the store, with whose weights a trainer
/// begins. A run that goes on, from `from`, needs none.
inline task<> put_initial_model(training_run& in, const checkpoint* from) {
  if (from || !in.settings.init) co_return;
  const weights first{0, in.settings.init->model.parameters, {}};
  co_await in.store.route<&weight_store::put>(first);
}

template <class Trainer>
serve_options options_of_trainer(placement where) {
  return {.name = "trainer",
          .placement = where,
          .deadline = long_call,
          .idempotent = {endpoint<&Trainer::publish>, endpoint<&Trainer::push_weights>,
                         endpoint<&Trainer::save>, endpoint<&Trainer::restore>}};
}

/// Serves a trainer of one replica, which goes on from `from` unless that is null.
template <class Trainer>
task<service<Trainer>> serve_trainer(training_run& in, placement where,
                                     typename Trainer::maker make, const checkpoint* from) {
  co_await put_initial_model(in, from);
  auto served = co_await in.serve<Trainer>(options_of_trainer<Trainer>(where), std::move(make),
                                           in.store, std::optional(in.settings.seed));
  if (from) {
    co_await served.template route<&Trainer::restore>(file_of(*from, "trainer.bin"));
  }
  co_return served;
}

/// Puts the trainer's weights into the store, gives them to every replica of `to` by Update, and
/// returns their version.
template <auto Update, class Trainer, class Role>
task<std::int64_t> push_to(service<Trainer> from, std::vector<service<Role>> to) {
  const auto fresh = co_await from.template route<&Trainer::publish>();
  for (auto& each : to) co_await give_weights<Update>(std::move(each), fresh);
  co_return fresh.version;
}

/// Makes one update as learn_and_push and counts it in the run's progress and metrics.
/// `train(progress_remaining, chosen_lr)` returns a task<outcome<Report>> in which the trainer
/// learns, and `push()` a task<std::int64_t> that gives the new weights to every replica and
/// returns their version.
template <class Report, class Train, class Push>
task<Report> make_update(training_run& in, Train train, Push push) {
  const auto learn = [&] {
    return train(in.progress_remaining(), in.control.chosen_learning_rate());
  };
  auto made = co_await learn_and_push<Report>(in.progress.version, learn, std::move(push));
  in.progress.version = made.version;
  in.control.updated(made.report.learning_rate);
  in.metrics.trained(made.report.trained_rows, made.train_s);
  in.metrics.weights_pushed(made.version, made.push_s);
  co_return std::move(made.report);
}

/// The same with a trainer of one replica.
template <class Trainer, class Push>
task<typename Trainer::report_type> make_update(training_run& in, service<Trainer> trainer,
                                                typename Trainer::input_type batch, Push push) {
  const auto train = [&](double progress_remaining, std::optional<double> chosen_lr) {
    return trainer.template try_route<&Trainer::train_step>(batch, progress_remaining, chosen_lr);
  };
  co_return co_await make_update<typename Trainer::report_type>(in, train, std::move(push));
}

}  // namespace troupe
