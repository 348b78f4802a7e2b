#include "actors/torch/torch.hpp"

#include "actors/networks/model_file.hpp"

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "actors/checkpoint/sha256.hpp"
#include "actors/networks/actor_critic.hpp"
#include "tests/message_of.hpp"
#include "tests/test.hpp"

using namespace troupe;
namespace fs = std::filesystem;

namespace {

// A folder of this test's own, gone with it.
struct temporary_folder {
  temporary_folder() {
    std::string name = (fs::temp_directory_path() / "model_file_XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()));
    path = name;
  }
  ~temporary_folder() { fs::remove_all(path); }
  fs::path path;
};

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

network_shape shape() { return {.obs_size = 4, .discrete_actions = 2}; }
network_options small() { return {.hidden = {8, 8}, .hidden_activation = activation::relu}; }

}  // namespace

TEST_CASE("model_file: a saved model comes back with every bit", "[policy]") {
  temporary_folder folder;
  for (const network_shape& kind : {shape(), network_shape{.obs_size = 3, .continuous_size = 2},
                                    network_shape{.obs_size = 3, .multi_discrete = {2, 3}}}) {
    actor_critic model(kind, small(), 1);
    save_model(folder.path / "model.pt", model, 42);
    const auto saved = load_model(folder.path / "model.pt");
    CHECK(saved.shape == model.shape());
    CHECK(saved.options.hidden == std::vector<int>{8, 8});
    CHECK(saved.options.hidden_activation == activation::relu);
    CHECK(saved.policy_version == 42);

    actor_critic other(kind, small(), 2);
    CHECK(load_model(folder.path / "model.pt", other) == 42);
    CHECK(at::equal(other.parameters(), model.parameters()));
    CHECK(weights_sha256(other.parameters()) == weights_sha256(model.parameters()));
  }
  CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 1);
}

TEST_CASE("model_file: a model that was kept for a score has it in its file", "[policy]") {
  temporary_folder folder;
  actor_critic model(shape(), small(), 1);
  saved_model kept{model.shape(), model.options(), model.parameters(), 42};
  save_model(folder.path / "model.pt", kept);
  CHECK_FALSE(load_model(folder.path / "model.pt").score);
  kept.score = 0.1 + 0.2;
  save_model(folder.path / "model.pt", kept);
  CHECK(load_model(folder.path / "model.pt").score == 0.1 + 0.2);
}

TEST_CASE("model_file: an action space of many parts comes back, however long its text is",
          "[policy]") {
  temporary_folder folder;
  std::vector<std::pair<std::string, space>> agents;
  for (int i = 0; i < 30; ++i)
    agents.emplace_back("agent_" + std::to_string(i), spaces::discrete(5));
  std::vector<float> high(200);
  for (std::size_t i = 0; i < high.size(); ++i) high[i] = 0.1f + static_cast<float>(i);
  const std::vector<float> low(high.size(), -1.0f);
  actor_critic model(shape(), small(), 1);
  for (const space& actions : {space(spaces::dict(agents)), space(spaces::box(low, high))}) {
    saved_model kept{model.shape(), model.options(), model.parameters(), 42};
    kept.action_space = actions;
    save_model(folder.path / "model.pt", kept);
    CHECK(load_model(folder.path / "model.pt").action_space == actions);
  }
}

TEST_CASE("model_file: tensors that don't act, and the steps, come back", "[policy]") {
  temporary_folder folder;
  actor_critic model(shape(), small(), 1);
  saved_model kept{model.shape(), model.options(), model.parameters(), 42};
  kept.steps = 12345;
  kept.beside = {{"log_ent_coef", at::full({1}, -0.5)}, {"qf0.0.weight", at::rand({3, 2})}};
  save_model(folder.path / "model.pt", kept);
  const auto saved = load_model(folder.path / "model.pt");
  CHECK(saved.steps == 12345);
  REQUIRE(saved.beside.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(saved.beside[i].first == kept.beside[i].first);
    CHECK(at::equal(saved.beside[i].second, kept.beside[i].second));
  }
}

TEST_CASE("model_file: a layout names the layers with PyTorch's shapes", "[policy]") {
  for (const bool normalized : {false, true}) {
    auto options = small();
    options.normalize_obs = normalized;
    const actor_critic model({.obs_size = 3, .continuous_size = 2}, options, 1);
    const auto layout = layout_of(model.shape(), model.options());
    CHECK(layout.count == model.parameter_count());
    const auto tensors = tensors_of(layout, model.parameters().data_ptr<float>());
    const auto named = model.named_parameters();
    REQUIRE(tensors.size() == named.size() + (normalized ? 2 : 0));
    for (std::size_t i = 0; i < named.size(); ++i) {
      INFO(named[i].first);
      CHECK(tensors[i].first == named[i].first);
      const auto& there = named[i].second;
      CHECK(at::equal(tensors[i].second, there.dim() == 2 ? there.t() : there));
    }
    auto copy = at::zeros_like(model.parameters());
    copy_tensors(layout, tensors, copy.data_ptr<float>());
    CHECK(at::equal(copy, model.parameters()));
    const auto wider = layout_of({.obs_size = 4, .continuous_size = 2}, options);
    CHECK(difference(layout, wider) == "actor.0.weight is [8, 3], expected [8, 4]");
    CHECK(difference(layout, layout).empty());
  }
}

TEST_CASE("model_file: state-dependent exploration is part of a model", "[policy]") {
  temporary_folder folder;
  const network_shape box{.obs_size = 3, .continuous_size = 2};
  auto options = small();
  options.use_sde = options.use_expln = true;
  actor_critic model(box, options, 1);
  save_model(folder.path / "model.pt", model);
  const auto saved = load_model(folder.path / "model.pt");
  CHECK(saved.options.use_sde);
  CHECK(saved.options.use_expln);
  actor_critic other(box, saved.options, 2), without(box, small(), 2);
  load_model(folder.path / "model.pt", other);
  CHECK(at::equal(other.parameters(), model.parameters()));
  CHECK_THROWS_WITH(load_model(folder.path / "model.pt", without),
                    Catch::Contains("state-dependent exploration"));
}

TEST_CASE("model_file: a model with convolutions tells its layers", "[policy]") {
  temporary_folder folder;
  const network_shape image{.obs_size = 64, .discrete_actions = 2, .image = {1, 8, 8}};
  network_options layers{.body = network_body::cnn};
  layers.cnn = {.channels = {2}, .kernels = {3}, .strides = {2}, .features = 4};
  const actor_critic model(image, layers, 1);
  save_model(folder.path / "model.pt", model);
  const auto saved = load_model(folder.path / "model.pt");
  CHECK(saved.shape == image);
  CHECK(saved.options.body == network_body::cnn);
  CHECK(saved.options.cnn == layers.cnn);
  actor_critic other(saved.shape, saved.options, 2);
  load_model(folder.path / "model.pt", other);
  CHECK(at::equal(other.parameters(), model.parameters()));
  layers.cnn.features = 5;
  actor_critic wider(image, layers, 1);
  CHECK_THROWS_WITH(load_model(folder.path / "model.pt", wider),
                    Catch::Contains("holds (image 1x8x8, discrete 2, cnn 2x3/2-4)") &&
                        Catch::Contains("expected (image 1x8x8, discrete 2, cnn 2x3/2-5)"));
}

TEST_CASE("model_file: the bound by which an image is divided is in the file", "[policy]") {
  temporary_folder folder;
  network_options layers{.body = network_body::cnn};
  layers.cnn = {.channels = {2}, .kernels = {3}, .strides = {2}, .features = 4};
  const network_shape board{
      .obs_size = 64, .discrete_actions = 2, .image = {1, 8, 8}, .image_high = 9};
  save_model(folder.path / "model.pt", actor_critic(board, layers, 1));
  CHECK(load_model(folder.path / "model.pt").shape == board);
  layers.body = network_body::multi_input;
  const network_shape parts{.obs_size = 66,
                            .discrete_actions = 2,
                            .parts = {{"board", 0, 64, {1, 8, 8}, 0, 2}, {"turn", 64, 2}}};
  save_model(folder.path / "parts.pt", actor_critic(parts, layers, 1));
  CHECK(load_model(folder.path / "parts.pt").shape == parts);
}

TEST_CASE("model_file: the parts of a Dict and the kinds of action are in the file", "[policy]") {
  temporary_folder folder;
  network_shape shape{.obs_size = 67,
                      .continuous_size = 1,
                      .multi_discrete = {2},
                      .parts = {{"camera", 0, 64, {1, 8, 8}}, {"speed", 64, 3}},
                      .multi_binary = 2};
  const network_options layers{
      .cnn = {.channels = {2}, .kernels = {3}, .strides = {2}, .features = 4}, .hidden = {6}};
  const actor_critic model(shape, layers, 1);
  save_model(folder.path / "model.pt", model);
  const auto saved = load_model(folder.path / "model.pt");
  CHECK(saved.shape == shape);
  actor_critic other(saved.shape, saved.options, 2);
  load_model(folder.path / "model.pt", other);
  CHECK(at::equal(other.parameters(), model.parameters()));
  shape.parts[1].name = "goal";
  actor_critic renamed(shape, layers, 1);
  CHECK_THROWS_WITH(load_model(folder.path / "model.pt", renamed),
                    Catch::Contains("holds (obs 67 (camera 1x8x8, speed 3), continuous 1 and "
                                    "multi-discrete 2 and multi-binary 2, cnn 2x3/2-4 for each "
                                    "image, hidden 6 tanh)") &&
                        Catch::Contains("expected (obs 67 (camera 1x8x8, goal 3), "));
}

TEST_CASE("model_file: a model that names no parts is one of parts without images", "[policy]") {
  network_shape old{.obs_size = 5, .discrete_actions = 2};
  auto needed = old;
  needed.parts = {{"a", 0, 2}, {"b", 2, 3}};
  CHECK(fits(old, needed));
  CHECK_FALSE(fits(needed, old));
  auto renamed = needed;
  renamed.parts[0].name = "c";
  CHECK_FALSE(fits(renamed, needed));
  needed.parts = {{"a", 0, 4, {1, 2, 2}}, {"b", 4, 1}};
  CHECK_FALSE(fits(old, needed));
}

TEST_CASE("model_file: a damaged or cut file is refused before it is parsed", "[policy]") {
  temporary_folder folder;
  const auto path = folder.path / "model.pt";
  save_model(path, actor_critic(shape(), small(), 1));
  const auto good = read(path);
  for (std::size_t i = 0; i < good.size(); i += 97) {
    auto bad = good;
    bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
    write(path, bad);
    CHECK_THROWS_AS(load_model(path), model_file_error);
  }
  for (std::size_t size : {std::size_t{0}, std::size_t{10}, good.size() / 2, good.size() - 1}) {
    write(path, good.substr(0, size));
    CHECK_THROWS_WITH(load_model(path), Catch::Contains("damaged"));
  }
  write(path, good);
  CHECK_NOTHROW(load_model(path));
}

TEST_CASE("model_file: what is no file, or larger than any memory, is refused by its name once",
          "[policy]") {
  temporary_folder folder;
  const auto fifo = folder.path / "fifo", large = folder.path / "large";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  CHECK_THROWS_WITH(load_model(fifo),
                    "model file " + fifo.string() + ": expected a regular file, got a FIFO");
  write(large, "");
  std::filesystem::resize_file(large, std::uintmax_t{1} << 42);  // It has no blocks.
  CHECK_THROWS_WITH(load_model(large),
                    Catch::StartsWith("model file " + large.string() + ": expected at most ") &&
                        Catch::EndsWith(" bytes, got 4398046511104"));
}

TEST_CASE("model_file: what is no model behind a right digest is refused in one line", "[policy]") {
  temporary_folder folder;
  const auto path = folder.path / "model.pt";
  const auto says = [&] { return testing::message_of([&] { load_model(path); }); };
  const std::string no_zip(200, 'x');
  write(path, no_zip + "sha256:" + sha256({no_zip.data(), no_zip.size()}));
  CHECK_THAT(says(), Catch::Contains("model.pt: not a model of this program") &&
                         !Catch::Contains("\n") && !Catch::Contains("frame #"));
  auto forged = at::zeros({4});
  forged.unsafeGetTensorImpl()->set_sizes_contiguous({1000});
  save_model(path, {shape(), small(), forged, 0});
  CHECK_THAT(says(), !Catch::Contains("\n") && !Catch::Contains("frame #"));
}

TEST_CASE("model_file: parameters that are not in the file are refused", "[policy]") {
  temporary_folder folder;
  const auto path = folder.path / "model.pt";
  auto forged = at::zeros({4});
  forged.unsafeGetTensorImpl()->set_sizes_contiguous({1000});
  save_model(path, {shape(), small(), forged, 0});
  CHECK_THROWS_WITH(load_model(path), Catch::Contains("model.pt: not a model of this program") &&
                                          Catch::Contains("of 4, got 1000 from 0 on"));
  save_model(path, {shape(), small(), at::arange(9, at::kFloat).slice(0, 3, 7), 0});
  CHECK(at::equal(load_model(path).parameters, at::arange(3, 7, at::kFloat)));
}

TEST_CASE("model_file: numbers that are not finite are refused by the name of their tensor",
          "[policy]") {
  temporary_folder folder;
  const auto path = folder.path / "model.pt";
  actor_critic model(shape(), small(), 1);
  saved_model kept{model.shape(), model.options(), model.parameters().detach().clone()};
  kept.beside = {{"qf0.0.bias", at::zeros({3})}};
  const auto refusal_with = [&](at::Tensor& tensor, std::int64_t at, float number) {
    const auto before = tensor.clone();
    tensor[at] = number;
    save_model(path, kept);
    tensor.copy_(before);
    return testing::message_of([&] { load_model(path); });
  };
  const auto last = kept.parameters.numel() - 1;
  CHECK(refusal_with(kept.parameters, 0, std::nanf("")) ==
        "model file " + path.string() +
            ": actor.0.weight: expected finite numbers, got nan at index 0");
  CHECK_THAT(
      refusal_with(kept.parameters, last, std::numeric_limits<float>::infinity()),
      Catch::Matchers::Contains("critic.2.bias: expected finite numbers, got inf at index 0"));
  CHECK_THAT(refusal_with(kept.beside[0].second, 1, std::nanf("")),
             Catch::Matchers::Contains("qf0.0.bias: expected finite numbers, got nan at index 1"));
  save_model(path, kept);
  CHECK(at::equal(load_model(path).parameters, kept.parameters));
}

TEST_CASE("model_file: a model of another shape is refused with both shapes named", "[policy]") {
  temporary_folder folder;
  const auto path = folder.path / "model.pt";
  save_model(path, actor_critic(shape(), small(), 1));
  actor_critic other({.obs_size = 3, .continuous_size = 1}, {}, 1);
  const auto before = other.parameters().clone();
  CHECK_THROWS_WITH(load_model(path, other),
                    Catch::Contains("holds (obs 4, discrete 2, hidden 8-8 relu)") &&
                        Catch::Contains("expected (obs 3, continuous 1, hidden 64-64 tanh)"));
  CHECK(at::equal(other.parameters(), before));
}

TEST_CASE("model_file: a missing file and a missing folder are named", "[policy]") {
  CHECK_THROWS_WITH(load_model("/nowhere/model.pt"), Catch::Contains("/nowhere/model.pt"));
  CHECK_THROWS_WITH(save_model("/nowhere/model.pt", actor_critic(shape(), small(), 1)),
                    Catch::Contains("/nowhere/model.pt"));
}

TEST_CASE("model_file: when the disk takes no more, the old model stays whole", "[policy]") {
  temporary_folder folder;
  const auto path = folder.path / "model.pt";
  actor_critic old(shape(), small(), 1), larger(shape(), {.hidden = {256, 256}}, 2);
  save_model(path, old);

  // A limit on file sizes fails a write as a full disk does.
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit limited{.rlim_cur = 65536, .rlim_max = before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &limited) == 0);
  const auto message = testing::message_of<model_file_error>([&] { save_model(path, larger); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);

  CHECK_THAT(message, Catch::Contains("cannot be written"));
  CHECK(at::equal(load_model(path).parameters, old.parameters()));
  CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 1);
}

TEST_CASE("weights_sha256: the digest of the weights' bytes", "[policy]") {
  // printf '\x00\x00\x80\x3f' | sha256sum, the bytes of 1.0f
  CHECK(weights_sha256(at::ones({1})) ==
        "e00e5eb9444182f352323374ef4e08ebcb784725fdd4fd612d7730540b3e0c8c");
  auto weights = at::ones({100});
  const auto before = weights_sha256(weights);
  weights[99] = 1.0000001f;
  CHECK(weights_sha256(weights) != before);
}
