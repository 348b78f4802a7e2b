#include "actors/sandbox/sandbox_service.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <future>
#include <thread>
#include <utility>

#include "runtime/base/log.hpp"

namespace troupe {

sandbox_service::sandbox_service(sandbox_options options, std::vector<std::string> command,
                                 metrics_registry* metrics)
    : maker_(std::move(options), command),
      starts_ahead_(!command.empty()),
      parallel_(runs_at_once(maker_.options())),
      warm_(maker_.options().warm < 0 ? parallel_
                                      : static_cast<std::size_t>(maker_.options().warm)),
      ends_(metrics),
      thread_(std::make_unique<detail::io_thread>("troupe-sandbox")) {
  if (starts_ahead_) boost::asio::post(thread_->context(), [this] { warm_up(); });
}

sandbox_service::~sandbox_service() {
  std::promise<void> told;
  boost::asio::post(thread_->context(), [&] {
    stopping_ = true;
    waiting_.clear();
    for (const auto& [number, one] : running_) one->kill();
    for (const auto& one : warmed_) {
      one->ended_early = {};
      one->kill();
    }
    running_.clear();
    warmed_.clear();
    told.set_value();
  });
  told.get_future().wait();
  thread_.reset();
}

task<code_result> sandbox_service::run(std::vector<std::string> own_command, sandbox_input input) {
  /// Ends the run if its coroutine ends before it.
  struct cancel_guard {
    ~cancel_guard() {
      if (!ended)
        boost::asio::post(service.thread_->context(),
                          [&of = service, which = number] { of.cancel(which); });
    }
    sandbox_service& service;
    std::int64_t number;
    bool ended = false;
  };

  const external_result<code_result> result("a run in a sandbox");
  const auto number = next_number_++;
  boost::asio::post(thread_->context(), [this, which = std::make_shared<job>(
                                                   number, std::move(own_command), std::move(input),
                                                   result)] { add(std::move(*which)); });
  cancel_guard guard{*this, number};
  // An error, too, is an end.
  try {
    auto got = co_await result.wait();
    guard.ended = true;
    ends_.count(got);
    co_return got;
  } catch (...) {
    guard.ended = true;
    throw;
  }
}

void sandbox_service::add(job which) {
  if (stopping_) return;
  waiting_.push_back(std::move(which));
  go_on();
}

void sandbox_service::cancel(std::int64_t number) {
  std::erase_if(waiting_, [&](const job& one) { return one.number == number; });
  if (const auto found = running_.find(number); found != running_.end()) found->second->kill();
}

void sandbox_service::go_on() {
  while (!stopping_ && !waiting_.empty() && running_.size() < parallel_) {
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    start(std::move(next));
  }
}

void sandbox_service::start(job which) {
  const auto result = which.result;
  const auto number = which.number;
  try {
    auto one = take_warm();
    if (!one) one = sandbox::start(*thread_, maker_, which.command);
    running_.emplace(number, one);
    one->run(std::move(which.input), [this, number, result](outcome<code_result> got) {
      ended(number, std::move(got), result);
    });
  } catch (...) {
    running_.erase(number);
    result.fail(std::current_exception());
  }
  if (starts_ahead_) boost::asio::post(thread_->context(), [this] { warm_up(); });
}

void sandbox_service::ended(std::int64_t number, outcome<code_result> got,
                            const external_result<code_result>& to) {
  running_.erase(number);
  if (got) {
    failed_ahead_.clear();  // so they can be started ahead again
    to.set(std::move(got).value());
  } else {
    to.fail(got.error());
  }
  go_on();
}

std::shared_ptr<sandbox> sandbox_service::take_warm() {
  while (!warmed_.empty()) {
    auto one = std::move(warmed_.front());
    warmed_.pop_front();
    one->ended_early = {};
    if (!one->has_ended()) return one;
  }
  return nullptr;
}

void sandbox_service::warm_up() {
  while (!stopping_ && failed_ahead_.empty() && warmed_.size() < warm_) {
    try {
      auto one = sandbox::start(*thread_, maker_);
      one->ended_early = [this, which = one.get()](const std::string& errors) {
        std::erase_if(warmed_, [&](const auto& each) { return each.get() == which; });
        failed_ahead_ = errors;
        log::warn("a sandbox that was started ahead has ended", {{"error", errors}});
      };
      warmed_.push_back(std::move(one));
    } catch (const std::exception& e) {
      failed_ahead_ = e.what();
      log::warn("no sandbox can be started ahead", {{"error", e.what()}});
    }
  }
}

}  // namespace troupe
