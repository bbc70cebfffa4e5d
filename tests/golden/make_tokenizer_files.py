#!/usr/bin/env python3
"""Says what transformers makes of a tokenizer that several files describe: tokenizers/files.json.

usage: make_tokenizer_files.py [--check]

Each case is one of the committed tokenizers (tokenizers/) with edits of its files, loaded as transformers' users do, with
AutoTokenizer. files.json: {"texts", "pair", "max_length", "cases"}, a case being
  name      what it is about
  base      folder of tokenizers/ that is copied
  without   files left out
  set       {file: {JSON pointer: value}}; a file that is not there starts as {}
  delete    {file: [JSON pointers]}
  class     the class that AutoTokenizer chose, or
  error     the exception that transformers raised instead; the rest is then absent
  ids       those of each text, special tokens added
  types     of the pair, as a model gets them: zeros where the tokenizer returns none
  pair      ids of the pair
  cut       ids of the last text cut to max_length tokens by truncation=True
--check computes again and compares; exit 1 if anything differs. Needs transformers 4.57.6, tokenizers 0.22.
"""
import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent / "tokenizers"
TEXTS = ["Hello WORLD naïve 中文 [MASK] b [CLS]", " a <mask> b", "x [mask] <|endoftext|> b", "<s> It's </s> <pad>x",
         "New_Token words the", "the story of a man and his dog in the house"]
PAIR = ["a man", "the dog"]
MAX_LENGTH = 6
CONFIG, FILE, MAP, ADDED, MODEL = ("tokenizer_config.json", "tokenizer.json", "special_tokens_map.json",
                                   "added_tokens.json", "config.json")
ALL, NO_TYPES = ["input_ids", "token_type_ids", "attention_mask"], ["input_ids", "attention_mask"]


def token(content, **flags):
    return {"content": content, "lstrip": False, "normalized": False, "rstrip": False, "single_word": False} | flags


def typed(content, **flags):
    return {"__type": "AddedToken"} | token(content, **flags)


CASES = []


def case(name, base, set=None, delete=None, without=()):
    CASES.append({"name": name, "base": base, "without": list(without), "set": set or {}, "delete": delete or {}})


def both(name, base, set=None, delete=None):
    """With tokenizer.json and without it."""
    case(name, base, set, delete)
    delete = {file: keys for file, keys in (delete or {}).items() if file != FILE}
    set = {file: values for file, values in (set or {}).items() if file != FILE}
    case(f"{name}, without tokenizer.json", base, set, delete, [FILE])


def bert_cases():
    for cls in ("BertTokenizer", "DistilBertTokenizerFast", "PreTrainedTokenizerFast"):
        for key, value in (("do_lower_case", False), ("do_lower_case", True), ("strip_accents", False),
                           ("strip_accents", True), ("tokenize_chinese_chars", False)):
            both(f"{cls}, {key} {value}", "wordpiece", {CONFIG: {"/tokenizer_class": cls, f"/{key}": value}})
        both(f"{cls}, keys absent", "wordpiece", {CONFIG: {"/tokenizer_class": cls}},
             {CONFIG: ["/do_lower_case", "/strip_accents", "/tokenize_chinese_chars"]})
        case(f"{cls}, cased tokenizer.json, keys absent", "wordpiece",
             {CONFIG: {"/tokenizer_class": cls}, FILE: {"/normalizer/lowercase": False}},
             {CONFIG: ["/do_lower_case", "/strip_accents", "/tokenize_chinese_chars"]})
        case(f"{cls}, cased tokenizer.json, do_lower_case False", "wordpiece",
             {CONFIG: {"/tokenizer_class": cls, "/do_lower_case": False, "/strip_accents": True},
              FILE: {"/normalizer/lowercase": False}})
        both(f"{cls}, names without types", "wordpiece", {CONFIG: {"/tokenizer_class": cls, "/model_input_names": NO_TYPES}})
        both(f"{cls}, names with types", "wordpiece", {CONFIG: {"/tokenizer_class": cls, "/model_input_names": ALL}})
    for model in ("bert", "distilbert"):
        both(f"class from config.json of a {model}", "wordpiece", {MODEL: {"/model_type": model}},
             {CONFIG: ["/tokenizer_class", "/do_lower_case", "/strip_accents", "/tokenize_chinese_chars"]})
        case(f"config.json of a {model} alone, cased tokenizer.json", "wordpiece",
             {MODEL: {"/model_type": model}, FILE: {"/normalizer/lowercase": False}}, without=[CONFIG])
    case("tokenizer_class in config.json", "wordpiece",
         {MODEL: {"/model_type": "bert", "/tokenizer_class": "DistilBertTokenizer"}}, {CONFIG: ["/tokenizer_class"]})
    both("left", "wordpiece", {CONFIG: {"/truncation_side": "left", "/padding_side": "left"}})
    cut = {"direction": "Left", "max_length": 4, "strategy": "LongestFirst", "stride": 0}
    case("left in tokenizer.json", "wordpiece", {FILE: {"/truncation": cut}})
    case("left in tokenizer.json, right in tokenizer_config.json", "wordpiece",
         {FILE: {"/truncation": cut}, CONFIG: {"/truncation_side": "right"}})
    padding = {"strategy": {"Fixed": 12}, "direction": "Left", "pad_to_multiple_of": None, "pad_id": 0, "pad_type_id": 0,
               "pad_token": "[PAD]"}
    case("padding in tokenizer.json", "wordpiece", {FILE: {"/padding": padding}})
    both("model_max_length", "wordpiece", {CONFIG: {"/model_max_length": 5}})
    both("split_special_tokens", "wordpiece", {CONFIG: {"/split_special_tokens": True}})
    both("do_basic_tokenize and never_split", "wordpiece", {CONFIG: {"/do_basic_tokenize": False, "/never_split": ["the"]}})
    both("another cls_token", "wordpiece", {CONFIG: {"/cls_token": "[MASK]"}})
    both("another cls_token in the map", "wordpiece", {MAP: {"/cls_token": "[MASK]"}})
    both("cls_token here and there", "wordpiece", {CONFIG: {"/cls_token": "[PAD]"}, MAP: {"/cls_token": "[MASK]"}})
    both("cls_token here and there, added_tokens_decoder", "wordpiece",
         {CONFIG: {"/cls_token": "[PAD]", "/added_tokens_decoder": {"4": token("[MASK]", special=True)}},
          MAP: {"/cls_token": "[MASK]"}})
    both("flags in added_tokens_decoder", "wordpiece",
         {CONFIG: {"/added_tokens_decoder": {"4": token("[MASK]", lstrip=True, rstrip=True, special=True)}}})
    both("flags of mask_token", "wordpiece", {CONFIG: {"/mask_token": typed("[MASK]", lstrip=True, rstrip=True)}})
    both("flags in the map", "wordpiece", {MAP: {"/mask_token": token("[MASK]", lstrip=True, rstrip=True)}})
    both("not special in added_tokens_decoder", "wordpiece",
         {CONFIG: {"/added_tokens_decoder": {"4": token("[MASK]", normalized=True, special=False)}}})
    case("special token that only the vocabulary has", "wordpiece", delete={FILE: ["/added_tokens/4"]})
    case("the same, generic class", "wordpiece", {CONFIG: {"/tokenizer_class": "PreTrainedTokenizerFast"}},
         {FILE: ["/added_tokens/4"]})
    case("the same, generic class that names it", "wordpiece",
         {CONFIG: {"/tokenizer_class": "PreTrainedTokenizerFast", "/mask_token": "[MASK]"}}, {FILE: ["/added_tokens/4"]})
    both("additional special tokens", "wordpiece", {CONFIG: {"/additional_special_tokens": ["the", "<|endoftext|>"]}})
    both("additional special tokens in the map", "wordpiece", {MAP: {"/additional_special_tokens": ["the"]}})
    both("extra special tokens", "wordpiece", {CONFIG: {"/extra_special_tokens": {"dog_token": "the"}}})
    both("a new token in added_tokens.json", "wordpiece", {ADDED: {"/story of": 1894}})
    both("a new token in added_tokens_decoder", "wordpiece",
         {CONFIG: {"/added_tokens_decoder": {"1894": token("story of", normalized=True, special=False)}}})
    both("a token under another id", "wordpiece",
         {CONFIG: {"/added_tokens_decoder": {"5": token("words", normalized=True, special=False)}}})
    case("RoBERTa's class", "wordpiece", {CONFIG: {"/tokenizer_class": "RobertaTokenizer"}})
    case("no normalizer", "wordpiece", {FILE: {"/normalizer": None}})
    both("unknown class", "wordpiece", {CONFIG: {"/tokenizer_class": "MyTokenizer"}})
    both("MPNet's class", "wordpiece", {CONFIG: {"/tokenizer_class": "MPNetTokenizer"}})
    case("tokenizer_file is null", "wordpiece", {CONFIG: {"/tokenizer_file": None, "/do_lower_case": False}})
    case("tokenizer_file elsewhere", "wordpiece", {CONFIG: {"/tokenizer_file": "elsewhere/tokenizer.json"}})
    case("from_slow", "wordpiece", {CONFIG: {"/from_slow": True, "/mask_token": "the"}})


def byte_level_cases():
    for base, cls in (("roberta", "RobertaTokenizer"), ("byte_bpe", "GPT2Tokenizer"), ("byte_bpe", "RobertaTokenizer"),
                      ("roberta", "GPT2TokenizerFast"), ("roberta", "PreTrainedTokenizerFast")):
        for value in (True, False):
            both(f"{base} as {cls}, add_prefix_space {value}", base,
                 {CONFIG: {"/tokenizer_class": cls, "/add_prefix_space": value}})
        both(f"{base} as {cls}, keys absent", base, {CONFIG: {"/tokenizer_class": cls}},
             {CONFIG: ["/add_prefix_space"] + (["/mask_token"] if base == "roberta" else [])})
    for base, model in (("roberta", "roberta"), ("byte_bpe", "gpt2")):
        both(f"class from config.json of a {model}", base, {MODEL: {"/model_type": model}}, {CONFIG: ["/tokenizer_class"]})
        case(f"config.json of a {model} alone", base, {MODEL: {"/model_type": model}}, without=[CONFIG])
    pair = [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
            {"SpecialToken": {"id": "</s>", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}},
            {"SpecialToken": {"id": "</s>", "type_id": 1}}]
    template = {"type": "TemplateProcessing", "pair": pair, "single": pair[:3],
                "special_tokens": {name: {"id": name, "ids": [id], "tokens": [name]} for name, id in (("<s>", 0), ("</s>", 2))}}
    typed_form = {FILE: {"/post_processor": template}}
    case("RoBERTa with a template of types", "roberta", typed_form)
    case("RoBERTa with a template of types that are asked for", "roberta",
         typed_form | {CONFIG: {"/model_input_names": ALL}})
    case("RoBERTa's template of types, generic class", "roberta",
         typed_form | {CONFIG: {"/tokenizer_class": "PreTrainedTokenizerFast"}})
    both("mask as text", "roberta", {CONFIG: {"/mask_token": "<mask>"}})
    case("mask without lstrip in tokenizer.json", "roberta", {FILE: {"/added_tokens/4/lstrip": False}})
    case("mask without lstrip in tokenizer.json, absent elsewhere", "roberta", {FILE: {"/added_tokens/4/lstrip": False}},
         {CONFIG: ["/mask_token"]})
    both("mask without lstrip in added_tokens_decoder", "roberta",
         {CONFIG: {"/added_tokens_decoder": {"4": token("<mask>", special=True)}}})
    both("add_bos_token", "byte_bpe", {CONFIG: {"/add_bos_token": True}})
    both("pad_token", "byte_bpe", {CONFIG: {"/pad_token": "<|endoftext|>"}})
    both("unk_token null", "byte_bpe", {CONFIG: {"/unk_token": None, "/bos_token": None}})
    both("trim_offsets", "roberta", {CONFIG: {"/trim_offsets": False, "/errors": "strict"}})
    both("left, byte level", "byte_bpe", {CONFIG: {"/truncation_side": "left"}})
    both("BERT's class on byte-level files", "byte_bpe", {CONFIG: {"/tokenizer_class": "BertTokenizer"}})


def llama_cases():
    """With tokenizer.model beside tokenizer.json, and alone."""
    both("Llama's class", "llama")
    for flags in ({"/add_bos_token": False}, {"/add_eos_token": True}, {"/add_bos_token": False, "/add_eos_token": True},
                  {"/add_bos_token": None}, {"/bos_token": None}, {"/bos_token": None, "/add_bos_token": False},
                  {"/bos_token": "</s>"}, {"/bos_token": "\u2581a"}, {"/pad_token": "</s>"}, {"/pad_token": "[PAD]"},
                  {"/model_input_names": ALL, "/add_eos_token": True}, {"/truncation_side": "left"},
                  {"/split_special_tokens": True}, {"/additional_special_tokens": ["\u2581dog", "house"]},
                  {"/add_prefix_space": True}, {"/legacy": True},
                  {"/bos_token": typed("<s>", lstrip=True, rstrip=True)}):
        both("Llama's class, " + ", ".join(f"{key[1:]} {value}" for key, value in flags.items()), "llama", {CONFIG: flags})
    both("Llama, a new token in added_tokens.json", "llama", {ADDED: {"/story of": 520}})
    both("Llama, a new token in added_tokens_decoder", "llama", {CONFIG: {"/added_tokens_decoder": {
        str(i): token(content, special=i < 3, normalized=i > 2) for i, content in [(0, "<unk>"), (1, "<s>"), (2, "</s>"), (520, "story of")]}}})
    both("Llama, another bos_token in the map", "llama", {MAP: {"/bos_token": "</s>"}})
    for model in ("llama", "mistral"):
        both(f"class from config.json of a {model}", "llama", {MODEL: {"/model_type": model}}, {CONFIG: ["/tokenizer_class"]})
    normalized = {f"/added_tokens/{i}/normalized": True for i in range(3)}
    case("Llama, normalized special tokens", "llama", {FILE: normalized})
    case("Llama, normalized special tokens, others in added_tokens_decoder", "llama",
         {FILE: normalized, CONFIG: {"/added_tokens_decoder": {
             str(i): token(content, special=True, rstrip=True) for i, content in enumerate(("<unk>", "<s>", "</s>"))}}})
    metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first", "split": False}
    first = {FILE: {"/normalizer": None, "/pre_tokenizer": metaspace}}
    case("Llama, Metaspace", "llama", first)
    case("Llama, Metaspace, legacy and add_prefix_space", "llama",
         first | {CONFIG: {"/legacy": False, "/add_prefix_space": True}})
    case("Llama, Metaspace, add_prefix_space alone", "llama", first | {CONFIG: {"/add_prefix_space": True}})
    case("Llama, legacy False, add_prefix_space True", "llama", {CONFIG: {"/legacy": False, "/add_prefix_space": True}})
    case("Llama, legacy False", "llama", {CONFIG: {"/legacy": False}})
    case("Llama, add_prefix_space False", "llama", {CONFIG: {"/add_prefix_space": False}})
    case("Llama, add_prefix_space False, without tokenizer.json", "llama", {CONFIG: {"/add_prefix_space": False}}, without=[FILE])
    case("Llama, add_prefix_space null", "llama", {CONFIG: {"/add_prefix_space": None}})
    case("Llama, add_prefix_space True, without tokenizer.model", "llama", {CONFIG: {"/add_prefix_space": True}},
         without=["tokenizer.model"])
    case("Llama, tokenizer_file is null", "llama", {CONFIG: {"/tokenizer_file": None}})
    for cls in ("PreTrainedTokenizerFast", "GPT2Tokenizer", "BertTokenizer", "CodeLlamaTokenizer"):
        case(f"Llama's files as {cls}", "llama", {CONFIG: {"/tokenizer_class": cls}})
    case("Llama's files as PreTrainedTokenizerFast, names without types", "llama",
         {CONFIG: {"/tokenizer_class": "PreTrainedTokenizerFast", "/model_input_names": NO_TYPES}})
    template = json.loads((HERE / "llama" / "tokenizer.json").read_text())["post_processor"]
    template["special_tokens"]["<s>"] |= {"ids": [0], "tokens": ["<|endoftext|>"]}
    case("GPT-2's files as LlamaTokenizer", "byte_bpe",
         {CONFIG: {"/tokenizer_class": "LlamaTokenizer", "/bos_token": "<|endoftext|>", "/eos_token": "<|endoftext|>",
                   "/unk_token": "<|endoftext|>"}}, {CONFIG: ["/add_prefix_space"]})
    case("a template with a type between the texts", "byte_bpe",
         {CONFIG: {"/tokenizer_class": "PreTrainedTokenizerFast"}, FILE: {"/post_processor": template}})


def pointed(document, pointer):
    *path, last = pointer.strip("/").split("/")
    for key in path:
        document = document[int(key) if isinstance(document, list) else key]
    return document, int(last) if isinstance(document, list) else last


def write_folder(one, folder):
    for file in (HERE / one["base"]).iterdir():
        if file.name not in one["without"]:
            shutil.copy(file, folder / file.name)
    for name in {**one["set"], **one["delete"]}:
        path = folder / name
        document = json.loads(path.read_text()) if path.exists() else {}
        for pointer, value in one["set"].get(name, {}).items():
            place, key = pointed(document, pointer)
            place[key] = value
        for pointer in one["delete"].get(name, []):
            place, key = pointed(document, pointer)
            del place[key]
        path.write_text(json.dumps(document))


def result(one):
    import transformers
    transformers.logging.set_verbosity_error()
    with tempfile.TemporaryDirectory() as scratch:
        write_folder(one, Path(scratch))
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(scratch, local_files_only=True)
        except Exception as error:  # whatever it is, the folder cannot be read
            return {"error": type(error).__name__}
    found = tokenizer(*PAIR)
    return {"class": type(tokenizer).__name__, "ids": [tokenizer(text)["input_ids"] for text in TEXTS],
            "pair": found["input_ids"], "types": found.get("token_type_ids", [0] * len(found["input_ids"])),
            "cut": tokenizer(TEXTS[-1], truncation=True, max_length=MAX_LENGTH)["input_ids"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    bert_cases()
    byte_level_cases()
    llama_cases()
    lines = [json.dumps(one | result(one), ensure_ascii=False) for one in CASES]
    text = (f'{{"texts": {json.dumps(TEXTS, ensure_ascii=False)},\n"pair": {json.dumps(PAIR)},\n'
            f'"max_length": {MAX_LENGTH},\n"cases": [\n' + ",\n".join(lines) + "\n]}\n")
    path = HERE / "files.json"
    if not options.check:
        path.write_text(text, encoding="utf-8")
        print(f"{len(CASES)} cases")
    elif path.read_text(encoding="utf-8") != text:
        sys.exit(f"{path} differs")


if __name__ == "__main__":
    main()
