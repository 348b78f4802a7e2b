#pragma once
// The handle of a service. Every user of a service includes this header. A handle is cheap to copy:
// pass it to any role, coroutine or message.
//
//   int one  = co_await counters.route<&counter::add>(3);        // one replica answers
//   auto all = co_await counters.fanout<&counter::add>(1);       // every replica answers
//   co_await policies.publish<&policy::update>(weights);         // every replica, later ones too
//   auto tried = co_await counters.try_route<&counter::add>(3);  // outcome<int>: no exception
//   auto quick = counters.with({.deadline = 50ms, .wait = false});  // with other options
//   auto fresh = policies.with({.min_version = 7});                 // version 7 or newer answers
//   auto mine = co_await counters.session();  // a session: all calls through it go to one replica
//   auto own  = co_await counters.session({.exclusive = true});  // the replica's only session

#include <concepts>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/coroutine/combine.hpp"
#include "runtime/service/call/call.hpp"
#include "runtime/service/call/routed_call.hpp"
#include "runtime/service/call_each.hpp"
#include "runtime/service/options/options.hpp"
#include "runtime/service/publish.hpp"
#include "runtime/service/role/role_constructor.hpp"
#include "runtime/service/session.hpp"
#include "runtime/service/state/service_state.hpp"

namespace troupe {

namespace detail {

// A handle is sent to another process (runtime/remote) as the service's name and call_options.
std::size_t handle_size(const service_state* service);
void write_handle(const service_state* service, wire_writer& to);
std::shared_ptr<service_state> read_handle(wire_reader& from);

template <auto F, class Role>
task<outcome<typename endpoint_of<F>::result>> settle(
    std::unique_ptr<routed_call<F, Role>> pending) {
  using result_type = typename endpoint_of<F>::result;
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

}  // namespace detail

/// The handle of one service, which is a set of replicas of Role under one name. Calls check their
/// arguments against the endpoint's signature at compile time. A call is sent when it is awaited.
/// It returns the endpoint's value or throws a call_error (see runtime/base/error.hpp); an
/// exception of the endpoint arrives as role_error, which is a call_error. Keep a handle until a
/// call is awaited: a call that isn't awaited yet doesn't keep its service.
template <class Role>
class service {
 public:
  using role_type = Role;

  /// Makes a handle that names no service. All its members except `with` and operator bool then
  /// throw std::logic_error: `session` when it is awaited, the others at once, also `try_route`.
  service() = default;

  /// Converts a handle of a derived role's service to one of its base.
  template <std::derived_from<Role> Derived>
    requires(!std::same_as<Derived, Role>)
  service(const service<Derived>& derived)
      : state_(derived.state_), access_(access_through(derived)), options_(derived.options_) {}

  /// The name of the service: serve_options::name.
  const std::string& name() const { return state().options.name; }
  /// Returns the number of replicas that serve now, as far as this process knows.
  std::size_t ready() const { return state().ready(); }
  /// True if the handle names a service, which may have ended.
  explicit operator bool() const noexcept { return state_ != nullptr; }

  /// Returns a handle of the same service whose calls use exactly `options`. Members that `options`
  /// leaves out have their defaults, not this handle's values.
  service with(const call_options& options) const {
    service other = *this;
    other.options_ = options;
    return other;
  }

  /// Calls one replica, which the service's router chooses. Throws call_error. As for the other
  /// calls, the first argument may be in braces: `route<&solver::solve>({2, -3})`.
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

  /// Calls one replica like `route`, and returns the error in the outcome instead of throwing it.
  template <auto F>
    requires std::derived_from<Role, typename detail::endpoint_of<F>::role>
  task<outcome<typename detail::endpoint_of<F>::result>> try_route() const {
    return settled<F>(nullptr, false);
  }
  template <auto F, class First = typename detail::endpoint_of<F>::first_argument, class... Rest>
    requires std::derived_from<Role, typename detail::endpoint_of<F>::role>
  task<outcome<typename detail::endpoint_of<F>::result>> try_route(First&& first,
                                                                   Rest&&... rest) const {
    return settled<F>(nullptr, false, std::forward<First>(first), std::forward<Rest>(rest)...);
  }

  /// Calls every replica that serves now; if none serves, it waits until one does. Waits for all
  /// answers. If calls failed, throws the error of the failed replica with the lowest index. A
  /// replica that `system::scale` removes before it is asked is left out. Returns the results in a
  /// vector, ordered by replica index, or nothing if the endpoint returns void.
  template <auto F>
    requires std::derived_from<Role, typename detail::endpoint_of<F>::role>
  auto fanout() const {
    return values<F>(fanout_settled<F>());
  }
  template <auto F, class First = typename detail::endpoint_of<F>::first_argument, class... Rest>
    requires std::derived_from<Role, typename detail::endpoint_of<F>::role>
  auto fanout(const First& first, const Rest&... rest) const {
    return values<F>(fanout_settled<F>(first, rest...));
  }

  /// Calls every replica like `fanout`, and returns one outcome for each, ordered by replica index.
  /// Removed replicas have no outcome, so positions may differ from indices. Throws call_error of
  /// kind service_down, deadline_exceeded or overloaded if no replica could be asked.
  template <auto F>
    requires std::derived_from<Role, typename detail::endpoint_of<F>::role>
  task<std::vector<outcome<typename detail::endpoint_of<F>::result>>> fanout_settled() const {
    return asked<F>();
  }
  template <auto F, class First = typename detail::endpoint_of<F>::first_argument, class... Rest>
    requires std::derived_from<Role, typename detail::endpoint_of<F>::role>
  task<std::vector<outcome<typename detail::endpoint_of<F>::result>>> fanout_settled(
      const First& first, const Rest&... rest) const {
    return asked<F>(first, rest...);
  }

  /// Gives every replica a value that each of them must have, such as a policy's weights. The
  /// service keeps the arguments of the last `publish` of each endpoint and calls the endpoint with
  /// them at every replica that serves, and at every replica that is restarted or added later,
  /// before it serves. A replica gets the values in the order of their publications; one that is
  /// slow may miss all but the last. Returns when each replica that serves has the value. A replica
  /// that dies meanwhile is no error, because its successor gets the value.
  ///
  /// Throws role_error if the endpoint throws in a replica that serves; the value is then kept no
  /// longer. Throws call_error of kind deadline_exceeded if a replica has no value in time, though
  /// it gets the value later, and of kind service_down. Throws std::logic_error in another process
  /// than the one that serves the service.
  template <auto F, class First = typename detail::endpoint_of<F>::first_argument, class... Rest>
    requires std::derived_from<Role, typename detail::endpoint_of<F>::role>
  task<> publish(const First& first, const Rest&... rest) const {
    static_assert(detail::fits_endpoint<F, const First&, const Rest&...>,
                  "these arguments don't fit the endpoint's parameters");
    static_assert(std::is_copy_constructible_v<typename detail::endpoint_of<F>::arguments>,
                  "each replica gets a copy of the arguments, and these can't be copied");
    return detail::publish(state().shared_from_this(), options_, make_call<F>(first, rest...));
  }

  /// Opens a session at the replica with the fewest sessions. Every call of the session goes to
  /// that replica. The session ends when its last copy is destroyed. An exclusive session waits for
  /// a replica without any session. While it lasts, no other session, in this or another process,
  /// opens at that replica; routed calls still reach it. Throws call_error of kind service_down,
  /// deadline_exceeded or overloaded.
  task<troupe::session<Role>> session(session_options options = {}) const {
    return open(*this, options);
  }

  /// Opens `count` exclusive sessions, each at another replica. It waits until it can have all of
  /// them at once and holds none meanwhile, so that two who need several never wait for each other.
  /// Throws as `session` does, and std::logic_error if `count` is above 1 in another process than
  /// the one that serves the service.
  task<std::vector<troupe::session<Role>>> sessions(std::size_t count) const {
    return open_all(*this, count);
  }

 private:
  template <class>
  friend class service;
  friend class system;
  friend struct wire_codec<service>;
  friend class troupe::session<Role>;

  using access = detail::role_access<Role>;

  /// Makes a handle of a service whose replicas hold a Role itself, not a class derived from it.
  explicit service(std::shared_ptr<detail::service_state> state)
      : state_(std::move(state)), access_(detail::keep_direct_access<Role>(*state_)) {}

  template <class Derived>
  static const access* access_through(const service<Derived>& derived) {
    if (!derived.state_) return nullptr;
    static_cast<void>(&detail::cast_to_base<Role, Derived>);  // This use registers the cast.
    return detail::keep_base_access<Role>(*derived.state_, *derived.access_);
  }

  detail::service_state& state() const {
    if (!state_) throw std::logic_error("a service handle that names no service was called");
    return *state_;
  }

  template <auto F, class... A>
  detail::ref<detail::call_base> make_call(A&&... args) const {
    static_assert(detail::fits_endpoint<F, A...>,
                  "these arguments don't fit the endpoint's parameters");
    state();
    // Arguments that don't fit are told above, without std::tuple's errors after it.
    if constexpr (detail::fits_endpoint<F, A...>) {
      return new detail::call_of<F, Role>(*access_, std::forward<A>(args)...);
    } else {
      return nullptr;
    }
  }

  /// Makes a call that the router's choice of a replica answers.
  template <auto F, class... A>
  detail::routed_call<F, Role> routed(A&&... args) const {
    return detail::routed_call<F, Role>(state(), options_, make_call<F>(std::forward<A>(args)...),
                                        nullptr, false);
  }

  /// Asks every replica, with copies of the arguments.
  template <auto F, class... A>
  task<std::vector<outcome<typename detail::endpoint_of<F>::result>>> asked(
      const A&... args) const {
    static_assert(detail::fits_endpoint<F, const A&...>,
                  "these arguments don't fit the endpoint's parameters");
    state();
    if constexpr (detail::fits_endpoint<F, const A&...>) {
      static_assert(std::is_copy_constructible_v<typename detail::endpoint_of<F>::arguments>,
                    "each replica gets a copy of the arguments, and these can't be copied");
      return ask_all<F>(*this, make_call<F>(args...));
    } else {
      std::terminate();
    }
  }

  /// Makes a call and keeps its error in the outcome. If `only` isn't null, that replica answers.
  template <auto F, class... A>
  task<outcome<typename detail::endpoint_of<F>::result>> settled(
      std::shared_ptr<detail::replica_slot> only, bool session, A&&... args) const {
    return detail::settle(std::make_unique<detail::routed_call<F, Role>>(
        state(), options_, make_call<F>(std::forward<A>(args)...), std::move(only), session));
  }

  template <auto F>
  static task<std::vector<outcome<typename detail::endpoint_of<F>::result>>> ask_all(
      service self, detail::ref<detail::call_base> call) {
    using result_type = typename detail::endpoint_of<F>::result;
    std::vector<std::optional<outcome<result_type>>> ends;
    const auto told = [&](std::size_t place, detail::call_base* answered,
                          std::exception_ptr error) {
      if (ends.size() <= place) ends.resize(place + 1);
      if (error) {
        ends[place].emplace(std::move(error));
      } else if constexpr (std::is_void_v<result_type>) {
        ends[place].emplace();
      } else {
        ends[place].emplace(static_cast<detail::call_of<F, Role>&>(*answered).take());
      }
    };
    co_await detail::call_each(self.state_, self.options_, std::move(call), told);
    std::vector<outcome<result_type>> outcomes;
    outcomes.reserve(ends.size());
    for (auto& end : ends) {
      if (end) outcomes.push_back(*std::move(end));
    }
    co_return outcomes;
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

  static task<troupe::session<Role>> open(service self, session_options options) {
    auto leases = co_await detail::open_sessions(self.state_, self.options_, options, 1);
    co_return troupe::session<Role>(std::move(self), std::move(leases.front()));
  }

  static task<std::vector<troupe::session<Role>>> open_all(service self, std::size_t count) {
    auto leases =
        co_await detail::open_sessions(self.state_, self.options_, {.exclusive = true}, count);
    std::vector<troupe::session<Role>> opened;
    for (auto& lease : leases) opened.push_back(troupe::session<Role>(self, std::move(lease)));
    co_return opened;
  }

  std::shared_ptr<detail::service_state> state_;
  const access* access_ = nullptr;
  call_options options_;
};

/// A handle that is sent to another process names the same service there.
template <class Role>
struct wire_codec<service<Role>> {
  static constexpr std::size_t bytes_min = 1;
  static std::size_t size(const service<Role>& s) {
    return detail::handle_size(s.state_.get()) + wire_size(s.options_);
  }
  static void write(const service<Role>& s, wire_writer& to) {
    detail::write_handle(s.state_.get(), to);
    to.write(s.options_);
  }
  static service<Role> read(wire_reader& from) {
    service<Role> s;
    if (auto state = detail::read_handle(from)) s = service<Role>(std::move(state));
    s.options_ = from.read<call_options>();
    return s;
  }
};

}  // namespace troupe
