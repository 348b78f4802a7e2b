#include "actors/video/episode_video.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

namespace troupe {

episode_video::episode_video(const episode_video_options& options, vector_environment& like)
    : options_(options) {
  check_video_name(options_.file);
  const auto spec = like.spec();
  if (like.size() != 1)
    throw std::invalid_argument(
        fmt::format("video of {}: expected 1 environment, got {}", spec.id, like.size()));
  if (!std::isfinite(spec.render_fps) || spec.render_fps <= 0)
    throw std::invalid_argument(
        fmt::format("video of {}: expected render_fps > 0, got {}", spec.id, spec.render_fps));
  constexpr std::uint64_t any_seed = 0;
  like.reset(any_seed);
  draw(like);
  format_ = {.width = canvas_.width(), .height = canvas_.height(), .fps = spec.render_fps};
  file_ = open_video(options_.file, format_);
}

void episode_video::draw(vector_environment& of) {
  if (of.render(0, canvas_)) return;
  throw std::invalid_argument("video of " + of.spec().id +
                              ": expected an environment with a picture, got one without render");
}

void episode_video::put() {
  if (is_cut()) return;
  file_->add(canvas_.rgb(format_.width, format_.height));
  ++frames_;
}

void episode_video::begin(vector_environment& of) {
  of.set_final_canvas(&canvas_);
  draw(of);
  put();
}

void episode_video::add(vector_environment& of, const env_step& after) {
  if (complete()) return;
  // The environment has drawn the last picture of an ended episode itself.
  if (!after.finished.empty()) {
    put();
    ++ended_;
    if (complete()) return;
  }
  draw(of);
  put();
}

}  // namespace troupe
