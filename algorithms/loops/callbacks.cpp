#include "algorithms/loops/callbacks.hpp"

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

#include "runtime/base/error.hpp"
#include "runtime/base/log.hpp"

namespace troupe::loops {

namespace {

template <class F>
void require(const F& function, const char* who) {
  if (!function) throw std::invalid_argument(std::string(who) + ": expected a function, got none");
}

void require_period(std::int64_t n, const char* who) {
  if (n < 1) {
    throw std::invalid_argument(std::string(who) + ": expected a number > 0, got " +
                                std::to_string(n));
  }
}

task<verdict> answer(verdict given) { co_return given; }

task<verdict> ask_in_turn(std::shared_ptr<const std::vector<callback>> each, progress now) {
  auto together = verdict::go_on;
  for (const auto& one : *each) {
    const auto said = co_await one(now);
    if (said == verdict::stop) together = said;
  }
  co_return together;
}

task<verdict> save(std::function<task<>(progress)> with, checkpoint_metrics counted, progress now) {
  try {
    co_await with(now);
  } catch (...) {
    counted.not_written();
    log::error("the loop's state was not saved",
               {{"error", describe(std::current_exception())}, {"step", now.steps}});
  }
  co_return verdict::go_on;
}

}  // namespace

callback in_turn(std::vector<callback> each) {
  for (const auto& one : each) require(one, "in_turn");
  const auto kept = std::make_shared<const std::vector<callback>>(std::move(each));
  return [kept](progress now) { return ask_in_turn(kept, now); };
}

callback every_steps(std::int64_t steps, callback then) {
  require_period(steps, "every_steps");
  require(then, "every_steps");
  return [steps, then = std::move(then)](progress now) {
    const auto before = now.steps - now.steps_of_update;
    return now.steps / steps > before / steps ? then(now) : answer(verdict::go_on);
  };
}

callback every_updates(std::int64_t updates, callback then) {
  require_period(updates, "every_updates");
  require(then, "every_updates");
  return [updates, then = std::move(then)](progress now) {
    return now.updates % updates == 0 ? then(now) : answer(verdict::go_on);
  };
}

callback save_with(std::function<task<>(progress)> with, checkpoint_metrics counted) {
  require(with, "save_with");
  return [with = std::move(with), counted](progress now) { return save(with, counted, now); };
}

callback stop_when(std::function<bool(const progress&)> enough) {
  require(enough, "stop_when");
  return [enough = std::move(enough)](progress now) {
    return answer(enough(now) ? verdict::stop : verdict::go_on);
  };
}

}  // namespace troupe::loops
