#pragma once
// An event that one actor sets and a coroutine of another actor awaits. Internal to runtime/.

#include <exception>
#include <memory>

#include "runtime/service/call/caller.hpp"

namespace troupe::detail {

/// An event that any thread sets once, and that a coroutine of the actor that made it awaits.
class signal {
 public:
  /// Makes a signal that the running actor can wait for.
  signal() : home_(strand::current()), me_(caller::current().me()) {}

  /// Sets the signal, with an error if there is one. Any thread may call it. The signal is held
  /// until its actor was told.
  static void set(const std::shared_ptr<signal>& s, std::exception_ptr error = nullptr) {
    s->me_->post([s, error = std::move(error)] {
      s->done_ = true;
      s->error_ = error;
      if (s->waiting_) s->home_.wake(*s->waiting_);
    });
  }

  /// Awaits that the signal is set; throws the error that it was set with.
  class awaiter {
   public:
    explicit awaiter(std::shared_ptr<signal> s) : signal_(std::move(s)) {}
    awaiter(const awaiter&) = delete;
    ~awaiter() { signal_->waiting_ = nullptr; }
    bool await_ready() const noexcept { return signal_->done_; }
    void await_suspend(std::coroutine_handle<> h) {
      waiter_.handle = h;
      signal_->waiting_ = &waiter_;
    }
    void await_resume() const {
      if (signal_->error_) std::rethrow_exception(signal_->error_);
    }

   private:
    std::shared_ptr<signal> signal_;
    waiter waiter_;
  };

 private:
  strand& home_;
  const ref<inbox> me_;
  bool done_ = false;
  std::exception_ptr error_;
  waiter* waiting_ = nullptr;
};

}  // namespace troupe::detail
