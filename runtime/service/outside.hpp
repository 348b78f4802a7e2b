#pragma once

#include <optional>
#include <string>

#include "runtime/coroutine/task.hpp"
#include "runtime/service/call/signal.hpp"

namespace troupe {

namespace detail {

/// For what another thread or process does: throws std::logic_error naming `what` where the running
/// actor's system is deterministic: it would come at a moment that no seed draws.
void require_real_time(const std::string& what);

}  // namespace detail

/// A value that a thread outside of the actors gives to a coroutine, once: the reply of a socket,
/// say. A handle, to be copied to that thread.
///
///   const outside<std::string> reply("a reply of the server");
///   post_to_the_io_thread([reply] { reply.set("hello"); });
///   const std::string text = co_await reply.wait();
template <class T>
class outside {
 public:
  /// For the running actor to wait on. Throws std::logic_error naming `what` where the actor's
  /// system is deterministic.
  explicit outside(const std::string& what) {
    detail::require_real_time(what);
    shared_ = std::make_shared<state>();
    shared_->done = std::make_shared<detail::signal>();
  }

  /// Any thread; `set` or `fail`, once. Nobody hears it if the actor has ended meanwhile.
  void set(T value) const {
    shared_->value.emplace(std::move(value));
    detail::signal::set(shared_->done);
  }
  void fail(std::exception_ptr error) const {
    detail::signal::set(shared_->done, std::move(error));
  }

  /// On the actor that made it, once: the value; throws what it failed with.
  task<T> wait() const { return wait_for(shared_); }

 private:
  struct state {
    std::shared_ptr<detail::signal> done;
    std::optional<T> value;
  };

  static task<T> wait_for(std::shared_ptr<state> shared) {
    co_await detail::signal::awaiter(shared->done);
    co_return std::move(*shared->value);
  }

  std::shared_ptr<state> shared_;
};

}  // namespace troupe
