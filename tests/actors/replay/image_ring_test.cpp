// Images in the ring: what was inserted comes back bit for bit, and each frame is kept once.

#include <algorithm>
#include <deque>
#include <limits>

#include "actors/checkpoint/state.hpp"
#include "actors/replay/n_step.hpp"
#include "actors/replay/transition_replay.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

constexpr std::size_t frame_size = 64;
constexpr std::size_t stack = 4;
constexpr std::size_t image_size = stack * frame_size;

std::vector<image_part> one_stack() { return {{.size = image_size, .frames = stack}}; }

/// A vector environment of stacked frames. Frame k of an environment differs from all others.
class stacked_world {
 public:
  explicit stacked_world(std::size_t environments, std::uint64_t seed = 1)
      : random_(seed), stacks_(environments), at_(environments) {
    for (std::size_t i = 0; i < environments; ++i) begin(i);
  }

  /// Makes a step of each environment, and appends its rows to `to`. Episodes end after
  /// `episode_steps` steps, by truncation if the environment's index is odd.
  void step(transition_rows& to, std::uint32_t episode_steps) {
    for (std::size_t i = 0; i < stacks_.size(); ++i) {
      const auto before = observation(i);
      stacks_[i].push_back(new_frame());
      stacks_[i].pop_front();
      auto& at = at_[i];
      const bool ends = at.step + 1 == episode_steps;
      to.obs.insert(to.obs.end(), before.begin(), before.end());
      to.choice.push_back(static_cast<std::int64_t>(random_.below(3)));
      to.reward.push_back(static_cast<float>(random_.uniform()));
      const auto after = observation(i);
      to.next_obs.insert(to.next_obs.end(), after.begin(), after.end());
      to.terminated.push_back(ends && i % 2 == 0);
      to.discount.push_back(0.99F);
      to.environment.push_back(static_cast<std::uint32_t>(i));
      to.episode.push_back(at.episode);
      to.step.push_back(at.step++);
      const auto end = i % 2 == 0 ? episode_end::terminated : episode_end::truncated;
      to.ended.push_back(static_cast<std::uint8_t>(ends ? end : episode_end::none));
      if (ends) begin(i);
    }
  }

  std::vector<float> observation(std::size_t i) const {
    std::vector<float> all;
    for (const auto& frame : stacks_[i]) all.insert(all.end(), frame.begin(), frame.end());
    return all;
  }

 private:
  struct position {
    std::uint32_t episode = 0, step = 0;
  };

  std::vector<float> new_frame() {
    std::vector<float> frame(frame_size);
    for (auto& pixel : frame) pixel = static_cast<float>(random_.below(256));
    return frame;
  }
  /// A reset shows the first frame four times.
  void begin(std::size_t i) {
    stacks_[i].assign(stack, new_frame());
    at_[i] = {.episode = at_[i].episode + 1, .step = 0};
  }

  action_random random_;
  std::vector<std::deque<std::vector<float>>> stacks_;
  std::vector<position> at_;
};

constexpr transition_widths widths{.obs = image_size, .choices = 1};

transition_ring_options options(std::int64_t capacity) {
  return {.capacity = capacity, .images = one_stack()};
}

void append_row(const transition_rows& from, std::size_t row, const transition_widths& of,
                transition_rows& to) {
  const auto copy = [row](const char*, std::size_t width, const auto& column, auto& more) {
    const auto first = column.begin() + static_cast<std::ptrdiff_t>(row * width);
    more.insert(more.end(), first, first + static_cast<std::ptrdiff_t>(width));
  };
  for_each_column(of, copy, from, to);
  for_each_place_column(copy, from, to);
  copy("episode", 1, from.episode, to.episode);
}

/// The rows of these numbers in `all`.
transition_rows rows_of(const transition_rows& all, const std::vector<std::int64_t>& numbers,
                        const transition_widths& of = widths) {
  transition_rows some;
  for (const auto number : numbers) append_row(all, static_cast<std::size_t>(number), of, some);
  return some;
}

bool same_columns(const transition_rows& one, const transition_rows& other) {
  bool same = one.size() == other.size();
  const auto compare = [&same](const char*, std::size_t, const auto& a, const auto& b) {
    same = same && a == b;
  };
  for_each_column(widths, compare, one, other);
  return same;
}

/// Whether the ring has exactly its newest rows of all that were inserted.
bool has_newest(const transition_ring& ring, const transition_rows& inserted,
                const transition_widths& of = widths) {
  std::vector<std::int64_t> held;
  for (auto number = ring.oldest(); number < ring.inserted(); ++number) held.push_back(number);
  transition_rows got;
  ring.gather(held, got);
  return same_columns(got, rows_of(inserted, held, of));
}

void insert_steps(transition_ring& ring, stacked_world& world, int steps,
                  std::uint32_t episode_steps, transition_rows& all) {
  for (int i = 0; i < steps; ++i) {
    transition_rows rows;
    world.step(rows, episode_steps);
    for (std::size_t k = 0; k < rows.size(); ++k) append_row(rows, k, widths, all);
    ring.insert(rows);
  }
}

TEST_CASE("image ring: observations and last observations come back over ends and wrap-arounds") {
  for (const std::size_t environments : {1, 3}) {
    for (const std::uint32_t episode_steps : {1, 2, 7, 1000}) {
      stacked_world world(environments);
      transition_ring ring(widths, options(50));
      transition_rows all;
      for (int part = 0; part < 6; ++part) {
        insert_steps(ring, world, 20, episode_steps, all);
        CHECK(ring.size() == std::min<std::int64_t>(50, ring.inserted()));
        CHECK(has_newest(ring, all));
      }
    }
  }
}

TEST_CASE("image ring: a draw has what a ring of floats draws, bit for bit") {
  stacked_world world(2);
  transition_ring bytes(widths, options(40)), floats(widths, {.capacity = 40});
  for (int i = 0; i < 45; ++i) {
    transition_rows rows;
    world.step(rows, 9);
    bytes.insert(rows);
    floats.insert(rows);
    action_random one(7), other(7);
    transition_rows drawn, expected;
    bytes.sample(16, one, drawn);
    floats.sample(16, other, expected);
    CHECK(same_columns(drawn, expected));
  }
}

TEST_CASE("image ring: rows of an environment that crashed, and rows that never came, share none") {
  stacked_world world(2);
  transition_ring ring(widths, options(60));
  transition_rows all;
  for (int i = 0; i < 80; ++i) {
    transition_rows rows, some;
    world.step(rows, 11);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      if ((i + static_cast<int>(k)) % 5 == 3) continue;  // a failed step gives no transition
      append_row(rows, k, widths, some);
      append_row(rows, k, widths, all);
    }
    if (some.size() > 0) ring.insert(some);
  }
  CHECK(has_newest(ring, all));
}

TEST_CASE("image ring: transitions of several steps share the frames between them") {
  constexpr int n = 3;
  stacked_world world(1);
  transition_ring ring(widths, options(1000));
  n_step<std::vector<float>, std::int64_t> sums(n, 0.9);
  transition_rows all;
  for (int i = 0; i < 400; ++i) {
    transition_rows step;
    world.step(step, 10);
    const auto end = static_cast<episode_end>(step.ended[0]);
    const auto complete = sums.add({.obs = step.obs,
                                    .action = step.choice[0],
                                    .reward = step.reward[0],
                                    .next_obs = step.next_obs,
                                    .terminated = end == episode_end::terminated,
                                    .truncated = end == episode_end::truncated});
    for (const auto& sum : complete) {
      transition_rows row = step;
      row.obs = sum.obs;
      row.choice = {sum.action};
      row.reward = {static_cast<float>(sum.reward)};
      row.next_obs = sum.next_obs;
      row.step = {step.step[0] - static_cast<std::uint32_t>(sum.steps - 1)};
      append_row(row, 0, widths, all);
      ring.insert(row);
    }
  }
  REQUIRE(ring.size() == 400);
  CHECK(has_newest(ring, all));
  state_writer saved;
  ring.save(saved);
  // An episode of ten steps shows eleven different frames, whatever n is.
  CHECK(state_reader(saved.bytes()).get<std::string>("frames0").size() ==
        400 / 10 * 11 * frame_size);
}

TEST_CASE("image ring: a transition of four frames of 84x84 takes one frame and 100 bytes") {
  constexpr std::size_t pixels = 84 * 84;
  const std::vector<image_part> images{{.size = 4 * pixels, .frames = 4}};
  const transition_widths wide{.obs = 4 * pixels, .choices = 1};
  CHECK(transition_bytes(wide, images) == pixels + 20 + 8 * 4 + 3 * 4 + 8 + 17);
  CHECK(transition_bytes(wide, images) < 7300);
  CHECK(transition_bytes(wide, {}) == wide.bytes());

  // Frames differ in their first pixels, and a step shows one more.
  transition_ring ring(wide, {.capacity = 4096, .images = images});
  constexpr std::uint32_t steps = 4096, episode_steps = 512;
  const auto write = [](std::vector<float>& to, std::uint32_t episode, std::uint32_t step) {
    for (std::uint32_t f = 0; f < 4; ++f) {
      const auto shown = episode * 10'000 + step - std::min(step, 3 - f);
      for (int byte = 0; byte < 4; ++byte) {
        to[f * pixels + static_cast<std::size_t>(byte)] =
            static_cast<float>(shown >> (8 * byte) & 255U);
      }
    }
  };
  transition_rows row;
  row.obs.resize(4 * pixels);
  row.next_obs.resize(4 * pixels);
  row.choice = {1};
  row.reward = row.terminated = row.discount = {0};
  row.environment = {0};
  for (std::uint32_t k = 0; k < steps; ++k) {
    const auto step = k % episode_steps;
    write(row.obs, k / episode_steps, step);
    write(row.next_obs, k / episode_steps, step + 1);
    row.episode = {k / episode_steps};
    row.step = {step};
    row.ended = {std::uint8_t{step + 1 == episode_steps}};
    ring.insert(row);
  }
  state_writer saved;
  ring.save(saved);
  const auto frames = steps / episode_steps * (episode_steps + 1);
  CHECK(state_reader(saved.bytes()).get<std::string>("frames0").size() == frames * pixels);
  CHECK(static_cast<double>(ring.bytes()) / steps < 7300);
}

TEST_CASE("image ring: without room for another frame the oldest rows go, within max_bytes") {
  // Episodes of one step show two frames for each row, so that half of the capacity is held.
  auto tight = options(100);
  tight.max_bytes = static_cast<std::int64_t>(100 * transition_bytes(widths, tight.images));
  transition_ring ring(widths, tight);
  stacked_world world(1);
  transition_rows all;
  insert_steps(ring, world, 30, 1, all);
  CHECK(ring.size() == 30);
  insert_steps(ring, world, 300, 1, all);
  CHECK(ring.size() == 50);
  CHECK(has_newest(ring, all));
  CHECK(ring.episode_of(ring.oldest()).numbers == std::vector<std::int64_t>{ring.oldest()});
  CHECK_THROWS_AS(ring.place_of(ring.oldest() - 1), std::out_of_range);
  action_random random(1);
  transition_rows drawn;
  ring.sample(2000, random, drawn);
  std::vector<float> rewards(all.reward.end() - 50, all.reward.end());
  std::vector<std::uint8_t> seen(50);
  for (const auto reward : drawn.reward) {
    const auto found = std::ranges::find(rewards, reward);
    REQUIRE(found != rewards.end());
    seen[static_cast<std::size_t>(found - rewards.begin())] = 1;
  }
  CHECK(std::ranges::count(seen, 1) == 50);

  state_writer saved;
  ring.save(saved);
  transition_ring back(widths, tight);
  back.restore(state_reader(saved.bytes()));
  CHECK(back.size() == 50);
  transition_rows same = all;
  auto twin = world;
  insert_steps(ring, world, 40, 3, all);
  insert_steps(back, twin, 40, 3, same);
  CHECK(back.size() == ring.size());
  CHECK(has_newest(back, same));
  tight.max_bytes = 6 * 1000;
  tight.capacity = 1;
  CHECK_NOTHROW(transition_ring(widths, tight));
  tight.max_bytes = static_cast<std::int64_t>(transition_bytes(widths, tight.images));
  CHECK_THROWS_WITH(transition_ring(widths, tight),
                    Catch::Contains("expected room for the 8 frames of a transition, got room"));
}

TEST_CASE("image ring: one that was restored draws the same, and its file has each frame once") {
  stacked_world world(2);
  transition_ring ring(widths, options(64));
  transition_rows all;
  insert_steps(ring, world, 50, 9, all);
  state_writer saved;
  ring.save(saved);
  transition_ring back(widths, options(64));
  back.restore(state_reader(saved.bytes()));
  auto twin = world;
  transition_rows same = all;
  insert_steps(ring, world, 21, 9, all);
  insert_steps(back, twin, 21, 9, same);
  CHECK(has_newest(back, all));
  CHECK(back.episode_of(back.oldest()).numbers == ring.episode_of(ring.oldest()).numbers);
  action_random one(3), other(3);
  transition_rows drawn, again;
  ring.sample(32, one, drawn);
  back.sample(32, other, again);
  CHECK(same_columns(drawn, again));
  CHECK(saved.bytes().size() < 100 * (frame_size + 100));

  transition_ring floats(widths, {.capacity = 64});
  CHECK_THROWS_WITH(floats.restore(state_reader(saved.bytes())),
                    Catch::Contains("expected observations without images, got images"));
  state_writer of_floats;
  floats.save(of_floats);
  CHECK_THROWS_WITH(back.restore(state_reader(of_floats.bytes())),
                    Catch::Contains("expected images as bytes, got floats, as in checkpoints"));
  CHECK(has_newest(back, all));
}

TEST_CASE("image ring: a saved state that names frames that it has not is refused") {
  stacked_world world(1);
  transition_ring ring(widths, options(8));
  transition_rows all;
  insert_steps(ring, world, 5, 3, all);
  state_writer saved;
  ring.save(saved);
  auto bytes = saved.bytes();
  const state_reader good(bytes);
  const auto names = good.get<std::vector<std::uint32_t>>("frame_names");
  const std::string_view raw(reinterpret_cast<const char*>(names.data()), names.size() * 4);
  const auto at = bytes.find(raw);
  REQUIRE(at != bytes.npos);
  for (const auto& [wrong, message] :
       {std::pair(std::uint32_t{1000}, "frames0: expected a frame 1000 of 64 bytes"),
        std::pair(std::numeric_limits<std::uint32_t>::max(),
                  "expected 8 frames of row 0, got 7")}) {
    auto changed = bytes;
    changed.replace(at, 4, reinterpret_cast<const char*>(&wrong), 4);
    transition_ring back(widths, options(8));
    CHECK_THROWS_WITH(back.restore(state_reader(changed)), Catch::Contains(message));
    CHECK(back.size() == 0);
  }
}

TEST_CASE("image ring: images and floats of one observation are kept each in their way") {
  // floats, a stack, a float, an interleaved picture of two channels, a float
  const std::vector<image_part> images{
      {.begin = 2, .size = image_size, .frames = stack},
      {.begin = 3 + image_size, .size = 128, .frames = 2, .interleaved = true}};
  const transition_widths mixed{.obs = 2 + image_size + 1 + 128 + 1, .action = 2};
  transition_ring ring(mixed, {.capacity = 5, .images = images});
  action_random random(5);
  transition_rows all;
  const auto append_obs = [&](std::vector<float>& to) {
    for (std::size_t i = 0; i < mixed.obs; ++i) {
      const bool is_float = i < 2 || i == 2 + image_size || i + 1 == mixed.obs;
      to.push_back(is_float ? static_cast<float>(random.uniform() - 0.5)
                            : static_cast<float>(random.below(256)));
    }
  };
  for (std::uint32_t k = 0; k < 12; ++k) {
    transition_rows row;
    append_obs(row.obs);
    append_obs(row.next_obs);
    row.action = {0.25F, static_cast<float>(k)};
    row.reward = row.terminated = row.discount = {static_cast<float>(k)};
    row.environment = row.episode = {0};
    row.step = {k};
    row.ended = {0};
    append_row(row, 0, mixed, all);
    ring.insert(row);
  }
  const std::vector<std::int64_t> newest{7, 8, 9, 10, 11};
  transition_rows got;
  ring.gather(newest, got);
  const auto expected = rows_of(all, newest, mixed);
  CHECK(got.obs == expected.obs);
  CHECK(got.next_obs == expected.next_obs);
  CHECK(got.action == expected.action);

  state_writer saved;
  ring.save(saved);
  transition_ring back(mixed, {.capacity = 5, .images = images});
  back.restore(state_reader(saved.bytes()));
  transition_rows again;
  back.gather(newest, again);
  CHECK(again.obs == expected.obs);
  CHECK(again.next_obs == expected.next_obs);
}

TEST_CASE("image ring: a number that is no byte is refused, with its column and its place") {
  transition_ring ring(widths, options(8));
  for (const auto& [bad, text] : {std::pair(0.5F, "got 0.5"), std::pair(256.0F, "got 256"),
                                  std::pair(-1.0F, "got -1"), std::pair(NAN, "got nan")}) {
    stacked_world world(2);
    transition_rows rows;
    world.step(rows, 9);
    rows.next_obs[image_size + 70] = bad;
    CHECK_THROWS_WITH(ring.insert(rows),
                      Catch::Contains("next_obs: expected whole numbers from 0 to 255") &&
                          Catch::Contains(text) && Catch::EndsWith("as element 70"));
    CHECK(ring.size() == 0);
  }
  auto wrong = options(8);
  wrong.images = {{.begin = 1, .size = image_size, .frames = stack}};
  CHECK_THROWS_WITH(transition_ring(widths, wrong), Catch::Contains("images: expected parts of"));
}

TEST_CASE("image ring: prioritised draws leave out rows that went for want of room") {
  transition_replay_options of{
      .widths = widths, .ring = options(100), .prioritised = priority_options{}};
  of.ring.max_bytes = static_cast<std::int64_t>(100 * transition_bytes(widths, of.ring.images));
  transition_replay replay(of);
  stacked_world world(1);
  transition_rows all;
  for (std::uint32_t k = 0; k < 130; ++k) {
    collected_transitions made;
    world.step(made.rows, 1);
    append_row(made.rows, 0, widths, all);
    made.id = {1, k + 1};
    replay.insert(std::move(made));
  }
  CHECK(replay.counts().held == 50);
  for (int round = 0; round < 20; ++round) {
    const auto drawn = replay.draw({}, 32, 0.5);
    CHECK(same_columns(drawn, rows_of(all, drawn.number)));
    CHECK(std::ranges::min(drawn.number) >= 80);
    replay.update_priorities(drawn.number,
                             std::vector<float>(32, 0.1F * static_cast<float>(round)));
  }
  transition_replay back(of);
  back.restore(replay.save());
  const auto one = replay.draw({}, 32, 0.5), other = back.draw({}, 32, 0.5);
  CHECK(one.number == other.number);
  CHECK(one.weight == other.weight);
  CHECK(same_columns(one, other));
}

TEST_CASE("image ring: the frames of a space are its stack or its channels") {
  const auto bytes = [](std::vector<std::int64_t> shape) {
    spaces::box box(0, 255, std::move(shape));
    box.type = spaces::element::uint8;
    return space(box);
  };
  const auto of = [&](std::vector<std::int64_t> shape) {
    const auto images = images_of(bytes(std::move(shape)));
    REQUIRE(images.size() == 1);
    return images[0];
  };
  const std::size_t pixels = 84 * 84;
  CHECK(of({4, 84, 84}) == image_part{.size = 4 * pixels, .frames = 4});
  CHECK(of({4, 1, 84, 84}) == image_part{.size = 4 * pixels, .frames = 4});
  CHECK(of({84, 84, 4}) == image_part{.size = 4 * pixels, .frames = 4, .interleaved = true});
  CHECK(of({4, 84, 84, 3}) == image_part{.size = 12 * pixels, .frames = 4});
  CHECK(of({3, 84, 84}) == image_part{.size = 3 * pixels, .frames = 3, .fresh = 3});
  CHECK(of({84, 84, 6}) ==
        image_part{.size = 6 * pixels, .frames = 6, .fresh = 3, .interleaved = true});
  CHECK(of({210, 160, 3}) == image_part{.size = 210 * 160 * 3});
  CHECK(of({84, 84}) == image_part{.size = pixels});
  CHECK(of({84, 84, 1}) == image_part{.size = pixels});
  CHECK(of({128}) == image_part{.size = 128});
  CHECK(images_of(bytes({7})).empty());
  CHECK(images_of(space(spaces::box(0, 255, {4, 84, 84}))).empty());  // floats

  const space parts(
      spaces::dict({{"camera", bytes({84, 84})},
                    {"place", space(spaces::box(-1, 1, {3}))},
                    {"view", space(spaces::tuple({space(spaces::discrete(5)), bytes({64})}))}}));
  CHECK(images_of(parts) ==
        std::vector<image_part>{{.size = pixels}, {.begin = pixels + 3 + 5, .size = 64}});
}

}  // namespace
}  // namespace troupe
