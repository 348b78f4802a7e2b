#pragma once
// A session: a conversation with one replica of a service. `service.hpp` includes this header.

#include <concepts>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/coroutine/task.hpp"
#include "runtime/service/call/routed_call.hpp"
#include "runtime/service/options/options.hpp"
#include "runtime/service/state/service_state.hpp"

namespace troupe {

template <class Role>
class service;

namespace detail {

/// Holds one open session of a replica.
class session_lease {
 public:
  session_lease(std::shared_ptr<service_state> service, std::shared_ptr<session_request> request,
                std::shared_ptr<replica_slot> slot)
      : slot(std::move(slot)), service_(std::move(service)), request_(std::move(request)) {}
  session_lease(const session_lease&) = delete;
  ~session_lease() { service_->sessions().end_session(request_, *slot); }
  const std::shared_ptr<replica_slot> slot;

 private:
  const std::shared_ptr<service_state> service_;
  const std::shared_ptr<session_request> request_;
};

/// Waits until `count` replicas can have another session each, then opens these at those with the
/// fewest. Several sessions are exclusive. Holds none of them while it waits.
task<std::vector<std::shared_ptr<session_lease>>> open_sessions(
    std::shared_ptr<service_state> service, call_options call, session_options options,
    std::size_t count);

/// Waits until a replica serves, then returns all replicas that serve.
task<std::shared_ptr<const replica_table>> open_table(std::shared_ptr<service_state> service,
                                                      call_options options);

}  // namespace detail

/// A conversation with one replica that keeps state between the calls. A session never moves to
/// another replica: when its replica dies, all its calls end as session_lost. A session must not
/// outlive its system, because the system's destructor waits for the thread of the replica.
template <class Role>
class session {
 public:
  template <auto F>
    requires std::derived_from<Role, typename detail::endpoint_of<F>::role>
  detail::routed_call<F, Role> route() const {
    return routed<F>();
  }
  template <auto F, class First = typename detail::endpoint_of<F>::first_argument, class... Rest>
    requires std::derived_from<Role, typename detail::endpoint_of<F>::role>
  detail::routed_call<F, Role> route(First&& first, Rest&&... rest) const {
    return routed<F>(std::forward<First>(first), std::forward<Rest>(rest)...);
  }

  /// Calls the replica like `route`, and returns the error in the outcome instead of throwing it.
  /// Keep the session until the call has ended.
  template <auto F>
    requires std::derived_from<Role, typename detail::endpoint_of<F>::role>
  task<outcome<typename detail::endpoint_of<F>::result>> try_route() const {
    return service_.template settled<F>(lease_->slot, true);
  }
  template <auto F, class First = typename detail::endpoint_of<F>::first_argument, class... Rest>
    requires std::derived_from<Role, typename detail::endpoint_of<F>::role>
  task<outcome<typename detail::endpoint_of<F>::result>> try_route(First&& first,
                                                                   Rest&&... rest) const {
    return service_.template settled<F>(lease_->slot, true, std::forward<First>(first),
                                        std::forward<Rest>(rest)...);
  }

  /// The index of the session's replica.
  std::size_t replica() const noexcept { return lease_->slot->index; }

 private:
  friend class service<Role>;
  session(service<Role> service, std::shared_ptr<detail::session_lease> lease)
      : service_(std::move(service)), lease_(std::move(lease)) {}

  template <auto F, class... A>
  detail::routed_call<F, Role> routed(A&&... args) const {
    return detail::routed_call<F, Role>(service_.state(), service_.options_,
                                        service_.template make_call<F>(std::forward<A>(args)...),
                                        lease_->slot, true);
  }

  service<Role> service_;
  std::shared_ptr<detail::session_lease> lease_;
};

}  // namespace troupe
