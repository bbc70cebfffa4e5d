#!/usr/bin/env python3
"""Makes small tokenizers, and what the `tokenizers` library makes of many texts with them and with a real one.

usage: make_tokenizer_goldens.py [--check | --train] [--out FOLDER] [--data FOLDER] [--minilm FOLDER]
       make_tokenizer_goldens.py --explain NAME STRING

Writes into OUT (default: tokenizers/ beside this script; "ids" are those of encode() without special tokens):
  wordpiece/ byte_bpe/ roberta/
                    tokenizers as transformers saves them (BERT's, GPT-2's, RoBERTa's rules), each in both layouts:
                    tokenizer.json, and vocab.txt or vocab.json + merges.txt with tokenizer_config.json
  strings.json      cases    texts chosen by hand: {text, NAME: ids for each tokenizer}
                    random   {texts, NAME: first 8 hex digits of ids_sha256 for each text}
                    pairs    {first, second (or null), max_length, NAME: {ids, types}}: special tokens added, truncated
                             by longest_first
  code_points.json  every code point assigned in Unicode 12: ranges [first, last]; for each range 8 hex digits of the
                    ids_sha256 of "a?a" for each of its code points with wordpiece, and of the sha256 of their classes
                    (L letter, N number, S white space, O other) in GPT-2's pattern
  data.json         with --data: for each file {lines, NAME: ids_sha256 of all lines}; "minilm" too with --minilm
ids_sha256: SHA-256 of one line a text, its ids in decimal with single spaces between, a newline after each.

--data     folder with sst2/ cola/ rte/ multi30k-en-de/; without it data.json is left as it is
--minilm   folder of all-MiniLM-L6-v2's tokenizer; without it the "minilm" of data.json is left as it is
--check    writes nothing: computes again with the tokenizers that are there, and compares; exit 1 if anything differs
--train    trains the tokenizers anew, which otherwise is done only where they are missing: the trainer of WordPiece
           breaks ties in another order each time
--explain  prints the library's ids and tokens of STRING with the committed tokenizer NAME, or with a folder

Needs tokenizers 0.22, transformers 4.57, and Python 3.11, whose unicodedata is Unicode 14.
"""
import argparse
import hashlib
import json
import random
import shutil
import sys
import tempfile
import unicodedata
from pathlib import Path

import transformers
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

SEED = 20240611
STRINGS, PAIRS = 3000, 80
NAMES = ["wordpiece", "byte_bpe", "roberta"]
# name in the folder of data
DATA = ["sst2/train.tsv", "sst2/dev.tsv", "sst2/test.tsv", "cola/train.tsv", "cola/dev.tsv", "rte/train.tsv",
        "rte/dev.tsv"] + [f"multi30k-en-de/{part}.{language}" for part in ("train", "val", "test_2016_flickr")
                          for language in ("en", "de")]

# Assigned in Unicode 12.1 to 14 and so not in 12, as perl's \p{Present_In=12.0} says.
NEWER = """61D 870-88E 890-891 898-89F 8B5 8BE-8D2 B55 C3C C5D CDD D04 D81 170D 1715 171F 180F 1ABF-1ACE 1B4C 1B7D-1B7E
1DFA 20C0 2B97 2C2F 2C5F 2E50-2E5D 31BB-31BF 32FF 4DB6-4DBF 9FF0-9FFF A7C0-A7C1 A7C7-A7CA A7D0-A7D1 A7D3 A7D5-A7D9
A7F2-A7F6 A82C AB68-AB6B FBC2 FD40-FD4F FDCF FDFE-FDFF 1019C 10570-1057A 1057C-1058A 1058C-10592 10594-10595 10597-105A1
105A3-105B1 105B3-105B9 105BB-105BC 10780-10785 10787-107B0 107B2-107BA 10E80-10EA9 10EAB-10EAD 10EB0-10EB1 10F70-10F89
10FB0-10FCB 11070-11075 110C2 11147 111CE-111CF 1145A 11460-11461 116B9 11740-11746 11900-11906 11909 1190C-11913
11915-11916 11918-11935 11937-11938 1193B-11946 11950-11959 11AB0-11ABF 11FB0 12F90-12FF2 16A70-16ABE 16AC0-16AC9 16FE4
16FF0-16FF1 18AF3-18CD5 18D00-18D08 1AFF0-1AFF3 1AFF5-1AFFB 1AFFD-1AFFE 1B11F-1B122 1CF00-1CF2D 1CF30-1CF46 1CF50-1CFC3
1D1E9-1D1EA 1DF00-1DF1E 1E290-1E2AE 1E7E0-1E7E6 1E7E8-1E7EB 1E7ED-1E7EE 1E7F0-1E7FE 1F10D-1F10F 1F16D-1F16F 1F1AD
1F6D6-1F6D7 1F6DD-1F6DF 1F6FB-1F6FC 1F7F0 1F8B0-1F8B1 1F90C 1F972 1F977-1F979 1F9A3-1F9A4 1F9AB-1F9AD 1F9CB-1F9CC 1FA74
1FA7B-1FA7C 1FA83-1FA86 1FA96-1FAAC 1FAB0-1FABA 1FAC0-1FAC5 1FAD0-1FAD9 1FAE0-1FAE7 1FAF0-1FAF6 1FB00-1FB92 1FB94-1FBCA
1FBF0-1FBF9 2A6D7-2A6DF 2B735-2B738 30000-3134A"""

# Blocks that texts draw from more often than from all of Unicode, and how many of their characters the small WordPiece
# vocabulary knows.
BLOCKS = [((0x21, 0x7E), 94), ((0xA1, 0xFF), 60), ((0x100, 0x24F), 40), ((0x300, 0x36F), 10), ((0x370, 0x3FF), 50),
          ((0x400, 0x4FF), 60), ((0x531, 0x58F), 20), ((0x5D0, 0x5F4), 20), ((0x620, 0x66F), 30), ((0x900, 0x97F), 40),
          ((0xE01, 0xE5B), 30), ((0x1100, 0x11FF), 60), ((0x1E00, 0x1EFF), 20), ((0x2010, 0x2060), 30),
          ((0x20A0, 0x20BF), 10), ((0x2150, 0x218F), 20), ((0x2190, 0x22FF), 30), ((0x2460, 0x24FF), 20),
          ((0x2600, 0x27BF), 40), ((0x3001, 0x3030), 15), ((0x3041, 0x30FF), 60), ((0x4E00, 0x9FA5), 60),
          ((0xAC00, 0xD7A3), 20), ((0xF900, 0xFA6D), 10), ((0xFF01, 0xFF9F), 30), ((0x10400, 0x1044F), 20),
          ((0x1D400, 0x1D7FF), 20), ((0x1F300, 0x1F64F), 60), ((0x20000, 0x2A6D6), 10), ((0xE0020, 0xE007F), 4)]
ODD = [0, 1, 9, 11, 12, 13, 0x1C, 0x7F, 0x85, 0xA0, 0xAD, 0x130, 0x131, 0xDF, 0x1E9E, 0x3A3, 0x3C2, 0x1680, 0x180E, 0x2003,
       0x200B, 0x200C, 0x200D, 0x200E, 0x2028, 0x2029, 0x202E, 0x202F, 0x205F, 0x2066, 0x3000, 0xFE0F, 0xFEFF, 0xFFFC,
       0xFFFD, 0x300, 0x301, 0x308, 0x323, 0x327, 0x345, 0x93C, 0x1734, 0x166D, 0x302E, 0x20DD, 0xE000, 0xF8FF, 0x1F1E9,
       0x1F3FD, 0x1D165, 0x1D16D, 0xE0001, 0x100000]
SPECIALS = ["[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]", "[mask]", "<s>", "</s>", "<pad>", "<unk>", "<mask>",
            "<|endoftext|>", "[CLS", "<s", "new_token", "New_Token"]

WORDS = """the of and to in a is that it was for on are as with his they at be this from have or by one had not but what
all were when we there can an your which their said if do will each about how up out them then she many some so these
would other into has more her two like him see time could no make than first been its who now people my made over did
down only way find use may water long little very after words called just where most know get through back much before
go good new write our used me man too any day same right look think also around another came come work three word must
because does part even place well such here take why things help put years different away again off went old number
great tell men say small every found still between name should home big give air line set own under read last never us
left end along while might next sound below saw something thought both few those always looked show large often together
asked house don't it's i'm we've they'll you're he'd can't movie film story character funny bad best worst plot actor
eine einer der die das und ist nicht mit auf ein mann frau kind hund zwei junge läuft straße größe über für grün""".split()
SYLLABLES = """an en er in re on at ed st or ti te al ar is le se ve ra ri ro li ne de me ing ion ment ly un pre con tion
able ness ous ful est ist ic al ity sch ung lich keit""".split()

CASES = ["", " ", "   ", "a", "Hello World", "hello, world!", "It's they'll I'm we've you're he'd can't 'tis 's'm''re 'S",
         "naïve café Ångström ÅNGSTRÖM Straße İstanbul ıI ΣΑΣ ς ẞ", "a\tb\nc\rd\x0be\x0cf", "a\u00a0b\u2003c\u3000d\u2028e",
         "zero\u200bwidth\u200djoiner soft\u00adhyphen \ufeffbom", "\x00nul\x01\x7fdel\ufffdreplacement", "中文字符 mixed中文text",
         "日本語テキスト ひらがな カタカナ ﾊﾝｶｸ", "한국어 텍스트", "\ufa0e\uf900 compat", "e\u0301 a\u0327\u0301 x\u0323\u0307",
         "\U0001f600\U0001f44d\U0001f3fd \U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea", "“quotes” ‘single’ — dash… ¿qué?",
         "[CLS] a [SEP] b [PAD][UNK]x[MASK]y", "[cls] [mask] [CLS", "<s> a </s><pad> <unk>  <mask>  b<mask>", "<|endoftext|>a<|endoftext|> b",
         "  leading and trailing  ", "tabs\t\tand  spaces   here", "newline\n\nnewline \n x", "x\n", "\n", "1234567890 12,345.67 ½ ² Ⅷ ٣٤٥",
         "http://a.b/c?d=e&f=g#h", "snake_case camelCase ALLCAPS", "a" * 99, "a" * 100, "a" * 101, "é" * 100, "é" * 101,
         "the " * 30, "!!!???...", "'", "''", " '", "'s", " 's", "don't", "don’t", "a'b'c", "𝒜𝓁𝓅𝒽𝒶 𝔹𝕖𝕥𝕒", "𐐀𐐨 𐐁", "ᜲ᜴ ᙭ x", "हिन्दी भाषा",
         "ภาษาไทย", "עִבְרִית", "العربية ٠١", "new_token New_Token xnew_token new_tokenx new_token", "new_token.new_token,",
         "\u0130", "\u1e9e", "ǅ ǆ Ǆ", "ﬁ ﬂ", "Ω Å K", "a\u0345", "\u1100\u1161\u11a8", "각", "\U0001d165\U0001d16d", "\u302e\u302f"]


def code_point_ranges():
    newer = set()
    for item in NEWER.split():
        first, _, last = item.partition("-")
        newer.update(range(int(first, 16), int(last or first, 16) + 1))
    ranges = []
    for code in range(0x110000):
        if unicodedata.category(chr(code)) in ("Cn", "Cs") or code in newer:
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return ranges


def training_lines(draw):
    """Lines of common words and of invented ones, frequent ones oftener."""
    def word():
        if draw.random() < 0.6:
            return WORDS[min(int(draw.expovariate(1 / 60)), len(WORDS) - 1)]
        return "".join(draw.choice(SYLLABLES) for _ in range(draw.randint(1, 4)))

    lines = []
    for _ in range(1500):
        words = [word() for _ in range(draw.randint(3, 14))]
        line = " ".join(words) + draw.choice([".", "!", "?", ",", " .", ""])
        lines.append(line.capitalize() if draw.random() < 0.5 else line)
    return lines


def known_characters(draw, assigned):
    known = []
    for (first, last), count in BLOCKS:
        codes = [code for code in range(first, last + 1) if code in assigned]
        known += draw.sample(codes, min(count, len(codes)))
    return known


def added_token():
    """Not special: looked for in normalized text, as a word of its own."""
    return AddedToken("New_Token", single_word=True, normalized=True)


def train_wordpiece(lines, known):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    alphabet = {c for code in known for c in tokenizer.normalizer.normalize_str(chr(code)) if not c.isspace()}
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(lines, trainers.WordPieceTrainer(
        vocab_size=len(alphabet) + 700, special_tokens=specials, initial_alphabet=sorted(alphabet), show_progress=False))
    # The trainer knows no `##` form of characters that only the alphabet brought: half of them get one.
    vocabulary = [token for token, _ in sorted(tokenizer.get_vocab().items(), key=lambda entry: entry[1])]
    have = set(vocabulary)
    vocabulary += [f"##{c}" for c in sorted(alphabet)[::2] if f"##{c}" not in have]
    tokenizer.model = models.WordPiece({token: i for i, token in enumerate(vocabulary)}, unk_token="[UNK]",
                                       max_input_chars_per_word=100)
    tokenizer.add_special_tokens(specials)
    tokenizer.add_tokens([added_token()])
    ids = {token: tokenizer.token_to_id(token) for token in ("[CLS]", "[SEP]")}
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=list(ids.items()))
    tokenizer.decoder = decoders.WordPiece(prefix="##")
    return tokenizer


def train_bpe(lines, known, specials, size):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    # Some merges inside characters of several bytes.
    lines = lines + [" ".join(chr(code) * 3 for code in known[i:i + 10]) for i in range(0, len(known), 10)] * 3
    tokenizer.train_from_iterator(lines, trainers.BpeTrainer(
        vocab_size=size, special_tokens=specials, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False))
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def train_byte_bpe(lines, known):
    tokenizer = train_bpe(lines, known, ["<|endoftext|>"], 900)
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer


def train_roberta(lines, known):
    specials = ["<s>", "<pad>", "</s>", "<unk>"]
    tokenizer = train_bpe(lines, known, specials + ["<mask>"], 700)
    mask = AddedToken("<mask>", lstrip=True, normalized=False, special=True)
    model = json.loads(tokenizer.to_str())["model"]
    tokenizer = Tokenizer(models.BPE(model["vocab"], [tuple(merge) for merge in model["merges"]]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(token, normalized=False, special=True) for token in specials] + [mask])
    ids = {token: tokenizer.token_to_id(token) for token in specials}
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", ids["</s>"]), ("<s>", ids["<s>"]))
    return tokenizer


def mask_of_roberta():
    return {"__type": "AddedToken", "content": "<mask>", "lstrip": True, "normalized": False, "rstrip": False,
            "single_word": False}


CONFIGS = {
    "wordpiece": {"do_lower_case": True, "strip_accents": None, "tokenize_chinese_chars": True,
                  "tokenizer_class": "BertTokenizer"},
    "byte_bpe": {"add_prefix_space": False, "tokenizer_class": "GPT2Tokenizer"},
    "roberta": {"add_prefix_space": True, "mask_token": mask_of_roberta(), "tokenizer_class": "RobertaTokenizer"},
}


def save(name, tokenizer, folder):
    folder.mkdir(parents=True, exist_ok=True)
    text = tokenizer.to_str()
    (folder / "tokenizer.json").write_text(text + "\n", encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(CONFIGS[name], indent=1) + "\n", encoding="utf-8")
    model = json.loads(text)["model"]
    tokens = sorted(model["vocab"], key=model["vocab"].get)
    if name == "wordpiece":
        (folder / "vocab.txt").write_text("".join(token + "\n" for token in tokens), encoding="utf-8")
        (folder / "added_tokens.json").write_text(json.dumps({"New_Token": len(tokens)}) + "\n", encoding="utf-8")
    else:
        (folder / "vocab.json").write_text(json.dumps(model["vocab"], ensure_ascii=False) + "\n", encoding="utf-8")
        merges = "".join(" ".join(merge) + "\n" for merge in model["merges"])
        (folder / "merges.txt").write_text("#version: 0.2\n" + merges, encoding="utf-8")


def load(folder):
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def ids_of(tokenizer, texts):
    return [encoding.ids for encoding in tokenizer.encode_batch(texts, add_special_tokens=False)]


def ids_sha256(ids):
    return hashlib.sha256("".join(" ".join(map(str, one)) + "\n" for one in ids).encode()).hexdigest()


def random_texts(draw, assigned, known):
    codes = sorted(assigned)
    blocks = [[code for code in range(first, last + 1) if code in assigned] for (first, last), _ in BLOCKS]

    def character():
        kind = draw.random()
        if kind < 0.35:
            return draw.randrange(0x20, 0x7F)
        if kind < 0.45:
            return 0x20
        if kind < 0.7:
            return draw.choice(known)
        if kind < 0.82:
            return draw.choice(draw.choice(blocks))
        return draw.choice(ODD) if kind < 0.9 else draw.choice(codes)

    texts = []
    for i in range(STRINGS):
        kind = draw.random()
        parts = [chr(character()) for _ in range(draw.randrange(0, 24))]
        if kind < 0.25:  # words with a few characters of another kind
            parts = [draw.choice(WORDS + [draw.choice(WORDS).upper()]) + draw.choice(["", " ", " ", "'s", chr(character())])
                     for _ in range(draw.randrange(1, 7))]
        if draw.random() < 0.2:
            parts.insert(draw.randrange(len(parts) + 1),
                         draw.choice(["", " ", "  ", "\u00a0"]) + draw.choice(SPECIALS) + draw.choice(["", " ", "\t"]))
        if draw.random() < 0.02:
            parts.append(chr(draw.choice(known)) * draw.choice([40, 99, 100, 101, 102, 130]))
        texts.append("".join(parts))
    return texts


def make_pairs(draw, texts, tokenizers):
    pairs = []
    for i in range(PAIRS):
        first, second = draw.choice(texts[:500]), draw.choice(texts[:500]) if draw.random() < 0.8 else None
        pair = {"first": first, "second": second, "max_length": draw.choice([4, 5, 8, 9, 16, 17, 200])}
        for name, tokenizer in tokenizers.items():
            tokenizer.enable_truncation(pair["max_length"], strategy="longest_first")
            encoding = tokenizer.encode(first, second)
            tokenizer.no_truncation()
            pair[name] = {"ids": encoding.ids, "types": encoding.type_ids}
        pairs.append(pair)
    return pairs


def pattern_class(pre_tokenizer, c):
    for name, other in (("L", "a"), ("N", "1"), ("O", "!")):
        if len(pre_tokenizer.pre_tokenize_str(other + c)) == 1:
            return name
    return "S"


def code_points(ranges, tokenizer):
    level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    result = {"ranges": ranges, "wordpiece": [], "pattern": []}
    for first, last in ranges:
        characters = [chr(code) for code in range(first, last + 1)]
        result["wordpiece"].append(ids_sha256(ids_of(tokenizer, [f"a{c}a" for c in characters]))[:8])
        classes = "".join(pattern_class(level, c) for c in characters)
        result["pattern"].append(hashlib.sha256(classes.encode()).hexdigest()[:8])
    return result


def data_hashes(folder, tokenizers, old):
    result = {}
    for name in DATA:
        lines = (folder / name).read_bytes().decode("utf-8").split("\n")
        if lines[-1] == "":
            lines.pop()
        result[name] = {"lines": len(lines)}
        for kind, tokenizer in tokenizers.items():
            result[name][kind] = ids_sha256(ids_of(tokenizer, lines))
        if "minilm" not in tokenizers and "minilm" in old.get(name, {}):
            result[name]["minilm"] = old[name]["minilm"]
    return result


def dump(value, path, per_line):
    """JSON with one item of the lists and objects `per_line` levels down on a line; odd characters escaped."""
    def text(item):
        raw = json.dumps(item, ensure_ascii=False, separators=(",", ":"))
        return "".join(c if unicodedata.category(c) not in ("Cc", "Cf", "Co", "Cn", "Zl", "Zp") else
                       json.dumps(c)[1:-1] for c in raw)

    def walk(item, depth):
        if depth == 0 or not isinstance(item, (list, dict)) or not item:
            return text(item)
        if isinstance(item, list):
            return "[\n" + ",\n".join(walk(one, depth - 1) for one in item) + "]"
        return "{\n" + ",\n".join(f"{text(key)}:{walk(one, depth - 1)}" for key, one in item.items()) + "}"

    path.write_text(walk(value, per_line) + "\n", encoding="utf-8")


def check_transformers(name, folder, texts):
    """The older layout alone must mean the same to transformers."""
    with tempfile.TemporaryDirectory() as temporary:
        for file in folder.iterdir():
            if file.name != "tokenizer.json":
                (Path(temporary) / file.name).write_bytes(file.read_bytes())
        converted = transformers.AutoTokenizer.from_pretrained(temporary, local_files_only=True).backend_tokenizer
    converted.no_truncation()
    converted.no_padding()
    # The older layout has no place for the flags of added tokens; texts with this one may differ.
    texts = [text for text in texts if "new_token" not in text.lower()]
    differing = [text for text, a, b in zip(texts, ids_of(load(folder), texts), ids_of(converted, texts)) if a != b]
    if differing:
        sys.exit(f"{name}: transformers reads the older layout differently, for example {differing[0]!r}")


def make(out, data, minilm, train_again=False):
    draw = random.Random(SEED)
    ranges = code_point_ranges()
    assigned = {code for first, last in ranges for code in range(first, last + 1)}
    known = known_characters(draw, assigned)
    lines = training_lines(draw)
    for name, train in (("wordpiece", train_wordpiece), ("byte_bpe", train_byte_bpe), ("roberta", train_roberta)):
        if train_again or not (out / name).exists():
            save(name, train(lines, known), out / name)
    tokenizers = {name: load(out / name) for name in NAMES}
    texts = random_texts(draw, assigned, known)
    for name in NAMES:
        check_transformers(name, out / name, CASES + texts)

    ids = {name: ids_of(tokenizer, CASES) for name, tokenizer in tokenizers.items()}
    cases = [{"text": text, **{name: ids[name][i] for name in NAMES}} for i, text in enumerate(CASES)]
    hashes = {name: [ids_sha256([one])[:8] for one in ids_of(tokenizer, texts)] for name, tokenizer in tokenizers.items()}
    strings = {"cases": cases, "random": {"texts": texts, **hashes}, "pairs": make_pairs(draw, texts, tokenizers)}
    dump(strings, out / "strings.json", 3)
    dump(code_points(ranges, tokenizers["wordpiece"]), out / "code_points.json", 1)
    if data:
        old = json.loads((out / "data.json").read_text()) if (out / "data.json").exists() else {}
        if minilm:
            tokenizers["minilm"] = load(minilm)
        dump(data_hashes(data, tokenizers, old), out / "data.json", 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage=argparse.SUPPRESS)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent / "tokenizers")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--minilm", type=Path)
    parser.add_argument("--explain", nargs=2)
    options = parser.parse_args()
    if options.explain:
        name, text = options.explain
        encoding = load(options.out / name if name in NAMES else Path(name)).encode(text, add_special_tokens=False)
        print(encoding.ids)
        print(encoding.tokens)
        return
    if unicodedata.unidata_version != "14.0.0":
        sys.exit("needs Python 3.11: which code points are known is taken from its Unicode 14")
    if not options.check:
        make(options.out, options.data, options.minilm, options.train)
        return
    with tempfile.TemporaryDirectory() as temporary:
        again = Path(temporary) / "tokenizers"
        shutil.copytree(options.out, again)
        make(again, options.data, options.minilm)
        files = sorted(path.relative_to(again) for path in again.rglob("*") if path.is_file())
        wrong = [str(file) for file in files if not (options.out / file).exists()
                 or (options.out / file).read_bytes() != (again / file).read_bytes()]
    if wrong:
        sys.exit("differ: " + ", ".join(wrong))
    print(f"{len(files)} files, all equal")


if __name__ == "__main__":
    main()
