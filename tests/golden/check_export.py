#!/usr/bin/env python3
"""Opens exported folders in the installed transformers and prints what they compute.

usage: check_export.py FOLDER ... --inputs FILE.json [--dtype float32|float64]

FILE.json: {"tokens": [[..], ..], "token_types": [[..], ..] (optional)}; the sequences may differ in length and are run
one by one, without padding. Each folder is opened by config.json's `architectures`: AutoModelForSequenceClassification,
AutoModelForCausalLM, or AutoModel for a bare model. Prints one JSON object:

  {"transformers", "torch", "folders": [{"folder", "class", "heads": {"layer": heads left}, OUTPUT: [sequence]}]}

OUTPUT is "logits" ([labels] a sequence; [length][vocabulary] for language models) or "last_hidden_state".
Exit: 0; 1 if a folder does not open, misses weights or gives a number that is not finite (the reason on stderr, under
"error" in the object); 77 where torch or transformers cannot be imported. Works with transformers 4 and 5.
"""
import argparse
import json
import math
import sys
from pathlib import Path

MISSING = 77

try:
    import torch
    import transformers
except ImportError as error:
    print(f"check_export.py: skipped: {error}", file=sys.stderr)
    sys.exit(MISSING)


def auto_class(architecture):
    if architecture.endswith("ForSequenceClassification"):
        return transformers.AutoModelForSequenceClassification, "logits"
    if architecture.endswith(("LMHeadModel", "ForCausalLM")):
        return transformers.AutoModelForCausalLM, "logits"
    return transformers.AutoModel, "last_hidden_state"


def load(folder, dtype):
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    architectures = config.get("architectures") or []
    if len(architectures) != 1:
        raise ValueError(f"config.json must name one class under architectures, it has {architectures}")
    auto, output = auto_class(architectures[0])
    model, info = auto.from_pretrained(folder, attn_implementation="eager", local_files_only=True,
                                       output_loading_info=True)
    for key in ("missing_keys", "mismatched_keys", "unexpected_keys", "error_msgs"):
        if info.get(key):
            raise ValueError(f"{key}: {sorted(map(str, info[key]))}")
    if type(model).__name__ != architectures[0]:
        raise ValueError(f"opens as {type(model).__name__}, not as {architectures[0]}")
    return model.to(dtype).eval(), output


def heads_left(model):
    """{"layer": heads} from the width of what each output projection takes."""
    config, counts = model.config, {}
    width = config.hidden_size // config.num_attention_heads
    endings = ("attention.output.dense.weight", "attention.out_lin.weight", "attn.c_proj.weight")
    for name, parameter in model.named_parameters():
        if name.endswith(endings):
            inputs = parameter.shape[0 if "c_proj" in name else 1]  # Conv1D: [in, out]
            layer = next(part for part in name.split(".") if part.isdigit())
            counts[layer] = inputs // width
    return counts


def require_finite(value):
    if isinstance(value, list):
        for one in value:
            require_finite(one)
    elif not math.isfinite(value):
        raise ValueError(f"gives {value}")


def compute(folder, inputs, dtype):
    model, output = load(folder, dtype)
    values = []
    types = inputs.get("token_types")
    for i, tokens in enumerate(inputs["tokens"]):
        arguments = {"input_ids": torch.tensor([tokens])}
        if types is not None:
            arguments["token_type_ids"] = torch.tensor([types[i]])
        with torch.no_grad():
            values.append(getattr(model(**arguments), output)[0].tolist())
    require_finite(values)
    return {"folder": str(folder), "class": type(model).__name__, "heads": heads_left(model), output: values}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--inputs", type=Path, required=True, metavar="FILE.json")
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float32")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    inputs = json.loads(arguments.inputs.read_text(encoding="utf-8"))
    results = []
    for folder in arguments.folders:
        try:
            results.append(compute(folder, inputs, getattr(torch, arguments.dtype)))
        except Exception as error:  # whatever transformers raises is the answer that is asked for
            print(f"check_export.py: {folder}: {type(error).__name__}: {error}", file=sys.stderr)
            results.append({"folder": str(folder), "error": f"{type(error).__name__}: {error}"})
    print(json.dumps({"transformers": transformers.__version__, "torch": torch.__version__, "folders": results}))
    return 1 if any("error" in one for one in results) else 0


if __name__ == "__main__":
    sys.exit(main())
