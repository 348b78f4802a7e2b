#include "tests/chaos/net/roles.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>

#include "actors/worlds/registry.hpp"
#include "tests/chaos/net/history.hpp"

namespace troupe::chaos {

namespace {

void write_executed(const std::string& id, const std::string& where,
                    const std::string& session = {}) {
  write_record({.what = record_kind::executed, .id = id, .where = where, .session = session});
}

serve_options on_nodes(std::string name, std::size_t replicas,
                       std::vector<const endpoint_info*> idempotent = {}) {
  serve_options options{.name = std::move(name),
                        .replicas = replicas,
                        .placement = placement::node("*"),
                        .idempotent = std::move(idempotent)};
  options.max_restarts = 1000;  // There are more faults in a minute than a service must bear.
  return options;
}

}  // namespace

std::string own_name(const char* role, const replica_info& info) {
  return fmt::format("{}/{}.{} of process {} at {:.6f}", role, info.index, info.generation,
                     getpid(), now_s());
}

std::int64_t worker::work(const std::string& id, std::int64_t number) {
  write_executed(id, name_);
  return number + 1;
}

std::int64_t worker::ask(const std::string& id, std::int64_t number) {
  write_executed(id, name_);
  return number + 1;
}

ledger::ledger(const std::string& path) : path_(path) {
  std::string text;
  {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream all;
    all << file.rdbuf();
    text = all.str();
  }
  // A controller that was killed may have left a part of a line, which was not acknowledged.
  const auto whole = text.rfind('\n') == text.npos ? 0 : text.rfind('\n') + 1;
  std::istringstream lines(text.substr(0, whole));
  for (std::string line; std::getline(lines, line);) items_.push_back(line);
  file_ = detail::descriptor(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600),
                             "write " + path);
  if (ftruncate(file_.number(), static_cast<off_t>(whole)) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot shorten " + path);
}

std::int64_t ledger::push(const std::string& item) {
  write_executed(item, "ledger");
  const auto line = item + "\n";
  if (write(file_.number(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    throw std::system_error(errno, std::generic_category(), "cannot write " + path_);
  items_.push_back(item);
  return 1;
}

task<std::int64_t> producer::produce(std::string id, std::int64_t number) {
  write_executed(id, name_);
  const auto to = to_.with({.deadline = push_deadline});
  for (int i = 0; i < 2; ++i) {
    const auto item = fmt::format("{}/{}", id, i);
    operation pushing(item, "push", true, std::chrono::duration<double>(push_deadline).count());
    const auto got = co_await to.try_route<&ledger::push>(item);
    pushing.end(got, 1);
  }
  co_return number + 1;
}

guest::guest(const replica_info& info)
    : name_(own_name("guest", info)),
      environment_(make_vector_environment(
          {.id = "good:Counter", .python = {.interpreter = "/usr/bin/python3"}}, 1)) {}

std::string guest::enter(const std::string& id, const std::string& session) {
  write_executed(id, name_, session);
  try {
    environment_->reset(0);
  } catch (const std::exception& e) {
    throw fatal(e.what());
  }
  steps_ = 0;
  return name_;
}

std::int64_t guest::step(const std::string& id, const std::string& session) {
  write_executed(id, name_, session);
  env_step after;
  try {
    after = environment_->step({.discrete = {1}});
  } catch (const std::exception& e) {
    throw fatal(e.what());  // The process of the environment is gone.
  }
  ++steps_;
  // An episode of this environment has five steps, and it counts them.
  const auto seen = static_cast<std::int64_t>(after.obs.at(1));
  if (seen != steps_ % 5)
    throw fatal(fmt::format("the guest counts {} steps, expected {}", seen, steps_ % 5));
  return steps_;
}

task<net_roles> serve_net_roles(system& sys, std::size_t replicas, std::int64_t version) {
  net_roles all;
  const std::string path = history_folder() / "ledger";
  all.items = co_await sys.serve<ledger>({.name = "ledger"}, path);
  auto working = on_nodes("workers", replicas, {endpoint<&worker::ask>});
  working.outlive_controller = std::chrono::seconds(60);
  all.workers = co_await sys.serve<worker>(std::move(working));
  all.readers =
      co_await sys.serve<reader>(on_nodes("readers", replicas, {endpoint<&reader::read>}), version);
  all.producers = co_await sys.serve<producer>(on_nodes("producers", replicas), all.items);
  all.guests = co_await sys.serve<guest>(on_nodes("guests", replicas));
  co_return all;
}

}  // namespace troupe::chaos
