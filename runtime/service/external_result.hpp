#pragma once
// Lets a coroutine of an actor await a value from a thread that is no actor, such as the thread of
// an I/O library.

#include <optional>
#include <string>

#include "runtime/coroutine/task.hpp"
#include "runtime/service/call/signal.hpp"

namespace troupe {

namespace detail {

/// Throws std::logic_error naming `what` if the running actor's system is deterministic. It guards
/// everything that another thread or process does, because that would happen at a moment that no
/// seed decides.
void require_real_time(const std::string& what);

}  // namespace detail

/// A value, such as the reply of a socket, that a thread outside of the actors gives to a coroutine
/// once. The object is a handle that is copied to that thread.
///
///   const external_result<std::string> reply("a reply of the server");
///   post_to_the_io_thread([reply] { reply.set("hello"); });
///   const std::string text = co_await reply.wait();
template <class T>
class external_result {
 public:
  /// Makes a value that the running actor can wait for. Throws std::logic_error naming `what` if
  /// the actor's system is deterministic.
  explicit external_result(const std::string& what) {
    detail::require_real_time(what);
    shared_ = std::make_shared<state>();
    shared_->done = std::make_shared<detail::signal>();
  }

  /// Gives the value. Any thread may call it, but either `set` or `fail` only once. The value is
  /// dropped if the actor has ended meanwhile.
  void set(T value) const {
    shared_->value.emplace(std::move(value));
    detail::signal::set(shared_->done);
  }
  /// Gives an error instead of the value.
  void fail(std::exception_ptr error) const {
    detail::signal::set(shared_->done, std::move(error));
  }

  /// Waits for the value and returns it; throws the error given to `fail`. Only the actor that made
  /// this object may call it, and only once.
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
