// The code of docs/coming_from/torchforge.md.

// readme: service
#include "runtime/system/run.hpp"

struct policy {
  std::string generate(const std::string& prompt) { return prompt + "!"; }
};

troupe::task<> demo(troupe::system& sys) {
  auto policies = co_await sys.serve<policy>({.name = "policy", .replicas = 4});
  const std::string reply = co_await policies.route<&policy::generate>("hello");
  sys.stop(policies);
}
// readme: end
