#pragma once
// One call on its way. The caller makes it, the replica executes it, and the caller reads the
// result. Apart from the atomics, the two never look at the same field at the same time.

#include <atomic>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/actor/inbox.hpp"
#include "runtime/base/error.hpp"
#include "runtime/coroutine/task_group.hpp"
#include "runtime/service/options/endpoint.hpp"
#include "runtime/service/role/call_registry.hpp"
#include "runtime/service/role/role.hpp"

namespace troupe::detail {

class attempt;
class replica_port;

/// The base of all calls. As a list_node, it is in the list of coroutine calls that its replica
/// works on.
class call_base : public counted, public list_node, public recycled {
 public:
  explicit call_base(const endpoint_info& endpoint) : endpoint(endpoint) {}

  /// Executes the call, or begins to. Called in the replica.
  virtual void execute(replica_port& replica, role_box& box) = 0;
  /// Makes a copy of the call for another replica; null if the arguments can't be copied.
  virtual ref<call_base> again() const = 0;
  /// Describes the arguments for the log, without prompts or secrets: numbers by their value, texts
  /// and lists by their size, other types by their name.
  virtual std::string describe_arguments() const = 0;

  // These write the call for another process and read its result. Only if its kind is encodable.
  virtual const call_kind& kind() const = 0;
  virtual std::size_t arguments_size() const = 0;
  virtual void write_arguments(wire_writer& to) const = 0;
  virtual std::size_t result_size() const = 0;
  virtual void write_result(wire_writer& to) const = 0;
  virtual void read_result(wire_reader& from) = 0;

  const endpoint_info& endpoint;

  // The caller writes these before it sends the call.
  ref<inbox> caller;
  time_point sent{};
  std::uint8_t statistics = 0;  ///< The row of the replica's statistics that counts it.
  /// True if the call may be sent again; then the endpoint gets copies of the arguments.
  bool keep_arguments = false;
  bool limited = false;        ///< True if the caller has a deadline.
  std::uint64_t traced = 0;    ///< The call's number in the trace; 0 means that it isn't traced.
  time_point deadline{};       ///< The caller's deadline, if `limited`.
  bool urgent = false;         ///< True for a control call.
  std::uint64_t by_slice = 0;  ///< The strand::slice in which the call is awaited.

  // Only the caller uses this.
  attempt* pending = nullptr;  ///< The awaiting attempt; null once nobody awaits the call.

  // Both sides use these.
  /// The caller has given up, so the call must not be started.
  std::atomic<bool> cancelled{false};
  std::atomic<bool> begun{false};     ///< A replica has started the call.
  std::atomic<bool> answered{false};  ///< The reply is on its way, even if the replica dies.

  // The replica writes these before it replies.
  bool received = false;  ///< The call has arrived; a second arrival is a copy of the message.
  bool overran = false;   ///< The replica has cancelled the call after max_call_time.
  bool refused = false;   ///< `error` isn't the endpoint's own: the call was not executed.
  std::exception_ptr error;

  /// What counts the bytes of a call that came from another process, as long as the call exists.
  std::shared_ptr<const void> counted_in;

  // Only the replica uses these.
  std::uint64_t slice = 0;  ///< The strand::slice of its endpoint, set when it starts.
  /// The endpoint's coroutine, from its start to its end; otherwise null.
  child_task* running = nullptr;
  time_point began{};  ///< The time when it started.
};

/// The error of a call to one given replica that was removed before the call was sent. It never
/// leaves `fanout`, which doesn't ask such a replica.
class replica_removed final : public call_error {
 public:
  using call_error::call_error;
};

using call_list = std::vector<ref<call_base>, recycling_allocator<ref<call_base>>>;

/// The functions of a replica that a call needs while it is executed.
class replica_port {
 public:
  using batch_runner = void (*)(call_list&, replica_port&, role_box&);

  /// Replies to `call`, which has its value or its error.
  virtual void finish(call_base& call) = 0;
  /// Replies to the calls of a batch.
  virtual void finish_all(call_list& calls) = 0;
  /// Runs a coroutine endpoint beside the calls that run already.
  virtual void start(call_base& call, child_task work) = 0;
  /// Adds the call to the batch of its endpoint. `run` gets the batch when it closes.
  virtual void gather(ref<call_base> call, batch_runner run) = 0;
  /// Ends the replica, because its role can't go on. The replica is restarted.
  virtual void crash(const std::string& reason) = 0;

 protected:
  ~replica_port() = default;
};

/// Describes one argument: "7", "<text of 4 bytes>", "<std::vector<float> of 3>", "<observation>".
template <class T>
std::string describe_argument(const T& value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return std::to_string(value);
  } else if constexpr (std::convertible_to<const T&, std::string_view>) {
    return "<text of " + std::to_string(std::string_view(value).size()) + " bytes>";
  } else if constexpr (requires {
                         { value.size() } -> std::convertible_to<std::size_t>;
                       }) {
    return '<' + std::string(type_name<T>()) + " of " + std::to_string(value.size()) + '>';
  } else {
    return '<' + std::string(type_name<T>()) + '>';
  }
}

/// A call of the endpoint F through a handle of Role, which is F's class or derived from it.
template <auto F, class Role>
class call_of final : public call_base {
 public:
  using traits = endpoint_of<F>;
  using result_type = typename traits::result;
  using arguments = typename traits::arguments;

  /// The service holds `access`.
  template <class... A>
  explicit call_of(const role_access<Role>& access, A&&... args)
      : call_base(*troupe::endpoint<F>), access_(&access), args_(std::forward<A>(args)...) {}

  void execute(replica_port& replica, role_box& box) override {
    if constexpr (traits::kind == endpoint_kind::batched) {
      replica.gather(this, &run_batch);
    } else if constexpr (traits::kind == endpoint_kind::coroutine) {
      replica.start(*this, run_coroutine(this, replica, access_->of(box)));
    } else {
      try {
        auto& role = access_->of(box);
        with_arguments([&](auto&&... args) {
          if constexpr (std::is_void_v<result_type>) {
            (role.*F)(std::forward<decltype(args)>(args)...);
            value_.emplace();
          } else {
            value_.emplace((role.*F)(std::forward<decltype(args)>(args)...));
          }
        });
      } catch (const fatal& reason) {
        return replica.crash(reason.what());
      } catch (...) {
        error = std::current_exception();
      }
      replica.finish(*this);
    }
  }

  ref<call_base> again() const override {
    if constexpr (std::is_copy_constructible_v<arguments>) {
      auto copy = ref<call_of>(new call_of(access_, args_, from_tuple{}));
      copy->keep_arguments = keep_arguments;
      return copy;
    } else {
      return nullptr;
    }
  }

  std::string describe_arguments() const override {
    std::string text;
    std::apply([&](const auto&... arg) { ((text += describe_argument(arg) + ' '), ...); }, args_);
    if (!text.empty()) text.pop_back();
    return text;
  }

  const call_kind& kind() const override { return *known; }
  static const call_kind& registered() { return *known; }
  std::size_t arguments_size() const override {
    if constexpr (crosses) return wire_size(args_);
    stays();
  }
  void write_arguments(wire_writer& to) const override {
    if constexpr (crosses) return to.write(args_);
    stays();
  }
  std::size_t result_size() const override {
    if constexpr (crosses) return wire_size(*value_);
    stays();
  }
  void write_result(wire_writer& to) const override {
    if constexpr (crosses) return to.write(*value_);
    stays();
  }
  void read_result(wire_reader& from) override {
    if constexpr (crosses) {
      value_.emplace(from.read<value_type>());
    } else {
      stays();
    }
  }

  /// Returns the value. The caller has checked that there is one.
  result_type take() {
    if constexpr (!std::is_void_v<result_type>) return std::move(*value_);
  }

 private:
  using value_type = value_or_monostate<result_type>;
  static constexpr bool crosses = encodable<arguments> && encodable<value_type>;

  struct from_tuple {};
  call_of(const role_access<Role>* access, arguments args, from_tuple)
      : call_base(*troupe::endpoint<F>), access_(access), args_(std::move(args)) {}

  [[noreturn]] static void stays() {
    throw std::logic_error(known->name + ": " + known->not_encodable + " can't be encoded");
  }

  static ref<call_base> read(const void* access, wire_reader& from) {
    if constexpr (crosses) {
      return new call_of(static_cast<const role_access<Role>*>(access), from.read<arguments>(),
                         from_tuple{});
    } else {
      stays();
    }
  }

  static const call_kind& add_kind() {
    call_kind kind{.name = std::string(endpoint_name<F>()),
                   .signature = __PRETTY_FUNCTION__,
                   .handle = typeid(Role),
                   .not_encodable = "",
                   .read = &read};
    kind.signature += type_name<decltype(F)>();
    if constexpr (!crosses) kind.not_encodable = not_encodable<std::tuple<arguments, value_type>>();
    return register_kind(std::move(kind));
  }
  static inline const call_kind* const known = &add_kind();

  /// Moves the arguments into the endpoint, or copies them if they may be needed again.
  template <class Invoke>
  void with_arguments(Invoke invoke) {
    if constexpr (std::is_copy_constructible_v<arguments>) {
      if (keep_arguments) {
        arguments copy = args_;
        std::apply([&](auto&... args) { invoke(std::move(args)...); }, copy);
        return;
      }
    }
    std::apply([&](auto&... args) { invoke(std::move(args)...); }, args_);
  }

  static child_task run_coroutine(ref<call_of> self, replica_port& replica, Role& role) {
    std::optional<std::string> crashed;
    // The copy is in this frame, because the endpoint may take arguments by reference.
    std::optional<arguments> copy;
    try {
      if constexpr (std::is_copy_constructible_v<arguments>) {
        if (self->keep_arguments) copy.emplace(self->args_);
      }
      auto work = std::apply([&](auto&... args) { return (role.*F)(std::move(args)...); },
                             copy ? *copy : self->args_);
      if constexpr (std::is_void_v<result_type>) {
        co_await work;
        self->value_.emplace();
      } else {
        self->value_.emplace(co_await work);
      }
    } catch (const fatal& reason) {
      crashed = reason.what();
    } catch (...) {
      self->error = std::current_exception();
    }
    if (crashed) {
      replica.crash(*crashed);
    } else {
      replica.finish(*self);
    }
  }

  static void run_batch(call_list& calls, replica_port& replica, role_box& box) {
    if constexpr (traits::kind == endpoint_kind::batched) {
      try {
        answer_batch(calls, static_cast<call_of&>(*calls.front()).access_->of(box));
      } catch (const fatal& reason) {
        return replica.crash(reason.what());
      } catch (...) {
        for (auto& call : calls) call->error = std::current_exception();
      }
      replica.finish_all(calls);
    }
  }

  static void answer_batch(call_list& calls, Role& role) {
    batch<std::tuple_element_t<0, arguments>> items;
    items.reserve(calls.size());
    for (auto& call : calls) {
      static_cast<call_of&>(*call).with_arguments(
          [&](auto&& item) { items.push_back(std::forward<decltype(item)>(item)); });
    }
    batch<result_type> results = (role.*F)(std::move(items));
    if (results.size() != calls.size()) {
      throw std::logic_error(std::string(calls.front()->endpoint.name) + " answered " +
                             std::to_string(results.size()) + " items of a batch of " +
                             std::to_string(calls.size()));
    }
    for (std::size_t i = 0; i < calls.size(); ++i) {
      auto& result = results.at(i);
      if (result.ok()) {
        static_cast<call_of&>(*calls[i]).value_.emplace(std::move(result).value());
      } else {
        calls[i]->error = result.error();
      }
    }
  }

  const role_access<Role>* access_;  ///< Null if the call is only forwarded to another process.
  arguments args_;
  std::optional<value_type> value_;
};

}  // namespace troupe::detail
