"""Head importance and masked evaluation as the bertology script of transformers does them: one head mask that all
examples share, loss.backward() with the weights' gradients, batches padded to a fixed length.

usage: transformers_heads.py score|masks SETTINGS
SETTINGS (JSON): model, data, threads, batch_size, pad (a length, or "longest" of the batch), limit, masks (a file)
"""

import csv
import json
import pathlib
import sys

import torch
from transformers import AutoTokenizer, BertForSequenceClassification
from protocol import serve

work, settings = sys.argv[1], json.loads(sys.argv[2])
torch.set_num_threads(settings["threads"])
tokenizer = AutoTokenizer.from_pretrained(settings["model"])
model = BertForSequenceClassification.from_pretrained(settings["model"], attn_implementation="eager").eval()
shape = (model.config.num_hidden_layers, model.config.num_attention_heads)

with open(pathlib.Path(settings["data"]) / "dev.tsv", encoding="utf-8") as file:
    rows = [row for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)][: settings.get("limit")]
batches = []
for start in range(0, len(rows), settings["batch_size"]):
    part = rows[start : start + settings["batch_size"]]
    padding = {"padding": True} if settings["pad"] == "longest" else {"padding": "max_length", "max_length": settings["pad"]}
    encoded = tokenizer([row[0] for row in part], truncation=True, return_tensors="pt", **padding)
    batches.append(encoded | {"labels": torch.tensor([int(row[1]) for row in part])})


def score():
    """compute_heads_importance(), without its normalization: |gradient of the batch's mean loss|, summed."""
    importance = torch.zeros(shape)
    head_mask = torch.ones(shape, requires_grad=True)
    for batch in batches:
        loss = model(**batch, head_mask=head_mask).loss
        loss.backward()
        importance += head_mask.grad.abs().detach()
        head_mask.grad = None
        model.zero_grad()
    return (importance / len(batches)).flatten().tolist()


def masks():
    losses = []
    for removed in json.loads(pathlib.Path(settings["masks"]).read_text()):
        head_mask = torch.ones(shape)
        for layer, head in removed:
            head_mask[layer, head] = 0
        total = 0.0
        with torch.no_grad():
            for batch in batches:
                total += model(**batch, head_mask=head_mask).loss.item() * len(batch["labels"])
        losses.append(total / len(rows))
    return losses


serve(work, {"score": score, "masks": masks}[work])
