#include "tests/runtime/net/slow_names.hpp"

#include <dlfcn.h>
#include <netdb.h>

#include <condition_variable>
#include <mutex>
#include <string_view>

namespace troupe::testing {

namespace {

struct name_server {
  std::mutex mutex;
  std::condition_variable changed;
  bool answers = true;
  int begun = 0, waiting = 0;
};

/// Never destroyed, since threads may wait in it when the process ends.
name_server& server() {
  static auto& made = *new name_server;
  return made;
}

void wait_for_answer() {
  auto& at = server();
  std::unique_lock held(at.mutex);
  ++at.begun;
  ++at.waiting;
  at.changed.wait(held, [&] { return at.answers; });
  --at.waiting;
  at.changed.notify_all();
}

}  // namespace

slow_names::slow_names() {
  const std::lock_guard held(server().mutex);
  server().answers = false;
  server().begun = 0;
}

void slow_names::tell() {
  {
    const std::lock_guard held(server().mutex);
    server().answers = true;
  }
  server().changed.notify_all();
}

slow_names::~slow_names() {
  tell();
  std::unique_lock held(server().mutex);
  server().changed.wait(held, [] { return server().waiting == 0; });
}

int slow_names::begun() const {
  const std::lock_guard held(server().mutex);
  return server().begun;
}

}  // namespace troupe::testing

/// Replaces the function of the C library in this program.
extern "C" int getaddrinfo(const char* host, const char* port, const addrinfo* hints,
                           addrinfo** found) {
  static const auto asks =
      reinterpret_cast<decltype(&::getaddrinfo)>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  if (!host || !std::string_view(host).ends_with(".slow.test")) {
    return asks(host, port, hints, found);
  }
  troupe::testing::wait_for_answer();
  return asks("127.0.0.1", port, hints, found);
}
