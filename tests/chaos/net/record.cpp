#include "tests/chaos/net/record.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace troupe::chaos {

NLOHMANN_JSON_SERIALIZE_ENUM(record_kind, {{record_kind::begun, "begun"},
                                           {record_kind::ended, "ended"},
                                           {record_kind::executed, "executed"},
                                           {record_kind::held, "held"},
                                           {record_kind::released, "released"},
                                           {record_kind::acknowledged, "acknowledged"},
                                           {record_kind::kept, "kept"},
                                           {record_kind::finished, "finished"},
                                           {record_kind::paused, "paused"},
                                           {record_kind::fault, "fault"}})

namespace {

/// Calls `use` with the name and the member of every field but `what`.
template <class Use>
void for_each_field(Use use) {
  use("at", &record::at);
  use("process", &record::process);
  use("id", &record::id);
  use("kind", &record::kind);
  use("once", &record::once);
  use("deadline", &record::deadline);
  use("ok", &record::ok);
  use("error", &record::error);
  use("value", &record::value);
  use("expected", &record::expected);
  use("where", &record::where);
  use("session", &record::session);
  use("until", &record::until);
  use("recovered", &record::recovered);
  use("limit", &record::limit);
}

record read_record(const nlohmann::json& from) {
  record made;
  made.what = from.at("what").get<record_kind>();
  if (nlohmann::json(made.what) != from.at("what")) throw std::invalid_argument("an unknown kind");
  for_each_field([&](const char* name, auto member) {
    if (from.contains(name)) from.at(name).get_to(made.*member);
  });
  return made;
}

}  // namespace

std::string to_line(const record& of) {
  const record none;
  nlohmann::json made{{"what", of.what}};
  for_each_field([&](const char* name, auto member) {
    if (of.*member != none.*member) made[name] = of.*member;
  });
  return made.dump() + "\n";
}

std::vector<record> read_records(std::string_view text, const std::string& file) {
  std::vector<record> all;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const auto end = text.find('\n');
    if (end == text.npos) break;
    try {
      all.push_back(read_record(nlohmann::json::parse(text.substr(0, end))));
    } catch (const std::exception& e) {
      throw std::runtime_error(file + ", line " + std::to_string(line) +
                               ": expected a record of a history: " + e.what());
    }
    text.remove_prefix(end + 1);
  }
  return all;
}

}  // namespace troupe::chaos
