// What the link to a child process costs. Wall time, and CPU time of both processes together.
//
//   link_round_trip_ratio     64 bytes there and back over a blocking socket pair's, in wall time
//   block_shared_gb_per_s     blocks of 1 MB, 4 under way, copied in by one side and out by the
//   block_socket_gb_per_s     other; through shared memory, and through the socket
//   fan_out_8_ms              18 KB to each of 8 children, and 8 answers
//   child_start_ms            from nothing until a child has answered
//
// Runs of a kind alternate with those of the others. Best and median of the runs are printed.

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <semaphore>
#include <string>
#include <vector>

#include "runtime/process/child.hpp"
#include "tests/bench/two_clocks.hpp"

namespace troupe::detail {
namespace {

constexpr int rounds = 9;
constexpr std::size_t ping_size = 64;
constexpr std::size_t block_size = 1 << 20;
constexpr std::size_t weights_size = 18'000;

/// Calls a function for each message.
class caller final : public link_listener {
 public:
  explicit caller(std::function<void(block)> what) : what_(std::move(what)) {}
  void received(block message) override { what_(std::move(message)); }
  void writable() override {}
  void closed(const std::string&) override {}

 private:
  const std::function<void(block)> what_;
};

// ---- the children

/// Sends back what is small; copies out what is large and says so with one byte.
void serve(const std::shared_ptr<link>& parent) {
  std::vector<std::byte> to(block_size);
  parent->open(std::make_shared<caller>([&](block message) {
    if (message.size() <= ping_size) return parent->send(std::move(message), priority::normal);
    std::memcpy(to.data(), message.data(), message.size());
    parent->send(block(1), priority::normal);
  }));
  for (;;) ::pause();
}

void serve_bare() {
  char bytes[ping_size];
  while (::read(inherited_socket, bytes, sizeof bytes) > 0) {
    if (::write(inherited_socket, bytes, sizeof bytes) < 0) break;
  }
  _exit(0);
}

// ---- what is measured

/// A child that serves, and how many of its answers have come.
struct server {
  server() {
    process.way()->open(
        std::make_shared<caller>([answers = answers](block) { answers->release(); }));
  }
  using count = std::counting_semaphore<>;
  const std::shared_ptr<count> answers = std::make_shared<count>(0);
  child process{{.arguments = {"serve"}}};
};

cost ping(server& to) {
  constexpr int times = 5000;
  return measure({to.process.pid()}, times, [&] {
    for (int i = 0; i < times; ++i) {
      to.process.way()->send(block(ping_size), priority::normal);
      to.answers->acquire();
    }
  });
}

cost ping_bare() {
  constexpr int times = 5000;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
  const descriptor own(ends[0]);
  descriptor other(ends[1]);
  const pid_t process = spawn({.arguments = {"bare"}}, other, other);
  other = descriptor();
  const auto there_and_back = [&] {
    char bytes[ping_size]{};
    if (::write(own.number(), bytes, sizeof bytes) < 0 ||
        ::read(own.number(), bytes, sizeof bytes) <= 0) {
      std::abort();
    }
  };
  there_and_back();
  const auto result = measure({process}, times, [&] {
    for (int i = 0; i < times; ++i) there_and_back();
  });
  ::shutdown(own.number(), SHUT_RDWR);
  ::waitpid(process, nullptr, 0);
  return result;
}

/// Seconds a block.
cost stream(server& to, bool shared) {
  constexpr int times = 1000, window = 4;
  static const std::vector<std::byte> from(block_size, std::byte{1});
  const auto way = to.process.way();
  return measure({to.process.pid()}, times, [&] {
    for (int i = 0; i < times; ++i) {
      if (i >= window) to.answers->acquire();
      auto message = shared ? way->allocate(block_size) : block(block_size);
      std::memcpy(message.data(), from.data(), block_size);
      way->send(std::move(message), priority::normal);
    }
    for (int i = 0; i < window; ++i) to.answers->acquire();
  });
}

cost fan_out(std::vector<std::unique_ptr<server>>& all) {
  constexpr int times = 200;
  static const std::vector<std::byte> weights(weights_size);
  std::vector<pid_t> processes;
  for (const auto& one : all) processes.push_back(one->process.pid());
  return measure(processes, times, [&] {
    for (int i = 0; i < times; ++i) {
      for (const auto& one : all) {
        auto message = one->process.way()->allocate(weights_size);
        std::memcpy(message.data(), weights.data(), weights_size);
        one->process.way()->send(std::move(message), priority::control);
      }
      for (const auto& one : all) one->answers->acquire();
    }
  });
}

cost start_child() {
  constexpr int times = 20;
  return measure({}, times, [&] {
    for (int i = 0; i < times; ++i) {
      server made;
      made.process.way()->send(block(1), priority::normal);
      made.answers->acquire();
    }
  });
}

void measure_all(bool json) {
  series pings, bare, ratio, shared, socket, fan, starts;
  std::vector<std::unique_ptr<server>> eight;
  for (int i = 0; i < 8; ++i) eight.push_back(std::make_unique<server>());
  for (int i = 0; i < rounds; ++i) {
    pings.add(ping(*eight[0]));
    bare.add(ping_bare());
    ratio.add({pings.wall.back() / bare.wall.back(), pings.cpu.back() / bare.cpu.back()});
    shared.add(stream(*eight[0], true));
    socket.add(stream(*eight[0], false));
    fan.add(fan_out(eight));
    starts.add(start_child());
  }
  print_heading(rounds);
  print("64 bytes there and back, us", pings, 1e6);
  print("the same, bare socket pair, us", bare, 1e6);
  print("link / bare", ratio, 1);
  print("1 MB, shared memory, us", shared, 1e6);
  print("1 MB, socket, us", socket, 1e6);
  print("18 KB to 8 and 8 answers, ms", fan, 1e3);
  print("a child's start, ms", starts, 1e3);  // CPU: the parent's alone
  const auto gb_per_s = [](const series& of) {
    return static_cast<double>(block_size) * 1e-9 / series::median(of.wall);
  };
  std::printf("GB per s: shared memory %.2f, socket %.2f\n", gb_per_s(shared), gb_per_s(socket));
  if (json) {
    const nlohmann::json figures = {{"link_round_trip_us", series::median(pings.wall) * 1e6},
                                    {"link_round_trip_ratio", series::median(ratio.wall)},
                                    {"block_shared_gb_per_s", gb_per_s(shared)},
                                    {"block_socket_gb_per_s", gb_per_s(socket)},
                                    {"fan_out_8_ms", series::median(fan.wall) * 1e3},
                                    {"child_start_ms", series::median(starts.wall) * 1e3}};
    std::printf("%s\n", figures.dump().c_str());
  }
}

}  // namespace
}  // namespace troupe::detail

int main(int argc, char** argv) {
  using namespace troupe::detail;
  if (argc > 1 && std::strcmp(argv[1], "bare") == 0) serve_bare();
  if (const auto parent = link_to_parent()) serve(parent);
  measure_all(argc > 1 && std::strcmp(argv[1], "--json") == 0);
  return 0;
}
