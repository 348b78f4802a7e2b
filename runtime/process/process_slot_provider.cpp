#include "runtime/process/process_slot_provider.hpp"

#include <cerrno>

#include "runtime/base/log.hpp"
#include "runtime/process/child.hpp"
#include "runtime/remote/peer.hpp"
#include "runtime/remote/remote_context.hpp"
#include "runtime/remote/remote_metrics.hpp"

namespace troupe::detail {

namespace {

class child_slot final : public remote_slot {
 public:
  child_slot(std::shared_ptr<connection> to, std::unique_ptr<child> process)
      : remote_slot(std::move(to)), process_(std::move(process)) {}

 private:
  std::unique_ptr<child> process_;
};

class process_slot_provider final : public slot_provider {
 public:
  using slot_provider::slot_provider;

  void allocate(const service_state& service, const replica_info& info, answer got) override {
    auto kept = system_.kept_for_successors()->take(place_key(service, info));
    auto place = std::static_pointer_cast<remote_slot>(std::move(kept));
    if (place && !place->to->is_closed()) return got(std::move(place), nullptr);
    try {
      const auto& program = service.options.program;
      auto process = std::make_unique<child>(
          child_options{.program = program, .memory_limit = service.options.memory_limit});
      log::info("a process was started for a replica",
                {{"service", service.options.name},
                 {"replica", info.index},
                 {"pid", process->pid()},
                 {"program", program.empty() ? program_invocation_name : program}});
      const auto to = std::make_shared<connection>(process->way());
      const auto counted = system_.remote_metrics();
      counted->add(to, {"process", service.options.name + "-" + std::to_string(info.index)});
      start_peer(system_, to, peer::side::host,
                 [counted, to = to.get()](const std::string&) { counted->remove(*to); });
      place = std::make_shared<child_slot>(to, std::move(process));
    } catch (const std::exception&) {
      return got(nullptr, std::current_exception());
    }
    got(std::move(place), nullptr);
  }
  void keep(const service_state& service, const replica_info& info,
            std::shared_ptr<remote_slot> place) override {
    system_.kept_for_successors()->keep(place_key(service, info), std::move(place));
  }
  void close() override {}

 private:
  /// Another program or memory limit needs another process.
  static std::string place_key(const service_state& service, const replica_info& info) {
    const auto& options = service.options;
    return kept_for_successors::key_of(
        options.name, info.index,
        "process\n" + options.program + '\n' + std::to_string(options.memory_limit));
  }
};

}  // namespace

std::unique_ptr<slot_provider> make_process_slot_provider(remote_context& system) {
  return std::make_unique<process_slot_provider>(system);
}

}  // namespace troupe::detail
