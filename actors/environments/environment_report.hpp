#pragma once
// What the checks of an environment have found, for people and for programs.

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

/// A call of an environment that a check makes.
struct environment_call {
  std::string where;    ///< What is called, such as "reset", "step" or "making it".
  std::string at = {};  ///< Which of these calls it is, such as "episode 1, step 3"; may be empty.
  bool operator==(const environment_call&) const = default;
};

/// Is told each call before it is made.
using call_observer = std::function<void(const environment_call&)>;

/// Something that an environment does wrong, or could do better.
struct environment_finding {
  std::string check;       ///< The check that found it, such as "bounds".
  environment_call call;   ///< Where it was seen first; `where` may also be "action space".
  std::string key = {};    ///< The part of a Dict or Tuple, such as "image" or "pair/0".
  std::string expected;    ///< The expected result.
  std::string got;         ///< The actual result. A traceback has several lines.
  std::int64_t times = 1;  ///< How often it was seen.
};

/// A check that was not made.
struct skipped_check {
  std::string check;
  std::string reason;
};

/// How fast environments were stepped with random actions.
struct environment_speed {
  std::int64_t environments = 1;  ///< That were stepped in turn.
  /// "alone": without this program, in a process of Python that does nothing else. "hosted": as a
  /// run steps them, in their process, on their server, or in this program.
  std::string how;
  std::int64_t steps = 0;     ///< Of all of them together.
  std::int64_t episodes = 0;  ///< That have ended.
  double seconds = 0;         ///< Of wall time, for steps and resets.
};

/// Receives what a check tells while it runs.
class check_listener {
 public:
  virtual ~check_listener() = default;
  /// Comes before each call of the environment's code.
  virtual void begins(const environment_call& call) = 0;
  /// A fault breaks the contract of environments. What is no fault is a warning.
  virtual void found(bool is_fault, environment_finding what) = 0;
  virtual void skipped(skipped_check what) = 0;
  /// Does nothing by default.
  virtual void measured(environment_speed what);
};

/// All that was found about an environment.
class environment_report final : public check_listener {
 public:
  static constexpr std::size_t alike_max = 5;

  explicit environment_report(std::string id, call_observer on_call = {})
      : id_(std::move(id)), on_call_(std::move(on_call)) {}

  void begins(const environment_call& call) override {
    last_call_ = call;
    if (on_call_) on_call_(call);
  }
  /// Counts a finding that is there already, from another call, once more. Of one check of one part
  /// it keeps alike_max findings that differ in their texts, and counts others with the last one.
  void found(bool is_fault, environment_finding what) override;
  void skipped(skipped_check what) override { skipped_.push_back(std::move(what)); }
  void measured(environment_speed what) override { speeds_.push_back(std::move(what)); }

  const std::string& id() const { return id_; }
  const std::vector<environment_finding>& faults() const { return faults_; }
  const std::vector<environment_finding>& warnings() const { return warnings_; }
  const std::vector<skipped_check>& not_made() const { return skipped_; }
  const std::vector<environment_speed>& speeds() const { return speeds_; }
  /// The call that began last.
  const environment_call& last_call() const { return last_call_; }

 private:
  std::string id_;
  call_observer on_call_;
  std::vector<environment_finding> faults_, warnings_;
  std::vector<skipped_check> skipped_;
  std::vector<environment_speed> speeds_;
  environment_call last_call_;
};

/// Returns the report as lines of text, of which the first one has the numbers of findings.
std::string to_string(const environment_report& report);
/// Returns the report as a JSON object: docs/command_line.md lists its keys.
nlohmann::json json_of(const environment_report& report);

/// Returns a finding as a JSON object that `tell_json` understands.
nlohmann::json json_of(bool is_fault, const environment_finding& finding);
/// Returns a speed as a JSON object, and reads it again. `speed_of` throws
/// nlohmann::json::exception for another form.
nlohmann::json json_of(const environment_speed& speed);
environment_speed speed_of(const nlohmann::json& object);
/// Tells the findings and skipped checks of an object {"findings": [...], "skipped": [...]}, which
/// comes from another process. Throws nlohmann::json::exception for another form.
void tell_json(const nlohmann::json& message, check_listener& to);

}  // namespace troupe
