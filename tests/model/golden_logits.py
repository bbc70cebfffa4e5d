#!/usr/bin/env python3
"""Prints the literals of reference_test.cpp: logits of two tiny transformers, written in plain numpy, head by head.

Every parameter is 0.5 cos(k + i): k its place in the sorted list of names, i the place of a value in it.
usage: golden_logits.py
"""
import math
import numpy as np

C, L, H, DK, DV, FF, V, T = 4, 2, 2, 3, 1, 5, 6, 3


def parameters(positions, tied, outputs):
    shapes = {"embeddings.tokens": (V, C), "norm.weight": (C,), "norm.bias": (C,)}
    if positions == "learned":
        shapes["embeddings.positions"] = (4, C)
    if not tied:
        shapes["head.weight"], shapes["head.bias"] = (outputs, C), (outputs,)
    for layer in range(L):
        p = f"blocks.{layer}."
        for name, rows, columns in [("attention.query", H * DK, C), ("attention.key", H * DK, C),
                                    ("attention.value", H * DV, C), ("attention.output", C, H * DV),
                                    ("feed_forward.up", FF, C), ("feed_forward.down", C, FF)]:
            shapes[p + name + ".weight"], shapes[p + name + ".bias"] = (rows, columns), (rows,)
        for name in ["attention_norm", "feed_forward_norm"]:
            shapes[p + name + ".weight"], shapes[p + name + ".bias"] = (C,), (C,)
    return {name: 0.5 * np.cos(k + np.arange(math.prod(shapes[name]))).reshape(shapes[name])
            for k, name in enumerate(sorted(shapes))}


def layer_norm(x, p, name):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-5) * p[name + ".weight"] + p[name + ".bias"]


def linear(x, p, name):
    return x @ p[name + ".weight"].T + p[name + ".bias"]


def attention(x, p, name, causal, length):
    q, k, v = (linear(x, p, f"{name}.{part}") for part in ("query", "key", "value"))
    output = np.tile(p[name + ".output.bias"], (len(x), 1))
    for h in range(H):
        for t in range(len(x)):
            visible = [s for s in range(length) if s <= t or not causal]
            scores = np.array([q[t, h * DK:(h + 1) * DK] @ k[s, h * DK:(h + 1) * DK] for s in visible]) / math.sqrt(DK)
            weights = np.exp(scores) / np.exp(scores).sum()
            context = sum(w * v[s, h * DV:(h + 1) * DV] for w, s in zip(weights, visible))
            output[t] += p[name + ".output.weight"][:, h * DV:(h + 1) * DV] @ context
    return output


def feed_forward(x, p, name, activation):
    hidden = linear(x, p, name + ".up")
    if activation == "gelu":
        hidden = np.vectorize(lambda a: 0.5 * a * (1 + math.erf(a / math.sqrt(2))))(hidden)
    else:
        hidden = np.maximum(hidden, 0)
    return linear(hidden, p, name + ".down")


def decoder(tokens):
    """Pre-norm, gelu, sinusoidal positions, tied embeddings, causal: logits [T, V]."""
    p = parameters("sinusoidal", True, 0)
    x = p["embeddings.tokens"][tokens] * math.sqrt(C)
    for t in range(len(tokens)):
        for i in range(C):
            angle = t / 10000 ** ((i - i % 2) / C)
            x[t, i] += math.cos(angle) if i % 2 else math.sin(angle)
    for layer in range(L):
        b = f"blocks.{layer}."
        x = x + attention(layer_norm(x, p, b + "attention_norm"), p, b + "attention", True, len(tokens))
        x = x + feed_forward(layer_norm(x, p, b + "feed_forward_norm"), p, b + "feed_forward", "gelu")
    return layer_norm(x, p, "norm") @ p["embeddings.tokens"].T


def encoder(tokens, length):
    """Post-norm, relu, learned positions, mean over the first `length` tokens (the rest is padding): logits [3]."""
    p = parameters("learned", False, 3)
    x = layer_norm(p["embeddings.tokens"][tokens] + p["embeddings.positions"][:len(tokens)], p, "norm")
    for layer in range(L):
        b = f"blocks.{layer}."
        x = layer_norm(x + attention(x, p, b + "attention", False, length), p, b + "attention_norm")
        x = layer_norm(x + feed_forward(x, p, b + "feed_forward", "relu"), p, b + "feed_forward_norm")
    return linear(x[:length].mean(0), p, "head")


np.set_printoptions(precision=12, floatmode="fixed", suppress=True)
print("decoder, tokens 2 5 1:\n", decoder([2, 5, 1]))
print("encoder, tokens 2 5 1:\n", encoder([2, 5, 1], 3))
print("encoder, tokens 2 5 and one padding:\n", encoder([2, 5, 0], 2))
