"""Makes attention.json: what transformers' attention modules, and numpy after the papers, make of small inputs.

    python make_attention.py [--check]

One case a kind of positions, and one for a sliding window. Weights and inputs are wave() of their sizes, so that
attention_golden_test.cpp makes the same; "output" is the block's output [T, C] without its output bias, "masked" the
same with the heads `removed` multiplied by 0. Also buckets of T5, slopes of ALiBi (Bloom, MPT), and visibility: Mistral's
window by transformers' own mask function, the Sparse Transformer's patterns by loops over the paper's sets (arXiv
1904.10509, section 4.2). Needs torch 2.13 and transformers 4.57.6."""
import json
import math
import pathlib

import numpy as np
import torch
from golden_file import write_or_check
from transformers import BloomConfig, GPTJConfig, GPTNeoXConfig, MistralConfig, RoFormerConfig, T5Config, XLNetConfig
from transformers.masking_utils import sliding_window_causal_mask_function
from transformers.models.bloom.modeling_bloom import BloomAttention, build_alibi_tensor
from transformers.models.deprecated.transfo_xl.modeling_transfo_xl import (PositionalEmbedding,
                                                                          RelPartialLearnableMultiHeadAttn)
from transformers.models.gpt_neox.modeling_gpt_neox import GPTNeoXAttention, GPTNeoXRotaryEmbedding
from transformers.models.gptj.modeling_gptj import GPTJAttention
from transformers.models.mistral.modeling_mistral import MistralAttention, MistralRotaryEmbedding
from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor
from transformers.models.roformer.modeling_roformer import RoFormerSelfAttention, RoFormerSinusoidalPositionalEmbedding
from transformers.models.t5.modeling_t5 import T5Attention
from transformers.models.xlnet.modeling_xlnet import XLNetModel, XLNetRelativeAttention

C, H, D = 24, 3, 8  # width, heads, width of a head
REMOVED = [0, 2]
TYPE = torch.float64


def wave(shape, phase, size=0.4):
    count = math.prod(shape)
    return (size * torch.cos(0.37 * torch.arange(count, dtype=torch.float64) ** 2 + phase)).view(shape).to(TYPE)


def weights():
    """Query, key, value, output [C, C], as torch.nn.Linear has them."""
    return [wave((C, C), phase) for phase in (1, 2, 3, 4)]


def head_mask():
    mask = torch.ones(H, dtype=TYPE)
    mask[REMOVED] = 0
    return mask


def causal(length):
    low = torch.finfo(torch.float32).min
    return torch.full((length, length), low, dtype=TYPE).triu(1)[None, None]


def fill(module, **tensors):
    parameters = dict(module.named_parameters())
    with torch.no_grad():
        for name, parameter in parameters.items():
            key = name.replace(".", "_")
            parameter.copy_(tensors[key]) if key in tensors else parameter.zero_()
    return module.to(TYPE).eval()


def by_head(parts):
    """[C, C] each to rows of head 0's query, key and value, then head 1's (GPT-NeoX, Bloom)."""
    return torch.cat([part.view(H, D, C) for part in parts], 1).reshape(3 * C, C)


def both(run):
    """Rows of the plain and of the masked output."""
    with torch.no_grad():
        plain, masked = run(None), run(head_mask())
    return {"output": rows(plain), "masked": rows(masked)}


def rows(values):
    return [[float(f"{x:.9g}") for x in row] for row in np.asarray(values.detach(), dtype=np.float64).reshape(-1, values.shape[-1])]


def rope_neighbours(length):
    q, k, v, o = weights()
    config = GPTJConfig(n_embd=C, n_head=H, rotary_dim=4, n_positions=64, attn_pdrop=0, resid_pdrop=0,
                        attn_implementation="eager")
    module = fill(GPTJAttention(config, layer_idx=0), q_proj_weight=q, k_proj_weight=k, v_proj_weight=v,
                  out_proj_weight=o)
    places = torch.arange(length)[None]
    mask = lambda gates: None if gates is None else gates.view(1, H, 1, 1)
    return both(lambda gates: module(wave((1, length, C), 20), attention_mask=causal(length), position_ids=places,
                                     head_mask=mask(gates))[0])


def rope_halves(length):
    q, k, v, o = weights()
    config = GPTNeoXConfig(hidden_size=C, num_attention_heads=H, rotary_pct=0.5, rotary_emb_base=100,
                           max_position_embeddings=64, attention_bias=False, attn_implementation="eager")
    module = fill(GPTNeoXAttention(config, layer_idx=0), query_key_value_weight=by_head((q, k, v)), dense_weight=o)
    x = wave((1, length, C), 20)
    cos, sin = GPTNeoXRotaryEmbedding(config)(x, torch.arange(length)[None])
    mask = lambda gates: None if gates is None else gates.view(1, H, 1, 1)
    return both(lambda gates: module(x, attention_mask=causal(length), head_mask=mask(gates),
                                     position_embeddings=(cos, sin))[0])


def rope_encoder(length):
    q, k, v, o = weights()
    config = RoFormerConfig(hidden_size=C, num_attention_heads=H, attention_probs_dropout_prob=0)
    module = fill(RoFormerSelfAttention(config), query_weight=q, key_weight=k, value_weight=v)
    embedding = RoFormerSinusoidalPositionalEmbedding(64, D)
    embedding._init_weight() if hasattr(embedding, "_init_weight") else None
    places = embedding((1, length)).to(TYPE)[None, None]
    mask = lambda gates: None if gates is None else gates.view(1, H, 1, 1)
    return both(lambda gates: module(wave((1, length, C), 20), sinusoidal_pos=places, head_mask=mask(gates))[0] @ o.T)


def alibi(length):
    q, k, v, o = weights()
    config = BloomConfig(hidden_size=C, n_head=H, attention_dropout=0, hidden_dropout=0)
    module = fill(BloomAttention(config, layer_idx=0), query_key_value_weight=by_head((q, k, v)), dense_weight=o)
    x = wave((1, length, C), 20)
    slopes = build_alibi_tensor(torch.ones(1, length), H, TYPE)
    mask = lambda gates: None if gates is None else gates.view(1, H, 1, 1)
    # Bloom's head mask leaves shapes as its first form had them: masked heads are zeroed columns here.
    def run(gates):
        columns = o if gates is None else o * gates.repeat_interleave(D)
        module.dense.weight.copy_(columns)
        return module(x, residual=torch.zeros_like(x), alibi=slopes, attention_mask=causal(length))[0]
    return both(run)


def t5(length, decoder):
    q, k, v, o = weights()
    config = T5Config(d_model=C, d_kv=D, num_heads=H, relative_attention_num_buckets=8,
                      relative_attention_max_distance=20, dropout_rate=0, is_decoder=decoder)
    # T5 does not divide scores: its queries are larger here.
    module = fill(T5Attention(config, has_relative_attention_bias=True, layer_idx=0), q_weight=q / math.sqrt(D),
                  k_weight=k, v_weight=v, o_weight=o, relative_attention_bias_weight=wave((8, H), 9, 2))
    mask = lambda gates: None if gates is None else gates.view(1, H, 1, 1)
    return both(lambda gates: module(wave((1, length, C), 20), mask=causal(length) if decoder else None,
                                     layer_head_mask=mask(gates), cache_position=torch.arange(length))[0])


def transformer_xl(length):
    """In float32: the module's mask value overflows in float64."""
    q, k, v, o = weights()
    module = RelPartialLearnableMultiHeadAttn(H, C, D, dropout=0, pre_lnorm=False)
    module.layer_norm = torch.nn.Identity()
    fill(module, qkv_net_weight=torch.cat((q, k, v)), o_net_weight=o, r_net_weight=wave((C, C), 9),
         r_w_bias=wave((H, D), 10), r_r_bias=wave((H, D), 11))
    module.float()
    x = wave((1, length, C), 20).float().transpose(0, 1)
    r = PositionalEmbedding(C)(torch.arange(length - 1, -1, -1.0))
    hidden = torch.ones(length, length).triu(1)[:, :, None]
    mask = lambda gates: None if gates is None else gates.float().view(1, 1, 1, H)
    return both(lambda gates: (module(x, r, attn_mask=hidden, head_mask=mask(gates))[0] - x).transpose(0, 1))


def xlnet(length):
    """The same formula, looking both ways."""
    q, k, v, o = weights()
    config = XLNetConfig(d_model=C, n_head=H, n_layer=1, dropout=0, vocab_size=8, attn_type="bi", d_inner=8)
    module = XLNetRelativeAttention(config)
    module.layer_norm = torch.nn.Identity()
    shaped = lambda weight: weight.T.reshape(C, H, D)
    fill(module, q=shaped(q), k=shaped(k), v=shaped(v), o=o.view(C, H, D), r=shaped(wave((C, C), 9)),
         r_w_bias=wave((H, D), 10), r_r_bias=wave((H, D), 11))
    x = wave((1, length, C), 20).transpose(0, 1)
    r = XLNetModel(config).relative_positional_encoding(length, length).to(TYPE)
    mask = lambda gates: None if gates is None else gates.view(1, 1, 1, H)
    return both(lambda gates: (module(x, None, None, None, r, None, head_mask=mask(gates))[0] - x).transpose(0, 1))


def shaw(length, decoder, with_values, k=3):
    """Shaw et al. 2018, equations 3 to 5, sum by sum."""
    wq, wk, wv, wo = (part.numpy() for part in weights())
    x = wave((length, C), 20).numpy()
    key_table, value_table = wave((2 * k + 1, D), 9).numpy(), wave((2 * k + 1, D), 10).numpy()
    clip = lambda i, j: min(max(j - i, -k), k) + k
    result = {}
    for name, removed in (("output", []), ("masked", REMOVED)):
        total = np.zeros((length, C))
        for h in range(H):
            if h in removed:
                continue
            part = slice(h * D, (h + 1) * D)
            q, keys, values = x @ wq[part].T, x @ wk[part].T, x @ wv[part].T
            for i in range(length):
                seen = range(i + 1) if decoder else range(length)
                e = np.array([q[i] @ (keys[j] + key_table[clip(i, j)]) / math.sqrt(D) for j in seen])
                p = np.exp(e - e.max())
                p /= p.sum()
                z = sum(p[n] * (values[j] + (value_table[clip(i, j)] if with_values else 0)) for n, j in enumerate(seen))
                total[i] += wo[:, part] @ z
        result[name] = rows(torch.tensor(total))
    return result


def sliding(length, window):
    q, k, v, o = weights()
    config = MistralConfig(hidden_size=C, num_attention_heads=H, num_key_value_heads=H, head_dim=D,
                           sliding_window=window, rope_theta=100, attn_implementation="eager")
    module = fill(MistralAttention(config, layer_idx=0), q_proj_weight=q, k_proj_weight=k, v_proj_weight=v,
                  o_proj_weight=o)
    x = wave((1, length, C), 20)
    seen = torch.tensor(window_mask(length, window), dtype=torch.bool)
    mask = torch.zeros(length, length, dtype=TYPE).masked_fill(~seen, -1e9)[None, None]
    places = MistralRotaryEmbedding(config)(x, torch.arange(length)[None])
    def run(gates):
        module.o_proj.weight.copy_(o if gates is None else o * gates.repeat_interleave(D))
        return module(x, places, mask)[0]
    return both(run)


def window_mask(length, window):
    seen = sliding_window_causal_mask_function(window)
    return [[int(bool(seen(0, 0, torch.tensor(i), torch.tensor(j)))) for j in range(length)] for i in range(length)]


def sets(length, see):
    return [[int(see(i, j)) for j in range(length)] for i in range(length)]


def visibility():
    length, l, c = 11, 4, 2
    return {
        "local_4": window_mask(length, 4),
        # A1 = {t, ..., i} with t = max(0, i - l); A2 = {j: (i - j) mod l = 0}
        "strided_local": sets(length, lambda i, j: max(0, i - l) <= j <= i),
        "strided_strided": sets(length, lambda i, j: (i - j) % l == 0 and j <= i),
        # A1 = {j: floor(j / l) = floor(i / l)}; A2 = {j: j mod l in {t, ..., l}} with t = l - c
        "fixed_block": sets(length, lambda i, j: j // l == i // l and j <= i),
        "fixed_summary": sets(length, lambda i, j: j % l in range(l - c, l + 1) and j <= i),
    }


def buckets(decoder, count, far):
    distances = torch.arange(-far, far + 1)
    return T5Attention._relative_position_bucket(distances, bidirectional=not decoder, num_buckets=count,
                                                 max_distance=128).tolist()


def slopes(heads):
    bloom = build_alibi_tensor(torch.ones(1, 2), heads, torch.float64)[:, 0, 1]
    mpt = -build_mpt_alibi_tensor(heads, 2, 8).view(heads, 2)[:, 0]
    assert torch.allclose(bloom, mpt.to(torch.float64), rtol=1e-6)
    return [float(f"{x:.9g}") for x in bloom]


def golden():
    torch.manual_seed(0)
    cases = {
        "rope_neighbours": rope_neighbours(13), "rope_halves": rope_halves(13), "rope_encoder": rope_encoder(13),
        "alibi": alibi(13), "t5_encoder": t5(26, False), "t5_decoder": t5(26, True),
        "transformer_xl_decoder": transformer_xl(13), "transformer_xl_encoder": xlnet(13),
        "shaw_encoder": shaw(9, False, True), "shaw_decoder": shaw(9, True, True), "shaw_keys": shaw(9, False, False),
        "local_decoder": sliding(80, 5),
    }
    return {"removed": REMOVED, "cases": cases, "visible": visibility(),
            "buckets": {"encoder": buckets(False, 32, 200), "decoder": buckets(True, 32, 200)},
            "slopes": {str(heads): slopes(heads) for heads in (1, 4, 6, 8, 9, 12)}}


def text():
    lines = json.dumps(golden(), indent=1)
    # A row of numbers a line.
    import re
    return re.sub(r"\[\s+([^\[\]]*?)\s+\]", lambda row: "[" + re.sub(r"\s+", "", row.group(1)) + "]", lines) + "\n"


if __name__ == "__main__":
    write_or_check(pathlib.Path(__file__).parent / "attention.json", text, __doc__)
