#include "runtime/remote/remote_options.hpp"

#include "runtime/remote/exported_services.hpp"

namespace troupe::detail {

namespace {

std::vector<std::uint64_t> keys_of(const std::vector<const endpoint_info*>& endpoints) {
  std::vector<std::uint64_t> keys;
  for (const auto* e : endpoints) keys.push_back(e->key);
  return keys;
}

std::vector<const endpoint_info*> endpoints_of(const std::vector<std::uint64_t>& keys) {
  std::vector<const endpoint_info*> endpoints;
  for (const auto key : keys) endpoints.push_back(&endpoint_of_key(key));
  return endpoints;
}

}  // namespace

remote_options::remote_options(const service_state& service, const replica_info& info)
    : name(service.options.name),
      index(info.index),
      generation(info.generation),
      max_queued(service.options.max_queued),
      max_waiting(service.options.max_waiting),
      max_ongoing(service.options.max_ongoing),
      max_batch(service.options.max_batch),
      max_retries(service.options.max_retries),
      poison_limit(service.options.poison_limit),
      max_delay(service.options.max_delay.count()),
      deadline(service.options.deadline.count()),
      max_call_time(service.options.max_call_time.count()),
      hedge_after(service.options.hedge_after.count()),
      outlive_controller(service.options.outlive_controller.count()),
      restarts_on_throw(service.options.on_throw == on_throw::restart),
      idempotent(keys_of(service.options.idempotent)),
      hedged(keys_of(service.options.hedged)),
      run_to_end(keys_of(service.options.run_to_end)) {}

serve_options remote_options::options() const {
  serve_options o{.name = name};
  o.max_queued = max_queued;
  o.max_waiting = max_waiting;
  o.max_ongoing = max_ongoing;
  o.max_batch = max_batch;
  o.max_retries = max_retries;
  o.poison_limit = poison_limit;
  o.max_delay = duration(max_delay);
  o.deadline = duration(deadline);
  o.max_call_time = duration(max_call_time);
  o.hedge_after = duration(hedge_after);
  o.outlive_controller = duration(outlive_controller);
  o.on_throw = restarts_on_throw ? on_throw::restart : on_throw::keep_serving;
  o.idempotent = endpoints_of(idempotent);
  o.hedged = endpoints_of(hedged);
  o.run_to_end = endpoints_of(run_to_end);
  return o;
}

// ---- handles

std::size_t handle_size(const service_state* service) {
  return service ? 1 + wire_size(remote_options(*service)) : 1;
}

void write_handle(const service_state* service, wire_writer& to) {
  to.write(service != nullptr);
  if (!service) return;
  to.write(remote_options(*service));
  exported_services::note(service->options.name, service->number);
}

std::shared_ptr<service_state> read_handle(wire_reader& from) {
  return from.read<bool>() ? arriving_service(from.read<remote_options>()) : nullptr;
}

}  // namespace troupe::detail
