#include "runtime/process/process_site.hpp"

#include "runtime/base/log.hpp"
#include "runtime/process/child.hpp"
#include "runtime/remote/porter.hpp"
#include "runtime/remote/remote_context.hpp"
#include "runtime/remote/remote_metrics.hpp"

namespace troupe::detail {

namespace {

class child_lodging final : public lodging {
 public:
  child_lodging(std::shared_ptr<connection> to, std::unique_ptr<child> process)
      : lodging(std::move(to)), process_(std::move(process)) {}

 private:
  std::unique_ptr<child> process_;
};

class process_site final : public site {
 public:
  using site::site;

  void lodge(const service_state& service, const replica_info& info, answer got) override {
    std::shared_ptr<lodging> place;
    try {
      auto process =
          std::make_unique<child>(child_options{.memory_limit = service.options.memory_limit});
      log::info(
          "a process was started for a replica",
          {{"service", service.options.name}, {"replica", info.index}, {"pid", process->pid()}});
      const auto to = std::make_shared<connection>(process->way());
      const auto counted = system_.remote_metrics();
      counted->add(to, {"process", service.options.name + "-" + std::to_string(info.index)},
                   remote_metrics::after_its_end::stay);
      start_porter(system_, to, porter::side::host,
                   [counted, to = to.get()](const std::string&) { counted->remove(*to); });
      place = std::make_shared<child_lodging>(to, std::move(process));
    } catch (const std::exception&) {
      return got(nullptr, std::current_exception());
    }
    got(std::move(place), nullptr);
  }
  void close() override {}
};

}  // namespace

std::unique_ptr<site> make_process_site(remote_context& system) {
  return std::make_unique<process_site>(system);
}

}  // namespace troupe::detail
