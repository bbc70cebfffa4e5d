"""Head importance, masked evaluation and generation of a Llama-like model with transformers: gates by a hook on what each
o_proj reads (the family has no head_mask), one mask that all examples share.

usage: transformers_llama.py score|masks|generate SETTINGS
SETTINGS (JSON): model, threads, examples (a file of [{"tokens", "targets"}]), batch_size, frozen, masks (a file), tokens
"""

import json
import pathlib
import sys

import torch
from transformers import AutoModelForCausalLM
from protocol import serve

work, settings = sys.argv[1], json.loads(sys.argv[2])
torch.set_num_threads(settings["threads"])
model = AutoModelForCausalLM.from_pretrained(settings["model"], dtype=torch.float32).eval()
model.requires_grad_(not settings.get("frozen", False))
HEADS = model.config.num_attention_heads
gates = torch.ones(model.config.num_hidden_layers, HEADS, requires_grad=True)
current = {"gates": None}

examples = json.loads(pathlib.Path(settings["examples"]).read_text())
batches = []
for start in range(0, len(examples), settings["batch_size"]):
    part = examples[start : start + settings["batch_size"]]
    batches.append({name: torch.tensor([one[name] for one in part]) for name in ("tokens", "targets")})  # [B, T]


def hook(layer):
    def scale(module, args):
        if current["gates"] is None:
            return None
        heads = args[0].unflatten(-1, (HEADS, -1)) * current["gates"][layer].view(HEADS, 1)  # [B, T, H, Dv]
        return (heads.flatten(-2),)  # [B, T, H Dv]

    return scale


for index, layer in enumerate(model.model.layers):
    layer.self_attn.o_proj.register_forward_pre_hook(hook(index))


def losses(batch):
    """Mean over the targets of each example. [B]"""
    logits = model(batch["tokens"], use_cache=False).logits
    each = torch.nn.functional.cross_entropy(logits.flatten(0, 1), batch["targets"].flatten(), reduction="none",
                                             ignore_index=-100).view_as(batch["targets"])
    return each.sum(1) / (batch["targets"] != -100).sum(1)


def score():
    importance = torch.zeros_like(gates)
    current["gates"] = gates
    for batch in batches:
        losses(batch).mean().backward()
        importance += gates.grad.abs()
        gates.grad = None
        model.zero_grad()
    return (importance / len(batches)).flatten().tolist()


def masks():
    found = []
    with torch.no_grad():
        for removed in json.loads(pathlib.Path(settings["masks"]).read_text()):
            current["gates"] = torch.ones_like(gates)
            for layer, head in removed:
                current["gates"][layer, head] = 0
            found.append(sum(losses(batch).sum().item() for batch in batches) / len(examples))
    return found


def generate():
    found = []
    with torch.no_grad():
        for batch in batches:
            written = model.generate(batch["tokens"], attention_mask=torch.ones_like(batch["tokens"]), do_sample=False,
                                     max_new_tokens=settings["tokens"], eos_token_id=None, pad_token_id=0)
            found += written[:, batch["tokens"].shape[1] :].tolist()
    return found


serve(work, {"score": score, "masks": masks, "generate": generate}[work])
