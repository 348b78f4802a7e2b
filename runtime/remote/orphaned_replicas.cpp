#include "runtime/remote/orphaned_replicas.hpp"

#include <algorithm>

#include "runtime/remote/peer.hpp"

namespace troupe::detail {

std::string made_from(const message& make, remote_options about) {
  if (about.outlive_controller == 0) return {};
  about.generation = 0;
  auto arguments = make.body();
  arguments.read<role_origin>();
  arguments.read<remote_options>();
  std::string role_spec(wire_size(about) + sizeof(std::uint64_t), '\0');
  wire_writer to(std::as_writable_bytes(std::span(role_spec)));
  to.write(make.header.key());
  to.write(about);
  const auto rest = arguments.bytes(arguments.left(), "its arguments");
  return role_spec.append(reinterpret_cast<const char*>(rest.data()), rest.size());
}

void orphaned_replicas::keep(exported_replica replica) {
  const auto after = replica.service->options.outlive_controller;
  all_.push_back({std::move(replica), later(by_.now(), after)});
  by_.start_root(end_late_ones(after));
}

child_task orphaned_replicas::end_late_ones(duration after) {
  co_await sleep_for(after);
  std::erase_if(all_, [&](const one& o) {
    if (o.until > by_.now()) return false;
    o.replica.actor->kill("the controller has not come back");
    forget_(o.replica);
    return true;
  });
}

exported_replica orphaned_replicas::take(const std::string& role_spec) {
  const auto place = std::find_if(all_.begin(), all_.end(), [&](const one& o) {
    return o.replica.role_spec == role_spec && !o.replica.slot->ended();
  });
  if (role_spec.empty() || place == all_.end()) return {};
  auto found = std::move(place->replica);
  all_.erase(place);
  return found;
}

void orphaned_replicas::on_down(const inbox& who) {
  std::erase_if(all_, [&](const one& o) {
    if (o.replica.actor.get() != &who) return false;
    forget_(o.replica);
    return true;
  });
}

void orphaned_replicas::end_all(const char* why) {
  for (const auto& o : all_) {
    o.replica.actor->kill(why);
    forget_(o.replica);
  }
  all_.clear();
}

}  // namespace troupe::detail
