#include "runtime/remote/remote_context.hpp"

#include "runtime/remote/hosted_replicas.hpp"
#include "runtime/remote/remote_metrics.hpp"

namespace troupe::detail {

remote_context::remote_context(const actor_options& actors, const fault_plan& faults,
                               duration cycle_check, std::shared_ptr<metrics_registry> metrics,
                               bool isolate, std::size_t peer_bytes_max)
    : service_context(actors, faults, cycle_check, std::move(metrics)),
      isolate_(isolate),
      peer_bytes_max_(peer_bytes_max),
      remote_metrics_(std::make_shared<class remote_metrics>(this->metrics())),
      hosted_replicas_(std::make_shared<class hosted_replicas>()) {
  this->metrics().watch(remote_metrics_);
  this->metrics().add(hosted_replicas_);
}

remote_context::~remote_context() = default;

void remote_context::forget_remote_metrics() {
  remote_metrics_->remove_all();
  metrics().retire(hosted_replicas_);
}

}  // namespace troupe::detail
