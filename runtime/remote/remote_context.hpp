#pragma once
// What the ends of connections in one system share. Internal to runtime/.

#include <memory>

#include "runtime/service/supervision/service_context.hpp"

namespace troupe::detail {

class hosted_replicas;
class remote_metrics;

class remote_context : public service_context {
 public:
  /// What processes count that run replicas for this one, and replicas that run here for others.
  const std::shared_ptr<class remote_metrics>& remote_metrics() noexcept { return remote_metrics_; }
  class hosted_replicas& hosted_replicas() noexcept { return *hosted_replicas_; }
  /// True if roles that another process places here run in a child process each.
  bool isolate() const noexcept { return isolate_; }
  /// The bound, in bytes, of the calls under way that one guest may make here.
  std::size_t peer_bytes_max() const noexcept { return peer_bytes_max_; }

 protected:
  remote_context(const actor_options& actors, const fault_plan& faults, duration cycle_check,
                 std::shared_ptr<metrics_registry> metrics, bool isolate,
                 std::size_t peer_bytes_max);
  ~remote_context();

  /// No other process counts here any more.
  void forget_remote_metrics();

 private:
  const bool isolate_;
  const std::size_t peer_bytes_max_;
  const std::shared_ptr<class remote_metrics> remote_metrics_;
  const std::shared_ptr<class hosted_replicas> hosted_replicas_;
};

}  // namespace troupe::detail
