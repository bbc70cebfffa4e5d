#!/usr/bin/env python3
"""Head scores from transformers, to compare headprune's with: one example at a time, no padding, float64.

usage: reference_scores.py MODEL_FOLDER DATA.tsv OUT.json [--task classification|lm] [--text 0] [--label 1] [--header]
                           [--limit N] [--max-length N] [--head-mask JSON] [--ablation] [--self-check]

MODEL_FOLDER holds a checkpoint (bert, distilbert, roberta, gpt2) and its tokenizer. DATA.tsv is split at TAB only,
without quoting. --text takes the column of the text; with two, `0,1`, of a pair. Labels are integers from 0.
--max-length counts special tokens. With --task lm the text column alone is read, an example's loss is the mean over its
next-token targets, and texts of fewer than two tokens are left out.

OUT.json: {"scores": {SCORE: [layers][heads]}, "examples", "loss", "losses" [N], "tokens" [N][length], and for
classification "accuracy", "predictions" [N], "logits" [N][labels]}. SCORE is spelled as in the experiment's YAML;
larger means keep. --head-mask '{"0":[1],"3":[2,3]}' adds {"masked": {"head_mask", "loss", "accuracy", "predictions",
"logits", "losses"}} with these heads switched off. --self-check compares the gate gradients of the first example with central
differences.

Definitions (c: a head's attention-weighted values before the output projection; l: an example's loss; g = dl/dgate with
the gate multiplying c, which is transformers' head_mask; q: query positions; mean: over examples):
  gradient_l1 of gate, example   mean |g|
              of gate, signed    -mean g
              of gate, token     sum over examples and q of |<c[q], dl/dc[q]>|, over the number of (example, q) at which
                                 some head of the block has a gradient that is not 0
              of context         mean of the sum over q and d of |dl/dc[q, d]|
              of weights         d(mean of l)/dW, then the sum of its absolute values over the head's slices of the
                                 query, key, value and output weights, biases left out
     normalize: layer_l2         divided by the L2 norm of the layer; global_minmax: onto [0, 1] over all heads
  output_l2   at context         mean of the mean over q of ||c[q]||
              at projected       the same of ||W_O[h] c[q]||
     relative: true              each q's norm divided by that of the whole block's output (with its bias), or of all
                                 contexts side by side
  entropy                        mean of the mean over q of -sum p log p; keep: focused turns the sign
     scale: log_keys             divided by the log of the number of visible keys; queries that see one key left out
     skip_special: true          queries at classification and separator tokens left out
  An example left without a query does not count in entropy's mean.
  fisher                         mean of g^2; batches: K: of the square of the mean g of K neighbouring examples
  confidence                     mean of the mean over q of the largest p, separator tokens left out
  first_token                    minus the mean of the mean over q of the p of the first position
  output_norm_ratio              mean of (mean over q of ||c[q]||) over its mean over the layer's heads
  magnitude                      root of the sum of squares of the head's slices of the four weights, biases left out;
                                 norm: l1: sum of their absolute values
  ablation                       mean of l without the head (its gate 0), less that of l

Needs torch 2.13.0 and transformers 4.57.6 (version 5 has no head_mask).
"""
import argparse
import itertools
import json
import sys

import torch
import transformers

torch.set_num_threads(1)
transformers.logging.set_verbosity_error()


BATCH = 32  # of fisher's batches


class Heads:
    """The attention blocks of one model: where its four projections are, and what passed through them last."""

    def __init__(self, model):
        config = model.config
        self.family = config.model_type
        self.count, self.layers = config.num_attention_heads, config.num_hidden_layers
        self.causal = self.family == "gpt2"
        base = model.base_model
        if self.family in ("bert", "roberta"):
            self.inputs = [(layer.attention.self.query, layer.attention.self.key, layer.attention.self.value)
                           for layer in base.encoder.layer]
            self.outputs = [layer.attention.output.dense for layer in base.encoder.layer]
        elif self.family == "distilbert":
            attentions = [layer.attention for layer in base.transformer.layer]
            self.inputs = [(one.q_lin, one.k_lin, one.v_lin) for one in attentions]
            self.outputs = [one.out_lin for one in attentions]
        elif self.family == "gpt2":
            self.inputs = [(layer.attn.c_attn,) for layer in base.h]
            self.outputs = [layer.attn.c_proj for layer in base.h]
        else:
            raise SystemExit(f"model_type {self.family} is not known here")
        self.contexts = [None] * self.layers  # [1, T, H * Dv], what the output projection gets
        self.blocks = [None] * self.layers  # [1, T, d_model], what it gives
        for i, module in enumerate(self.outputs):
            module.register_forward_hook(self.keeper(i))

    def keeper(self, i):
        def keep(_, inputs, output):
            self.contexts[i], self.blocks[i] = inputs[0], output
        return keep

    def weights(self):
        """All projection weights, layer by layer, inputs before the output."""
        return [module.weight for i in range(self.layers) for module in (*self.inputs[i], self.outputs[i])]

    def by_head(self, context):
        """[1, T, H * Dv] as [H, T, Dv]."""
        return context[0].unflatten(-1, (self.count, -1)).transpose(0, 1)

    def output_slices(self, weight):
        """An output projection's weight (or its gradient) as [H, Dv, d_model]."""
        rows = weight if self.family == "gpt2" else weight.T  # [H * Dv, d_model]
        return rows.unflatten(0, (self.count, -1))

    def input_slices(self, weights):
        """Query, key and value weights (or gradients), each as [H, Dk, d_model]."""
        if self.family == "gpt2":  # Conv1D: [d_model, 3 * H * Dk], q, k and v side by side
            weights = weights[0].T.chunk(3)
        return [weight.unflatten(0, (self.count, -1)) for weight in weights]


def load(folder, task):
    family = (transformers.AutoModelForCausalLM if task == "lm" else transformers.AutoModelForSequenceClassification)
    model, info = family.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32,
                                         output_loading_info=True)
    if info["missing_keys"] or info["mismatched_keys"]:
        raise SystemExit(f"{folder}: weights missing: {sorted(info['missing_keys'])} {info['mismatched_keys']}")
    return model.double().eval().requires_grad_(False)


def read(arguments, tokenizer):
    """List of (inputs of the model, label or None)."""
    columns = [int(one) for one in arguments.text.split(",")]
    with open(arguments.data, encoding="utf-8", newline="") as file:
        lines = [line.rstrip("\r") for line in file.read().removesuffix("\n").split("\n")]
    examples = []
    for line in lines[1 if arguments.header else 0:]:
        if arguments.limit is not None and len(examples) == arguments.limit:
            break
        cells = line.split("\t")
        inputs = tokenizer(*[cells[i] for i in columns], truncation=arguments.max_length is not None,
                           max_length=arguments.max_length, return_tensors="pt")
        inputs.pop("attention_mask")  # nothing is padding
        if arguments.task == "classification":
            examples.append((dict(inputs), int(cells[arguments.label])))
        elif inputs["input_ids"].numel() > 1:
            examples.append((dict(inputs), None))
    return examples


def loss_of(logits, inputs, label):
    if label is not None:
        return torch.nn.functional.cross_entropy(logits[0], torch.tensor(label))
    return torch.nn.functional.cross_entropy(logits[0, :-1], inputs["input_ids"][0, 1:])


class Sums:
    """Running numerators [layers, heads] and denominators [layers, 1] of every score before normalisation."""

    def __init__(self, heads):
        self.heads = heads
        self.above, self.below = {}, {}
        self.weight_gradients = [torch.zeros_like(weight) for weight in heads.weights()]
        self.examples = 0
        self.batches = []  # of BATCH neighbouring examples: [summed gate gradients, examples]

    def add_to_batch(self, gradients):
        if not self.batches or self.batches[-1][1] == BATCH:
            self.batches.append([torch.zeros_like(gradients), 0])
        self.batches[-1][0] += gradients
        self.batches[-1][1] += 1

    def add(self, name, per_layer, count=None):
        """per_layer: list of [H]; count: list of numbers to divide by, 1 each if not given."""
        count = count or [1] * len(per_layer)
        self.above[name] = self.above.get(name, 0) + torch.stack(per_layer)
        self.below[name] = self.below.get(name, 0) + torch.tensor(count, dtype=torch.float64).unsqueeze(1)

    def mean(self, name):
        return torch.where(self.below[name] > 0, self.above[name] / self.below[name].clamp_min(1), 0)


def observe(model, heads, inputs, label, special_ids, sums):
    """One example: adds to the sums; returns loss and logits."""
    gates = torch.ones(heads.layers, heads.count, dtype=torch.float64, requires_grad=True)
    output = model(**inputs, head_mask=gates, output_attentions=True)
    loss = loss_of(output.logits, inputs, label)
    gradients = torch.autograd.grad(loss, [gates, *heads.contexts, *heads.weights()])
    gate_gradients, rest = gradients[0], gradients[1:]
    context_gradients, weight_gradients = rest[:heads.layers], rest[heads.layers:]

    with torch.no_grad():
        sums.examples += 1
        for total, gradient in zip(sums.weight_gradients, weight_gradients, strict=True):
            total += gradient
        sums.add("gate example", list(gate_gradients.abs()))
        sums.add("gate signed", list(-gate_gradients))
        sums.add("fisher", list(gate_gradients.square()))
        sums.add_to_batch(gate_gradients)
        add_contexts(heads, context_gradients, sums)
        add_outputs(heads, sums)
        add_entropies(heads, output.attentions, inputs["input_ids"][0], special_ids, sums)
    return loss.item(), output.logits[0].detach()


def add_contexts(heads, context_gradients, sums):
    token, carrying, context = [], [], []
    for layer in range(heads.layers):
        c, gradient = heads.by_head(heads.contexts[layer]), heads.by_head(context_gradients[layer])  # [H, T, Dv]
        token.append((c * gradient).sum(-1).abs().sum(-1))
        carrying.append(int((gradient != 0).any(-1).any(0).sum()))
        context.append(gradient.abs().sum((1, 2)))
    sums.add("gate token", token, carrying)
    sums.add("context", context)


def add_outputs(heads, sums):
    found = {key: [] for key in itertools.product(["projected", "context"], [False, True])}
    ratios = []
    for layer in range(heads.layers):
        c = heads.by_head(heads.contexts[layer])  # [H, T, Dv]
        projected = c @ heads.output_slices(heads.outputs[layer].weight)  # [H, T, d_model]
        joined, block = heads.contexts[layer][0], heads.blocks[layer][0]  # [T, H * Dv], [T, d_model]
        norms = c.norm(dim=-1).mean(-1)  # [H]
        ratios.append(norms / norms.mean())
        own = {"context": c.norm(dim=-1), "projected": projected.norm(dim=-1)}  # [H, T]
        whole = {"context": joined.norm(dim=-1), "projected": block.norm(dim=-1)}  # [T]
        for at in own:
            found[at, False].append(own[at].mean(-1))
            found[at, True].append(torch.where(own[at] == 0, 0, own[at] / whole[at]).mean(-1))
    sums.add("output_norm_ratio", ratios)
    for (at, relative), values in found.items():
        sums.add(f"output {at} {relative}", values)


def add_entropies(heads, attentions, tokens, special_ids, sums):
    length = len(tokens)
    keys = torch.arange(1, length + 1) if heads.causal else torch.full((length,), length)  # [T]
    special = torch.isin(tokens, torch.tensor(special_ids, dtype=torch.int64))  # [T]
    ends = special.clone()
    ends[0] = False  # what stands before a text does not end it
    sums.add("confidence", [one[0].max(-1).values[:, ~ends].mean(-1) for one in attentions])
    sums.add("first_token", [-one[0, :, :, 0].mean(-1) for one in attentions])
    entropies = [torch.special.entr(one[0]).sum(-1) for one in attentions]  # [H, T]
    for scale, skip in itertools.product(["log_keys", "nats"], [False, True]):
        rows = keys > 1 if scale == "log_keys" else torch.ones(length, dtype=torch.bool)
        if skip:
            rows = rows & ~special
        divisor = keys[rows].double().log() if scale == "log_keys" else 1
        if rows.any():
            values = [(entropy[:, rows] / divisor).mean(-1) for entropy in entropies]
            sums.add(f"entropy {scale} {skip}", values)


def normalised(values, how):
    if how == "layer_l2":
        norms = values.norm(dim=1, keepdim=True)
        return torch.where(norms > 0, values / norms, 0)
    if how == "global_minmax":
        span = values.max() - values.min()
        return (values - values.min()) / span if span > 0 else torch.zeros_like(values)
    return values


def weight_score(heads, sums):
    """[layers, heads] from the summed gradients of all projection weights."""
    gradients, per_layer = iter(sums.weight_gradients), []
    for layer in range(heads.layers):
        inputs = [next(gradients) for _ in heads.inputs[layer]]
        slices = [*heads.input_slices(inputs), heads.output_slices(next(gradients))]  # each [H, ., .]
        per_layer.append(sum((one / sums.examples).abs().sum((1, 2)) for one in slices))
    return torch.stack(per_layer)


def magnitude(heads, size):
    """[layers, heads]; `size` sums over the last two axes."""
    weights, per_layer = iter(heads.weights()), []
    for layer in range(heads.layers):
        inputs = [next(weights).detach() for _ in heads.inputs[layer]]
        slices = [*heads.input_slices(inputs), heads.output_slices(next(weights).detach())]
        per_layer.append(sum(size(one) for one in slices))
    return torch.stack(per_layer)


def ablation(model, heads, examples, losses):
    """[layers, heads]: rise of the mean loss without each head."""
    rises = torch.zeros(heads.layers, heads.count, dtype=torch.float64)
    for layer, head in itertools.product(range(heads.layers), range(heads.count)):
        without = masked_outcomes(model, heads, examples, {layer: [head]})["loss"]
        rises[layer, head] = without - sum(losses) / len(losses)
    return rises


def all_scores(heads, sums):
    """{YAML spelling: [layers][heads]}, larger = keep."""
    raw = {f"of: gate, absolute: {one}": sums.mean(f"gate {one}") for one in ("example", "token", "signed")}
    raw |= {"of: context": sums.mean("context"), "of: weights": weight_score(heads, sums)}
    scores = {}
    for (options, values), how in itertools.product(raw.items(), ["none", "layer_l2", "global_minmax"]):
        scores[f"gradient_l1 {{{options}, normalize: {how}}}"] = normalised(values, how)
    flag = {False: "false", True: "true"}
    for at, relative in itertools.product(["projected", "context"], flag):
        scores[f"output_l2 {{at: {at}, relative: {flag[relative]}}}"] = sums.mean(f"output {at} {relative}")
    for name in ("fisher", "confidence", "first_token", "output_norm_ratio"):
        scores[name] = sums.mean(name)
    scores[f"fisher {{batches: {BATCH}}}"] = sum((sum_ / n).square() for sum_, n in sums.batches) / len(sums.batches)
    scores["magnitude"] = magnitude(heads, lambda one: one.square().sum((1, 2))).sqrt()
    scores["magnitude {norm: l1}"] = magnitude(heads, lambda one: one.abs().sum((1, 2)))
    for scale, skip in itertools.product(["log_keys", "nats"], flag):
        name = f"entropy {scale} {skip}"
        for keep, sign in (("focused", -1), ("diffuse", 1)):
            if name in sums.above:  # not where no example has a query that counts
                spelled = f"entropy {{keep: {keep}, scale: {scale}, skip_special: {flag[skip]}}}"
                scores[spelled] = sign * sums.mean(name)
    return {name: values.tolist() for name, values in scores.items()}


def outcomes(losses, logits, labels):
    """What is reported of one pass over the data."""
    result = {"loss": sum(losses) / len(losses)}
    if labels[0] is not None:
        predictions = [int(one.argmax()) for one in logits]
        result["accuracy"] = sum(p == label for p, label in zip(predictions, labels)) / len(labels)
        result |= {"predictions": predictions, "logits": [one.tolist() for one in logits]}
    return result


def masked_outcomes(model, heads, examples, removed):
    mask = torch.ones(heads.layers, heads.count, dtype=torch.float64)
    for layer, gone in removed.items():
        mask[int(layer), gone] = 0
    losses, logits = [], []
    with torch.no_grad():
        for inputs, label in examples:
            output = model(**inputs, head_mask=mask).logits
            losses.append(loss_of(output, inputs, label).item())
            logits.append(output[0])
    return {"head_mask": removed, **outcomes(losses, logits, [label for _, label in examples]), "losses": losses}


def self_check(model, heads, inputs, label, step=1e-5):
    """Largest relative error of the gate gradients of one example against central differences."""
    def loss_at(gates):
        return loss_of(model(**inputs, head_mask=gates).logits, inputs, label)

    ones = torch.ones(heads.layers, heads.count, dtype=torch.float64)
    gates = ones.clone().requires_grad_()
    exact, = torch.autograd.grad(loss_at(gates), gates)
    found = torch.zeros_like(exact)
    with torch.no_grad():
        for layer, head in itertools.product(range(heads.layers), range(heads.count)):
            moved = torch.zeros_like(ones)
            moved[layer, head] = step
            found[layer, head] = (loss_at(ones + moved) - loss_at(ones - moved)) / (2 * step)
    return ((found - exact).abs().max() / exact.abs().max()).item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", metavar="MODEL_FOLDER")
    parser.add_argument("data", metavar="DATA.tsv")
    parser.add_argument("out", metavar="OUT.json")
    parser.add_argument("--task", choices=["classification", "lm"], default="classification")
    parser.add_argument("--text", default="0", help="column of the text, or two for a pair: 0,1")
    parser.add_argument("--label", type=int, default=1, help="column of the label")
    parser.add_argument("--header", action="store_true", help="the first line is not an example")
    parser.add_argument("--limit", type=int, help="only the first N examples")
    parser.add_argument("--max-length", type=int, help="cut at N tokens, special tokens included")
    parser.add_argument("--head-mask", type=json.loads, metavar="JSON", help='{"layer": [heads]} to switch off')
    parser.add_argument("--ablation", action="store_true", help="also score by ablation: a pass for each head")
    parser.add_argument("--self-check", action="store_true", help="gate gradients against central differences")
    arguments = parser.parse_args()

    model = load(arguments.model, arguments.task)
    tokenizer = transformers.AutoTokenizer.from_pretrained(arguments.model)
    heads = Heads(model)
    examples = read(arguments, tokenizer)
    if not examples:
        raise SystemExit(f"{arguments.data}: no examples")
    if arguments.self_check:
        print(f"gate gradients against central differences: {self_check(model, heads, *examples[0]):.1e}")
    for weight in heads.weights():
        weight.requires_grad_()
    special_ids = [one for one in (tokenizer.cls_token_id, tokenizer.sep_token_id) if one is not None]
    sums, losses, logits = Sums(heads), [], []
    for inputs, label in examples:
        loss, found = observe(model, heads, inputs, label, special_ids, sums)
        losses.append(loss)
        logits.append(found)
    result = {"transformers": transformers.__version__, "examples": len(examples),
              **outcomes(losses, logits, [label for _, label in examples]), "losses": losses,
              "tokens": [inputs["input_ids"][0].tolist() for inputs, _ in examples], "scores": all_scores(heads, sums)}
    if arguments.ablation:
        result["scores"]["ablation"] = ablation(model, heads, examples, losses).tolist()
    if arguments.head_mask is not None:
        result["masked"] = masked_outcomes(model, heads, examples, arguments.head_mask)
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in result.items()]
    with open(arguments.out, "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{len(examples)} examples, loss {result['loss']:.6f}" +
          (f", accuracy {result['accuracy']:.4f}" if "accuracy" in result else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
