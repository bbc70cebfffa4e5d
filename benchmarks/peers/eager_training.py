"""The encoder of encoder.yaml and its training step in eager PyTorch: the same sizes, batches, loss, clipping, AdamW.

usage: eager_training.py SETTINGS
SETTINGS (JSON): threads, vocabulary, length, batch, steps; window: positions further away than that are masked;
dropout
"""

import json
import sys

import torch
from torch import nn
from torch.nn import functional as F
from protocol import serve

settings = json.loads(sys.argv[1])
torch.set_num_threads(settings["threads"])
C, LAYERS, HEADS, D_FF, DROPOUT = 256, 4, 8, 1024, settings.get("dropout", 0.1)
WINDOW = None
if "window" in settings:
    places = torch.arange(settings["length"])
    WINDOW = (places.unsqueeze(1) - places).abs() <= settings["window"]


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.output = (nn.Linear(C, C) for _ in range(4))
        self.up, self.down = nn.Linear(C, D_FF), nn.Linear(D_FF, C)
        self.attention_norm, self.feed_forward_norm = nn.LayerNorm(C), nn.LayerNorm(C)

    def heads(self, x):
        return x.view(*x.shape[:2], HEADS, -1).transpose(1, 2)

    def forward(self, x):
        y = self.attention_norm(x)
        y = F.scaled_dot_product_attention(
            self.heads(self.query(y)), self.heads(self.key(y)), self.heads(self.value(y)), attn_mask=WINDOW,
            dropout_p=DROPOUT
        )
        x = x + F.dropout(self.output(y.transpose(1, 2).reshape(x.shape)), DROPOUT)
        y = self.down(F.gelu(self.up(self.feed_forward_norm(x))))
        return x + F.dropout(y, DROPOUT)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(settings["vocabulary"], C)
        self.positions = nn.Embedding(settings["length"], C)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm, self.head = nn.LayerNorm(C), nn.Linear(C, 2)

    def forward(self, tokens):
        x = F.dropout(self.tokens(tokens) + self.positions.weight[: tokens.shape[1]], DROPOUT)
        for block in self.blocks:
            x = block(x)
        return self.head(F.dropout(self.norm(x).mean(1), DROPOUT))


torch.manual_seed(1)
tokens = torch.randint(settings["vocabulary"], (settings["batch"] * settings["steps"], settings["length"]))
labels = torch.arange(len(tokens)) % 2
model = Encoder()


def train():
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4, weight_decay=0.01)
    for step in range(settings["steps"]):
        part = slice(step * settings["batch"], (step + 1) * settings["batch"])
        loss = F.cross_entropy(model(tokens[part]), labels[part])
        if not torch.isfinite(loss):
            raise SystemExit("the loss is not finite")
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    return settings["steps"]


serve("train", train)
