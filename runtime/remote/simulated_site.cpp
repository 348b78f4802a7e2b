#include "runtime/remote/simulated_site.hpp"

#include "runtime/remote/porter.hpp"
#include "runtime/remote/remote_context.hpp"
#include "runtime/remote/simulated_link.hpp"

namespace troupe::detail {

namespace {

class simulated_lodging final : public lodging {
 public:
  using lodging::lodging;
  ~simulated_lodging() override { to->close("its stand-in has ended"); }
};

}  // namespace

void simulated_site::lodge(const service_state&, const replica_info&, answer got) {
  const auto [mine, theirs] = simulated_link::make(system_);
  const auto here = std::make_shared<connection>(mine);
  const auto there = std::make_shared<connection>(theirs);
  start_porter(system_, there, porter::side::guest);
  start_porter(system_, here, porter::side::host);
  got(std::make_shared<simulated_lodging>(here), nullptr);
}

}  // namespace troupe::detail
