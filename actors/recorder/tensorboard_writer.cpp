#include "actors/recorder/tensorboard_writer.hpp"

#include <unistd.h>

#include <bit>
#include <boost/crc.hpp>

#include "tensorboard_event.pb.h"

namespace troupe {
namespace {

double seconds(tensorboard_writer::clock::time_point time) {
  // Nanoseconds since 1970 have more digits than a double, so whole seconds are taken first.
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  const std::chrono::duration<double> rest = time - whole;
  return static_cast<double>(whole.time_since_epoch().count()) + rest.count();
}

std::string host_name() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0) return "localhost";
  std::string result = name;
  for (char& c : result)
    if (c == '/') c = '-';
  return result.empty() ? "localhost" : result;
}

std::filesystem::path events_path(const std::filesystem::path& folder,
                                  tensorboard_writer::clock::time_point now) {
  return folder /
         ("events.out.tfevents." + std::to_string(static_cast<std::int64_t>(seconds(now))) + "." +
          host_name() + "." + std::to_string(::getpid()) + ".0");
}

template <class Unsigned>
void append_little_endian(std::string& to, Unsigned value) {
  for (std::size_t i = 0; i < sizeof value; ++i)
    to += static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
}

std::uint32_t masked_crc32c(std::string_view bytes) {
  return std::rotr(detail::crc32c(bytes), 15) + 0xA282EAD8U;
}

}  // namespace

tensorboard_writer::tensorboard_writer(const std::filesystem::path& folder, clock::time_point now)
    : file_(events_path(folder, now)) {
  tensorboard::event version;
  version.set_wall_time(seconds(now));
  version.set_file_version("brain.Event:2");
  file_.append(detail::tf_record(version.SerializeAsString()));
}

void tensorboard_writer::write(std::int64_t step, const std::map<std::string, double>& values,
                               clock::time_point now) {
  tensorboard::event event;
  event.set_wall_time(seconds(now));
  event.set_step(step);
  for (const auto& [tag, number] : values) {
    auto& value = *event.mutable_scalars()->add_values();
    value.set_tag(tag);
    value.set_simple_value(static_cast<float>(number));
  }
  file_.append(detail::tf_record(event.SerializeAsString()));
}

namespace detail {

std::uint32_t crc32c(std::string_view bytes) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return crc.checksum();
}

std::string tf_record(std::string_view bytes) {
  std::string record;
  append_little_endian(record, static_cast<std::uint64_t>(bytes.size()));
  append_little_endian(record, masked_crc32c(record));
  record += bytes;
  append_little_endian(record, masked_crc32c(bytes));
  return record;
}

}  // namespace detail
}  // namespace troupe
