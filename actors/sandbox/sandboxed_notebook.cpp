#include "actors/sandbox/sandboxed_notebook.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <future>
#include <map>
#include <stdexcept>
#include <utility>

#include "actors/sandbox/code_counters.hpp"
#include "actors/sandbox/python_runners.hpp"
#include "actors/sandbox/sandbox.hpp"
#include "runtime/net/io_thread.hpp"
#include "runtime/service/external_result.hpp"

namespace troupe {

/// The open notebooks. All but the constructor, the destructor and `on_thread` is used on the
/// thread.
class notebook_table {
 public:
  notebook_table(const sandbox_options& options, double idle_s, metrics_registry* metrics)
      : ends(metrics),
        maker_(options, python_command(options.python, notebook)),
        idle_(std::chrono::duration_cast<duration>(std::chrono::duration<double>(idle_s))),
        thread_(std::make_unique<detail::io_thread>("troupe-notebook")) {
    if (!(idle_s > 0))
      throw std::invalid_argument("sandbox: expected idle_s > 0, got " + std::to_string(idle_s));
  }
  ~notebook_table() {
    std::promise<void> told;
    boost::asio::post(thread_->context(), [&] {
      for (auto& [number, one] : open_) {
        one.in->ended_early = {};
        one.in->kill();
      }
      open_.clear();
      told.set_value();
    });
    told.get_future().wait();
    thread_.reset();
  }

  /// Calls f() on the thread, and gives what it throws to the result.
  template <class T, class F>
  void on_thread(external_result<T> result, F f) {
    boost::asio::post(thread_->context(), [result, f = std::move(f)]() mutable {
      try {
        f();
      } catch (...) {
        result.fail(std::current_exception());
      }
    });
  }

  std::int64_t open() {
    const auto most = runs_at_once(maker_.options());
    if (open_.size() >= most)
      throw std::runtime_error("sandbox: expected at most " + std::to_string(most) +
                               " open notebooks, got one more");
    auto started = sandbox::start(*thread_, maker_);
    auto& made = open_
                     .emplace(++last_, one{std::move(started), false,
                                           boost::asio::steady_timer(thread_->context())})
                     .first->second;
    made.in->ended_early = [this, number = last_](const std::string&) { open_.erase(number); };
    watch(last_, made);
    return last_;
  }

  void run(notebook_cell cell, sandbox::told tell) {
    auto& in = found(cell.notebook);
    if (std::exchange(in.is_busy, true))
      throw std::invalid_argument("sandbox: expected one cell at a time of notebook " +
                                  std::to_string(cell.notebook) + ", got a second");
    in.idle.cancel();
    auto& code = cell.code;
    const auto number = cell.notebook;
    try {
      in.in->run_cell({std::move(code.program), std::move(code.input), std::move(code.files),
                       std::move(code.results)},
                      [this, number, tell = std::move(tell)](auto got) {
                        rest(number);
                        tell(std::move(got));
                      });
    } catch (...) {
      rest(number);
      throw;
    }
  }

  /// Any thread may call it.
  void close_later(std::int64_t number) {
    boost::asio::post(thread_->context(), [this, number] { close(number); });
  }
  void close(std::int64_t number) {
    const auto at = open_.find(number);
    if (at == open_.end()) return;
    at->second.in->ended_early = {};
    at->second.in->kill();
    open_.erase(at);
  }

  code_counters ends;

 private:
  struct one {
    std::shared_ptr<sandbox> in;
    bool is_busy = false;
    boost::asio::steady_timer idle;
  };

  one& found(std::int64_t number) {
    const auto at = open_.find(number);
    if (at == open_.end())
      throw std::invalid_argument("sandbox: expected an open notebook, got " +
                                  std::to_string(number) +
                                  ", which was not opened, has been closed, or has hit a limit");
    return at->second;
  }

  /// Notes that no cell of the notebook runs any more.
  void rest(std::int64_t number) {
    const auto at = open_.find(number);
    if (at == open_.end()) return;
    at->second.is_busy = false;
    if (at->second.in->has_ended())
      open_.erase(at);
    else
      watch(number, at->second);
  }

  void watch(std::int64_t number, one& which) {
    which.idle.expires_after(idle_);
    which.idle.async_wait([this, number](boost::system::error_code error) {
      const auto at = open_.find(number);
      if (!error && at != open_.end() && !at->second.is_busy) close(number);
    });
  }

  const sandbox_maker maker_;
  const duration idle_;
  std::map<std::int64_t, one> open_;
  std::int64_t last_ = 0;
  std::unique_ptr<detail::io_thread> thread_;  // ends before all else
};

sandboxed_notebook::sandboxed_notebook(sandbox_options options, double idle_s,
                                       metrics_registry* metrics)
    : table_(std::make_unique<notebook_table>(options, idle_s, metrics)) {}

sandboxed_notebook::~sandboxed_notebook() = default;

task<std::int64_t> sandboxed_notebook::open() {
  const external_result<std::int64_t> opened("a notebook in a sandbox");
  table_->on_thread(opened, [opened, table = table_.get()] { opened.set(table->open()); });
  co_return co_await opened.wait();
}

task<code_result> sandboxed_notebook::run(notebook_cell cell) {
  check_program(cell.code.program);
  /// Closes the notebook if the caller has gone while its cell runs.
  struct close_guard {
    ~close_guard() {
      if (!ended) table->close_later(notebook);
    }
    notebook_table* table;
    std::int64_t notebook;
    bool ended = false;
  };
  const external_result<code_result> result("a cell in a sandbox");
  const auto number = cell.notebook;
  table_->on_thread(result, [result, table = table_.get(), asked = std::move(cell)]() mutable {
    table->run(std::move(asked), [result](outcome<code_result> got) {
      got ? result.set(std::move(got).value()) : result.fail(got.error());
    });
  });
  close_guard guard{table_.get(), number};
  try {
    auto got = co_await result.wait();
    guard.ended = true;
    table_->ends.count(got);
    co_return got;
  } catch (...) {
    guard.ended = true;
    throw;
  }
}

task<> sandboxed_notebook::close(std::int64_t notebook) {
  const external_result<std::monostate> closed("the end of a notebook");
  table_->on_thread(closed, [closed, table = table_.get(), notebook] {
    table->close(notebook);
    closed.set({});
  });
  co_await closed.wait();
}

}  // namespace troupe
