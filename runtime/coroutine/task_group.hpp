#pragma once
// Coroutines that run concurrently under one owner. `all`, `any`, `with_timeout` and `with_group`
// are built on them. Internal to runtime/.

#include <algorithm>
#include <coroutine>
#include <exception>
#include <list>
#include <optional>
#include <utility>
#include <variant>

#include "runtime/coroutine/strand.hpp"
#include "runtime/coroutine/task.hpp"

namespace troupe::detail {

class task_group;

/// A coroutine that runs concurrently with its parent. Its owner, a task group or an actor, starts
/// it, is told of its end and destroys it.
class child_task {
 public:
  class listener {
   public:
    /// Called when `child` has finished; `error` is the exception that it threw, or null. The
    /// coroutine is still on the stack, so it must be destroyed later.
    virtual void finished(child_task& child, std::exception_ptr error) = 0;

   protected:
    ~listener() = default;
  };

  struct promise_type : recycled {
    child_task get_return_object() noexcept {
      return child_task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    struct final_awaiter {
      bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<promise_type> h) const noexcept {
        auto& promise = h.promise();
        promise.self->done_ = true;
        promise.owner->finished(*promise.self, promise.error);
      }
      void await_resume() const noexcept {}
    };
    final_awaiter final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() noexcept { error = std::current_exception(); }

    listener* owner = nullptr;
    child_task* self = nullptr;
    waiter start;
    std::exception_ptr error;
  };

  child_task(child_task&& other) noexcept
      : done_(other.done_), handle_(std::exchange(other.handle_, nullptr)) {}
  child_task& operator=(child_task&&) = delete;
  ~child_task() {
    if (handle_) handle_.destroy();
  }

  /// Makes the coroutine ready on `home`; it runs once the running coroutine has suspended. The
  /// object must not be moved afterwards.
  void start(strand& home, listener& owner) {
    auto& promise = handle_.promise();
    promise.owner = &owner;
    promise.self = this;
    promise.start.handle = handle_;
    home.wake(promise.start);
  }
  bool done() const noexcept { return done_; }

 private:
  explicit child_task(std::coroutine_handle<promise_type> handle) noexcept : handle_(handle) {}

  bool done_ = false;
  std::coroutine_handle<promise_type> handle_;
};

/// T, or std::monostate where T is void.
template <class T>
using value_or_monostate = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

/// Runs `work` and stores its value in `result`, which must outlive the coroutine.
template <class T>
child_task keep_result(task<T> work, std::optional<value_or_monostate<T>>& result) {
  if constexpr (std::is_void_v<T>) {
    co_await work;
    result.emplace();
  } else {
    result.emplace(co_await work);
  }
}

/// The concurrent coroutines of one parent coroutine, which owns this object. Its destructor
/// cancels those that still run.
class task_group final : public child_task::listener {
 public:
  task_group() : home_(strand::current()) {}

  child_task& start(child_task child) {
    if (finished_ > std::max<std::size_t>(running_, 16)) reap();  // This visits every child task.
    children_.push_back(std::move(child));
    ++running_;
    children_.back().start(home_, *this);
    return children_.back();
  }

  std::size_t running() const noexcept { return running_; }
  /// Throws the first error of a coroutine, if there was one.
  void check() const {
    if (error_) std::rethrow_exception(error_);
  }

  /// Awaits that any of the coroutines finishes. Several coroutines may wait at once, such as the
  /// parent and a member.
  class change {
   public:
    explicit change(task_group& g) noexcept : group_(g) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) noexcept {
      waiter_.handle = h;
      group_.watching_.push_back(waiter_);
    }
    void await_resume() const noexcept {}

   private:
    task_group& group_;
    waiter waiter_;
  };
  change changed() noexcept { return change(*this); }

  /// Awaits all coroutines. The first error cancels the others and is thrown.
  task<> join() {
    while (running_ > 0 && !error_) co_await changed();
    if (error_) cancel();
    check();
  }

  /// Destroys every coroutine, whether it runs or not. None of them may call it.
  void cancel() {
    children_.clear();
    running_ = finished_ = 0;
  }

 private:
  void finished(child_task&, std::exception_ptr error) override {
    --running_;
    ++finished_;
    if (error && !error_) error_ = error;
    while (!watching_.empty()) home_.wake(watching_.front());
  }

  void reap() {
    children_.remove_if([](const child_task& child) { return child.done(); });
    finished_ = 0;
  }

  strand& home_;
  std::list<child_task, recycling_allocator<child_task>> children_;
  std::size_t running_ = 0;
  std::size_t finished_ = 0;
  std::exception_ptr error_;
  list<waiter> watching_;
};

}  // namespace troupe::detail
