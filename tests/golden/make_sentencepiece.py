#!/usr/bin/env python3
"""Makes a small Marian folder, and what SentencePiece and transformers' MarianTokenizer make of many texts with it.

usage: make_sentencepiece.py [--check] [--out FOLDER]

Writes into OUT (default: sentencepiece/ beside this script):
  marian/       source.spm (unigram), target.spm (bpe; its own control ids), vocab.json that lacks some of their pieces,
                tokenizer_config.json
  strings.json  corpus   {en, de}: the texts that all models were learnt from
                learnt   {size, joint: {source, target}, separate: {source, target}}: ids of CASES by bpe models of
                         this size that are learnt from the corpus as headprune does it; 0.1.97 and 0.2.0 agree on
                         them, as they need not on unigram models and on other texts
                cases    texts chosen by hand: {text, source, target: ids by the library; source_text, target_text: these
                         decoded; marian_source, marian_target: ids by MarianTokenizer; marian_text: the latter decoded}
                random   {texts, and for each key of a case that is not the text: 8 hex digits of the SHA-256 of each
                         text's value as JSON without spaces}
                ids      {ids, text}: any ids decoded by target.spm;  marian_ids: the same by MarianTokenizer
--check  writes nothing: learns and computes everything again, and compares; exit 1 if anything differs

Needs sentencepiece 0.1.97 or 0.2, transformers 4.57 without sacremoses, Python 3.11.
"""
import argparse
import contextlib
import hashlib
import io
import json
import random
import sys
import tempfile
import warnings
from pathlib import Path

import sentencepiece
from transformers import MarianTokenizer

from make_tokenizer_goldens import dump

SEED = 20240613
STRINGS, ID_LISTS = 400, 120
LEARNT = 240

PARTS = {
    "en": [["A man", "The old woman", "My small dog", "Nobody", "A group of children", "The teacher", "Another farmer",
            "Three musicians", "The neighbour's cousin", "A tired swimmer", "Every passenger", "The mayor of the village"],
           ["is reading", "sees", "does not want", "will remember", "was painting", "carries", "shouts about", "sold",
            "photographs", "has forgotten", "would rather repair", "throws away"],
           ["a book", "the yellow house", "two bicycles", "her friend's umbrella", "everything", "an orange kite",
            "some unbelievable stories", "the broken window", "fresh vegetables", "a wooden guitar", "his heavy suitcase",
            "the shortest ladder"],
           ["in the garden.", "near the river!", "while it rains.", "at 7:30 (or later).", "\u2013 perhaps?", "",
            "before the market opens.", "without any help.", "under a bridge, quietly.", "on the way to the station."]],
    "de": [["Ein Mann", "Die alte Frau", "Mein kleiner Hund", "Niemand", "Eine Gruppe Kinder", "Der Lehrer",
            "Noch ein Bauer", "Drei Musiker", "Die Cousine des Nachbarn", "Ein m\u00fcder Schwimmer", "Jeder Fahrgast",
            "Der B\u00fcrgermeister des Dorfes"],
           ["liest", "sieht", "m\u00f6chte nicht", "wird behalten", "malte", "tr\u00e4gt", "schreit wegen", "verkaufte",
            "fotografiert", "hat vergessen", "w\u00fcrde lieber reparieren", "wirft weg"],
           ["ein Buch", "das gelbe H\u00e4uschen", "zwei Fahrr\u00e4der", "den Regenschirm der Freundin", "alles",
            "einen gro\u00dfen Drachen", "einige unglaubliche Geschichten", "das zerbrochene Fenster",
            "frisches Gem\u00fcse", "eine h\u00f6lzerne Gitarre", "seinen schweren Koffer", "die k\u00fcrzeste Leiter"],
           ["im Garten.", "am Flu\u00df!", "w\u00e4hrend es regnet.", "um 7:30 Uhr (oder sp\u00e4ter).",
            "\u2013 vielleicht?", "", "bevor der Markt \u00f6ffnet.", "ohne jede Hilfe.", "unter einer Br\u00fccke, leise.",
            "auf dem Weg zum Bahnhof."]],
}

# Normalization of the committed models: that of the library is 240 KB in each.
RULES = [("\u00a0", " "), ("\u3000", " "), ("\t", " "), ("\ufb01", "fi"), ("\uff21", "A"), ("e\u0301", "\u00e9"),
         ("\u2026", "..."), ("\u201e", '"'), ("\u201c", '"'), ("\u200b", ""), ("\u00df\u00df", "\u00df")]

CASES = [
    "A man is reading a book in the garden.", "Der Lehrer tr\u00e4gt zwei Fahrr\u00e4der.", "", " ", "  two  spaces  ",
    "\t", "\ttab\tand\u00a0no-break\u3000wide ", "UPPER lower MiXeD", "unseen: xylophone qwxz", "\u4e16\u754c", "a\u4e16b",
    "\u4e16 \u754c", "caf\u00e9 cafe\u0301", "\ufb01ne \uff21", "\u2026", "\u201eZitat\u201c", "gro\u00df \u00df\u00df\u00df",
    "\u200b", "zero\u200bwidth", "\U0001f600 face", "\u2581", "\u2581A \u2581man", "a\u2581b", "<unk>", "</s>", "<pad>",
    "<s>", "a<unk>b", "A man</s>is", " </s> ", "</s></s>", "x <pad> y", "< unk >", ">>de<<", ">>de<<Ein Mann",
    ">>de<< A man", ">>fr<< A man", ">> A man", ">>de<", "<<", ">><<", " >>de<< A", "A >>de<< man", ">>de<<>>de<<",
    "</s>>>de<< A man", "7:30", "1234567890", "don't", "'s n't 're", "A man .", "A man ' s , ?", "\\n", "\u00ad",
    "\u2028", "\ufeffA", "\u0130stanbul", "\u1e9e", "\u0e01\u0e33", "a" * 60, "\u00e9" * 20, "A man " * 20, "\x01", "\x7f",
]
ODD = ["\u2581", " ", "  ", "\t", "\u00a0", "\u3000", "\u200b", "\u4e16", "\U0001f600", "\u0301", "\u00df", "\u00e9", "\ufb01",
       "\u2026", "<unk>", "</s>", "<pad>", "<s>", ">>de<<", ">>", "<<", "\u2585", "\u1e9e", "\x01", "\x00", "\ufffd", "\r"]


def corpus(language):
    draw = random.Random(SEED)
    lines = []
    for _ in range(120):
        lines.append(" ".join(part for part in (draw.choice(choices) for choices in PARTS[language]) if part))
    return lines


def learn(lines, **options):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=model, num_threads=1,
                                             minloglevel=2, **options)
    return model.getvalue()


def make_folder(folder):
    folder.mkdir(parents=True, exist_ok=True)
    # The models hold the name of the file with the rules, so it has no folder.
    with tempfile.TemporaryDirectory() as temporary, contextlib.chdir(temporary):
        rules = Path("rules.tsv")
        rules.write_text("".join(" ".join(f"{ord(c):X}" for c in text) + "\t" + " ".join(f"{ord(c):X}" for c in to) + "\n"
                                 for text, to in RULES), encoding="utf-8")
        # Ids as Marian's own training leaves them: no <pad>, and </s> before the others.
        source = learn(corpus("en"), model_type="unigram", vocab_size=160, bos_id=-1, unk_id=1, eos_id=0,
                       normalization_rule_tsv=str(rules))
        target = learn(corpus("de"), model_type="bpe", vocab_size=220, pad_id=3, normalization_rule_tsv=str(rules))
    (folder / "source.spm").write_bytes(source)
    (folder / "target.spm").write_bytes(target)
    draw = random.Random(SEED)
    pieces = set()
    for name in ("source.spm", "target.spm"):
        side = load(folder / name)
        known = [side.id_to_piece(i) for i in range(side.get_piece_size()) if not side.is_control(i)]
        pieces |= {piece for piece in known if piece != "<unk>" and draw.random() < 0.95}
    tokens = ["</s>", "<unk>"] + sorted(pieces) + [">>de<<", "<pad>"]
    vocabulary = {token: i for i, token in enumerate(tokens)}
    (folder / "vocab.json").write_text(json.dumps(vocabulary, ensure_ascii=False) + "\n", encoding="utf-8")
    config = {"source_lang": "en", "target_lang": "de", "tokenizer_class": "MarianTokenizer"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config) + "\n", encoding="utf-8")


def load(path):
    return sentencepiece.SentencePieceProcessor(model_file=str(path))


def random_texts(draw):
    words = sorted({word for language in PARTS for line in corpus(language) for word in line.split()})
    texts = []
    for _ in range(STRINGS):
        parts = []
        for _ in range(draw.randrange(1, 9)):
            kind = draw.random()
            if kind < 0.5:
                word = draw.choice(words)
                parts.append(draw.choice([word, word, word.upper(), word[1:], word[::-1]]))
            elif kind < 0.7:
                parts.append("".join(chr(draw.randrange(0x20, 0x7F)) for _ in range(draw.randrange(1, 6))))
            elif kind < 0.8:
                parts.append("".join(chr(draw.randrange(0xA0, 0x250)) for _ in range(draw.randrange(1, 6))))
            else:
                parts.append(draw.choice(ODD))
            parts.append(draw.choice(["", " ", " ", " ", "  "]))
        texts.append("".join(parts))
    return texts


def values(text, source, target, marian):
    marian_target = marian(text_target=text, add_special_tokens=False).input_ids
    result = {"source": source.encode(text), "target": target.encode(text),
              "marian_source": marian(text, add_special_tokens=False).input_ids, "marian_target": marian_target,
              "marian_text": marian.decode(marian_target, skip_special_tokens=True)}
    result["source_text"] = source.decode(result["source"])
    result["target_text"] = target.decode(result["target"])
    if marian(text).input_ids != result["marian_source"] + [marian.eos_token_id]:
        sys.exit(f"MarianTokenizer does not end {text!r} with </s>")
    return result


def learnt():
    texts = {language: corpus(language) for language in PARTS}
    options = {"model_type": "bpe", "vocab_size": LEARNT, "pad_id": 0, "unk_id": 1, "bos_id": 2, "eos_id": 3}

    def model(lines):
        return sentencepiece.SentencePieceProcessor(model_proto=learn(lines, **options))

    joint = model(texts["en"] + texts["de"])
    sides = {"joint": (joint, joint), "separate": (model(texts["en"]), model(texts["de"]))}
    return {"size": LEARNT, **{mode: {"source": [source.encode(text) for text in CASES],
                                      "target": [target.encode(text) for text in CASES]}
                               for mode, (source, target) in sides.items()}}


def make(out):
    folder = out / "marian"
    if not folder.exists():
        make_folder(folder)
    source, target = load(folder / "source.spm"), load(folder / "target.spm")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # recommends sacremoses
        marian = MarianTokenizer.from_pretrained(str(folder), local_files_only=True)
    if marian.punc_normalizer(" ''x") != " ''x":
        sys.exit("sacremoses is installed; the goldens are of MarianTokenizer without it")

    draw = random.Random(SEED)
    texts = random_texts(draw)
    random_values = [values(text, source, target, marian) for text in texts]

    def short_hash(value):
        return hashlib.sha256(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()[:8]

    id_lists = [[draw.randrange(target.get_piece_size()) for _ in range(draw.randrange(12))] for _ in range(ID_LISTS)]
    marian_lists = [[draw.randrange(len(marian.encoder)) for _ in range(draw.randrange(12))] for _ in range(ID_LISTS)]
    strings = {
        "corpus": {language: corpus(language) for language in PARTS},
        "learnt": learnt(),
        "cases": [{"text": text, **values(text, source, target, marian)} for text in CASES],
        "random": {"texts": texts, **{key: [short_hash(one[key]) for one in random_values] for key in random_values[0]}},
        "ids": [{"ids": ids, "text": target.decode(ids)} for ids in id_lists],
        "marian_ids": [{"ids": ids, "text": marian.decode(ids, skip_special_tokens=True)} for ids in marian_lists],
    }
    dump(strings, out / "strings.json", 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage=argparse.SUPPRESS)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent / "sentencepiece")
    options = parser.parse_args()
    if not options.check:
        make(options.out)
        return
    with tempfile.TemporaryDirectory() as temporary:
        again = Path(temporary) / "sentencepiece"
        make_folder(again / "marian")
        make(again)
        files = sorted(path.relative_to(again) for path in again.rglob("*") if path.is_file())
        wrong = [str(file) for file in files if not (options.out / file).exists()
                 or (options.out / file).read_bytes() != (again / file).read_bytes()]
    if wrong:
        sys.exit("differ: " + ", ".join(wrong))
    print(f"{len(files)} files, all equal")


if __name__ == "__main__":
    main()
