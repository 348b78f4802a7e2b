#pragma once
// The services whose handles were sent over a link. The other side may ask for these services, call
// them and name them, and no others. May be used on any thread. Internal to runtime/.

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace troupe::detail {

class exported_services {
 public:
  /// Services by name, with their numbers in this process. A later service has a larger number.
  using handles = std::map<std::string, std::uint64_t>;
  struct change {
    std::vector<std::string> awaited;   ///< The names that were asked for before.
    std::vector<std::string> replaced;  ///< The names whose earlier service was given as well.
  };

  /// The largest number of services that the other side may ask for before it has their handles. A
  /// node that comes back asks at once for all services that it knows.
  static constexpr std::size_t early_max = 4096;
  /// The longest name of such a service, in bytes.
  static constexpr std::size_t early_name_max = 4096;

  bool has(const std::string& name) const { return number_of(name).has_value(); }
  /// Returns the number of the last service of that name whose handle was sent; none if there is
  /// none.
  std::optional<std::uint64_t> number_of(const std::string& name) const;
  /// Records that the other side asks for a service. Returns true if it has a handle; otherwise a
  /// later `add` reports the name. Throws wire_error if too many services were asked for early.
  bool asked_for(const std::string& name);
  /// Records that handles are about to be sent.
  change add(const handles& given);

  /// Collects all handles that are written on this thread, as long as the object lives.
  class writing {
   public:
    explicit writing(handles& into) noexcept;
    writing(const writing&) = delete;
    ~writing();

   private:
    handles* before_;
  };
  /// Reports that a handle of that service is being written, into a message or elsewhere.
  static void note(const std::string& name, std::uint64_t number);

 private:
  mutable std::mutex mutex_;
  handles given_;
  std::set<std::string> early_;
};

/// Makes a service's name that came over a link printable, for messages of this process.
std::string shown(const std::string& name);

}  // namespace troupe::detail
