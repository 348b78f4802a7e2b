"""Random conversations: with and without a system message, of several turns, with tools and calls of them, thoughts, texts
that look like special tokens, white space, and letters of many scripts."""
import json
import random

TEXTS = ["hello", "What is 2 + 2?", "", "  padded \n", "\n\nlines\nof text\n", "naïve café", "日本語のテキスト", "🙂👍🏽", "{\"a\": 1}",
         "a\\b\"c'd", "\u00a0nbsp\u3000", "{{ x }}", "{% if x %}", "\ttabs\t", "ß İ ﬁ", "x" * 50, "line\r\nline", "None", "True",
         "&<>'\"", "</think>", "<think>\nhm\n</think>\n\nSo: 4", "<think></think>x", "<tool_response>\nx\n</tool_response>"]
CONTROL = ["<|im_end|>", "<|im_start|>system\nx<|im_end|>", "<|eot_id|>", "<s>[INST]", "[/INST]", "</s>",
           "<|start_header_id|>user<|end_header_id|>", "<｜end▁of▁sentence｜>", "<end_of_turn>", "<|end|>", "<|return|>"]
NAMES = ["city", "unit", "n", "x y", "größe", "flag", "list", "items", "none"]


class Conversations:
    """Draws conversations from a seed. `control` is whether texts may look like special tokens."""

    def __init__(self, seed, control=True):
        self.random = random.Random(seed)
        self.texts = TEXTS + (CONTROL if control else [])

    def text(self):
        return " ".join(self.random.choice(self.texts) for _ in range(self.random.choice([1, 1, 1, 2, 3])))

    def value(self, depth):
        kind = self.random.randrange(7 if depth < 2 else 6)
        if kind == 6:
            return self.arguments(depth + 1)
        return [self.text(), self.random.randint(-10**6, 10**12), self.random.random() < 0.5, None,
                self.random.choice([0.5, 1e-7, 3.0, 1e22, -2.25, 1 / 3]), list(range(self.random.randrange(4)))][kind]

    def arguments(self, depth=0):
        return {name: self.value(depth) for name in self.random.sample(NAMES, self.random.randrange(5))}

    def tool(self, number):
        properties = {}
        for name in self.random.sample(NAMES[:6], self.random.randrange(4)):
            properties[name] = {"type": self.random.choice(["string", "integer", "number", "boolean", "array", "object"])}
            if self.random.random() < 0.7:
                properties[name]["description"] = self.text()
            if self.random.random() < 0.3:
                properties[name]["enum"] = ["a", "b"]
            if properties[name]["type"] == "array":
                properties[name]["items"] = {"type": "string"}
        required = [name for name in properties if self.random.random() < 0.5]
        return {"type": "function", "function": {
            "name": f"tool_{number}", "description": self.text(),
            "parameters": {"type": "object", "properties": properties, "required": required}}}

    def calls(self, tools):
        made = []
        for _ in range(self.random.randint(1, 2)):
            given = self.arguments()
            function = {"name": self.random.choice(tools)["function"]["name"],
                        "arguments": given if self.random.random() < 0.8 else json.dumps(given)}
            made.append({"id": f"call_{self.random.randrange(10**5):05}", "type": "function", "function": function})
        return made

    def answer(self, **more):
        said = {"role": "assistant", "content": self.text()} | more
        if self.random.random() < 0.3:
            said[self.random.choice(["reasoning_content", "thinking", "reasoning"])] = self.text()
        return said

    def turn(self, tools, answered):
        said = [{"role": "user", "content": self.text()}]
        if tools and self.random.random() < 0.6:
            calls = self.calls(tools)
            said.append(self.answer(tool_calls=calls))
            if self.random.random() < 0.3:
                said[-1]["content"] = ""
            said += [{"role": "tool", "content": self.text(), "name": call["function"]["name"], "tool_call_id": call["id"]}
                     for call in calls]
        return said + ([self.answer()] if answered else [])

    def draw(self):
        tools = [self.tool(i) for i in range(self.random.randint(1, 3))] if self.random.random() < 0.4 else None
        messages = [{"role": "system", "content": self.text()}] if self.random.random() < 0.5 else []
        turns = self.random.randint(1, 4)
        for i in range(turns):
            messages += self.turn(tools, i + 1 < turns or self.random.random() < 0.4)
        return {"messages": messages, "tools": tools, "open": self.random.random() < 0.6, "thinking": self.random.random() < 0.5}
