#!/usr/bin/env python3
"""Makes small random checkpoints of bert, distilbert, roberta and gpt2 with what transformers computes from them.

usage: make_hf_models.py [--check] [--out FOLDER] [CASE ...]

Writes, for each case, OUT/CASE/ (default: hf/ beside this script) as `save_pretrained` writes it (config.json and
model.safetensors, float32), and expected.json. With --check nothing is written: the weights are drawn again and the
expected values computed again, from the committed weights, and both are compared with what is there; exit 1 if they
differ.

expected.json (numbers: float64 computation on the float32 weights, 9 significant digits):
  transformers, torch     versions that computed it
  output                  what the values are: "logits" or "last_hidden_state"; also the name of their keys
  batch                   tokens [N][T] padded at the end with pad_id; lengths [N]; token_types [N][T] (bert only);
                          labels [N] (classifiers only); numbers [N] (regression only)
  OUTPUT                  of the whole batch, with an attention mask. Classifiers: [N][labels]; regression: [N][1]. Others:
                          [N][length][width], real positions only
  alone                   {OUTPUT}: the same, each sequence by itself without padding
  masked                  list of {removed, OUTPUT}: padded batch, head_mask 0 at the removed heads {"layer": [heads]};
                          the second one empties a whole layer
  pruned                  {removed, OUTPUT}: padded batch, after prune_heads() on a fresh copy
  losses [N]              cross entropy by example; regression: squared error; gpt2: mean over the next-token targets of the sequence
  gate_gradients          [N][layers][heads]: d losses[i] / d head_mask of example i, at ones, padded batch
  padding_inside          roberta: {tokens, lengths, logits}: sequences in which the pad id occurs as a token of the text
Cases without values of their own: {"same_as": CASE}.

Needs torch 2.13.0, transformers 4.57.6 (version 5 has neither head_mask nor prune_heads), safetensors, numpy.
"""
import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

import numpy
import torch
import transformers
from safetensors.torch import load_file, save_file

D_MODEL, LAYERS, HEADS, D_FF, VOCABULARY, POSITIONS = 24, 3, 4, 32, 50, 20
LABELS = 3
LENGTHS = [9, 20, 1, 5, 13]  # the longest has every position; not sorted
LENGTHS_LM = [6, 20, 2, 3, 8]  # a sequence of one token has no target
MASKED = [{0: [2], 1: [0, 3]}, {1: [0, 1, 2, 3], 2: [1]}]
PRUNED = {0: [1], 2: [0, 3]}
STD = 0.3  # transformers' own 0.02 makes attention almost uniform
DIGITS = 9


def sizes(**more):
    return dict(hidden_size=D_MODEL, num_hidden_layers=LAYERS, num_attention_heads=HEADS, intermediate_size=D_FF,
                vocab_size=VOCABULARY, **more)


def bert_config(**more):
    return transformers.BertConfig(**sizes(max_position_embeddings=POSITIONS, type_vocab_size=2, layer_norm_eps=3e-3),
                                   **more)


# case: (seed, class, configuration). DistilBERT's eps is 1e-12 in its code; its configuration has no key for it.
CASES = {
    "bert_classifier": (1, transformers.BertForSequenceClassification, lambda: bert_config(num_labels=LABELS)),
    "bert_regression": (6, transformers.BertForSequenceClassification, lambda: bert_config(num_labels=1)),
    "bert_bare": (2, transformers.BertModel, bert_config),
    "distilbert_classifier": (
        3, transformers.DistilBertForSequenceClassification,
        lambda: transformers.DistilBertConfig(dim=D_MODEL, n_layers=LAYERS, n_heads=HEADS, hidden_dim=D_FF,
                                              vocab_size=VOCABULARY, max_position_embeddings=POSITIONS,
                                              num_labels=LABELS)),
    "roberta_classifier": (
        4, transformers.RobertaForSequenceClassification,
        lambda: transformers.RobertaConfig(**sizes(max_position_embeddings=POSITIONS + 2, type_vocab_size=1,
                                                   layer_norm_eps=2e-3, pad_token_id=1), num_labels=LABELS)),
    "gpt2_lm": (
        5, transformers.GPT2LMHeadModel,
        lambda: transformers.GPT2Config(n_embd=D_MODEL, n_layer=LAYERS, n_head=HEADS, n_inner=D_FF,
                                        vocab_size=VOCABULARY, n_positions=POSITIONS, layer_norm_epsilon=4e-3,
                                        activation_function="gelu_new", bos_token_id=49, eos_token_id=49)),
}
# Folders with the weights of bert_classifier in another form.
COPIES = {"bert_sharded": "bert_classifier", "bert_old_names": "bert_classifier"}


def randomise(model, seed):
    """Every parameter drawn anew, biases and layer norms too. numpy's RandomState: its stream never changes."""
    random = numpy.random.RandomState(seed)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            values = random.standard_normal(tuple(parameter.shape)) * STD
            is_norm = "norm" in name.lower() or ".ln_" in name
            if is_norm and name.endswith("weight"):
                values += 1
            parameter.copy_(torch.from_numpy(values.astype(numpy.float32)))


def write_model(case, folder):
    if case in COPIES:
        write_copy(case, folder)
        return
    seed, cls, config = CASES[case]
    model = cls(config())
    randomise(model, seed)
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)


def write_copy(case, folder):
    with tempfile.TemporaryDirectory() as scratch:
        original = Path(scratch)
        write_model(COPIES[case], original)
        if case == "bert_sharded":
            load(COPIES[case], original, torch.float32).save_pretrained(folder, max_shard_size="25KB")
            return
        # As the checkpoints of 2018 and 2019: TensorFlow's names of layer norms, and a buffer among the tensors.
        tensors = {}
        for name, tensor in load_file(original / "model.safetensors").items():
            name = name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
            tensors[name] = tensor
        tensors["bert.embeddings.position_ids"] = torch.arange(POSITIONS).unsqueeze(0)  # [1, positions] int64
        folder.mkdir(parents=True, exist_ok=True)
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
        shutil.copy(original / "config.json", folder / "config.json")


def load(case, folder, dtype=torch.float64):
    """The model as transformers reads it from the folder; nothing may be missing or left over."""
    cls = CASES[COPIES.get(case, case)][1]
    model, info = cls.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32,
                                      output_loading_info=True)
    problems = {key: value for key, value in info.items() if value}
    if problems:
        raise SystemExit(f"{case}: transformers reports {problems}")
    return model.to(dtype).eval()


class Batch:
    """N sequences, drawn with the case's seed; the pad id occurs at padding only."""

    def __init__(self, case, config):
        seed, cls, _ = CASES[case]
        random = numpy.random.RandomState(1000 + seed)
        self.language = cls is transformers.GPT2LMHeadModel
        self.pad_id = 1 if config.model_type == "roberta" else 0
        self.lengths = LENGTHS_LM if self.language or cls is transformers.BertModel else LENGTHS
        width = max(self.lengths)
        self.tokens = torch.full((len(self.lengths), width), self.pad_id)  # [N, T]
        self.types = torch.zeros_like(self.tokens) if config.model_type == "bert" else None
        for i, length in enumerate(self.lengths):
            self.tokens[i, :length] = torch.from_numpy(random.randint(self.pad_id + 1, VOCABULARY, length))
            if self.types is not None:
                self.types[i, random.randint(1, length + 1):length] = 1  # the second sentence of a pair
        self.one_each = config.architectures[0].endswith("SequenceClassification")
        self.labels = self.numbers = None
        if self.one_each and config.num_labels == 1:
            self.numbers = torch.from_numpy(random.standard_normal(len(self.lengths)))
        elif self.one_each:
            self.labels = torch.from_numpy(random.randint(0, LABELS, len(self.lengths)))
        self.present = torch.arange(width) < torch.tensor(self.lengths).unsqueeze(1)  # [N, T]

    def inputs(self):
        inputs = {"input_ids": self.tokens, "attention_mask": self.present.long()}
        return inputs if self.types is None else inputs | {"token_type_ids": self.types}

    def alone(self, i):
        """Example i without padding and without a mask."""
        return {key: value[i:i + 1, :self.lengths[i]] for key, value in self.inputs().items() if "mask" not in key}

    def to_json(self):
        result = {"pad_id": self.pad_id, "tokens": self.tokens.tolist(), "lengths": self.lengths}
        if self.types is not None:
            result["token_types"] = self.types.tolist()
        if self.labels is not None:
            result["labels"] = self.labels.tolist()
        if self.numbers is not None:
            result["numbers"] = rounded(self.numbers)
        return result

    def losses(self, logits):
        """One loss an example. [N]"""
        if self.labels is not None:
            return torch.nn.functional.cross_entropy(logits, self.labels, reduction="none")
        if self.numbers is not None:
            return (logits.squeeze(1) - self.numbers).square()
        losses = []
        for i, length in enumerate(self.lengths):
            losses.append(torch.nn.functional.cross_entropy(logits[i, :length - 1], self.tokens[i, 1:length]))
        return torch.stack(losses)


def head_mask(removed):
    mask = torch.ones(LAYERS, HEADS, dtype=torch.float64)
    for layer, heads in removed.items():
        mask[layer, heads] = 0
    return mask


def rounded(value):
    if isinstance(value, torch.Tensor):
        value = value.detach().tolist()
    return [rounded(one) for one in value] if isinstance(value, list) else float(f"{value:.{DIGITS - 1}e}")


def difference(a, b):
    return max((x - y).abs().max().item() for x, y in zip(a, b, strict=True))


def expected(case, folder):
    """Everything that expected.json holds."""
    if case in COPIES:
        original = load(COPIES[case], folder.parent / COPIES[case]).state_dict()
        copy = load(case, folder).state_dict()
        if original.keys() != copy.keys() or not all(torch.equal(copy[name], original[name]) for name in copy):
            raise SystemExit(f"{case}: transformers does not read the weights of {COPIES[case]} from it")
        return {"same_as": COPIES[case]}
    model = load(case, folder)
    batch = Batch(case, model.config)
    output = "last_hidden_state" if case == "bert_bare" else "logits"

    def values(model, inputs, lengths, **more):
        """List over examples: [labels], or [length, width] at real positions."""
        found = getattr(model(**inputs, **more), output)
        return list(found) if batch.one_each else [found[i, :n] for i, n in enumerate(lengths)]

    def as_json(found):
        return [rounded(one) for one in found]

    result = {"transformers": transformers.__version__, "torch": torch.__version__.split("+")[0], "output": output,
              "batch": batch.to_json()}
    with torch.no_grad():
        padded = values(model, batch.inputs(), batch.lengths)
        alone = [values(model, batch.alone(i), [n])[0] for i, n in enumerate(batch.lengths)]
        masked = [values(model, batch.inputs(), batch.lengths, head_mask=head_mask(one)) for one in MASKED]
        smaller = load(case, folder, torch.float32)
        smaller.prune_heads(PRUNED)
        smaller.double()  # only now: the layers that prune_heads makes are float32
        pruned = values(smaller, batch.inputs(), batch.lengths)
        gated = values(model, batch.inputs(), batch.lengths, head_mask=head_mask(PRUNED))
    if difference(padded, alone) > 1e-10 or difference(pruned, gated) > 1e-10:
        raise SystemExit(f"{case}: padding or pruning changes values: {difference(padded, alone)}, "
                         f"{difference(pruned, gated)}")
    result[output] = as_json(padded)
    result["alone"] = {output: as_json(alone)}
    result["masked"] = [{"removed": one, output: as_json(found)} for one, found in zip(MASKED, masked)]
    result["pruned"] = {"removed": PRUNED, output: as_json(pruned)}
    if model.config.model_type == "roberta":
        result["padding_inside"] = padding_inside(model, batch)
    if output == "logits":
        # A gate of its own for each example, so that examples do not mix.
        gates = torch.ones(LAYERS, len(batch.lengths), HEADS, 1, 1, dtype=torch.float64, requires_grad=True)
        losses = batch.losses(model(**batch.inputs(), head_mask=gates).logits)
        if batch.numbers is not None:  # the loss that transformers trains with
            theirs = model(**batch.inputs(), labels=batch.numbers).loss
            if abs(theirs - losses.mean()) > 1e-10:
                raise SystemExit(f"{case}: the mean squared error is {losses.mean()}, transformers says {theirs}")
        gradients, = torch.autograd.grad(losses.sum(), gates)
        result["losses"] = rounded(losses)
        result["gate_gradients"] = rounded(gradients[..., 0, 0].transpose(0, 1))  # [N, layers, heads]
    return result


def padding_inside(model, batch):
    """The pad id at the start, in the middle, twice in a row and at the end of sequences; the attention mask covers it."""
    tokens = batch.tokens.clone()
    for i, places in enumerate([[2, 3, 8], [0, 7], [0], [4], []]):
        tokens[i, places] = batch.pad_id
    with torch.no_grad():
        logits = model(input_ids=tokens, attention_mask=batch.present.long()).logits
    return {"tokens": tokens.tolist(), "lengths": batch.lengths, "logits": [rounded(one) for one in logits]}


def to_text(result):
    """One key a line: small, and a difference shows where it is."""
    lines = [f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}" for key, value in result.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def mismatch(a, b, where=""):
    """The first place where two JSON values differ by more than rounding, or None."""
    if isinstance(a, float) and isinstance(b, float):
        return None if abs(a - b) <= 1e-8 * max(1, abs(a), abs(b)) else f"{where}: {a} and {b}"
    if type(a) is not type(b):
        return f"{where}: {a!r} and {b!r}"
    if isinstance(a, dict):
        if a.keys() != b.keys():
            return f"{where}: keys {sorted(a)} and {sorted(b)}"
        return next(filter(None, (mismatch(a[key], b[key], f"{where}.{key}") for key in a)), None)
    if isinstance(a, list):
        if len(a) != len(b):
            return f"{where}: {len(a)} and {len(b)} entries"
        return next(filter(None, (mismatch(x, y, f"{where}[{i}]") for i, (x, y) in enumerate(zip(a, b)))), None)
    return None if a == b else f"{where}: {a!r} and {b!r}"


def check(case, out):
    """What differs between the committed folder and a new one; None if nothing."""
    folder = out / case
    with tempfile.TemporaryDirectory() as scratch:
        fresh = Path(scratch) / case
        write_model(case, fresh)
        names = sorted(path.name for path in fresh.iterdir())
        there = sorted(path.name for path in folder.iterdir() if path.name != "expected.json")
        if names != there:
            return f"files {there} instead of {names}"
        for name in names:
            if name.endswith(".json"):
                found = mismatch(json.loads((folder / name).read_text()), json.loads((fresh / name).read_text()), name)
                if found:
                    return found
                continue
            ours, theirs = load_file(folder / name), load_file(fresh / name)
            if ours.keys() != theirs.keys():
                return f"{name}: other tensors: {sorted(ours.keys() ^ theirs.keys())}"
            for tensor in ours:
                if ours[tensor].dtype != theirs[tensor].dtype or ours[tensor].shape != theirs[tensor].shape:
                    return f"{name}: {tensor} has another type or shape"
                if not torch.allclose(ours[tensor], theirs[tensor], rtol=0, atol=1e-6):
                    return f"{name}: {tensor} has other values"
    committed = json.loads((folder / "expected.json").read_text())
    again = json.loads(to_text(expected(case, folder)))
    return mismatch(committed, again, "expected.json")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with what is there; write nothing")
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent / "hf")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="default: all")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    known = [*CASES, *COPIES]
    unknown = sorted(set(arguments.cases) - set(known))
    if unknown:
        parser.error(f"no such case: {', '.join(unknown)}; there are {', '.join(known)}")
    failed = False
    for case in arguments.cases or known:
        folder = arguments.out / case
        if arguments.check:
            found = check(case, arguments.out)
            print(f"{case}: {found or 'equal'}")
            failed |= found is not None
            continue
        if folder.exists():
            shutil.rmtree(folder)
        write_model(case, folder)
        (folder / "expected.json").write_text(to_text(expected(case, folder)))
        print(f"{case}: " + ", ".join(f"{path.name} {path.stat().st_size}" for path in sorted(folder.iterdir())))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
