#!/usr/bin/env python3
"""Compares what headprune says that heads do with plain numpy over transformers' attention weights.

usage: agree_analyses.py RUN MODEL_FOLDER [--report DEV.tsv --train TRAIN.tsv [--max-length N]] [--conllu F] [--seed N]

RUN is a run folder whose `analyses` looked at every sentence of DEV.tsv, with the frequencies of TRAIN.tsv (lines
"sentence TAB label"), or holds `induction`, whose random texts of --seed are drawn again here; of a treebank
(--conllu) `syntactic` and, where there is one, `semantic` under the label semantic_words. MODEL_FOLDER is the model
that was analysed (RUN/model, or the folder that was loaded). All default options. The reference is float64, one text at
a time. Prints the largest difference of each column and exits 1 when one is above 1e-5 (a share of queries, in which one
row of a close tie counts 1/n: above 1.5/n).

Needs torch, transformers 4.57, numpy, scipy and safetensors.
"""
import argparse
import csv
import sys
from collections import Counter
from pathlib import Path

import numpy
import torch
from safetensors.numpy import load_file
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM, AutoTokenizer

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def split_mix(z):
    z = (z + GOLDEN) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def stream_seed(seed, name):
    mixed = split_mix(seed)
    for byte in name.encode():
        mixed = split_mix(mixed ^ byte)
    return mixed


class Random:
    """xoshiro256** (Blackman and Vigna 2018), seeded by SplitMix64."""

    def __init__(self, seed):
        self.state = []
        for _ in range(4):
            self.state.append(split_mix(seed))
            seed = (seed + GOLDEN) & MASK

    def next(self):
        def rotate(value, by):
            return ((value << by) | (value >> (64 - by))) & MASK

        s = self.state
        result = (rotate((s[1] * 5) & MASK, 7) * 9) & MASK
        shifted = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= shifted
        s[3] = rotate(s[3], 45)
        return result

    def below(self, n):
        threshold = ((1 << 64) - n) % n
        value = self.next()
        while value < threshold:
            value = self.next()
        return value % n


class Columns:
    """Sums over queries (or pairs), [layers, heads] a column, and how many counted."""

    def __init__(self):
        self.sums, self.counts = {}, Counter()

    def add(self, name, values, counted):
        """values [layers, heads, T], counted [T]"""
        self.sums[name] = self.sums.get(name, 0) + (values * counted).sum(-1)
        self.counts[name] += int(counted.sum())

    def add_sum(self, name, values, counted):
        """values [layers, heads]: summed already, of `counted` pairs"""
        self.sums[name] = self.sums.get(name, 0) + values
        self.counts[name] += counted

    def of(self, name):
        return self.sums[name] / self.counts[name]


def largest_on(weights, hit):
    """weights [layers, heads, T, S], hit [T, S]: 1 where the only largest weight of a row is on a hit."""
    top = weights.max(-1, keepdims=True)
    at_top = weights == top
    return (at_top & hit).any(-1) & (at_top.sum(-1) == 1)


def add_semantic(columns, weights, same):
    """weights [layers, heads, words, words]; same [words]: equal for the same content word, -1 another word, None no word"""
    words = range(len(same))
    content = [one is not None and one != -1 for one in same]
    equal, unequal, to_content, to_other = [], {}, [], {}
    for i in words:
        for j in words:
            if i == j or same[i] is None or same[j] is None:
                continue
            if j < i and content[i] and content[j]:
                if same[i] == same[j]:
                    equal.append((i, j))
                else:
                    unequal.setdefault(i - j, []).append((i, j))
            if content[j]:
                to_content.append((i, j))
            else:
                to_other.setdefault(i - j, []).append((i, j))
    places = lambda pairs, side: numpy.array([pair[side] for pair in pairs], int)
    at = lambda pairs: weights[..., places(pairs, 0), places(pairs, 1)]
    means = lambda others: {distance: at(pairs).mean(-1) for distance, pairs in others.items()}

    def above(pairs, others):
        compared = [(i, j) for i, j in pairs if i - j in others]
        mean = means({distance: others[distance] for distance in {i - j for i, j in compared}})
        return at(compared).sum(-1), sum((mean[i - j] for i, j in compared), numpy.zeros(weights.shape[:2])), len(compared)

    total, expected, counted = above(equal, unequal)
    columns.add_sum("to_earlier_same", total, counted)
    columns.add_sum("same_above_others", total - expected, counted)
    columns.add_sum("to_content", at(to_content).sum(-1), len({i for i, _ in to_content}))
    total, expected, counted = above(to_content, to_other)
    columns.add_sum("content_above_others", total - expected, counted)


def read_table(path):
    table, n = {}, {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            table.setdefault(row["column"], {})[int(row["layer"]), int(row["head"])] = float(row["value"])
            n[row["column"]] = int(row["n"] or 0)
    return table, n


def compare(run, analysis, columns, exact):
    """`exact`: columns that are no means over queries, [layers, heads]."""
    table, n = read_table(run / "analysis" / f"{analysis}.csv")
    good = True
    for name, values in {**{name: columns.of(name) for name in columns.sums}, **exact}.items():
        if name not in table:
            print(f"{analysis} {name}: not in the run")
            good = False
            continue
        ours = numpy.zeros_like(values)
        for (layer, head), value in table[name].items():
            ours[layer, head] = value
        difference = float(abs(ours - values).max())
        limit = 1.5 / n[name] if name.startswith("largest") else 1e-5
        same_n = name in exact or n[name] == columns.counts[name]
        print(f"{analysis} {name}: largest difference {difference:.1e}, n {n[name]}" + ("" if same_n else " DIFFERENT n"))
        good = good and difference <= limit and same_n
    return good


def attentions(model, ids):
    with torch.no_grad():
        output = model(torch.tensor([ids]), output_attentions=True)
    return torch.stack(output.attentions)[:, 0].numpy()  # [layers, heads, T, S]


def sentences(path):
    return [line.rstrip("\n").split("\t")[0] for line in path.open(encoding="utf-8")]


def compare_encoder(arguments):
    tokenizer = AutoTokenizer.from_pretrained(arguments.model)
    model = AutoModel.from_pretrained(arguments.model, attn_implementation="eager").double().eval()
    encode = lambda text: tokenizer(text, truncation=True, max_length=arguments.max_length)["input_ids"]
    frequency = Counter(id for text in sentences(arguments.train) for id in encode(text))
    special = {tokenizer.cls_token_id, tokenizer.sep_token_id}
    ordinary = sorted((frequency[id] for id in range(len(tokenizer)) if id not in special), reverse=True)
    limit = ordinary[499]
    bare = lambda token: token[2:] if token.startswith("##") and len(token) > 2 else token
    is_punctuation = lambda text: all(33 <= ord(c) <= 47 or 58 <= ord(c) <= 64 or 91 <= ord(c) <= 96 or 123 <= ord(c) <= 126 for c in text)
    positional, special_columns, rare, semantic = Columns(), Columns(), Columns(), Columns()
    punctuation = {id for id in range(len(tokenizer)) if is_punctuation(bare(tokenizer.convert_ids_to_tokens(id)))}
    eligible = [id for id in range(len(tokenizer)) if id not in special | punctuation | {tokenizer.unk_token_id}]
    few = sorted((frequency[id] for id in eligible), reverse=True)[99]
    content = {id for id in eligible if frequency[id] < few}
    for text in sentences(arguments.report):
        ids = encode(text)
        weights = attentions(model, ids)
        length = len(ids)
        every = numpy.ones(length)
        if length < 2:
            continue
        place = numpy.arange(length)
        for offset in (-2, -1, 1, 2):
            hit = place[None] == place[:, None] + offset
            positional.add(f"largest_{offset:+}", largest_on(weights, hit), hit.any(-1))
        positional.add("largest_self", largest_on(weights, numpy.eye(length, dtype=bool)), every)
        positional.add("weight_self", numpy.diagonal(weights, axis1=2, axis2=3), every)
        positional.add("weight_first", weights[..., 0], every)
        kinds = {
            "classifier": numpy.array([id == tokenizer.cls_token_id for id in ids]),
            "separator": numpy.array([id == tokenizer.sep_token_id for id in ids]),
            "punctuation": numpy.array([id not in special and id in punctuation for id in ids]),
            "last": place == length - 1,
        }
        for kind, there in kinds.items():
            given = weights[..., there].sum(-1)
            special_columns.add(f"to_{kind}", given, ~there)
            special_columns.add(f"{kind}_to_{kind}", given, there)
        counts = numpy.array([numpy.inf if id in special else frequency[id] for id in ids])
        first, second = sorted(counts)[:2]
        counted = every * (first < limit)
        for name, most in (("largest_on_rarest", first), ("largest_on_two_rarest", second)):
            hit = (counts <= most) & numpy.isfinite(counts)
            rare.add(name, largest_on(weights, numpy.tile(hit, (length, 1))), counted)
        add_semantic(semantic, weights, [None if id in special else id if id in content else -1 for id in ids])
    good = True
    if (arguments.run / "analysis" / "redundancy.safetensors").exists():
        good = compare_redundancy(arguments, tokenizer, model)
    found = {"positional": positional, "special": special_columns, "rare": rare, "semantic": semantic}
    there = {name: columns for name, columns in found.items() if (arguments.run / "analysis" / f"{name}.csv").exists()}
    return good and all([compare(arguments.run, name, columns, {}) for name, columns in there.items()])


def compare_redundancy(arguments, tokenizer, model, texts=32, most=64):
    """js and cosine of every two heads, and clusters; cka is averaged over batches, which are headprune's own."""
    config, heads = model.config, model.config.num_attention_heads
    width = config.hidden_size // heads
    outputs = [[] for _ in range(config.num_hidden_layers)]
    hooks = [
        layer.attention.output.dense.register_forward_pre_hook(lambda _, inputs, at=outputs[i]: at.append(inputs[0][0].detach()))
        for i, layer in enumerate(model.encoder.layer)
    ]
    entropy = lambda p: -(p * numpy.log(p, where=p > 0, out=numpy.zeros_like(p))).sum(-1)
    count = config.num_hidden_layers * heads
    js, cosine, positions = numpy.zeros((count, count)), numpy.zeros((count, count)), 0
    for text in sentences(arguments.report)[:texts]:
        ids = tokenizer(text, truncation=True, max_length=arguments.max_length)["input_ids"][:most]
        p = attentions(model, ids).reshape(count, len(ids), len(ids))
        own = entropy(p).sum(-1)
        for i in range(count):
            js[i] += entropy((p[i] + p) / 2).sum(-1) - (own[i] + own) / 2
        written = []
        for layer, context in enumerate(at.pop() for at in outputs):
            matrix = model.encoder.layer[layer].attention.output.dense.weight.detach()
            for head in range(heads):
                part = slice(head * width, (head + 1) * width)
                out = (context[:, part] @ matrix[:, part].T).numpy()
                written.append((out / numpy.linalg.norm(out, axis=1, keepdims=True)).ravel())
        written = numpy.stack(written)
        cosine += written @ written.T
        positions += len(ids)
    for hook in hooks:
        hook.remove()
    ours = load_file(arguments.run / "analysis" / "redundancy.safetensors")
    seed = next(iter(ours)).split("/")[0]
    worst_js = abs(ours[f"{seed}/js"] - js / positions).max()
    worst_cosine = abs(ours[f"{seed}/cosine"] - cosine / positions).max()
    name = lambda index: f"encoder.L{index // heads}.H{index % heads}"
    distances = ours[f"{seed}/js"]
    merges = linkage(squareform(distances, checks=False), method="average")
    theirs = {}
    for index, cluster in enumerate(fcluster(merges, 0.7 * merges[-1, 2], criterion="distance")):
        theirs.setdefault(cluster, set()).add(name(index))
    with open(arguments.run / "analysis" / "redundancy-clusters.csv", newline="") as file:
        clusters = [set(row["members"].split()) for row in csv.DictReader(file)]
    same = sorted(map(sorted, clusters)) == sorted(map(sorted, theirs.values()))
    print(f"redundancy: {count} heads, largest difference of js {worst_js:.1e}, of cosine {worst_cosine:.1e}, {len(clusters)} clusters" + ("" if same else " DIFFERENT from scipy's"))
    return worst_js <= 1e-5 and worst_cosine <= 1e-5 and same


def read_conllu(path):
    """Sentences as (text, words); a word is (begin, end, head, relation, lemma, tag), in characters, without text (0, 0)."""
    for block in path.read_text(encoding="utf-8").replace("\r", "").strip().split("\n\n"):
        lines = block.split("\n")
        text = next(line[len("# text = ") :] for line in lines if line.startswith("# text = "))
        rows = [line.split("\t") for line in lines if not line.startswith("#")]
        words, at, covered = [], 0, 0
        for row in rows:
            if "." in row[0]:
                continue
            if "-" in row[0]:
                first, last = map(int, row[0].split("-"))
                begin = text.index(row[1], at)
                at, covered = begin + len(row[1]), last
                forms = [other[1] for other in rows if other[0].isdigit() and first <= int(other[0]) <= last]
                spans = []
                for form in forms:
                    spans.append((begin, begin + len(form)) if "".join(forms) == row[1] else (0, 0))
                    begin += len(form)
                continue
            if int(row[0]) <= covered:
                begin, end = spans.pop(0)
            else:
                begin = text.index(row[1], at)
                end = at = begin + len(row[1])
            words.append((begin, end, int(row[6]) - 1, row[7].split(":")[0], row[2], row[3]))
        yield text, words


def compare_syntax(arguments):
    tokenizer = AutoTokenizer.from_pretrained(arguments.model)
    model = AutoModel.from_pretrained(arguments.model, attn_implementation="eager").double().eval()
    hits, counts, semantic = {}, Counter(), Columns()
    for text, words in read_conllu(arguments.conllu):
        encoded = tokenizer(text, return_offsets_mapping=True)
        weights = attentions(model, encoded["input_ids"])
        pieces = [[t for t, (b, e) in enumerate(encoded["offset_mapping"]) if b < end and begin < e] for begin, end, *_ in words]
        size = len(words)
        matrix = numpy.zeros(weights.shape[:2] + (size, size))
        for i in range(size):
            for j in range(size):
                if i != j and pieces[i] and pieces[j]:
                    matrix[..., i, j] = weights[..., pieces[i], :][..., pieces[j]].sum(-1).mean(-1)
        best = matrix.argmax(-1)
        lemmas = lambda lemma, tag: lemma if lemma != "_" and tag in ("NOUN", "PROPN", "VERB", "ADJ", "ADV") else -1
        add_semantic(semantic, matrix, [lemmas(*word[4:]) if own else None for word, own in zip(words, pieces)])
        for i, (_, _, head, relation, *_) in enumerate(words):
            if head < 0 or not pieces[i] or not pieces[head]:
                continue
            for name, asks, wanted in ((f"{relation}_to_head", i, head), (f"{relation}_to_dependent", head, i)):
                hits[name] = hits.get(name, 0) + (best[..., asks] == wanted)
                counts[name] += 1
    good = True
    if (arguments.run / "analysis" / "semantic_words.csv").exists():
        good = compare(arguments.run, "semantic_words", semantic, {})
    table, n = read_table(arguments.run / "analysis" / "syntactic.csv")
    del table["syntactic"], n["syntactic"]  # made of the others
    good = good and set(table) == {name for name in hits if counts[name] >= 100}
    worst = 0.0
    for name in table:
        ours = numpy.zeros(weights.shape[:2])
        for (layer, head), value in table[name].items():
            ours[layer, head] = value
        difference = float(abs(ours - hits[name] / counts[name]).max())
        worst = max(worst, difference * counts[name])
        good = good and n[name] == counts[name] and difference <= 1.5 / counts[name]
    print(f"syntactic: {len(table)} columns, {sum(n.values())} instances, at most {worst:.2f} instances differ in a head")
    return good


def compare_induction(arguments, texts=16, tokens=25):
    tokenizer = AutoTokenizer.from_pretrained(arguments.model)
    model = AutoModelForCausalLM.from_pretrained(arguments.model, attn_implementation="eager").double().eval()
    usable = [id for id in range(len(tokenizer)) if id != tokenizer.unk_token_id]  # as headprune where bytes lack
    random = Random(stream_seed(stream_seed(arguments.seed, "analyse"), "analysis/induction"))
    columns = Columns()
    place = numpy.arange(2 * tokens)
    for _ in range(texts):
        once = [usable[random.below(len(usable))] for _ in range(tokens)]
        weights = attentions(model, once + once)
        second = (place >= tokens).astype(float)
        for name, offset in (("prefix_matching", 1 - tokens), ("previous_token", -1), ("duplicate_token", -tokens)):
            hit = place[None] == place[:, None] + offset
            columns.add(name, (weights * hit).sum(-1), second)
    config = model.config
    embedding = model.get_input_embeddings().weight.detach().numpy()
    both = model.get_output_embeddings().weight.detach().numpy().T @ embedding
    heads, groups = config.num_attention_heads, config.num_key_value_heads
    width = getattr(config, "head_dim", None) or config.hidden_size // heads
    copying = numpy.zeros((config.num_hidden_layers, heads))
    for layer, block in enumerate(model.model.layers):
        value = block.self_attn.v_proj.weight.detach().numpy()
        output = block.self_attn.o_proj.weight.detach().numpy()
        for head in range(heads):
            group = head // (heads // groups)
            circuit = output[:, head * width : (head + 1) * width].T @ both @ value[group * width : (group + 1) * width].T
            eigenvalues = numpy.linalg.eigvals(circuit)
            copying[layer, head] = eigenvalues.real.sum() / abs(eigenvalues).sum()
    return compare(arguments.run, "induction", columns, {"copying": copying})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--report", type=Path)
    parser.add_argument("--train", type=Path)
    parser.add_argument("--max-length", type=int, default=64)
    parser.add_argument("--conllu", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    decoder = AutoConfig.from_pretrained(arguments.model).model_type == "llama"
    good = compare_induction(arguments) if decoder else compare_encoder(arguments)
    if arguments.conllu:
        good = compare_syntax(arguments) and good
    sys.exit(0 if good else 1)


main()
