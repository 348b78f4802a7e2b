"""Texts to tokenise: every assigned character of Unicode, in its neighbourhood, and mixtures."""
import random
import unicodedata

PIECES = ["Hello", " world", "it's", "WE'LL", "they'VE", "I'm", "don't", "'s", "'S", "\u017f", " ", "  ", "   ", "\n", "\n\n", "\r\n",
          "\t", "\u00a0", "\u2003", "\u3000", "\u180e", "\u200b", "\u0085", "\u2028", "0", "12", "345", "67890", "1,234.56e-7",
          "\u00bd", "\u2167", "\u0663\u0664", "caf\u00e9", "cafe\u0301", "\u1e9b\u0323", "\ufb01", "\u212b", "\uac00", "\u1100\u1161",
          "\u4e2d\u6587", "\u65e5\u672c\u8a9e", "\u0395\u03bb", "\u0440\u0443\u0441", "\u0627\u0644", "\u0939\u093f", "\U0001f600",
          "\U0001f44d\U0001f3fd", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001d7d7", "def f(x):", "    return x", "// ", "/*", "*/",
          "==", "!=", "->", "...", "!!!", "???", "<|im_end|>", "<|im_start|>", "<|endoftext|>", "<|eot_id|>", "<tool_call>", "<|", "|>",
          "http://a.b/c?d=e&f", "_snake_case", "camelCase", "\u0000", "\u001f", "\u007f", "\ufffd", "a" * 40, "-" * 30, "\u0301\u0300"]


def assigned():
    return [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) not in ("Cn", "Cs", "Co")]


def make_texts(count):
    """`count` texts, always the same."""
    drawn = random.Random(20)
    characters = assigned()
    texts = []
    step = -(-len(characters) // (count // 2))
    for begin in range(0, len(characters), step):
        neighbours = characters[begin:begin + step]
        between = drawn.choice(["", " ", "a", "1", ".", "\n", "'s "])
        texts.append(between.join(neighbours))
    marks = [c for c in characters if unicodedata.combining(c)]
    while len(texts) < count:
        parts = drawn.choices(PIECES, k=drawn.randint(1, 12))
        if drawn.random() < 0.3:
            parts += drawn.choices(characters, k=drawn.randint(1, 8))
        if drawn.random() < 0.2:
            parts.append("a" + "".join(drawn.choices(marks, k=drawn.randint(2, 4))))
        drawn.shuffle(parts)
        texts.append("".join(parts))
    return texts
