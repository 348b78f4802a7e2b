#pragma once
// A link inside one deterministic system, which simulates replicas in other processes. As the
// system's fault_source draws, its messages come late, twice and out of order, and the link breaks.
// Internal to runtime/.

#include <memory>
#include <utility>
#include <vector>

#include "runtime/coroutine/strand.hpp"
#include "runtime/remote/link.hpp"

namespace troupe::detail {

class remote_context;

/// One end of the link.
class simulated_link final : public link, public std::enable_shared_from_this<simulated_link> {
 public:
  /// The time without messages after which a side takes the other for dead.
  static constexpr auto silence_limit = std::chrono::seconds(5);

  /// Makes both ends.
  static std::pair<std::shared_ptr<simulated_link>, std::shared_ptr<simulated_link>> make(
      remote_context& system);

  /// The largest number of messages on their way from one side; with more the link is full.
  static constexpr std::size_t under_way_max = 16;

  /// The messages that a fault applies to, as seen from this end.
  enum class way { both, out, in };

  /// Lets nothing pass any more that way. Who hears nothing notices it after silence_limit, and
  /// ends the link.
  void cut(way which = way::both);
  /// Delays what is sent that way within that time until its end. The time is at most
  /// silence_limit.
  void stall(duration time, way which = way::both);

  // These override link.
  void open(std::shared_ptr<link_listener> listener) override;
  void send(block message, priority urgency) override;
  bool full() const override { return under_way_ > under_way_max; }
  bool needs_checksum() const override { return false; }
  bool keeps_order() const override { return false; }
  void close(const std::string& why) override;

 private:
  explicit simulated_link(remote_context& system) : system_(system) {}
  void carry(block message, duration pause);
  void arrive(block message);
  void has_arrived();
  std::vector<std::shared_ptr<simulated_link>> senders(way which);
  void end(const std::string& why);
  void tell_closed();
  void at(duration pause, std::function<void()> action);

  remote_context& system_;
  std::weak_ptr<simulated_link> other_;
  std::shared_ptr<link_listener> listener_;
  std::vector<block> early_;
  std::size_t under_way_ = 0;  ///< The messages that this side has sent and that have not arrived.
  time_point stalled_until_{};
  bool cut_ = false;  ///< Nothing that this side sends arrives.
  bool closed_ = false;
  std::string why_;
};

}  // namespace troupe::detail
