// Exits 0 where the compiler handles two everyday co_await expressions that g++ 12 gets wrong:
// an aggregate temporary inside the awaited expression (its members are destroyed twice there), and
// a co_await as an if condition in a coroutine without locals (it never completes there).
#include <coroutine>
#include <exception>
#include <utility>

static int live = 0;

struct tracked {
  tracked() { ++live; }
  tracked(const tracked&) { ++live; }
  tracked(tracked&&) noexcept { ++live; }
  ~tracked() { --live; }
};

struct message {
  tracked body;
  int number = 0;
};

static std::coroutine_handle<> suspended;

struct task {
  struct promise_type {
    bool* finished = nullptr;
    task get_return_object() {
      return task{std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};

struct send {
  message m;
  explicit send(message m) : m(std::move(m)) {}
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> h) { suspended = h; }
  bool await_resume() { return m.number == 7; }
};

static send deliver(message m) { return send(std::move(m)); }
static int answered = 0;

static task aggregate_temporary() {
  co_await deliver(message{tracked{}, 7});
  ++answered;
}

static task condition_without_locals() {
  if (co_await deliver(message{tracked{}, 7})) ++answered;
}

int main() {
  for (auto start : {aggregate_temporary, condition_without_locals}) {
    auto t = start();
    suspended.resume();
    if (!t.handle.done()) return 1;
    t.handle.destroy();
  }
  return live == 0 && answered == 2 ? 0 : 1;
}
