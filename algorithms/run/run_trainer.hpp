#pragma once
// The trainer of an algorithm whose batches come from its loop: how a run serves it, and an update.

#include <cstdint>
#include <optional>
#include <utility>

#include "actors/trainer/learn_and_push.hpp"
#include "algorithms/learner/trainer.hpp"
#include "algorithms/run/run_state.hpp"
#include "algorithms/run/training_run.hpp"

namespace troupe {

/// Serves a trainer. With a checkpoint, it goes on from the state of save_trainer.
template <class Trainer>
task<service<Trainer>> serve_trainer(training_run& in, placement at, typename Trainer::maker make,
                                     const checkpoint* from) {
  serve_options options{.name = "trainer",
                        .placement = at,
                        .deadline = long_call,
                        .idempotent = {endpoint<&Trainer::publish>, endpoint<&Trainer::save>,
                                       endpoint<&Trainer::restore>}};
  auto made = co_await in.serve<Trainer>(std::move(options), std::move(make), in.store,
                                         std::optional(in.settings.seed));
  if (from) co_await made.template route<&Trainer::restore>(file_of(*from, "trainer.bin"));
  co_return made;
}

/// Makes an update and tells the run of it. `train(progress_remaining, chosen_lr)` returns a
/// task<outcome<Report>> in which the trainer learns, and `push()` a task<std::int64_t> that gives
/// the new weights to every replica and returns their version (learn_and_push.hpp).
template <class Report, class Train, class Push>
task<Report> make_update(training_run& in, Train train, Push push) {
  const auto learn = [&] {
    return train(in.progress_remaining(), in.control.chosen_learning_rate());
  };
  auto updated = co_await learn_and_push<Report>(in.progress.version, learn, std::move(push));
  in.progress.version = updated.version;
  in.control.updated(updated.report.learning_rate);
  in.metrics.trained(updated.report.trained_rows, updated.train_s);
  in.metrics.weights_pushed(updated.version, updated.push_s);
  co_return std::move(updated.report);
}

}  // namespace troupe
