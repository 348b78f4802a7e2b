#include "tests/chaos/counts.hpp"

#include <algorithm>

#include "runtime/base/error.hpp"

namespace troupe::chaos {

namespace {

std::int64_t sum_of(const failure_counts& failed) {
  std::int64_t sum = 0;
  for (const auto& [kind, n] : failed) sum += n;
  return sum;
}

}  // namespace

void note_failure(failure_counts& failed, const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const call_error& e) {
    ++failed[std::string(to_string(e.kind()))];
  } catch (const std::exception& e) {
    ++failed[e.what()];
  }
}

void request_count::note_end(duration took, duration deadline, const std::exception_ptr& error) {
  longest = std::max(longest, took);
  if (took > deadline + grace) ++late;
  if (error) {
    note_failure(failed, error);
  } else {
    ++answered;
  }
}

std::int64_t request_count::ended() const { return answered + sum_of(failed); }

void request_count::add(const request_count& other) {
  begun += other.begun;
  answered += other.answered;
  wrong += other.wrong;
  late += other.late;
  for (const auto& [kind, n] : other.failed) failed[kind] += n;
  longest = std::max(longest, other.longest);
}

std::int64_t episode_count::hung() const { return begun - finished - lost - left - sum_of(failed); }

}  // namespace troupe::chaos
