// The code of the section "Options and callbacks of your own" of docs/guides/training.md.

// readme: own_options
#include <utility>

#include "algorithms/program/main.hpp"
#include "algorithms/run/run_control.hpp"

/// The options of this program.
struct my_options {
  double minutes = 60;
  double lr_factor = 1;
};

void describe(troupe::options_schema<my_options>& s) {
  s.field("minutes", &my_options::minutes).above(0).help("Training ends after so many minutes.");
  s.field("lr_factor", &my_options::lr_factor)
      .above(0)
      .at_most(1)
      .help("The learning rate is multiplied by it where an evaluation is worse than the last.");
}

/// What the callbacks keep from one call to the next.
struct progress_so_far {
  double last_mean = -1e300;
  bool got_worse = false;
};

troupe::task<troupe::loops::verdict> after_update(const my_options& mine, progress_so_far& so_far,
                                                  troupe::loops::progress now,
                                                  troupe::run_control& control) {
  if (std::exchange(so_far.got_worse, false)) {
    control.set_learning_rate(control.learning_rate() * mine.lr_factor);
  }
  const auto& row = control.row();
  if (row.contains("train/loss")) control.record("custom/double_loss", 2 * row.at("train/loss"));
  const bool enough = now.seconds > mine.minutes * 60;
  co_return enough ? troupe::loops::verdict::stop : troupe::loops::verdict::go_on;
}

troupe::task<> after_evaluation(progress_so_far& so_far, troupe::evaluation seen) {
  so_far.got_worse = seen.mean < so_far.last_mean;
  so_far.last_mean = seen.mean;
  co_return;
}

int main(int argc, char** argv) {
  my_options mine;
  progress_so_far so_far;
  const auto callbacks = [&](const troupe::run_settings&) {
    troupe::run_callbacks made;
    made.on_update = [&](troupe::loops::progress now, troupe::run_control& control) {
      return after_update(mine, so_far, now, control);
    };
    made.on_evaluation = [&](troupe::loops::progress, troupe::evaluation seen) {
      return after_evaluation(so_far, std::move(seen));
    };
    return made;
  };
  return troupe::main(argc, argv,
                      {.help = "Trains for a given time.",
                       .options = {troupe::options_section("my", &mine)},
                       .callbacks = callbacks});
}
// readme: end
