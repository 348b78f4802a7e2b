#pragma once
// A trace as a viewer reads it.

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/trace/trace_json.hpp"
#include "tests/test.hpp"

namespace troupe::testing {

struct drawn_slice {
  std::string row, name, outcome;
  double begin = 0, end = 0;  ///< µs
};

struct drawn_trace {
  std::vector<drawn_slice> slices;
  std::vector<std::pair<std::string, std::string>> arrows;  ///< The rows of both ends.
  std::vector<std::string> rows, marks;
  bool full = false;

  std::vector<drawn_slice> named(const std::string& name) const {
    std::vector<drawn_slice> found;
    for (const auto& s : slices) {
      if (s.name == name) found.push_back(s);
    }
    return found;
  }
  drawn_slice only(const std::string& name) const {
    const auto found = named(name);
    INFO(name);
    REQUIRE(found.size() == 1);
    return found.front();
  }
};

/// Reads it, and checks what holds for every trace: no duration is negative, every arrow has both
/// ends and doesn't go back in time, and slices of a row don't cross.
inline drawn_trace read_trace(const nlohmann::json& document) {
  drawn_trace out;
  out.full = document.at("otherData").at("full");
  std::map<int, std::string> rows;
  std::map<int, std::vector<nlohmann::json>> ends;
  for (const auto& e : document.at("traceEvents")) {
    if (e.at("name") != "thread_name") continue;
    rows[e.at("tid")] = e.at("args").at("name");
    out.rows.push_back(e.at("args").at("name"));
  }
  for (const auto& e : document.at("traceEvents")) {
    const std::string phase = e.at("ph");
    if (phase == "M") continue;
    const double at = e.at("ts");
    CHECK(at >= 0);
    if (phase == "i") out.marks.push_back(e.at("name"));
    if (phase == "s" || phase == "f") ends[e.at("id")].push_back(e);
    if (phase != "X") continue;
    const double took = e.at("dur");
    CHECK(took >= 0);
    out.slices.push_back(
        {rows.at(e.at("tid")), e.at("name"), e.at("args").value("outcome", "ok"), at, at + took});
  }
  for (const auto& [id, pair] : ends) {
    REQUIRE(pair.size() == 2);
    CHECK(pair[0].at("ph") == "s");
    CHECK(pair[1].at("ph") == "f");
    CHECK(pair[0].at("ts").get<double>() <= pair[1].at("ts").get<double>());
    out.arrows.emplace_back(rows.at(pair[0].at("tid")), rows.at(pair[1].at("tid")));
  }
  for (const auto& a : out.slices) {
    for (const auto& b : out.slices) {
      if (a.row != b.row) continue;
      const bool cross = a.begin < b.begin && b.begin < a.end && a.end < b.end;
      CHECK_FALSE(cross);
    }
  }
  return out;
}

inline drawn_trace read_trace(const trace& of) {
  std::ostringstream text;
  write_trace(of, text);
  return read_trace(nlohmann::json::parse(text.str()));
}

}  // namespace troupe::testing
