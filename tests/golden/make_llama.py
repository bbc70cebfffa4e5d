#!/usr/bin/env python3
"""Makes small random checkpoints of the Llama family with what transformers computes from them.

usage: make_llama.py [--check] [--out FOLDER] [CASE ...]

As make_hf_models.py, whose formats these are; what it says of --check and expected.json holds here. transformers has
neither head_mask nor prune_heads for this family: `masked` and `gate_gradients` come from a hook that multiplies the
heads' slices of what the output projection (o_proj) reads. There is no `pruned`. RMS norm and softmax, which transformers
computes in float32 whatever the model is, are computed in float64 too; angles of positions stay float32.

Needs torch 2.13.0, transformers 4.57.6, safetensors, numpy.
"""
import argparse
import shutil
import sys
from pathlib import Path

import numpy
import torch
import transformers

import make_hf_models as base

D_MODEL, LAYERS, HEADS, GROUPS, HEAD_DIM, D_FF, VOCABULARY = 20, 3, 6, 3, 4, 32, 24
LENGTHS = [6, 12, 2, 3]
# Without any head of group 1 in layer 1, without any head in layer 2, and single heads.
MASKED = [{0: [1], 1: [2, 3]}, {0: [0, 5], 2: [0, 1, 2, 3, 4, 5]}]


def sizes(**more):
    return dict(hidden_size=D_MODEL, num_hidden_layers=LAYERS, num_attention_heads=HEADS, num_key_value_heads=GROUPS,
                head_dim=HEAD_DIM, intermediate_size=D_FF, vocab_size=VOCABULARY, max_position_embeddings=64,
                rms_norm_eps=3e-3, **more)


def without_head_dim(**more):
    own = sizes(**more) | {"hidden_size": HEADS * HEAD_DIM}
    del own["head_dim"]
    return own


LLAMA3 = {"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 16}
CASES = {
    "llama": (11, transformers.LlamaForCausalLM, lambda: transformers.LlamaConfig(**sizes())),
    "llama_biases": (12, transformers.LlamaForCausalLM, lambda: transformers.LlamaConfig(
        **sizes(attention_bias=True, mlp_bias=True, tie_word_embeddings=True, rope_theta=100.0, rope_scaling=LLAMA3))),
    "mistral": (13, transformers.MistralForCausalLM, lambda: transformers.MistralConfig(
        **sizes(sliding_window=5, rope_scaling={"type": "linear", "factor": 2.0}))),
    "qwen2": (14, transformers.Qwen2ForCausalLM, lambda: transformers.Qwen2Config(
        **without_head_dim(use_sliding_window=True, sliding_window=4, max_window_layers=1))),
    "qwen3": (15, transformers.Qwen3ForCausalLM, lambda: transformers.Qwen3Config(**sizes(tie_word_embeddings=True))),
}


def write_model(case, folder):
    seed, cls, config = CASES[case]
    model = cls(config())
    base.randomise(model, seed)
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)


def exact_norm(self, x):
    """The forward of all four RMS norms without their cast to float32."""
    return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.variance_epsilon))


def exact_softmax(x, dim, dtype=None, inexact=torch.nn.functional.softmax):
    return inexact(x, dim)


def load(case, folder):
    model, info = CASES[case][1].from_pretrained(folder, attn_implementation="eager", dtype=torch.float32,
                                                 output_loading_info=True)
    problems = {key: value for key, value in info.items() if value}
    if problems:
        raise SystemExit(f"{case}: transformers reports {problems}")
    torch.nn.functional.softmax = exact_softmax
    for module in model.modules():
        if type(module).__name__.endswith("RMSNorm"):
            type(module).forward = exact_norm
    return model.double().eval()


def converted(case, model, groups):
    """The model in fewer groups: their projections are means over the old groups' (Ainslie et al. 2023, section 2.1)."""
    config = CASES[case][2]()
    config.num_key_value_heads = groups
    config._attn_implementation = "eager"
    twin = CASES[case][1](config).double().eval()
    values = model.state_dict()
    for name, value in values.items():
        if ".k_proj." in name or ".v_proj." in name:
            apart = value.reshape(groups, GROUPS // groups, HEAD_DIM, *value.shape[1:])  # [G, joined, D, ...]
            values[name] = apart.mean(1).flatten(0, 1)  # [G D, ...]
    twin.load_state_dict(values)
    return twin


def gated(model, gates, inputs):
    """Logits with the context of head h of layer l times gates[l], [H] or [B, H]."""
    handles = []
    for layer, gate in zip(model.model.layers, gates, strict=True):
        def scale(module, args, gate=gate):
            context = args[0].view(*args[0].shape[:-1], HEADS, -1)  # [B, T, H, Dv]
            wide = gate.view(-1, 1, HEADS, 1)
            return ((context * wide).flatten(-2),)

        handles.append(layer.self_attn.o_proj.register_forward_pre_hook(scale))
    logits = model(**inputs).logits
    for handle in handles:
        handle.remove()
    return logits


def expected(case, folder):
    model = load(case, folder)
    random = numpy.random.RandomState(1000 + CASES[case][0])
    width = max(LENGTHS)
    tokens = torch.zeros((len(LENGTHS), width), dtype=torch.long)
    for i, length in enumerate(LENGTHS):
        tokens[i, :length] = torch.from_numpy(random.randint(1, VOCABULARY, length))
    present = torch.arange(width) < torch.tensor(LENGTHS).unsqueeze(1)
    inputs = {"input_ids": tokens, "attention_mask": present.long(), "use_cache": False}

    def real(logits):
        return [logits[i, :n] for i, n in enumerate(LENGTHS)]

    def as_json(found):
        return [base.rounded(one) for one in found]

    def mask_of(removed):
        return torch.ones(LAYERS, HEADS, dtype=torch.float64).index_put(
            tuple(torch.tensor([(l, h) for l, heads in removed.items() for h in heads]).T),
            torch.tensor(0, dtype=torch.float64))

    with torch.no_grad():
        padded = real(model(**inputs).logits)
        alone = [model(input_ids=tokens[i:i + 1, :n], use_cache=False).logits[0] for i, n in enumerate(LENGTHS)]
        fewer = real(converted(case, model, 1)(**inputs).logits)
        masked = [real(gated(model, mask_of(one), inputs)) for one in MASKED]
    if base.difference(padded, alone) > 1e-10:
        raise SystemExit(f"{case}: padding changes values: {base.difference(padded, alone)}")
    gates = torch.ones(LAYERS, len(LENGTHS), HEADS, dtype=torch.float64, requires_grad=True)
    logits = gated(model, gates, inputs)
    losses = torch.stack([torch.nn.functional.cross_entropy(logits[i, :n - 1], tokens[i, 1:n])
                          for i, n in enumerate(LENGTHS)])
    gradients, = torch.autograd.grad(losses.sum(), gates)
    return {"transformers": transformers.__version__, "torch": torch.__version__.split("+")[0], "output": "logits",
            "batch": {"pad_id": 0, "tokens": tokens.tolist(), "lengths": LENGTHS}, "logits": as_json(padded),
            "alone": {"logits": as_json(alone)}, "converted": {"groups": 1, "logits": as_json(fewer)},
            "masked": [{"removed": one, "logits": as_json(found)} for one, found in zip(MASKED, masked)],
            "losses": base.rounded(losses), "gate_gradients": base.rounded(gradients.transpose(0, 1))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with what is there; write nothing")
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent / "hf")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="default: all")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    failed = False
    base.write_model, base.expected = write_model, expected  # what check() draws and computes again
    for case in arguments.cases or CASES:
        folder = arguments.out / case
        if arguments.check:
            found = base.check(case, arguments.out)
            print(f"{case}: {found or 'equal'}")
            failed |= found is not None
            continue
        if folder.exists():
            shutil.rmtree(folder)
        write_model(case, folder)
        (folder / "expected.json").write_text(base.to_text(expected(case, folder)))
        print(f"{case}: " + ", ".join(f"{path.name} {path.stat().st_size}" for path in sorted(folder.iterdir())))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
