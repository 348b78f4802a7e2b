#include "actors/openenv/server/local_world.hpp"

#include "actors/openenv/protocol/error.hpp"
#include "actors/openenv/server/conversation.hpp"
#include "actors/worlds/registry.hpp"

namespace troupe::openenv_server {

using nlohmann::json;

namespace {

class local_world final : public openenv::json_world {
 public:
  explicit local_world(const std::string& id) : talk_(make_vector_environment(id, 1)) {}

  task<openenv::result> reset(json with) override {
    co_return ask(openenv::request_kind::reset, with);
  }
  task<openenv::result> step(json action) override {
    co_return ask(openenv::request_kind::step, action);
  }

 private:
  openenv::result ask(openenv::request_kind kind, const json& data) {
    const auto said = talk_.to(openenv::request_text(kind, data.dump()));
    auto reply = openenv::parse_reply(said.text);
    if (said.error)
      throw openenv::error(openenv::to_failure(*said.error), reply.error.message,
                           std::move(reply.error.details));
    return std::move(reply.result);
  }

  conversation talk_;
};

}  // namespace

openenv::world_maker local_worlds(const std::string& environment) {
  local_world tried(environment);
  return [environment] { return std::make_unique<local_world>(environment); };
}

}  // namespace troupe::openenv_server
