#include "runtime/process/process_site.hpp"

#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <mutex>

#include "runtime/log.hpp"
#include "runtime/process/child.hpp"
#include "runtime/remote/porter.hpp"
#include "runtime/remote/remote_metrics.hpp"
#include "runtime/system_core.hpp"

namespace troupe::detail {

namespace {

std::atomic<bool> main_is_ready{false};

/// The threads of a child's pool; the turns of its role and of the link never need more.
constexpr std::size_t child_threads = 2;

class child_lodging final : public lodging {
 public:
  child_lodging(std::shared_ptr<connection> to, std::unique_ptr<child> process)
      : lodging(std::move(to)), process_(std::move(process)) {}

 private:
  std::unique_ptr<child> process_;
};

class process_site final : public site {
 public:
  explicit process_site(system_core& system) : system_(system) {}

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

 private:
  system_core& system_;
};

}  // namespace

std::unique_ptr<site> make_process_site(system_core& system) {
  return std::make_unique<process_site>(system);
}

bool can_have_children() { return main_is_ready; }

void serve_parent_if_child() {
  const auto parent = link_to_parent();
  main_is_ready = true;
  if (!parent) return;
  {
    system sys({.threads = child_threads});
    std::mutex mutex;
    std::condition_variable changed;
    bool closed = false;
    start_porter(core_of(sys), std::make_shared<connection>(parent), porter::side::guest,
                 [&](const std::string&) {
                   std::lock_guard lock(mutex);
                   closed = true;
                   changed.notify_all();
                 });
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return closed; });
    std::fflush(nullptr);
    _exit(0);  // The parent awaits nothing more, and a role may be stuck.
  }
}

}  // namespace troupe::detail
