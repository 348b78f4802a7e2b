#pragma once
// The actor behind system::run. Internal to runtime/.

#include <memory>
#include <mutex>
#include <optional>

#include "runtime/base/error.hpp"
#include "runtime/service/call/host.hpp"
#include "runtime/system/system_core.hpp"
#include "runtime/trace/trace.hpp"

namespace troupe::detail {

/// The error of a program that a signal or system::cancel has ended.
inline call_error cancelled() {
  return call_error(error_kind::cancelled, "the program was told to end");
}

/// The actor that runs a program's main coroutine. Its turns are assured, so that deadlines and
/// cancellations work while roles hold every thread of the pool.
class driver final : public host {
 public:
  struct outcome {
    bool finished = false;
    std::exception_ptr error;
  };

  driver(caf::actor_config& config, system_core& system, child_task main,
         std::shared_ptr<outcome> result)
      : host(config, system, "main", turns::assured),
        system_(system),
        main_(std::move(main)),
        result_(std::move(result)) {
    made();
  }

 private:
  void starting() override {
    if (auto* trace = system_.trace()) lane = &trace->add_lane("main");
    start_root(std::move(*main_));
    main_.reset();
  }
  void root_finished(std::exception_ptr error) override {
    tell(std::move(error));
    end();
  }
  void ended() override { tell(std::make_exception_ptr(cancelled())); }
  void tell(std::exception_ptr error) {
    {
      std::lock_guard lock(system_.main_mutex);
      if (!result_) return;
      result_->finished = true;
      result_->error = std::move(error);
      result_ = nullptr;  // The error dies with the thread that called run, not with this actor.
    }
    system_.changed();
  }

  system_core& system_;
  std::optional<child_task> main_;
  std::shared_ptr<outcome> result_;  ///< Null once the result is told.
};

}  // namespace troupe::detail
