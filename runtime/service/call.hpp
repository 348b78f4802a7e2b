#pragma once
// One call on its way: made by the caller, executed by the replica, read by the caller again. The
// two never look at the same field at the same time, but for the atomics.

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/actor/inbox.hpp"
#include "runtime/coroutine/crew.hpp"
#include "runtime/error.hpp"
#include "runtime/service/endpoint.hpp"
#include "runtime/service/role.hpp"

namespace troupe::detail {

class pending_call;
class replica_port;

class call_base : public counted {
 public:
  explicit call_base(const endpoint_info& endpoint) : endpoint(endpoint) {}

  /// Executes the call, or begins to. In the replica.
  virtual void execute(replica_port& replica, role_box& box) = 0;
  /// The same call once more, for another replica; null if its arguments can't be copied.
  virtual ref<call_base> again() const = 0;

  const endpoint_info& endpoint;

  // Written by the caller before it is sent.
  ref<inbox> caller;
  time_point sent{};
  std::uint8_t statistics = 0;  ///< Which row of the replica's statistics counts it.
  bool keep_arguments = false;  ///< It may be sent again, so the endpoint gets copies.

  // The caller's alone.
  pending_call* pending = nullptr;  ///< Who awaits it; null once nobody does.

  // Between both.
  std::atomic<bool> cancelled{false};  ///< The caller has given up: don't start it.
  std::atomic<bool> answered{false};  ///< Its reply is on the way, whatever becomes of the replica.

  // Written by the replica before it replies.
  std::exception_ptr error;
};

/// What a call needs of the replica that executes it.
class replica_port {
 public:
  using batch_runner = void (*)(std::vector<ref<call_base>>&, replica_port&, role_box&);

  /// `call` has its value or its error: reply.
  virtual void finish(call_base& call) = 0;
  /// Runs a coroutine endpoint beside the others.
  virtual void start(branch work) = 0;
  /// Gathers a batched endpoint's calls; `run` gets them when the batch closes.
  virtual void gather(ref<call_base> call, batch_runner run) = 0;
  /// The role can't go on: the replica dies and is restarted.
  virtual void crash(const std::string& reason) = 0;

 protected:
  ~replica_port() = default;
};

/// A call of the endpoint F.
template <auto F>
class call_of final : public call_base {
 public:
  using traits = endpoint_of<F>;
  using role_type = typename traits::role;
  using result_type = typename traits::result;
  using arguments = typename traits::arguments;

  template <class... A>
  explicit call_of(std::shared_ptr<const role_access<role_type>> access, A&&... args)
      : call_base(*troupe::endpoint<F>),
        access_(std::move(access)),
        args_(std::forward<A>(args)...) {}

  void execute(replica_port& replica, role_box& box) override {
    if constexpr (traits::kind == endpoint_kind::batched) {
      replica.gather(this, &run_batch);
    } else if constexpr (traits::kind == endpoint_kind::coroutine) {
      replica.start(run_coroutine(this, replica, access_->of(box)));
    } else {
      try {
        auto& role = access_->of(box);
        with_arguments([&](auto&&... args) {
          keep(
              [&]() -> decltype(auto) { return (role.*F)(std::forward<decltype(args)>(args)...); });
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

  /// The value; the caller has checked that there is one.
  result_type take() {
    if constexpr (!std::is_void_v<result_type>) return std::move(*value_);
  }

 private:
  struct from_tuple {};
  call_of(std::shared_ptr<const role_access<role_type>> access, const arguments& args, from_tuple)
      : call_base(*troupe::endpoint<F>), access_(std::move(access)), args_(args) {}

  template <class Invoke>
  void keep(Invoke invoke) {
    if constexpr (std::is_void_v<result_type>) {
      invoke();
      value_.emplace();
    } else {
      value_.emplace(invoke());
    }
  }

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

  static branch run_coroutine(ref<call_of> self, replica_port& replica, role_type& role) {
    bool crashed = false;
    std::string reason;
    try {
      auto work = self->begin(role);
      if constexpr (std::is_void_v<result_type>) {
        co_await work;
        self->value_.emplace();
      } else {
        self->value_.emplace(co_await work);
      }
    } catch (const fatal& e) {
      crashed = true;
      reason = e.what();
    } catch (...) {
      self->error = std::current_exception();
    }
    if (crashed) {
      replica.crash(reason);
    } else {
      replica.finish(*self);
    }
  }

  auto begin(role_type& role) {
    std::optional<decltype(std::apply([&](auto&... args) { return (role.*F)(std::move(args)...); },
                                      args_))>
        work;
    with_arguments(
        [&](auto&&... args) { work.emplace((role.*F)(std::forward<decltype(args)>(args)...)); });
    return std::move(*work);
  }

  static void run_batch(std::vector<ref<call_base>>& calls, replica_port& replica, role_box& box) {
    if constexpr (traits::kind == endpoint_kind::batched) {
      using argument = std::tuple_element_t<0, arguments>;
      batch<argument> items;
      items.reserve(calls.size());
      for (auto& call : calls) {
        static_cast<call_of&>(*call).with_arguments(
            [&](auto&& arg) { items.push_back(std::forward<decltype(arg)>(arg)); });
      }
      try {
        auto& role = static_cast<call_of&>(*calls.front()).access_->of(box);
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
      } catch (const fatal& reason) {
        return replica.crash(reason.what());
      } catch (...) {
        for (auto& call : calls) call->error = std::current_exception();
      }
      for (auto& call : calls) replica.finish(*call);
    }
  }

  const std::shared_ptr<const role_access<role_type>> access_;
  arguments args_;
  std::optional<value_or_monostate<result_type>> value_;
};

}  // namespace troupe::detail
