#!/usr/bin/env python3
"""Makes a small Marian checkpoint with what transformers computes from it, and with the texts it writes.

usage: make_marian.py [--check] [--out FOLDER]

Writes OUT (default: hf/marian beside this script) as `save_pretrained` writes it, and expected.json. With --check
nothing is written: the values are computed again from the committed weights and compared with what is there; exit 1 if
they differ.

expected.json (float64 computation on the float32 weights, 9 significant digits):
  batch           tokens [N][S] and decoder_tokens [N][T] padded at the end; lengths [N], decoder_lengths [N]; targets
                  of the real positions
  logits          [N][decoder length][vocabulary], of the whole batch with an attention mask
  masked          list of {removed, logits}: the batch with head_mask, decoder_head_mask and cross_attn_head_mask 0 at
                  the removed heads {kind: {"layer": [heads]}}; the last one empties a layer of every kind
  losses [N]      mean cross entropy over the targets of each example
  gate_gradients  {kind: [N][layers][heads]}: d losses[i] / d head mask, at ones
  texts           list of {width, length_penalty, limits, tokens [N]}: beam search as src/task/beam_search.h says it,
                  written here a second time: a whole pass for every hypothesis at every step, sorted in full
Width 1 is also compared with transformers' own generate(num_beams=1).

Needs torch 2.13.0, transformers 4.57.6 (version 5 has no head_mask).
"""
import argparse
import json
import sys
from pathlib import Path

import torch
import transformers
START = PAD = 29
END = 0
STEPS = 700
LENGTHS, DECODER_LENGTHS = [7, 3, 10, 1, 8, 5], [5, 9, 2, 4, 3, 6]
KINDS = {"encoder": "head_mask", "decoder": "decoder_head_mask", "cross": "cross_attn_head_mask"}
LAYERS = {"encoder": 2, "decoder": 3, "cross": 3}
HEADS = 3
MASKED = [{"encoder": {"1": [0, 2]}}, {"decoder": {"0": [1], "2": [0]}}, {"cross": {"0": [0, 1, 2], "1": [2]}},
          {"encoder": {"0": [0, 1, 2], "1": [1]}, "decoder": {"1": [0, 1, 2]}, "cross": {"2": [0, 1, 2]}}]
SEARCHES = [(1, 0.0), (1, 0.6), (3, 0.0), (3, 0.6), (4, 1.5), (20, 0.6)]
LIMITS = [12, 9, 15, 6, 14, 8]


def rounded(value):
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


def new_model():
    torch.manual_seed(11)
    config = transformers.MarianConfig(
        vocab_size=30, d_model=18, encoder_layers=LAYERS["encoder"], decoder_layers=LAYERS["decoder"],
        encoder_attention_heads=HEADS, decoder_attention_heads=HEADS, encoder_ffn_dim=20, decoder_ffn_dim=20,
        max_position_embeddings=24, activation_function="swish", scale_embedding=True, pad_token_id=PAD,
        decoder_start_token_id=START, eos_token_id=END, forced_eos_token_id=None, dropout=0.1)
    model = transformers.MarianMTModel(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "embed_positions" not in name:
                parameter.normal_(0, 0.3)
                if "layer_norm.weight" in name:
                    parameter.add_(1)
        model.final_logits_bias.normal_(0, 0.2)
    # A model of random weights writes one token for ever. This one half learns to write its source backwards.
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for step in range(STEPS):
        tokens = torch.randint(1, 29, (32, 1 + step % 9))
        targets = torch.cat([tokens.flip(1), torch.full((32, 1), END)], 1)
        decoder = torch.cat([torch.full((32, 1), START), tokens.flip(1)], 1)
        source = torch.cat([tokens, torch.full((32, 1), END)], 1)
        optimizer.zero_grad()
        values = model(input_ids=source, decoder_input_ids=decoder).logits
        torch.nn.functional.cross_entropy(values.flatten(0, 1), targets.flatten()).backward()
        optimizer.step()
    return model.eval()


def make_batch():
    torch.manual_seed(12)
    # Neither padding nor the end inside a text.
    draw = lambda rows, columns: torch.randint(1, 29, (rows, columns))
    tokens, decoder = draw(len(LENGTHS), max(LENGTHS)), draw(len(LENGTHS), max(DECODER_LENGTHS))
    decoder[:, 0] = START
    targets = []
    for i, (source, target) in enumerate(zip(LENGTHS, DECODER_LENGTHS)):
        tokens[i, source - 1] = END
        tokens[i, source:] = PAD
        decoder[i, target:] = PAD
        targets.append(decoder[i, 1:target].tolist() + [END])
    return tokens, decoder, targets


def masks(removed):
    result = {}
    for kind, argument in KINDS.items():
        mask = torch.ones(LAYERS[kind], HEADS, dtype=torch.float64)
        for layer, heads in removed.get(kind, {}).items():
            mask[int(layer), heads] = 0
        result[argument] = mask
    return result


def logits(model, tokens, decoder, **more):
    present = torch.arange(tokens.size(1)) < torch.tensor(LENGTHS)[:, None]
    # A copy with the ids of padding: what the embedding gives there is not looked at.
    return model(input_ids=tokens, attention_mask=present.long(), decoder_input_ids=decoder, **more).logits


def real(values):
    return [values[i, :length].tolist() for i, length in enumerate(DECODER_LENGTHS)]


def example_loss(values, targets):
    return torch.nn.functional.cross_entropy(values[:len(targets)], torch.tensor(targets))


def write(model, source, width, alpha, limit):
    """The best text of one sentence; see src/task/beam_search.h."""
    going_on, aside = [([], 0.0)], []
    while True:
        candidates = []
        for rank, (text, log_p) in enumerate(going_on):
            values = model(input_ids=source[None], decoder_input_ids=torch.tensor([[START] + text])).logits[0, -1]
            values[START] = -torch.inf
            for token, value in enumerate(torch.log_softmax(values, -1).tolist()):
                # The probability is of all tokens, then the start token is left out.
                candidates.append((log_p + value, -rank, -token, text))
        candidates.sort(reverse=True, key=lambda c: c[:3])
        going_on = []
        for place, (log_p, _, token, text) in enumerate(candidates):
            if len(going_on) == width:
                break
            if -token == END:
                if place < width:
                    aside.append((log_p / ((5 + len(text) + 1) / 6) ** alpha, text))
            else:
                going_on.append((text + [-token], log_p))
        if len(aside) >= width:
            break
        if len(going_on[0][0]) >= limit:
            aside += [(log_p / ((5 + len(text)) / 6) ** alpha, text) for text, log_p in going_on]
            break
    return max(aside, key=lambda one: one[0])[1]


def expected(model):
    model = model.double()
    model.set_attn_implementation("eager")
    tokens, decoder, targets = make_batch()
    result = {"transformers": transformers.__version__, "torch": torch.__version__,
              "batch": {"tokens": tokens.tolist(), "decoder_tokens": decoder.tolist(), "lengths": LENGTHS,
                        "decoder_lengths": DECODER_LENGTHS, "targets": targets}}
    with torch.no_grad():
        result["logits"] = real(logits(model, tokens, decoder))
        result["masked"] = [{"removed": removed, "logits": real(logits(model, tokens, decoder, **masks(removed)))}
                            for removed in MASKED]
    result["losses"], result["gate_gradients"] = [], {kind: [] for kind in KINDS}
    for i in range(len(LENGTHS)):
        gates = {argument: mask.requires_grad_() for argument, mask in masks({}).items()}
        loss = example_loss(logits(model, tokens, decoder, **gates)[i], targets[i])
        result["losses"].append(loss.item())
        for (kind, argument), gradient in zip(KINDS.items(), torch.autograd.grad(loss, list(gates.values()))):
            result["gate_gradients"][kind].append(gradient.tolist())
    result["texts"] = []
    with torch.no_grad():
        for width, alpha in SEARCHES:
            texts = [write(model, tokens[i, :length], width, alpha, limit)
                     for i, (length, limit) in enumerate(zip(LENGTHS, LIMITS))]
            result["texts"].append({"width": width, "length_penalty": alpha, "limits": LIMITS, "tokens": texts})
            if width > 1:
                continue
            for i, (length, limit) in enumerate(zip(LENGTHS, LIMITS)):
                theirs = model.generate(input_ids=tokens[i:i + 1, :length], num_beams=1, do_sample=False,
                                        max_new_tokens=limit, bad_words_ids=[[START]])[0].tolist()[1:]
                assert [token for token in theirs if token != END] == texts[i], (theirs, texts[i])
    return rounded(result)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "hf" / "marian")
    options = parser.parse_args()
    if not options.check:
        new_model().save_pretrained(options.out)
        (options.out / "generation_config.json").unlink(missing_ok=True)
    text = json.dumps(expected(transformers.MarianMTModel.from_pretrained(options.out).eval()),
                      separators=(",", ":")) + "\n"
    if options.check:
        if (options.out / "expected.json").read_text() != text:
            sys.exit("make_marian.py: the committed files are not what is computed here")
        return
    (options.out / "expected.json").write_text(text)


if __name__ == "__main__":
    main()
