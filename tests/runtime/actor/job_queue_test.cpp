#include "runtime/actor/job_queue.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

#include "tests/test.hpp"

using namespace std::chrono_literals;
using troupe::detail::job_queue;
using from = job_queue::from;

namespace {

/// Does nothing; the queue only hands out where it is.
struct job final : caf::resumable {
  resume_result resume(caf::execution_unit*, std::size_t) override { return done; }
  void intrusive_ptr_add_ref_impl() override {}
  void intrusive_ptr_release_impl() override {}
};

/// Threads that wait for jobs, and leave when there are none to come.
class takers {
 public:
  takers(job_queue& jobs, std::size_t count, std::atomic<std::size_t>& taken) : jobs_(jobs) {
    for (std::size_t i = 0; i < count; ++i) {
      threads_.emplace_back([this, &taken] {
        while (jobs_.take_unless([this] { return ended_; })) ++taken;
      });
    }
  }
  ~takers() {
    jobs_.change([this] { ended_ = true; });
    for (auto& thread : threads_) thread.join();
  }

 private:
  job_queue& jobs_;
  bool ended_ = false;  ///< Under the queue's lock.
  std::vector<std::thread> threads_;
};

/// Takes urgent jobs alone.
class reserve {
 public:
  reserve(job_queue& jobs, std::atomic<std::size_t>& taken)
      : jobs_(jobs), thread_([this, &taken] {
          while (jobs_.take_urgent_unless([this] { return ended_; }, [](auto*) { return false; }))
            ++taken;
        }) {}
  ~reserve() {
    jobs_.change([this] { ended_ = true; });
    thread_.join();
  }

 private:
  job_queue& jobs_;
  bool ended_ = false;  ///< Under the queue's lock.
  std::thread thread_;
};

/// Waits until it is so many; false: it never was.
bool becomes(const std::atomic<std::size_t>& taken, std::size_t count) {
  const auto patience = std::chrono::steady_clock::now() + 60s;
  while (taken < count && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
  return taken == count;
}

}  // namespace

TEST_CASE("jobs are taken in the order in which they came", "[job_queue]") {
  job_queue jobs;
  std::vector<job> many(1000);  // More than its ring holds at first.
  job between;
  jobs.push(&between, from::outside);
  CHECK(jobs.take() == &between);
  for (auto& one : many) jobs.push(&one, (&one - many.data()) % 2 ? from::turn : from::outside);
  for (auto& one : many) REQUIRE(jobs.take() == &one);
  CHECK(jobs.try_take() == nullptr);
}

TEST_CASE("whoever adds a job in its turn finds it again", "[job_queue]") {
  job_queue jobs;
  job one;
  jobs.push(&one, from::turn);
  CHECK(jobs.take() == &one);
}

TEST_CASE("a job of a turn that goes on and on is taken by a thread with nothing to do",
          "[job_queue]") {
  job_queue jobs;
  std::atomic<std::size_t> taken = 0;
  takers idle(jobs, 2, taken);
  std::vector<job> some(20);
  for (std::size_t i = 0; i < some.size(); ++i) {
    jobs.push(&some[i], from::turn);  // This thread takes none of them.
    REQUIRE(becomes(taken, i + 1));
  }
}

TEST_CASE("no job is left behind, wherever it came from", "[job_queue]") {
  job_queue jobs;
  constexpr std::size_t each = 20'000;
  std::vector<job> pool(4 * each);
  std::atomic<std::size_t> taken = 0;
  takers idle(jobs, 3, taken);
  std::vector<std::thread> givers;
  for (std::size_t giver = 0; giver < 4; ++giver) {
    givers.emplace_back([&, giver] {
      for (std::size_t i = 0; i < each; ++i) {
        jobs.push(&pool[giver * each + i], giver % 2 ? from::turn : from::outside);
        if (i % 64 == 0) std::this_thread::yield();
      }
    });
  }
  for (auto& giver : givers) giver.join();
  CHECK(becomes(taken, pool.size()));
}

TEST_CASE("a thread that isn't wanted any more leaves, and those that wait go on", "[job_queue]") {
  job_queue jobs;
  std::atomic<std::size_t> taken = 0;
  takers stay(jobs, 1, taken);
  for (std::size_t round = 0; round < 200; ++round) {
    job first;
    job second;
    {
      takers leaves(jobs, 1, taken);
      jobs.push(&first, from::outside);
    }
    jobs.push(&second, round % 2 ? from::turn : from::outside);
    REQUIRE(becomes(taken, 2 * (round + 1)));
  }
}

TEST_CASE("an urgent job wakes the reserve, which rests while there is none", "[job_queue]") {
  job_queue jobs;
  job urgent;
  std::atomic<std::size_t> looks = 0, taken = 0;
  bool ended = false;  // Under the queue's lock.
  std::thread resting([&] {
    const auto ends = [&] {
      ++looks;
      return ended;
    };
    if (jobs.take_urgent_unless(ends, [](auto*) { return false; })) ++taken;
  });
  // At its second look it finds that nothing came, and gives the lock away when it rests.
  CHECK(becomes(looks, 2));
  jobs.push_urgent(&urgent, from::outside);
  CHECK(becomes(taken, 1));
  jobs.change([&] { ended = true; });
  resting.join();
}

TEST_CASE("an urgent job comes before those that came earlier", "[job_queue]") {
  job_queue jobs;
  job earlier, urgent, more_urgent, later;
  jobs.push(&earlier, from::outside);
  jobs.push_urgent(&urgent, from::outside);
  jobs.push_urgent(&more_urgent, from::turn);
  jobs.push(&later, from::outside);
  CHECK(jobs.take() == &urgent);
  CHECK(jobs.take() == &more_urgent);
  CHECK(jobs.try_take() == &earlier);
  CHECK(jobs.take() == &later);
}

TEST_CASE("an urgent job is taken by the reserve where every thread of the pool is busy",
          "[job_queue]") {
  job_queue jobs;
  job ordinary;
  jobs.push(&ordinary, from::outside);  // Nobody comes for it.
  std::atomic<std::size_t> taken = 0;
  const reserve waits(jobs, taken);
  std::vector<job> some(20);
  for (std::size_t i = 0; i < some.size(); ++i) {
    jobs.push_urgent(&some[i], i % 2 ? from::turn : from::outside);
    REQUIRE(becomes(taken, i + 1));
  }
  CHECK(jobs.try_take() == &ordinary);
}

TEST_CASE("no urgent job is left behind while the pool's threads come and go", "[job_queue]") {
  job_queue jobs;
  constexpr std::size_t each = 20'000;
  std::vector<job> pool(2 * each);
  std::atomic<std::size_t> taken = 0;
  {
    const reserve waits(jobs, taken);
    takers idle(jobs, 2, taken);
    std::vector<std::thread> givers;
    for (std::size_t giver = 0; giver < 2; ++giver) {
      givers.emplace_back([&, giver] {
        for (std::size_t i = 0; i < each; ++i) {
          auto* one = &pool[giver * each + i];
          const auto where = i % 2 ? from::turn : from::outside;
          i % 3 ? jobs.push(one, where) : jobs.push_urgent(one, where);
          if (i % 64 == 0) std::this_thread::yield();
        }
      });
    }
    for (auto& giver : givers) giver.join();
    CHECK(becomes(taken, pool.size()));
  }
}
