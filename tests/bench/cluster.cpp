// What the link to another machine costs, over loopback, between two processes, and what replicas
// cost on both kinds of link. Wall time, and CPU time of all processes together.
//
// The links alone:
//   link_round_trip_ratio     64 bytes there and back over a bare TCP stream's, in wall time
//   link_stream_gb_per_s      messages of 1 MB, 4 under way, each copied in by its sender
//   tls_round_trip_us         64 bytes there and back with certificates on both sides
//   tls_stream_gb_per_s       the messages of 1 MB with these
//
// Through services (replicas.cpp):
//   round_trip_ratio             a routed call of 64 bytes to a replica on a node over a bare
//                                stream's round trip
//   stream_gb_per_s              tensors of 1 MB to a replica on a node, and from it: the slower
//   shared_memory_gb_per_s       the same with a replica in a child process
//   weight_update_8_replicas_ms  a policy's weights of 18 KB to 8 child processes, acknowledged
//
// The bare stream is a TCP socket of Asio with messages of the same sizes, and no more than that
// (bare_stream.hpp). Runs of a kind alternate with those of the others. Best and median of the runs
// are printed.

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "runtime/base/log.hpp"
#include "runtime/cluster/certificates.hpp"
#include "runtime/cluster/link_client.hpp"
#include "runtime/cluster/link_server.hpp"
#include "runtime/process/child.hpp"
#include "runtime/system/child_process.hpp"
#include "tests/bench/bare_stream.hpp"
#include "tests/bench/replicas.hpp"
#include "tests/bench/two_clocks.hpp"

namespace troupe::detail {
namespace {

constexpr int rounds = 9;
constexpr int pings_a_round = 3000, blocks_a_round = 500;
constexpr std::size_t ping_size = bare_ping_size;
constexpr std::size_t block_size = 1 << 20;
constexpr int window = 4;

using count = std::counting_semaphore<>;

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

// ---- the child: sends back what is small, and one byte for what is large

/// The link keeps its listener, and that one the link: this process is killed in the end.
void answer(std::shared_ptr<link> way) {
  way->open(std::make_shared<caller>([way](block message) {
    if (message.size() > ping_size) message = block(1);
    way->send(std::move(message), priority::normal);
  }));
}

struct ports {
  int bare, plain, secure;
};

void serve(const std::shared_ptr<link>& parent, const std::string& certs) {
  const auto joined = [](const hello&, std::shared_ptr<link> way) { answer(std::move(way)); };
  link_server plain({}, joined);
  link_server secure({.certs = certs}, joined);
  bare_server bare;
  const ports at{bare.port(), plain.port(), secure.port()};
  parent->open(std::make_shared<caller>([](block) {}));
  block message(sizeof at);
  std::memcpy(message.data(), &at, sizeof at);
  parent->send(std::move(message), priority::normal);
  for (;;) ::pause();
}

// ---- what is measured

/// A link to the child, and how many of its answers have come.
class joined_link {
 public:
  joined_link(int port, const std::string& certs, const std::string& name)
      : client_({.address = "localhost:" + std::to_string(port), .certs = certs, .name = name},
                {.joined = [this](const hello&, std::shared_ptr<link> way) {
                  way->open(std::make_shared<caller>([this](block) { answers_.release(); }));
                  way_ = std::move(way);
                  answers_.release();
                }}) {
    answers_.acquire();
  }

  cost ping(pid_t child) {
    return measure({child}, pings_a_round, [&] {
      for (int i = 0; i < pings_a_round; ++i) {
        way_->send(block(ping_size), priority::normal);
        answers_.acquire();
      }
    });
  }

  /// Seconds a block.
  cost stream(pid_t child) {
    return measure({child}, blocks_a_round, [&] {
      for (int i = 0; i < blocks_a_round; ++i) {
        if (i >= window) answers_.acquire();
        auto message = way_->allocate(block_size);
        std::memcpy(message.data(), from_.data(), block_size);
        way_->send(std::move(message), priority::normal);
      }
      for (int i = 0; i < window; ++i) answers_.acquire();
    });
  }

 private:
  const std::vector<std::byte> from_{block_size, std::byte{1}};
  count answers_{0};
  std::shared_ptr<link> way_;
  link_client client_;
};

/// Certificates of a controller and a node, until the end.
struct certificates {
  certificates() {
    std::string name = std::filesystem::temp_directory_path() / "troupe_bench_XXXXXX";
    path = mkdtemp(name.data());
    make_authority(path, std::chrono::days(1));
    controller = issue_certificate(path, {"controller", "controller", {"localhost"}});
    node = issue_certificate(path, {"bench", "node", {}});
  }
  ~certificates() { std::filesystem::remove_all(path); }
  std::filesystem::path path, controller, node;
};

nlohmann::json measure_links() {
  const certificates made;
  child process({.arguments = {"serve", made.controller}});
  std::binary_semaphore told(0);
  ports at{};
  process.way()->open(std::make_shared<caller>([&](block message) {
    std::memcpy(&at, message.data(), sizeof at);
    told.release();
  }));
  told.acquire();
  const pid_t other = process.pid();
  series pings, bare_pings, ratio, secure_pings, streams, bare_streams, secure_streams;
  {
    joined_link plain(at.plain, "", "bench"), secure(at.secure, made.node, "bench");
    bare_stream bare(at.bare);
    for (int i = 0; i < rounds; ++i) {
      pings.add(plain.ping(other));
      bare_pings.add(bare.ping(other, pings_a_round));
      ratio.add(
          {pings.wall.back() / bare_pings.wall.back(), pings.cpu.back() / bare_pings.cpu.back()});
      secure_pings.add(secure.ping(other));
      streams.add(plain.stream(other));
      bare_streams.add(bare.stream(other, blocks_a_round, block_size, window));
      secure_streams.add(secure.stream(other));
    }
  }
  print_heading(rounds);
  print("64 bytes there and back, us", pings, 1e6);
  print("the same, bare TCP, us", bare_pings, 1e6);
  print("link / bare", ratio, 1);
  print("the same, TLS, us", secure_pings, 1e6);
  print("1 MB, us", streams, 1e6);
  print("1 MB, bare TCP, us", bare_streams, 1e6);
  print("1 MB, TLS, us", secure_streams, 1e6);
  const auto gb_per_s = [](const series& of) {
    return static_cast<double>(block_size) * 1e-9 / series::median(of.wall);
  };
  std::printf("GB per s: link %.2f, bare TCP %.2f, TLS %.2f\n", gb_per_s(streams),
              gb_per_s(bare_streams), gb_per_s(secure_streams));
  return {{"link_round_trip_us", series::median(pings.wall) * 1e6},
          {"link_round_trip_ratio", series::median(ratio.wall)},
          {"link_stream_gb_per_s", gb_per_s(streams)},
          {"tls_round_trip_us", series::median(secure_pings.wall) * 1e6},
          {"tls_stream_gb_per_s", gb_per_s(secure_streams)}};
}

}  // namespace
}  // namespace troupe::detail

int main(int argc, char** argv) {
  using namespace troupe::detail;
  troupe::log::set_level("error");
  const std::string part = argc > 1 ? argv[1] : "";
  if (part == "serve") serve(link_to_parent(), argv[2]);
  if (part == node_part) be_node(link_to_parent(), argv[2]);
  serve_parent_if_child();
  auto figures = measure_links();
  figures.update(measure_replicas());
  if (part == "--json") std::printf("%s\n", figures.dump().c_str());
  return 0;
}
