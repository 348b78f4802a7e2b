#include "tests/actors/checkpoint/simulated_disk.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <functional>
#include <set>
#include <stdexcept>
#include <utility>

namespace troupe::testing {

namespace fs = std::filesystem;

namespace {

/// At most as many bytes are written at once, so that a file can be cut short.
constexpr std::size_t piece_max = 256;

}  // namespace

void write_image(const disk_image& image, const fs::path& folder) {
  for (const auto& [name, bytes] : image) {  // A folder comes before what is in it.
    if (bytes) {
      std::ofstream(folder / name, std::ios::binary) << *bytes;
    } else {
      fs::create_directory(folder / name);
    }
  }
}

simulated_disk::simulated_disk(fs::path root) : root_(std::move(root)) { top_->is_folder = true; }

void simulated_disk::fail_at(int operation, int error) {
  fail_at_ = operation;
  error_ = error;
}

void simulated_disk::fail_from(int operation, int error) {
  fail_from_ = operation;
  error_ = error;
}

void simulated_disk::be_well() { fail_at_ = fail_from_ = crash_at_ = -1; }

/// Counts an operation. Returns false and sets errno if it fails.
bool simulated_disk::passes(bool needs_room) {
  const int operation = operations_++;
  if (operation == crash_at_) is_down_ = true;
  if (is_down_) {
    errno = EIO;
    return false;
  }
  const bool fails =
      operation == fail_at_ || (needs_room && fail_from_ >= 0 && operation >= fail_from_);
  if (fails) errno = error_;
  return !fails;
}

std::shared_ptr<simulated_disk::node> simulated_disk::find(const fs::path& path) const {
  auto at = top_;
  const auto inside = path.lexically_relative(root_);
  if (inside == ".") return at;
  for (const auto& part : inside) {
    if (part == "..") throw std::logic_error(path.string() + " is not on the simulated disk");
    const auto next = at->entries.find(part.string());
    if (next == at->entries.end()) return nullptr;
    at = next->second;
  }
  return at;
}

std::shared_ptr<simulated_disk::node> simulated_disk::folder_of(const fs::path& path) const {
  auto folder = find(path.parent_path());
  if (!folder) throw std::logic_error(path.string() + " is in no folder of the simulated disk");
  return folder;
}

void simulated_disk::put(const std::shared_ptr<node>& in, names to) {
  for (const auto& [name, what] : to) {
    if (what) {
      in->entries[name] = what;
    } else {
      in->entries.erase(name);
    }
  }
  pending_.push_back({in, std::move(to)});
}

int simulated_disk::create_file(const fs::path& path) {
  if (!passes(true)) return -1;
  const int file = disk::create_file(path);
  if (file < 0) return file;
  auto made = find(path);
  if (made) {
    made->bytes.clear();
  } else {
    made = std::make_shared<node>();
    put(folder_of(path), {{path.filename().string(), made}});
  }
  files_[file] = made;
  return file;
}

ssize_t simulated_disk::write(int file, std::string_view bytes) {
  if (!passes(true)) return -1;
  const auto piece = bytes.substr(0, piece_max);
  const auto written = disk::write(file, piece);
  if (written != static_cast<ssize_t>(piece.size())) throw std::runtime_error("a short write");
  files_.at(file)->bytes += piece;
  return written;
}

int simulated_disk::sync_file(int file) {
  auto& what = *files_.at(file);
  if (!passes(true)) {
    what.is_lost = true;
    return -1;
  }
  if (!what.is_lost) what.synced = what.bytes;
  return 0;
}

int simulated_disk::sync_folder(const fs::path& path) {
  if (!passes(false)) return -1;
  const auto folder = find(path);
  if (!folder) {
    errno = ENOENT;
    return -1;
  }
  std::erase_if(pending_, [&](const change& each) { return each.in == folder; });
  folder->durable = folder->entries;
  drop_unreachable();
  return 0;
}

/// Forgets changes in folders that are neither in memory nor on the disk.
void simulated_disk::drop_unreachable() {
  std::set<const node*> reached;
  const std::function<void(const node&)> reach = [&](const node& from) {
    if (!reached.insert(&from).second) return;
    for (const auto& [name, next] : from.entries) reach(*next);
    for (const auto& [name, next] : from.durable) reach(*next);
  };
  reach(*top_);
  for (const auto& each : pending_) {
    for (const auto& [name, next] : each.to) {
      if (next && reached.contains(each.in.get())) reach(*next);
    }
  }
  std::erase_if(pending_, [&](const change& each) { return !reached.contains(each.in.get()); });
}

int simulated_disk::create_folder(const fs::path& path) {
  if (!passes(true)) return -1;
  const int done = disk::create_folder(path);
  if (done != 0) return done;
  auto made = std::make_shared<node>();
  made->is_folder = true;
  put(folder_of(path), {{path.filename().string(), std::move(made)}});
  return 0;
}

int simulated_disk::rename(const fs::path& from, const fs::path& to) {
  if (from.parent_path() != to.parent_path()) throw std::logic_error("expected one folder");
  if (!passes(false)) return -1;
  const auto what = find(from);
  const int done = disk::rename(from, to);
  if (done != 0) return done;
  put(folder_of(from), {{from.filename().string(), nullptr}, {to.filename().string(), what}});
  return 0;
}

int simulated_disk::exchange(const fs::path& one, const fs::path& other) {
  if (one.parent_path() != other.parent_path()) throw std::logic_error("expected one folder");
  if (!exchanges_) {
    errno = EINVAL;
    return -1;
  }
  if (!passes(false)) return -1;
  const auto first = find(one), second = find(other);
  if (!first || !second) {
    errno = ENOENT;
    return -1;
  }
  // The real file system may not be able to exchange names.
  const auto between = fs::path(one) += ".exchanged";
  if (disk::rename(one, between) != 0 || disk::rename(other, one) != 0 ||
      disk::rename(between, other) != 0) {
    throw std::runtime_error("cannot exchange " + one.string() + " and " + other.string());
  }
  put(folder_of(one), {{one.filename().string(), second}, {other.filename().string(), first}});
  return 0;
}

int simulated_disk::remove(const fs::path& path) {
  if (!passes(false)) return -1;
  const int done = disk::remove(path);
  if (done != 0) return done;
  put(folder_of(path), {{path.filename().string(), nullptr}});
  return 0;
}

/// What is on the disk if, of the changes of names, it has the first so many.
disk_image simulated_disk::image(std::size_t changes, data which) const {
  std::map<const node*, names> views;
  const auto view_of = [&](const node& folder) -> names& {
    return views.try_emplace(&folder, folder.durable).first->second;
  };
  for (std::size_t i = 0; i < changes; ++i) {
    auto& view = view_of(*pending_[i].in);
    for (const auto& [name, what] : pending_[i].to) {
      if (what) {
        view[name] = what;
      } else {
        view.erase(name);
      }
    }
  }
  disk_image found;
  const std::function<void(const node&, const std::string&)> add = [&](const node& folder,
                                                                       const std::string& before) {
    for (const auto& [name, what] : view_of(folder)) {
      auto& entry = found[before + name];
      if (what->is_folder) {
        add(*what, before + name + '/');
      } else if (what->bytes == what->synced || which == data::missing) {
        entry = what->synced;
      } else if (which == data::whole && !what->is_lost) {
        entry = what->bytes;
      } else {
        const auto half = what->bytes.size() / 2;
        entry = what->bytes.substr(0, half) + std::string(what->bytes.size() - half, '\0');
      }
    }
  };
  add(*top_, "");
  return found;
}

std::vector<disk_image> simulated_disk::images() const {
  std::vector<disk_image> all;
  for (std::size_t changes = 0; changes <= pending_.size(); ++changes) {
    for (const auto which : {data::missing, data::torn, data::whole}) {
      auto one = image(changes, which);
      if (std::ranges::find(all, one) == all.end()) all.push_back(std::move(one));
    }
  }
  return all;
}

}  // namespace troupe::testing
