#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/replay/replay_starved.hpp"
#include "actors/replay/replay_table.hpp"
#include "runtime/coroutine/combine.hpp"
#include "runtime/coroutine/condition.hpp"

namespace troupe {

/// How long, and how many, may wait at a replay.
struct replay_waiting {
  duration patience = std::chrono::minutes(10);  ///< Then a `sample` fails instead of waiting on.
  /// Inserts, and samples, that wait at once; one more gets `overloaded`. Both together must stay
  /// below the service's max_ongoing, or inserts that wait keep out the sample they wait for.
  std::size_t max_waiting = 31;
};

struct sample_request {
  std::int64_t count = 1;  ///< Groups.
  std::string caller;      ///< Who asks, for the message where it can't be had.
  /// Of the weights to be trained; the table's own moves up to it. None: as it is.
  std::optional<std::int64_t> version = {};
};

/// The role around a replay_table: who may not insert or sample yet waits until it may.
///
///   inserts ──(rate limiter)──> table ──(rate limiter, patience)──> samples
///
/// A call that waits ends when its caller gives it up.
template <class Item>
class replay {
 public:
  explicit replay(const replay_table_options& options, const replay_waiting& waiting = {},
                  replay_codec<Item> codec = {})
      : waiting_(waiting), table_(options, std::move(codec)) {}

  /// Waits while the rate limiter forbids it. The group's key; none if it is too stale already, or
  /// has come before: idempotent for groups that a producer has numbered.
  task<std::optional<std::uint64_t>> insert(replay_group<Item> group) {
    if (!table_.may_insert()) {
      const auto place = enter(inserts_waiting_, "insert");
      while (!table_.may_insert()) co_await changed_.wait();
    }
    if (!known_.add(group.id)) co_return std::nullopt;
    const auto key = table_.insert(std::move(group));
    changed_.notify_all();
    co_return key;
  }

  /// Waits for `count` groups; throws replay_starved once `patience` has passed, and
  /// std::invalid_argument at once if they can never be had.
  task<std::vector<replay_sample<Item>>> sample(sample_request request) {
    table_.check_sample(request.count);
    if (request.version) advance(*request.version);
    if (table_.may_sample(request.count)) co_return take(request.count);
    const auto place = enter(samples_waiting_, "sample");
    try {
      co_return co_await with_timeout(take_when_allowed(request.count), waiting_.patience);
    } catch (const call_error& error) {
      if (error.kind() != error_kind::deadline_exceeded) throw;
      throw replay_starved(explain(request));
    }
  }

  /// How many of the keys are still there, and have their new priority now.
  std::int64_t update_priorities(std::vector<priority_update> updates) {
    return table_.update_priorities(updates);
  }

  /// Weights of `version` are in use now: what has become too stale goes.
  void advance(std::int64_t version) {
    table_.advance(version);
    changed_.notify_all();
  }

  replay_table_counts counts() const { return table_.counts(); }

  /// The whole table as bytes, at a moment between two calls.
  std::string save() const {
    state_writer to;
    table_.save(to);
    return to.bytes();
  }
  /// Replaces all there is; throws state_error and then changes nothing.
  void restore(std::string bytes) {
    table_.restore(state_reader(bytes));
    changed_.notify_all();
  }

 private:
  /// One of those that wait, for as long as it lives.
  class waiting_place {
   public:
    explicit waiting_place(std::size_t& count) : count_(++count) {}
    waiting_place(const waiting_place&) = delete;
    ~waiting_place() { --count_; }

   private:
    std::size_t& count_;
  };

  waiting_place enter(std::size_t& count, const char* what) const {
    if (count >= waiting_.max_waiting) {
      throw call_error(error_kind::overloaded,
                       fmt::format("replay: {}: {} wait already (max_waiting {})", what, count,
                                   waiting_.max_waiting));
    }
    return waiting_place(count);
  }

  task<std::vector<replay_sample<Item>>> take_when_allowed(std::int64_t count) {
    while (!table_.may_sample(count)) co_await changed_.wait();
    co_return take(count);
  }

  std::vector<replay_sample<Item>> take(std::int64_t count) {
    auto samples = table_.sample(count);
    changed_.notify_all();
    return samples;
  }

  std::string explain(const sample_request& request) const {
    return fmt::format(
        "replay: {} waited {} for a sample of {} for weights of version {}: {} ({} inserts wait)",
        request.caller.empty() ? "somebody" : request.caller, detail::to_text(waiting_.patience),
        request.count, table_.counts().version, table_.shortage(request.count), inserts_waiting_);
  }

  const replay_waiting waiting_;
  replay_table<Item> table_;
  known_items known_;
  std::size_t inserts_waiting_ = 0;
  std::size_t samples_waiting_ = 0;
  condition changed_;
};

}  // namespace troupe
