#pragma once
// Internal to this folder: the threads that step environments.

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstddef>
#include <list>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace troupe::openenv_server {

/// Threads that call functions, which wait in a queue. A call may hang. Once it has taken longer
/// than `hang_time`, one more thread takes the place of its own, so that others are not held up. So
/// there are at most as many threads more as calls have hung at the same time.
class step_threads {
 public:
  step_threads(std::size_t count, std::chrono::nanoseconds hang_time);
  /// Destroys the functions that were not called. Waits for the calls under way.
  ~step_threads();
  step_threads(const step_threads&) = delete;

  /// Has a thread call `work`, which must not throw. Any thread may call this.
  template <class Work>
  void post(Work work) {
    boost::asio::post(pool_, [this, work = std::move(work)]() mutable {
      const call_under_way mine(*this);
      work();
    });
  }

  /// Starts threads in place of those whose calls have hung until `now`. Returns how many calls
  /// hang. It is called from time to time, by one thread.
  std::size_t replace_hung(std::chrono::steady_clock::time_point now);

  /// Calls no further function, and waits for the calls under way.
  void stop();

 private:
  struct call {
    std::chrono::steady_clock::time_point begun;
    bool hangs = false;
  };

  /// Keeps a call in the list while it is under way.
  class call_under_way {
   public:
    explicit call_under_way(step_threads& of);
    ~call_under_way();
    call_under_way(const call_under_way&) = delete;

   private:
    step_threads& of_;
    std::list<call>::iterator at_;
  };

  const std::chrono::nanoseconds hang_time_;
  boost::asio::thread_pool pool_;
  std::vector<std::thread> more_;  ///< Those that were started in place of others.
  bool is_refused_ = false;        ///< A thread could not be started.
  std::mutex guard_;               ///< Of the members below.
  std::list<call> calls_;          ///< Those under way, in the order in which they began.
  std::size_t hanging_ = 0;        ///< Of these.
};

}  // namespace troupe::openenv_server
