#pragma once
// Keeps one service's replicas alive: one for one, the first restart at once, later ones after a
// backoff, and none once the restart intensity is exceeded. Internal to runtime/.

#include <deque>

#include "runtime/actor/host.hpp"

namespace troupe::detail {

class supervisor final : public host {
 public:
  /// `started` is called in the supervisor once every replica serves, with null, or with why it
  /// can't be.
  supervisor(caf::actor_config& config, system_core& system, std::shared_ptr<service_state> service,
             std::shared_ptr<const role_factory> factory,
             std::function<void(std::exception_ptr)> started);

 private:
  struct place {
    ref<inbox> replica;  ///< Null between a death and the restart.
    bool serving = false;
    std::size_t starts = 0;
  };

  void starting() override;
  void ended() override;
  void on_down(const inbox& who, const std::string& reason) override;

  void start_replica(std::size_t index);
  void serves(std::size_t index, std::shared_ptr<replica_slot> slot);
  branch restart(std::size_t index);
  duration backoff();
  void give_up(const std::string& why);
  void report_started(std::exception_ptr error);

  std::shared_ptr<service_state> service_;
  std::shared_ptr<const role_factory> factory_;
  std::function<void(std::exception_ptr)> started_;
  std::vector<place> places_;
  std::deque<time_point> restarts_;  ///< In the window.
  std::uint64_t jitter_;
};

}  // namespace troupe::detail
