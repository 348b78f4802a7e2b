#include "runtime/trace/trace_rows.hpp"

#include <algorithm>
#include <map>

namespace troupe::detail {

namespace {

using kind = trace_slice::kind;

/// The rows for one kind of slices, as many as overlapping slices need.
class row_family {
 public:
  /// Returns the first row that is free at `begin`, and occupies it until `end`.
  std::size_t take(time_point begin, time_point end, std::vector<std::vector<trace_slice>>& all) {
    for (auto& row : rows_) {
      if (row.until <= begin) {
        row.until = end;
        return row.index;
      }
    }
    rows_.push_back({all.size(), end});
    all.emplace_back();
    return rows_.back().index;
  }
  /// Returns the first row, whether it is free or not.
  std::size_t first(std::vector<std::vector<trace_slice>>& all) {
    return rows_.empty() ? take(time_point::min(), time_point::min(), all) : rows_.front().index;
  }
  /// Returns the indices of its rows, in order.
  std::vector<std::size_t> indices() const {
    std::vector<std::size_t> all;
    for (const auto& row : rows_) all.push_back(row.index);
    return all;
  }

 private:
  struct row {
    std::size_t index;
    time_point until;
  };
  std::vector<row> rows_;
};

/// The rows of one name, with the slices of one actor or of several that followed each other.
class lane_rows {
 public:
  explicit lane_rows(std::string name) : name_(std::move(name)) {}

  void add(const trace_lane& lane) {
    std::uint64_t batch = 0;
    for (const auto& slice : lane.slices()) {
      if (slice.what == kind::joined) {
        joined_.emplace(slice.id, batch);
        continue;
      }
      if (slice.what == kind::batch) batch = slice.id;
      slices_.push_back(slice);
    }
  }

  void draw_into(trace_picture& picture) {
    // A slice that is part of another one began later or was recorded later, so it has the larger
    // id.
    std::ranges::sort(slices_, {}, [](const auto& s) { return std::pair(s.begin, s.id); });
    for (const auto& slice : slices_) place(slice);
    const auto busy = executions_.indices();
    for (std::size_t i = 0; i < busy.size(); ++i) add_row(picture, numbered(name_, i), busy[i]);
    const auto waits = busy.empty() ? name_ : name_ + " waits";
    const auto idle = waits_.indices();
    for (std::size_t i = 0; i < idle.size(); ++i) add_row(picture, numbered(waits, i), idle[i]);
    for (const auto& [group, family] : spans_) {
      const auto marked = family.indices();
      for (std::size_t i = 0; i < marked.size(); ++i) {
        add_row(picture, std::string(group) + ' ' + std::to_string(i), marked[i]);
      }
    }
    for (const auto& [call, batch] : joined_) {
      const auto whole = open_.find(batch);
      if (whole == open_.end()) continue;
      picture.executions.push_back(
          {call, {index_in_picture_.at(whole->second.row), whole->second.begin}});
    }
  }

 private:
  /// A slice that may contain others.
  struct parent {
    std::size_t row;
    time_point begin, end;
    time_point free;  ///< The time from which no slice lies in it yet.
  };

  static std::string numbered(const std::string& name, std::size_t i) {
    return i == 0 ? name : name + " (" + std::to_string(i + 1) + ')';
  }

  parent* parent_of(const trace_slice& slice) {
    const auto batch = joined_.find(slice.parent);
    const auto found = open_.find(batch == joined_.end() ? slice.parent : batch->second);
    if (slice.parent == 0 || found == open_.end()) return nullptr;
    auto& whole = found->second;
    const bool fits = slice.begin >= whole.free && slice.end <= whole.end;
    return fits ? &whole : nullptr;
  }

  std::size_t row_for(const trace_slice& slice) {
    if (slice.what == kind::mark) return executions_.first(rows_);
    if (auto* whole = parent_of(slice)) {
      whole->free = slice.end;
      return whole->row;
    }
    auto& family = slice.what == kind::wait   ? waits_
                   : slice.what == kind::span ? spans_[slice.group]
                                              : executions_;
    return family.take(slice.begin, slice.end, rows_);
  }

  void place(const trace_slice& slice) {
    const auto row = row_for(slice);
    rows_[row].push_back(slice);
    if (slice.what == kind::wait || slice.what == kind::mark) return;
    open_[slice.id] = {row, slice.begin, slice.end, slice.begin};
  }

  void add_row(trace_picture& picture, std::string name, std::size_t row) {
    const auto index = picture.rows.size();
    index_in_picture_[row] = index;
    for (const auto& slice : rows_[row]) {
      if (slice.what == kind::wait) picture.waits.insert({slice.id, {index, slice.begin}});
      if (slice.what == kind::execution) {
        picture.executions.push_back({slice.id, {index, slice.begin}});
      }
    }
    picture.rows.push_back({std::move(name), std::move(rows_[row])});
  }

  const std::string name_;
  std::vector<trace_slice> slices_;
  std::unordered_map<std::uint64_t, std::uint64_t> joined_;  ///< The id of the batch of each call.
  std::unordered_map<std::uint64_t, parent> open_;
  std::vector<std::vector<trace_slice>> rows_;
  row_family executions_, waits_;
  std::map<std::string_view, row_family> spans_;
  std::unordered_map<std::size_t, std::size_t> index_in_picture_;
};

std::string name_of(const trace_lane& lane) {
  return lane.index ? lane.group + ' ' + std::to_string(*lane.index) : lane.group;
}

}  // namespace

trace_picture draw(const trace& of) {
  // The groups are in the order of their first lanes, and the replicas of each group are ordered by
  // index.
  std::map<std::string, std::size_t> groups;
  std::map<std::pair<std::size_t, std::size_t>, lane_rows> lanes;
  for (const auto& lane : of.lanes()) {
    const auto group = groups.emplace(lane.group, groups.size()).first->second;
    lanes.try_emplace({group, lane.index.value_or(0)}, name_of(lane)).first->second.add(lane);
  }
  trace_picture picture;
  for (auto& [place, lane] : lanes) lane.draw_into(picture);
  return picture;
}

}  // namespace troupe::detail
