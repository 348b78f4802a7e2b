#include "algorithms/run/other_names.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

namespace troupe {

namespace {

constexpr std::string_view sb3 = "ppo a2c reinforce dqn sac td3 ddpg";
constexpr std::string_view on_policy_ones = "ppo a2c reinforce";
constexpr std::string_view off_policy_ones = "dqn sac td3 ddpg";
constexpr std::string_view adam_ones = "ppo dqn sac td3 ddpg";
constexpr std::string_view noise_ones = "td3 ddpg";
constexpr std::string_view trl = "grpo";
constexpr std::string_view trl_sft = "sft";

constexpr std::string_view by_environment = "the environment says it";
constexpr std::string_view one_process = "the trainer is one process";
constexpr std::string_view no_loader = "no process loads data: problems are drawn in the program";
constexpr std::string_view in_float = "weights are float32, and so is what is computed with them";
constexpr std::string_view no_upload = "nothing is uploaded; all results are in the run directory";
constexpr std::string_view no_compiler = "no compiler and no other kernels can be chosen";
constexpr std::string_view own_generator = "Troupe's own generator writes the answers";
constexpr std::string_view every_row =
    "each update is a row of progress.csv and of TensorBoard's events";
constexpr std::string_view no_variant = "this variant of the loss is not here";
constexpr std::string_view fixed_entropy =
    "the weight of the entropy bonus, trainer.entropy_coef, stays as it is";
constexpr std::string_view evaluated_alike = "evaluations play held-out problems, one answer each";
constexpr std::string_view no_labels = "there are no labels: answers are judged by a reward";
constexpr std::string_view best_by_score = "best_model is the one with the best evaluation";
constexpr std::string_view only_adamw = "the optimiser is AdamW";

const std::vector<other_name> rows{
    // Stable-Baselines3, constructors
    {"policy", sb3, "policy.kind", "It is mlp, cnn or auto."},
    {"env", sb3, "env.id", "On the command line it is --env."},
    {"learning_rate", sb3, "trainer.lr", "A schedule is trainer.lr_schedule."},
    {"n_steps", off_policy_ones, "replay.n_step"},
    {"buffer_size", off_policy_ones, "replay.capacity"},
    {"exploration_fraction", "dqn q_learning", "exploration.fraction"},
    {"exploration_initial_eps", "dqn q_learning", "exploration.initial"},
    {"exploration_final_eps", "dqn q_learning", "exploration.final"},
    {"action_noise", noise_ones, "noise.kind", "Its width is noise.std."},
    {"action_noise", "sac", "", "SAC explores by its own distribution, or by policy.use_sde"},
    {"use_sde_at_warmup", "sac", "",
     "actions are uniformly random before collection.learning_starts"},
    {"rms_prop_eps", "a2c", "trainer.optimizer_eps"},
    {"use_rms_prop", "a2c", "trainer.optimizer", "It is rmsprop or adam."},
    {"rollout_buffer_class", on_policy_ones, "", "rollouts have one form"},
    {"rollout_buffer_kwargs", on_policy_ones, "", "rollouts have one form"},
    {"replay_buffer_class", off_policy_ones, "",
     "the replay has one form; replay.prioritised draws by TD errors"},
    {"replay_buffer_kwargs", off_policy_ones, "", "the section replay has the replay's options"},
    {"optimize_memory_usage", off_policy_ones, "", "replay.max_bytes bounds the replay's memory"},
    {"stats_window_size", sb3, "", "rollout/ep_rew_mean is over the last 100 episodes"},
    {"tensorboard_log", sb3, "",
     "each run directory has TensorBoard's events; --runs says where it is made"},
    {"policy_kwargs", sb3, "", "its entries are options by themselves, such as policy.hidden"},
    {"verbose", sb3, "", "on the command line -v prints the table"},
    {"_init_setup_model", sb3, "", "a run always makes its networks"},
    // Stable-Baselines3, policies
    {"net_arch", sb3, "policy.hidden"},
    {"activation_fn", sb3, "policy.activation"},
    {"features_extractor_class", sb3, "policy.kind", "It is mlp, cnn or auto."},
    {"features_extractor_kwargs", sb3, "policy.cnn", "features_dim is policy.cnn.features."},
    {"share_features_extractor", sb3, "",
     "actor and critic of on-policy algorithms share convolutions, and nothing else is shared"},
    {"normalize_images", sb3, "", "images are always scaled to 0..1"},
    {"optimizer_class", "a2c", "trainer.optimizer", "It is rmsprop or adam."},
    {"optimizer_class", sb3, "", "the optimiser is Adam"},
    {"optimizer_kwargs", "a2c", "trainer.optimizer_eps"},
    {"optimizer_kwargs", adam_ones, "trainer.adam_eps"},
    {"full_std", on_policy_ones, "",
     "with use_sde there is a deviation for each feature and action"},
    {"squash_output", on_policy_ones, "", "actions are clipped to the bounds, not squashed"},
    {"clip_mean", "sac", "", "with use_sde the bound is 2, the default there"},
    {"observation_space", sb3, "", by_environment},
    {"action_space", sb3, "", by_environment},
    // RLlib's IMPALA
    {"vtrace_clip_rho_threshold", "impala", "trainer.importance_cap"},
    {"vtrace_clip_pg_rho_threshold", "impala", "trainer.importance_cap"},
    {"train_batch_size", "impala", "rollout.batch",
     "An update has n_steps * n_envs * batch steps."},
    {"rollout_fragment_length", "impala", "rollout.n_steps"},
    {"num_env_runners", "impala", "rollout.workers"},
    {"entropy_coeff", "impala", "trainer.ent_coef"},
    {"vf_loss_coeff", "impala", "trainer.vf_coef"},
    {"grad_clip", "impala", "trainer.max_grad_norm"},
    {"opt_type", "impala", "trainer.optimizer"},
    // TRL's GRPOConfig: the loss
    {"learning_rate", trl, "trainer.lr"},
    {"lr_scheduler_type", trl, "trainer.lr_schedule"},
    {"lr_scheduler_kwargs", trl, "", "trainer.lr_schedule has no options"},
    {"warmup_steps", trl, "trainer.warmup_updates"},
    {"optim", trl, "", only_adamw},
    {"optim_args", trl, "", only_adamw},
    {"optim_target_modules", trl, "", only_adamw},
    {"adam_beta1", trl, "trainer.beta1"},
    {"adam_beta2", trl, "trainer.beta2"},
    {"adam_epsilon", trl, "trainer.adam_eps"},
    {"beta", trl, "trainer.kl_coef"},
    {"num_iterations", trl, "trainer.epochs"},
    {"epsilon", trl, "trainer.clip_low"},
    {"epsilon_high", trl, "trainer.clip_high"},
    {"delta", trl, "trainer.dual_clip"},
    {"importance_sampling_level", trl, "trainer.ratio"},
    {"scale_rewards", trl, "trainer.advantage"},
    {"loss_type", trl, "trainer.variant", "Its parts are trainer.aggregation and trainer.ratio."},
    {"mask_truncated_completions", trl, "trainer.mask_truncated"},
    {"vllm_importance_sampling_correction", trl, "trainer.correction"},
    {"vllm_importance_sampling_mode", trl, "trainer.correction",
     "trainer.correction_by says token or sequence."},
    {"vllm_importance_sampling_clip_max", trl, "trainer.correction_max"},
    {"vllm_importance_sampling_clip_min", trl, "trainer.correction_min"},
    {"vllm_importance_sampling_cap", trl, "trainer.correction_max"},
    {"off_policy_mask_threshold", trl, "", no_variant},
    {"use_bias_correction_kl", trl, "", "the KL divergence is not weighted"},
    {"sync_ref_model", trl, "trainer.reference_every_updates", "It counts updates; 0 means never."},
    {"ref_model_mixup_alpha", trl, "trainer.reference_mixup"},
    {"ref_model_sync_steps", trl, "trainer.reference_every_updates", "It counts updates."},
    {"sapo_temperature_neg", trl, "", no_variant},
    {"sapo_temperature_pos", trl, "", no_variant},
    {"vespo_k_pos", trl, "", no_variant},
    {"vespo_lambda_pos", trl, "", no_variant},
    {"vespo_k_neg", trl, "", no_variant},
    {"vespo_lambda_neg", trl, "", no_variant},
    {"top_entropy_quantile", trl, "", no_variant},
    {"use_adaptive_entropy", trl, "", fixed_entropy},
    {"entropy_coef_min", trl, "", fixed_entropy},
    {"entropy_coef_max", trl, "", fixed_entropy},
    {"entropy_coef_delta", trl, "", fixed_entropy},
    {"entropy_target", trl, "", fixed_entropy},
    {"multi_objective_aggregation", trl, "", "a task has one reward"},
    {"router_aux_loss_coef", trl, "", "models have no mixtures of experts"},
    {"label_smoothing_factor", trl, "", no_labels},
    {"disable_dropout", trl, "", "models have no dropout"},
    {"neftune_noise_alpha", trl, "", "embeddings get no noise"},
    // TRL's GRPOConfig: batches and answers
    {"per_device_train_batch_size", trl, "rollout.prompts",
     "It counts prompts; each has rollout.group answers."},
    {"generation_batch_size", trl, "rollout.prompts",
     "It counts prompts; each has rollout.group answers."},
    {"steps_per_generation", trl, "trainer.minibatches"},
    {"gradient_accumulation_steps", trl, "trainer.micro_tokens",
     "It says how many tokens at once."},
    {"auto_find_batch_size", trl, "trainer.micro_tokens", "It says how many tokens at once."},
    {"average_tokens_across_devices", trl, "", one_process},
    {"num_train_epochs", trl, "total_steps", "It counts updates."},
    {"max_steps", trl, "total_steps", "It counts updates."},
    {"num_generations", trl, "rollout.group"},
    {"num_generations_eval", trl, "", evaluated_alike},
    {"max_completion_length", trl, "rollout.max_completion_tokens"},
    {"shuffle_dataset", trl, "", "problems are drawn by the seed"},
    {"pad_to_multiple_of", trl, "", "answers are packed without padding"},
    {"ds3_gather_for_generation", trl, "", one_process},
    {"generation_kwargs", trl, "", "its entries are options by themselves, such as rollout.top_p"},
    {"chat_template_kwargs", trl, "model.thinking"},
    {"cache_implementation", trl, "", own_generator},
    {"use_cache", trl, "", own_generator},
    {"use_vllm", trl, "", own_generator},
    {"vllm_mode", trl, "", own_generator},
    {"vllm_model_impl", trl, "", own_generator},
    {"vllm_enable_sleep_mode", trl, "", own_generator},
    {"vllm_structured_outputs_regex", trl, "", own_generator},
    {"vllm_server_base_url", trl, "", own_generator},
    {"vllm_server_host", trl, "", own_generator},
    {"vllm_server_port", trl, "", own_generator},
    {"vllm_server_timeout", trl, "", own_generator},
    {"vllm_group_port", trl, "", own_generator},
    {"vllm_gpu_memory_utilization", trl, "", own_generator},
    {"vllm_max_model_length", trl, "", own_generator},
    {"vllm_tensor_parallel_size", trl, "", own_generator},
    {"use_transformers_continuous_batching", trl, "", own_generator},
    {"transformers_continuous_batching_config", trl, "", own_generator},
    {"use_transformers_paged", trl, "", own_generator},
    {"max_tool_calling_iterations", trl, "", "answers call no tools"},
    // TRL's GRPOConfig: the model and the machine
    {"model_init_kwargs", trl, "model.path"},
    {"trust_remote_code", trl, "", "no code of a model is run"},
    {"cast_lm_head_to_fp32", trl, "", in_float},
    {"bf16", trl, "", in_float},
    {"fp16", trl, "", in_float},
    {"bf16_full_eval", trl, "", in_float},
    {"fp16_full_eval", trl, "", in_float},
    {"tf32", trl, "", in_float},
    {"activation_checkpointing", trl, "trainer.micro_tokens", "It bounds the activations."},
    {"activation_checkpointing_kwargs", trl, "trainer.micro_tokens", "It bounds the activations."},
    {"gradient_checkpointing", trl, "trainer.micro_tokens", "It bounds the activations."},
    {"gradient_checkpointing_kwargs", trl, "trainer.micro_tokens", "It bounds the activations."},
    {"torch_compile", trl, "", no_compiler},
    {"torch_compile_backend", trl, "", no_compiler},
    {"torch_compile_mode", trl, "", no_compiler},
    {"use_liger_kernel", trl, "", no_compiler},
    {"liger_kernel_config", trl, "", no_compiler},
    {"torch_empty_cache_steps", trl, "", "no memory of a device is kept"},
    {"use_cpu", trl, "", "language models are computed on the CPU"},
    {"local_rank", trl, "", one_process},
    {"accelerator_config", trl, "", one_process},
    {"parallelism_config", trl, "", one_process},
    {"ddp_find_unused_parameters", trl, "", one_process},
    {"ddp_bucket_cap_mb", trl, "", one_process},
    {"ddp_broadcast_buffers", trl, "", one_process},
    {"ddp_static_graph", trl, "", one_process},
    {"ddp_backend", trl, "", one_process},
    {"ddp_timeout", trl, "", one_process},
    {"fsdp", trl, "", one_process},
    {"fsdp_config", trl, "", one_process},
    {"deepspeed", trl, "", one_process},
    {"dataloader_drop_last", trl, "", no_loader},
    {"dataloader_num_workers", trl, "", no_loader},
    {"dataloader_pin_memory", trl, "", no_loader},
    {"dataloader_persistent_workers", trl, "", no_loader},
    {"dataloader_prefetch_factor", trl, "", no_loader},
    {"dataloader_multiprocessing_context", trl, "", no_loader},
    {"dataloader_in_order", trl, "", no_loader},
    {"remove_unused_columns", trl, "", no_loader},
    {"length_column_name", trl, "", no_loader},
    {"train_sampling_strategy", trl, "", no_loader},
    {"label_names", trl, "", no_labels},
    {"debug", trl, "", "--log-level debug tells more"},
    {"skip_memory_metrics", trl, "", "the memory of a process is one of its metrics"},
    // TRL's GRPOConfig: what a run leaves
    {"output_dir", trl, "", "--runs says in which folder run directories are made"},
    {"logging_strategy", trl, "", every_row},
    {"logging_steps", trl, "", every_row},
    {"logging_first_step", trl, "", every_row},
    {"log_on_each_node", trl, "", one_process},
    {"logging_nan_inf_filter", trl, "", "a step that is not finite is skipped and counted"},
    {"include_num_input_tokens_seen", trl, "", "tokens are counted in the metrics"},
    {"log_level", trl, "", "on the command line it is --log-level"},
    {"log_level_replica", trl, "", "on the command line it is --log-level"},
    {"disable_tqdm", trl, "", "a progress bar is shown with -P alone"},
    {"report_to", trl, "", every_row},
    {"run_name", trl, "", "a run directory is named by its algorithm and task"},
    {"project", trl, "", no_upload},
    {"trackio_space_id", trl, "", no_upload},
    {"trackio_bucket_id", trl, "", no_upload},
    {"trackio_static_space_id", trl, "", no_upload},
    {"push_to_hub", trl, "", no_upload},
    {"hub_token", trl, "", no_upload},
    {"hub_private_repo", trl, "", no_upload},
    {"hub_model_id", trl, "", no_upload},
    {"hub_strategy", trl, "", no_upload},
    {"hub_always_push", trl, "", no_upload},
    {"hub_revision", trl, "", no_upload},
    {"log_completions_hub_repo", trl, "", no_upload},
    {"log_completions", trl, "samples.every_updates"},
    {"num_completions_to_print", trl, "samples.every_updates"},
    {"log_unique_prompts", trl, "samples.every_updates"},
    {"log_multimodal", trl, "", "answers are texts alone"},
    {"eval_strategy", trl, "evaluation.every_updates"},
    {"eval_steps", trl, "evaluation.every_updates"},
    {"eval_delay", trl, "evaluation.every_updates"},
    {"eval_on_start", trl, "", "the first weights are evaluated before training"},
    {"per_device_eval_batch_size", trl, "", evaluated_alike},
    {"eval_accumulation_steps", trl, "", evaluated_alike},
    {"eval_do_concat_batches", trl, "", evaluated_alike},
    {"eval_use_gather_object", trl, "", evaluated_alike},
    {"batch_eval_metrics", trl, "", evaluated_alike},
    {"prediction_loss_only", trl, "", evaluated_alike},
    {"include_for_metrics", trl, "", evaluated_alike},
    {"save_strategy", trl, "checkpoint.every_updates"},
    {"save_steps", trl, "checkpoint.every_updates"},
    {"save_total_limit", trl, "checkpoint.keep"},
    {"save_only_model", trl, "", "models and checkpoints are files of their own"},
    {"save_on_each_node", trl, "", one_process},
    {"enable_jit_checkpoint", trl, "", "a run that is asked to stop writes a checkpoint"},
    {"load_best_model_at_end", trl, "", best_by_score},
    {"metric_for_best_model", trl, "", best_by_score},
    {"greater_is_better", trl, "", best_by_score},
    {"ignore_data_skip", trl, "", "a resumed run goes on at its own problem"},
    {"restore_callback_states_from_checkpoint", trl, "",
     "run_callbacks::save and restore keep the state of callbacks"},
    {"resume_from_checkpoint", trl, "", "on the command line it is --resume RUN"},
    {"full_determinism", trl, "deterministic"},
    {"data_seed", trl, "seed"},
    {"do_train", trl, "", "the command train trains"},
    {"do_eval", trl, "", "the command eval evaluates"},
    {"do_predict", trl, "", "the command eval evaluates"},
    // TRL's SFTConfig, and PEFT's LoraConfig
    {"learning_rate", trl_sft, "trainer.lr"},
    {"lr_scheduler_type", trl_sft, "trainer.schedule"},
    {"warmup_steps", trl_sft, "trainer.warmup_updates"},
    {"warmup_ratio", trl_sft, "trainer.warmup_updates", "It counts updates."},
    {"adam_beta1", trl_sft, "trainer.beta1"},
    {"adam_beta2", trl_sft, "trainer.beta2"},
    {"adam_epsilon", trl_sft, "trainer.adam_eps"},
    {"num_train_epochs", trl_sft, "trainer.epochs"},
    {"max_steps", trl_sft, "total_steps", "It counts updates."},
    {"per_device_train_batch_size", trl_sft, "trainer.batch_size"},
    {"gradient_accumulation_steps", trl_sft, "trainer.micro_tokens",
     "It says how many tokens at once."},
    {"gradient_checkpointing", trl_sft, "trainer.recompute_layers"},
    {"bf16", trl_sft, "trainer.compute", "It is f32 or bf16."},
    {"max_length", trl_sft, "task.max_tokens", "Longer examples are never cut; see task.too_long."},
    {"max_seq_length", trl_sft, "task.max_tokens",
     "Longer examples are never cut; see task.too_long."},
    {"model_name_or_path", trl_sft, "model.path"},
    {"packing", trl_sft, "", "examples are always packed, and none attends to another"},
    {"completion_only_loss", trl_sft, "", "the loss is always on answers alone"},
    {"assistant_only_loss", trl_sft, "", "the loss is always on answers alone"},
    {"dataset_text_field", trl_sft, "task.prompt", "task.answer names the key of the answer."},
    {"train_dataset", trl_sft, "task.data"},
    {"eval_dataset", trl_sft, "task.held_out_data"},
    {"eval_strategy", trl_sft, "evaluation.every_updates"},
    {"eval_steps", trl_sft, "evaluation.every_updates"},
    {"save_strategy", trl_sft, "checkpoint.every_updates"},
    {"save_steps", trl_sft, "checkpoint.every_updates"},
    {"save_total_limit", trl_sft, "checkpoint.keep"},
    {"full_determinism", trl_sft, "deterministic"},
    {"data_seed", trl_sft, "seed"},
    {"lora_r", trl_sft, "trainer.lora.rank"},
    {"lora_alpha", trl_sft, "trainer.lora.alpha"},
    {"lora_target_modules", trl_sft, "trainer.lora.targets"},
    {"mode", trl_sft, "", "nothing is generated, so updates follow each other"},
};

bool contains_word(std::string_view words, std::string_view word) {
  for (std::size_t at = 0; at < words.size();) {
    const auto end = std::min(words.find(' ', at), words.size());
    if (words.substr(at, end - at) == word) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

const std::vector<other_name>& other_names() { return rows; }

const other_name* find_other_name(std::string_view algorithm, std::string_view name) {
  const auto at = std::ranges::find_if(rows, [&](const other_name& row) {
    return row.name == name && contains_word(row.algorithms, algorithm);
  });
  return at == rows.end() ? nullptr : &*at;
}

config_error with_our_name(const config_error& error, std::string_view algorithm) {
  if (error.fault() == config_fault::other) return error;
  const auto& pointer = error.pointer();
  const auto name = pointer.substr(pointer.rfind('/') + 1);
  const auto* row = find_other_name(algorithm, name);
  if (!row) return error;
  const auto nearest = row->ours.substr(row->ours.rfind('.') + 1);
  const std::string_view what = error.what();
  if (what.find(fmt::format("did you mean \"{}\"?", nearest)) != std::string_view::npos)
    return error;
  // An option such as env is a section here, which takes an object.
  const bool unknown = error.fault() == config_fault::unknown_key;
  if (row->ours.empty()) {
    return {pointer,
            fmt::format("unknown key \"{}\"; there is no such option here: {}", name, row->note)};
  }
  return {pointer, fmt::format("{} \"{}\"; did you mean \"{}\"?{}{}",
                               unknown ? "unknown key" : "expected an object for", name, row->ours,
                               row->note.empty() ? "" : " ", row->note)};
}

}  // namespace troupe
