// The program of ./dev chaos --net, which tests/chaos/net/net.py starts.
//
//   chaos_net controller --listen ...   serves roles on nodes and calls them until the file "end"
//                                       is in the folder of the histories
//   chaos_net node --join ...           runs their replicas
//   chaos_net certify FOLDER NODES HOST...
//                                       makes certificates of a controller at these hosts, and of
//                                       as many nodes
//   chaos_net judge FOLDER [--json]     judges the histories
//
// The environment variables CHAOS_NET_FOLDER, CHAOS_NET_LIFE, CHAOS_NET_REPLICAS and
// CHAOS_NET_CALLERS say where the histories are, which controller of the run this is, how many
// replicas each service has, and how many clients.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>

#include "runtime/base/regular_file.hpp"
#include "runtime/cluster/certificates.hpp"
#include "runtime/system/child_process.hpp"
#include "runtime/system/run.hpp"
#include "runtime/system/system_core.hpp"
#include "tests/chaos/net/checker.hpp"
#include "tests/chaos/net/history.hpp"
#include "tests/chaos/net/load.hpp"

namespace {

using namespace troupe;
using namespace troupe::chaos;

int number_in(const char* name, int otherwise) {
  const char* told = std::getenv(name);
  return told != nullptr ? std::atoi(told) : otherwise;
}

bool all_serve(troupe::system& sys) {
  for (const auto* name : {"workers", "readers", "producers", "guests"}) {
    const auto state = troupe::detail::core_of(sys).find_service(name);
    if (!state || state->ready() != state->desired.load()) return false;
  }
  return true;
}

/// Says ten times a second in the file "status" what serves and what was answered.
task<> write_status(troupe::system& sys, net_load& l) {
  const auto path = history_folder() / "status";
  while (!std::filesystem::exists(history_folder() / "end")) {
    const nlohmann::json status{{"at", now_s()},
                                {"life", l.life},
                                {"nodes", sys.nodes().size()},
                                {"serve", all_serve(sys)},
                                {"answered", l.answered}};
    replace_file(path, status.dump());
    co_await sleep_for(std::chrono::milliseconds(100));
  }
}

/// Calls until it is told to end. Returns false if some calls don't end.
task<bool> run_load(group& g, troupe::system& sys, net_load& l, int callers) {
  start_net_load(g, l, callers);
  co_await write_status(sys, l);
  l.ending = true;
  try {
    co_await with_timeout(g.join(), 3 * call_deadline);
    co_return true;
  } catch (const call_error&) {
    co_return false;
  }
}

/// Of the controller.
task<> control(troupe::system& sys) {
  net_load l;
  l.life = number_in("CHAOS_NET_LIFE", 1);
  l.version = read_version();
  l.to = co_await serve_net_roles(sys, static_cast<std::size_t>(number_in("CHAOS_NET_REPLICAS", 2)),
                                  l.version);
  const int callers = number_in("CHAOS_NET_CALLERS", 2);
  const bool ended = co_await with_group([&](group& g) { return run_load(g, sys, l, callers); });
  if (!ended) throw std::runtime_error("some calls have not ended");
  const auto kept = co_await l.to.items.route<&ledger::items>();
  for (const auto& item : kept) write_record({.what = record_kind::kept, .id = item});
  write_record({.what = record_kind::finished});
}

int certify(int argc, char** argv) {
  const std::filesystem::path folder = argv[2];
  const std::vector<std::string> hosts(argv + 4, argv + argc);
  make_authority(folder, std::chrono::days(2));
  issue_certificate(folder, {.name = "controller", .role = "controller", .hosts = hosts});
  for (int i = 1; i <= std::atoi(argv[3]); ++i)
    issue_certificate(folder, {.name = "node-" + std::to_string(i), .role = "node"});
  return 0;
}

int judge_folder(const std::filesystem::path& folder, bool json) {
  std::vector<record> history;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".jsonl") continue;
    const auto name = entry.path().filename().string();
    auto found =
        read_records(detail::read_regular_file(entry.path(), detail::whole_file_bytes_max()), name);
    std::move(found.begin(), found.end(), std::back_inserter(history));
  }
  const auto found = judge(std::move(history));
  print(found);
  if (json) fmt::print("{}\n", to_json(found).dump());
  return found.holds() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  troupe::detail::serve_parent_if_child();
  const std::string_view mode = argc > 1 ? argv[1] : "";
  try {
    if (mode == "certify" && argc > 4) return certify(argc, argv);
    if (mode == "judge" && argc > 2)
      return judge_folder(argv[2], argc > 3 && argv[3] == std::string_view("--json"));
    return run(argc, argv, control);
  } catch (const std::exception& e) {
    fmt::print(stderr, "chaos_net: {}\n", e.what());
    return 1;
  }
}
