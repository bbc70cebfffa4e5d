#!/usr/bin/env python3
"""Writes what transformers' apply_chat_template makes of one message of a user: chat_templates.json.

usage: make_chat_templates.py [--check]

chat_templates.json: {"messages", "cases"}, a case being {"name", "base": a folder of tokenizers/ that is copied, "config":
keys of its tokenizer_config.json, "jinja": chat_template.jinja or absent, "texts": of each message, with the
assistant's turn begun, "ids": of the first message's text}. --check computes again and compares; exit 1 if anything
differs. Needs transformers 4.57.6.
"""
import json
import shutil
import tempfile
from pathlib import Path

from golden_file import write_or_check

HERE = Path(__file__).resolve().parent
MESSAGES = ["Hello world", "", " two\nlines ", "{{ 1 + 1 }} {% if %}", "it's \\n <|im_end|> </s>", "na\u00efve \u4e16\u754c"]
LOOP, ENDS = "{% for message in messages %}", "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
BODY = "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}"
QWEN15 = ("{{'<|im_start|>' + message['role'] + '\n' + message['content']}}{% if (loop.last and add_generation_prompt) or not "
          "loop.last %}{{ '<|im_end|>' + '\n'}}{% endif %}{% endfor %}{% if add_generation_prompt and messages[-1]['role'] != "
          "'assistant' %}{{ '<|im_start|>assistant\n' }}{% endif %}")
ZEPHYR = ("{% for message in messages %}\n{% if message['role'] == 'user' %}\n{{ '<|user|>\n' + message['content'] + eos_token }}\n"
          "{% elif message['role'] == 'system' %}\n{{ '<|system|>\n' + message['content'] + eos_token }}\n{% elif message['role'] "
          "== 'assistant' %}\n{{ '<|assistant|>\n'  + message['content'] + eos_token }}\n{% endif %}\n{% if loop.last and "
          "add_generation_prompt %}\n{{ '<|assistant|>' }}\n{% endif %}\n{% endfor %}")


def system(text):
    return ("{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\n" + text + "<|im_end|>\n' }}{% endif %}")


SMOLLM2 = LOOP + system("You are a helpful AI assistant named SmolLM, trained by Hugging Face") + BODY + ENDS
CASES = [("SmolLM2", "byte_bpe", {"chat_template": SMOLLM2}, None),
         ("Qwen2, line ends spelled", "byte_bpe",
          {"chat_template": (LOOP + system("You are a helpful assistant.") + BODY + ENDS).replace("\n", "\\n")}, None),
         ("ChatML", "byte_bpe", {"chat_template": LOOP + BODY + ENDS}, None),
         ("Qwen1.5", "byte_bpe", {"chat_template": LOOP + system("You are a helpful assistant") + QWEN15}, None),
         ("TinyLlama", "llama", {"chat_template": ZEPHYR}, None),
         ("TinyLlama, another end", "llama", {"chat_template": ZEPHYR, "eos_token": "<unk>"}, None),
         ("a file goes first", "llama", {"chat_template": ZEPHYR}, LOOP + BODY + ENDS + "\n"),
         ("a file of lines", "llama", {}, ZEPHYR + "\n")]


def made():
    import transformers
    transformers.logging.set_verbosity_error()
    cases = []
    for name, base, config, jinja in CASES:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / base
            shutil.copytree(HERE / "tokenizers" / base, folder)
            path = folder / "tokenizer_config.json"
            path.write_text(json.dumps(json.loads(path.read_text()) | config))
            if jinja is not None:
                (folder / "chat_template.jinja").write_text(jinja)
            tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
        said = [[{"role": "user", "content": message}] for message in MESSAGES]
        case = {"name": name, "base": base, "config": config}
        if jinja is not None:
            case["jinja"] = jinja
        case["texts"] = [tokenizer.apply_chat_template(one, tokenize=False, add_generation_prompt=True) for one in said]
        case["ids"] = tokenizer.apply_chat_template(said[0], add_generation_prompt=True)
        cases.append(case)
    return {"messages": MESSAGES, "cases": cases}


if __name__ == "__main__":
    write_or_check(HERE / "chat_templates.json", lambda: json.dumps(made(), indent=1) + "\n", __doc__)
