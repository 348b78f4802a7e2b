#pragma once
// The handle of a service: a cheap value, to be copied into any role, coroutine or message.
//
//   int one  = co_await counters.route<&counter::add>(3);        // one replica answers
//   auto all = co_await counters.fanout<&counter::add>(1);       // every replica answers
//   auto try_one = co_await counters.try_route<&counter::add>(3);  // outcome<int>: no exception
//   auto quick = counters.with({.deadline = 50ms, .wait = false}); // the same service, called
//   otherwise auto mine = co_await counters.session();                     // sticky to one replica

#include <concepts>
#include <memory>
#include <string>
#include <vector>

#include "runtime/coroutine/combine.hpp"
#include "runtime/service/call.hpp"
#include "runtime/service/caller.hpp"
#include "runtime/service/options.hpp"
#include "runtime/service/state.hpp"

namespace troupe {

template <class Role>
class session;

namespace detail {

/// What `co_await handle.route<F>(...)` awaits.
template <auto F>
class routed_call final : public pending_call {
 public:
  using result_type = typename call_of<F>::result_type;
  using pending_call::pending_call;
  result_type await_resume() {
    check();
    return static_cast<call_of<F>&>(call()).take();
  }
};

template <auto F>
task<outcome<typename call_of<F>::result_type>> settle(std::unique_ptr<routed_call<F>> pending) {
  using result_type = typename call_of<F>::result_type;
  try {
    if constexpr (std::is_void_v<result_type>) {
      co_await *pending;
      co_return outcome<void>();
    } else {
      co_return outcome<result_type>(co_await *pending);
    }
  } catch (...) {
    co_return outcome<result_type>(std::current_exception());
  }
}

/// Holds one open session of a replica, and counts it there.
class session_lease {
 public:
  explicit session_lease(std::shared_ptr<replica_slot> slot) : slot(std::move(slot)) {
    this->slot->sessions.fetch_add(1);
  }
  session_lease(const session_lease&) = delete;
  ~session_lease() { slot->sessions.fetch_sub(1); }
  const std::shared_ptr<replica_slot> slot;
};

/// Waits until a replica serves, then picks the one with the fewest sessions.
task<std::shared_ptr<session_lease>> open_session(std::shared_ptr<service_state> service,
                                                  call_options options);

}  // namespace detail

/// The replicas of Role behind one name. Calls check their arguments against the endpoint's
/// signature at compile time, and end with the endpoint's value or a call_error.
template <class Role>
class service {
 public:
  using role_type = Role;

  /// Names no service: calling it is an error.
  service() = default;

  /// A service of a derived role is one of its base, too.
  template <std::derived_from<Role> Derived>
    requires(!std::same_as<Derived, Role>)
  service(const service<Derived>& derived)
      : state_(derived.state_),
        access_(std::make_shared<detail::base_access<Role, Derived>>(derived.access_)),
        options_(derived.options_) {}

  const std::string& name() const { return state().options.name; }
  explicit operator bool() const noexcept { return state_ != nullptr; }

  /// The same service, called with other options.
  service with(const call_options& options) const {
    service other = *this;
    other.options_ = options;
    return other;
  }

  /// One replica, chosen by the service's router. Throws call_error.
  template <auto F, class... A>
    requires std::derived_from<Role, typename detail::endpoint_of<F>::role>
  detail::routed_call<F> route(A&&... args) const {
    return detail::routed_call<F>(state(), options_, make_call<F>(std::forward<A>(args)...),
                                  nullptr, false);
  }

  /// The same, with the error in the outcome.
  template <auto F, class... A>
    requires std::derived_from<Role, typename detail::endpoint_of<F>::role>
  task<outcome<typename detail::endpoint_of<F>::result>> try_route(A&&... args) const {
    return detail::settle<F>(std::make_unique<detail::routed_call<F>>(
        state(), options_, make_call<F>(std::forward<A>(args)...), nullptr, false));
  }

  /// Every replica that serves now. Waits for all, then throws if one failed. No value for void.
  template <auto F, class... A>
    requires std::derived_from<Role, typename detail::endpoint_of<F>::role>
  auto fanout(const A&... args) const {
    return values<F>(fanout_settled<F>(args...));
  }

  /// Every replica that serves now: an outcome each, in the order of their indices.
  template <auto F, class... A>
    requires std::derived_from<Role, typename detail::endpoint_of<F>::role>
  task<std::vector<outcome<typename detail::endpoint_of<F>::result>>> fanout_settled(
      const A&... args) const {
    std::vector<task<outcome<typename detail::endpoint_of<F>::result>>> calls;
    for (const auto& slot : *state().table()) {
      calls.push_back(detail::settle<F>(std::make_unique<detail::routed_call<F>>(
          state(), options_, make_call<F>(args...), slot, false)));
    }
    return all(std::move(calls));
  }

  /// Sticks to one replica, the one with the fewest sessions, for as long as a copy of it lives.
  task<troupe::session<Role>> session() const { return open(*this); }

 private:
  template <class>
  friend class service;
  friend class system;
  friend class troupe::session<Role>;

  service(std::shared_ptr<detail::service_state> state,
          std::shared_ptr<const detail::role_access<Role>> access)
      : state_(std::move(state)), access_(std::move(access)) {}

  detail::service_state& state() const {
    if (!state_) throw std::logic_error("a service handle that names no service was called");
    return *state_;
  }

  template <auto F, class... A>
  detail::ref<detail::call_base> make_call(A&&... args) const {
    using endpoint_role = typename detail::endpoint_of<F>::role;
    static_assert(std::constructible_from<typename detail::endpoint_of<F>::arguments, A...>,
                  "these arguments don't fit the endpoint's parameters");
    if constexpr (std::same_as<endpoint_role, Role>) {
      return new detail::call_of<F>(access_, std::forward<A>(args)...);
    } else {
      return new detail::call_of<F>(
          std::make_shared<detail::base_access<endpoint_role, Role>>(access_),
          std::forward<A>(args)...);
    }
  }

  template <auto F>
  static task<std::conditional_t<
      std::is_void_v<typename detail::endpoint_of<F>::result>, void,
      std::vector<detail::value_or_monostate<typename detail::endpoint_of<F>::result>>>>
  values(task<std::vector<outcome<typename detail::endpoint_of<F>::result>>> settled) {
    using result_type = typename detail::endpoint_of<F>::result;
    auto outcomes = co_await settled;
    if constexpr (std::is_void_v<result_type>) {
      for (auto& o : outcomes) o.value();
    } else {
      std::vector<result_type> results;
      results.reserve(outcomes.size());
      for (auto& o : outcomes) results.push_back(std::move(o).value());
      co_return results;
    }
  }

  static task<troupe::session<Role>> open(service self) {
    auto lease = co_await detail::open_session(self.state_, self.options_);
    co_return troupe::session<Role>(std::move(self), std::move(lease));
  }

  std::shared_ptr<detail::service_state> state_;
  std::shared_ptr<const detail::role_access<Role>> access_;
  call_options options_;
};

/// A conversation with one replica, whose state it relies on. When that replica dies every call of
/// the session ends as session_lost: it never moves.
template <class Role>
class session {
 public:
  template <auto F, class... A>
    requires std::derived_from<Role, typename detail::endpoint_of<F>::role>
  detail::routed_call<F> route(A&&... args) const {
    return detail::routed_call<F>(service_.state(), service_.options_,
                                  service_.template make_call<F>(std::forward<A>(args)...),
                                  lease_->slot, true);
  }

  /// The index of its replica.
  std::size_t replica() const noexcept { return lease_->slot->index; }

 private:
  friend class service<Role>;
  session(service<Role> service, std::shared_ptr<detail::session_lease> lease)
      : service_(std::move(service)), lease_(std::move(lease)) {}

  service<Role> service_;
  std::shared_ptr<detail::session_lease> lease_;
};

}  // namespace troupe
