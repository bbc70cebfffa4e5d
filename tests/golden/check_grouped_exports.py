#!/usr/bin/env python3
"""Exports pruned models with grouped heads in every form, opens the folders in transformers, and prints what loads.

usage: check_grouped_exports.py --python PYTHON ... [--headprune BINARY] [--dtype float64] [--work DIR]
                                [--model FOLDER] [--masks NAME,..]

Without --model, small random folders of llama, mistral, qwen2 and qwen3 (3 layers, 8 query heads in 4 groups of width
12, d_model 64) are made with the first PYTHON's transformers; with it, that folder is pruned. headprune evaluates the
masks below in a run and exports each in each form. Every PYTHON (transformers 4, 5) computes the logits of the source
folder with the removed heads' slices of what o_proj reads set to 0 by a forward pre hook, and those of the exported
folders, on random tokens, in float32 or --dtype, attention `eager`. Missing, unexpected and misshapen tensors count as
not loading. Many layers round: where float32 differs by 1e-5, float64 says whether it is more than that.

masks     heads    one query head of every group is gone, another one in each layer: 4 in 4 groups are left
          groups   one group of every layer is gone: 6 in 3 groups, which do not divide 64
          half     two groups of every layer are gone: 4 in 2 groups
          counts   as many heads in every layer, not in every group: 4 in 3 groups
          uneven   3 in 3 groups, 1, and a last layer without heads
          none     no head is left
Prints one Markdown row for each form and mask: parameters against the intact model's; for each version the largest
difference of a logit, relative to the largest where that exceeds 1; in words, what does not load or export refuses.
Exit: 0; 1 where an export failed otherwise than by refusing, a folder gives other logits (1e-4; float64: 1e-6), or one
does not open though export says it does, or opens though it says that it does not.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
FORMS = ["zeroed", "compact", "padded", "degroup"]
FAMILIES = ["llama", "mistral", "qwen2", "qwen3"]
LENGTHS = [3, 17, 40]
TOLERANCE = {"float32": 1e-4, "float64": 1e-6}


def make_small(family, folder):
    """A random checkpoint with a tokenizer, of a family with its options on."""
    import torch
    import transformers
    shutil.copytree(HERE / "tokenizers" / "byte_bpe", folder)
    sizes = dict(hidden_size=64, num_hidden_layers=3, num_attention_heads=8, num_key_value_heads=4, head_dim=12,
                 intermediate_size=48, vocab_size=904, max_position_embeddings=128)
    config, model, more = {
        "llama": (transformers.LlamaConfig, transformers.LlamaForCausalLM,
                  dict(attention_bias=True, mlp_bias=True, tie_word_embeddings=True)),
        "mistral": (transformers.MistralConfig, transformers.MistralForCausalLM, dict(sliding_window=9)),
        "qwen2": (transformers.Qwen2Config, transformers.Qwen2ForCausalLM,
                  dict(use_sliding_window=True, sliding_window=7, max_window_layers=1)),
        "qwen3": (transformers.Qwen3Config, transformers.Qwen3ForCausalLM, dict(tie_word_embeddings=True)),
    }[family]
    torch.manual_seed(FAMILIES.index(family))
    made = model(config(**sizes, **more))
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    made.save_pretrained(folder)


def sizes_of(folder):
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    return config["num_hidden_layers"], config["num_attention_heads"], config["num_key_value_heads"]


def masks_of(folder):
    """{name: {"layer": heads that are gone}}; the head ids of group g are g R .. g R + R - 1."""
    layers, heads, groups = sizes_of(folder)
    in_group = heads // groups

    def group(g):
        return [g % groups * in_group + i for i in range(in_group)]

    masks = {name: {} for name in ("heads", "groups", "half", "counts", "uneven", "none")}
    for layer in range(layers):
        kept = [[g * in_group for g in range(groups - 1)], [heads - 1], [0, in_group - 1]][layer % 3]
        if layer == layers - 1:
            kept = []
        gone = {
            "heads": [g * in_group + layer % in_group for g in range(groups)],
            "groups": group(layer),
            "half": group(layer) + group(layer + groups // 2),
            "counts": group(layer) + [group(layer + 1)[0], group(layer + 2)[0]],
            "uneven": [h for h in range(heads) if h not in kept],
            "none": list(range(heads)),
        }
        for name, removed in gone.items():
            masks[name][str(layer)] = sorted(removed)
    return masks


def run(command, **more):
    one_thread = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, env=one_thread, **more)


def export(binary, model, masks, work):
    """Rows {model, mask, removed, form, folder or refused, params, notes}."""
    work.mkdir()
    (work / "text.txt").write_text((HERE.parent.parent / "README.md").read_text(encoding="utf-8")[:20000])
    (work / "masks.json").write_text(json.dumps(
        {"masks": [{"name": name, "removed": {"decoder": gone}} for name, gone in masks.items()]}))
    family = json.loads((model / "config.json").read_text(encoding="utf-8"))["model_type"]
    (work / "masks.yaml").write_text(json.dumps({
        "name": "masks", "seeds": [1], "output": {"dir": "."}, "surgery": {"fractions": []},
        "data": {"type": "text", "path": "text.txt", "context_length": 32, "limit": {"report": 4}},
        "task": {"type": "language_modelling"}, "model": {"type": family, "init": "load", "path": str(model)},
        "score": {"methods": ["random"]}, "prune": {"sweeps": [{"from_file": {"path": "masks.json"}}]}}))
    found = run([binary, "run", "masks.yaml", "--out", "masks"], cwd=work)
    if found.returncode != 0:
        raise SystemExit(f"headprune run: {found.returncode}: {found.stderr}")
    points = {}
    for line in (work / "masks" / "journal.jsonl").read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        if event["ev"] == "point_done" and "name" in event["spec"]:
            points[event["spec"]["name"]] = event["point"]
    rows = []
    for mask, gone in masks.items():
        for form in FORMS:
            folder = work / f"{mask}-{form}"
            row = {"model": str(model), "family": family, "mask": mask, "removed": gone, "form": form}
            found = run([binary, "export", "masks", "--point", points[mask], "--form", form, "--to", folder, "--json"],
                        cwd=work)
            if found.returncode == 0:
                row |= {"folder": str(folder)} | {k: v for k, v in json.loads(found.stdout).items() if k != "folder"}
            elif found.returncode == 2:
                row["refused"] = found.stderr.strip().removeprefix("headprune: ")
            else:
                row["failed"] = found.stderr.strip()
            rows.append(row)
    return rows


def logits_of(model, tokens):
    import torch
    with torch.no_grad():
        return [model(input_ids=one.unsqueeze(0), use_cache=False).logits[0] for one in tokens]


def masked(model, removed):
    """Hooks that take the removed heads out of what o_proj reads."""
    heads = model.config.num_attention_heads

    def hook_of(gone):
        def hook(_, arguments):
            context = arguments[0].unflatten(-1, (heads, -1)).clone()  # [B, T, H, Dv]
            context[:, :, gone] = 0
            return (context.flatten(-2),)  # [B, T, H Dv]
        return hook

    return [model.model.layers[int(layer)].self_attn.o_proj.register_forward_pre_hook(hook_of(gone))
            for layer, gone in removed.items()]


def open_all(rows, dtype):
    """{folder: difference or error}, with this interpreter's transformers."""
    import torch
    import check_export  # exit 77 without transformers
    check_export.transformers.logging.set_verbosity_error()
    check_export.transformers.logging.disable_progress_bar()
    opened = {}
    sources, expected = {}, {}
    for row in rows:
        if "folder" not in row:
            continue
        try:
            if row["model"] not in sources:
                sources = {row["model"]: check_export.load(Path(row["model"]), getattr(torch, dtype))[0]}
                expected = {}
            source = sources[row["model"]]
            torch.manual_seed(7)
            tokens = [torch.randint(0, source.config.vocab_size, (length,)) for length in LENGTHS]
            if row["mask"] not in expected:
                handles = masked(source, row["removed"])
                expected[row["mask"]] = logits_of(source, tokens)
                for handle in handles:
                    handle.remove()
                unmasked = logits_of(source, tokens)
                # A mask that changed nothing would agree with anything.
                if all(torch.allclose(a, b, atol=1e-3) for a, b in zip(unmasked, expected[row["mask"]], strict=True)):
                    raise SystemExit(f"{row['model']}: mask {row['mask']} changes nothing")
            found = logits_of(check_export.load(Path(row["folder"]), getattr(torch, dtype))[0], tokens)
            difference = max(((a - b).abs().max() / max(1, a.abs().max())).item()
                             for a, b in zip(expected[row["mask"]], found, strict=True))
            opened[row["folder"]] = {"difference": difference}
        except Exception as error:  # whatever transformers raises is the answer that is asked for
            opened[row["folder"]] = {"error": f"{type(error).__name__}: {' '.join(str(error).split())}"[:200]}
    return {"transformers": check_export.transformers.__version__, "opened": opened}


def cell(rows, opened):
    """What one version makes of the same form and mask of every model."""
    texts = []
    wrong = {row["family"]: opened[row["folder"]]["error"] for row in rows if "error" in opened[row["folder"]]}
    fine = [opened[row["folder"]]["difference"] for row in rows if row["family"] not in wrong]
    if fine:
        texts.append(f"{max(fine):.1g}")
    for family, error in wrong.items():
        texts.append(f"{family} refused: {error}")
    return "; ".join(texts)


def table(rows, versions):
    lines = ["| form | mask | parameters | " + " | ".join(one["transformers"] for one in versions) + " |",
             "| --- | --- | --- |" + " --- |" * len(versions)]
    for form in FORMS:
        for mask in dict.fromkeys(row["mask"] for row in rows):
            some = [row for row in rows if row["form"] == form and row["mask"] == mask]
            written = [row for row in some if "folder" in row]
            if not written:
                lines.append(f"| {form} | {mask} | | " + " | ".join(["refused by export"] * len(versions)) + " |")
                continue
            share = sorted({f"{row['params'] / row['intact_params']:.2f}" for row in written})
            cells = [cell(written, one["opened"]) for one in versions]
            lines.append(f"| {form} | {mask} | {' to '.join(dict.fromkeys([share[0], share[-1]]))} | "
                         + " | ".join(cells) + " |")
    return "\n".join(lines)


def problems(rows, versions, tolerance):
    for row in rows:
        name = f"{row['family']} {row['mask']} {row['form']}"
        if "failed" in row:
            yield f"{name}: {row['failed']}"
        if "folder" not in row:
            continue
        for one in versions:
            found, major = one["opened"][row["folder"]], one["transformers"].split(".")[0]
            promised = major == "4" or "opens in transformers 4 and 5" in row["notes"][0]
            if "error" in found and promised:
                yield f"{name}: transformers {one['transformers']}: {found['error']}"
            if "error" not in found and not promised:
                yield f"{name}: export says that transformers {one['transformers']} refuses it, and it loads"
            if not found.get("difference", 0) <= tolerance:
                yield f"{name}: transformers {one['transformers']}: logits differ by {found['difference']:.3g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--headprune", type=Path, default=HERE.parent.parent / "build/dev/headprune",
                        help="the program; default: build/dev/headprune")
    parser.add_argument("--python", action="append", default=[], help="one with torch and transformers; several")
    parser.add_argument("--dtype", choices=list(TOLERANCE), default="float32")
    parser.add_argument("--work", type=Path, help="a folder that is made and kept; default: a temporary one")
    parser.add_argument("--model", type=Path, help="a folder to prune in the place of the small ones")
    parser.add_argument("--masks", help="some of them, separated by commas; default: all")
    parser.add_argument("--make", nargs=2, help=argparse.SUPPRESS)  # what the interpreters are asked to do
    parser.add_argument("--open", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.make:
        return make_small(arguments.make[0], Path(arguments.make[1]))
    if arguments.open:
        print(json.dumps(open_all(json.loads(arguments.open.read_text()), arguments.dtype)))
        return 0
    if not arguments.python:
        parser.error("give --python, once for each release of transformers")
    with tempfile.TemporaryDirectory() as temporary:
        work = arguments.work.resolve() if arguments.work else Path(temporary) / "work"
        work.mkdir(parents=True)
        models = [arguments.model.resolve()] if arguments.model else [work / f"small-{family}" for family in FAMILIES]
        rows = []
        for model in models:
            if not arguments.model:
                subprocess.run([arguments.python[0], __file__, "--make", model.name.split("-")[1], model], check=True)
            masks = masks_of(model)
            wanted = arguments.masks.split(",") if arguments.masks else list(masks)
            rows += export(arguments.headprune.resolve(), model, {name: masks[name] for name in wanted},
                           work / f"exports-{model.name}")
        (work / "rows.json").write_text(json.dumps(rows, indent=1))
        versions = []
        for python in arguments.python:
            found = run([python, __file__, "--open", work / "rows.json", "--dtype", arguments.dtype])
            if found.returncode != 0:
                print(f"{python}: {found.stderr}", file=sys.stderr)
                return found.returncode
            versions.append(json.loads(found.stdout.splitlines()[-1]))
    print(table(rows, versions))
    for mask in dict.fromkeys(row["mask"] for row in rows):
        for refusal in dict.fromkeys(row["refused"] for row in rows if row["mask"] == mask and "refused" in row):
            print(f"{mask}: {refusal}")
    wrong = list(problems(rows, versions, TOLERANCE[arguments.dtype]))
    for problem in wrong:
        print(problem, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
