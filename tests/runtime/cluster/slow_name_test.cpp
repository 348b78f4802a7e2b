// A node whose controller has a name that is told late.

#include "runtime/cluster/certificates.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/runtime/cluster/cluster.hpp"
#include "tests/runtime/net/slow_names.hpp"

namespace troupe::detail::testing {
namespace {

struct named_controller : temporary_folder {
  named_controller() {
    make_authority(path, std::chrono::days(10));
    own = issue_certificate(path, {"head", "controller", {"head.slow.test", "127.0.0.1"}});
    node = issue_certificate(path, {"gpu-1", "node", {}});
  }
  std::filesystem::path own, node;
};

TEST_CASE("slow name: a node asks once for it, says so, and joins when it is told") {
  troupe::testing::slow_names names;
  named_controller made;
  controller_side controller({.certs = made.own});
  node_side node("head.slow.test:" + std::to_string(controller.server.port()), "gpu-1",
                 [&](auto& o) {
                   o.certs = made.node;
                   o.join_within = 20ms;
                   o.retry_max = 50ms;
                 });
  for (int i = 0; i < 3; ++i) {
    CHECK(node.failures.take() == "no name server has told the address of head.slow.test in time");
  }
  CHECK(names.begun() == 1);
  names.tell();
  CHECK(controller.joined.made.take().other.name == "gpu-1");
}

TEST_CASE("slow name: it keeps no other node and no end of a node") {
  troupe::testing::slow_names names;
  named_controller made;
  controller_side controller({.certs = made.own});
  {
    node_side slow("head.slow.test:" + std::to_string(controller.server.port()), "gpu-1",
                   [&](auto& o) { o.certs = made.node; });
    CHECK(troupe::testing::eventually([&] { return names.begun() == 1; }));
    node_side node(controller.address(), "gpu-1", [&](auto& o) { o.certs = made.node; });
    CHECK(controller.joined.made.take().other.name == "gpu-1");
  }
  CHECK(names.begun() == 1);
}

}  // namespace
}  // namespace troupe::detail::testing
