#!/usr/bin/env python3
"""Makes text_metrics.json: what sacreBLEU's BLEU and chrF, with their defaults, make of awkward texts and of real ones.

usage: make_text_metrics.py [--check] [--data FOLDER] [--out FILE]
       make_text_metrics.py --explain HYPOTHESIS REFERENCE

  versions    what made it
  signatures  {bleu, chrf}, as sacreBLEU prints them
  spaces      every code point that str.split() takes for white space
  pairs       {texts: [hypothesis, reference], tokens: of both, as 13a joins them with spaces, bleu_statistics, bleu,
              chrf_statistics, chrf}; statistics in sacreBLEU's order, scores of the pair as a corpus
  corpora     {pairs: numbers from 0 in `pairs`, bleu, chrf}
  multi30k    {lines, hypotheses_sha256, bleu, chrf}: test_2016_flickr.de, spoilt by spoil() below, against itself; the
              SHA-256 is of all spoilt lines, a newline after each. None of the text itself is kept

--data     folder with multi30k-en-de/; without it "multi30k" is left as it is
--check    writes nothing: computes again and compares; exit 1 if anything differs
--explain  prints tokens, statistics and scores of one pair

Needs sacrebleu 2.6.0, and Python 3.11 for the stream of its random numbers: pip install sacrebleu==2.6.0
"""
import argparse
import hashlib
import json
import platform
import random
import sys
from pathlib import Path

import sacrebleu
from sacrebleu.metrics import BLEU, CHRF

SEED = 20250517
RANDOM_PAIRS = 260

# Hypothesis and reference.
HAND = [
    ("", ""), ("", "A dog runs."), ("A dog runs.", ""), ("   ", "\u00a0\u3000"), ("the", "the"), ("the", "a"), ("the the the", "the"),
    ("a b", "a b"), ("a b c", "a b c"), ("a b c", "a b d"), ("a b c d", "a b c d"), ("a b c d", "d c b a"), ("a b c d e", "a x c y e"),
    ("The cat sat on the mat.", "The cat sat on the mat."), ("The cat the cat on the mat.", "The cat sat on the mat, the cat."),
    ("the Cat sat on The mat.", "The cat sat on the mat."), ("x y z w v", "a b c d e"), ("ab", "abcdefgh"), ("abcdefgh", "ab"), ("abcdefgh", "abcdefgh"),
    ("It costs 1,234.56 dollars.", "It costs 1.234,56 dollars."), ("1,2.3 .5 5. ,5 5, 5.a a.5 a.b 1-2 a-1 1-a a-b -1 1- --1--", "1 , 2.3"),
    ("... .. . ,,, ,. .,", "... . . . , , ,"), ("Wait...what?!", "Wait ... what ? !"), ("...", "..."), ("a...b", "1...2"), (".", "."), (",", "."), ("3.", "3 ."),
    ("&quot;Yes&quot; &amp; &lt;no&gt;", "\"Yes\" & <no>"), ("&amp;lt; &amp;quot; &amp;amp;gt; &apos; &nbsp;", "< &quot; &gt; ' "), ("AT&T &amp &quot", "AT & T"),
    ("<skipped>", "a"), ("a <skipped> b<skipped>c", "a b c"), ("<skip<skipped>ped> x", "<skipped> x"), ("x &lt;skipped&gt;", "x <skipped>"),
    ("hyphen-\nated word\nbreak", "hyphenated word break"), ("end-\n", "end-"), ("end-\n\u2028 ", "end"), ("a -\r\n b\r", "a - b"), ("1-\n2", "12"), ("tab\tv\x0bf\x0c", "tab v f"),
    ("don't can't 'tis s' \u2019s", "don 't can't"), ("snake_case [x] {y} |z| ~w `q` ^r \\s @t #u $v %w *x +y =z", "snake case x y z"),
    ("http://a.b/c?d=e&f=g#h", "http : / / a.b / c"), ("e-mail: a.b@c.de, z.B. 12.30 Uhr", "E-Mail: a.b@c.de, z. B. 12:30 Uhr"),
    ("a\u00a0b\u2003c\u3000d\u2028e\u2029f\u0085g\u1680h", "a b c d e f g h"), ("a\x1cb\x1dc\x1ed\x1fe", "a b c d e"), ("a\u200bb\ufeffc\u180ed\u2060e", "a b c d e"),
    ("5.\u00a0", "5."), ("5.\u00a06", "5.6"), ("\u00e9.5 5.\u00e9 \u00e9-5 5-\u00e9 \u0663.5 5.\u0663 \u0663-\u0664", "\u00e9 . 5"), ("\uff0c\u3002\uff01\uff1f", "\uff0c \u3002"),
    ("\u4e2d\u6587\u5b57\u7b26\u3002", "\u4e2d\u6587\u5b57\u7b26"), ("\u65e5\u672c\u8a9e \u30c6\u30ad\u30b9\u30c8,\u3067\u3059.", "\u65e5\u672c\u8a9e\u30c6\u30ad\u30b9\u30c8\u3067\u3059"), ("\ud55c\uad6d\uc5b4 \ud14d\uc2a4\ud2b8", "\ud55c\uad6d\uc5b4\ud14d\uc2a4\ud2b8"),
    ("\U0001f600\U0001f44d\U0001f3fd", "\U0001f600\U0001f44d"), ("\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea.", "\U0001f468\U0001f469\U0001f467 \U0001f1e9\U0001f1ea"),
    ("e\u0301te\u0301", "\u00e9t\u00e9"), ("na\u0308he a\u0308.\u0308", "n\u00e4he \u00e4."), ("Stra\u00dfe \u1e9e \u0130i", "STRASSE SS ii"),
    ("\u0939\u093f\u0928\u094d\u0926\u0940 \u0964", "\u0939\u093f\u0928\u094d\u0926\u0940."), ("\u05e2\u05b4\u05d1\u05b0\u05e8\u05b4\u05d9\u05ea", "\u05e2\u05d1\u05e8\u05d9\u05ea"),
    ("\u201eGuten Tag\u201c, sagte sie \u2013 \u00bbja\u00ab\u2026", "\"Guten Tag\", sagte sie - \"ja\"..."), ("\x00a\x01b\x7fc", "a b c"), ("\U0010ffff\ue000\ufffd", "\U0010ffff"),
]

WORDS = """ein eine der die das Hund Hunde Mann Frau Kind rennt sitzt spielt auf dem Gras im Park mit einem roten Ball und Straße über für
grün zwei 3 10 1.000 2,5 12-14 z.B. T-Shirt U.S. A.M. 9.30 don't rock'n'roll""".split()
ODD = ["&quot;", "&amp;", "&lt;", "&gt;", "&amp;lt;", "<skipped>", "...", "-", "--", "\u2013", "$5.00", "(x)", "[1]", "a/b", "50%", ".5", "5.", ",5", "5,", "1-", "-1",
       "\u4e2d\u6587", "\u3053\u308c", "\U0001f600", "e\u0301", "\u00ad", "\u200b", "\u0663", "\u00bd", "\u00e9,", "#@!", "~", "'s", "_", "\x7f"]
SPACES = [" "] * 30 + ["", "", "  ", "\t", "\u00a0", "\u2003", "\u3000", "\u2028", "\x85", "\x1f", "\n", "-\n", "\u200b"]
ENDS = [".", ".", ".", "!", "?", ",", "", " .", "\u3002", "-", ". ", ".\u00a0", "-\n"]


def random_pair(draw):
    """A reference, and a hypothesis that has lost, doubled, changed and moved some of its words."""
    def word():
        return draw.choice(ODD) if draw.random() < 0.25 else draw.choice(WORDS)

    def sentence(words):
        return "".join(one + draw.choice(SPACES) for one in words[:-1]) + "".join(words[-1:]) + draw.choice(ENDS)

    reference = [word() for _ in range(draw.choice([1, 2, 3, 4, 5, 6, 8, 11, 15]))]
    hypothesis = []
    for one in reference:
        luck = draw.random()
        hypothesis += [] if luck < 0.1 else [one, one] if luck < 0.15 else [word()] if luck < 0.25 else [one]
    if len(hypothesis) > 1 and draw.random() < 0.3:
        at = draw.randrange(len(hypothesis) - 1)
        hypothesis[at:at + 2] = hypothesis[at + 1], hypothesis[at]
    return sentence(hypothesis), sentence(reference)


def score(pairs):
    """{bleu, chrf} of a corpus."""
    hypotheses, references = [pair[0] for pair in pairs], [[pair[1] for pair in pairs]]
    return {"bleu": sacrebleu.corpus_bleu(hypotheses, references, force=True).score,
            "chrf": sacrebleu.corpus_chrf(hypotheses, references).score}


def describe(pair):
    bleu, chrf = BLEU(force=True), CHRF()
    statistics = [metric._extract_corpus_statistics([pair[0]], [[pair[1]]])[0] for metric in (bleu, chrf)]
    scores = score([pair])
    return {"texts": pair, "tokens": [bleu._preprocess_segment(text) for text in pair], "bleu_statistics": statistics[0],
            "bleu": scores["bleu"], "chrf_statistics": statistics[1], "chrf": scores["chrf"]}


def make_corpora(draw, pairs):
    hand = list(range(len(HAND)))
    rest = list(range(len(HAND), len(pairs)))
    short = [i for i, pair in enumerate(pairs) if len(BLEU()._preprocess_segment(pair[0]).split()) < 4]
    corpora = [list(range(len(pairs))), hand, rest, rest[::7], short, hand[:4], draw.sample(rest, 2), draw.sample(rest, 10),
               [draw.choice(rest) for _ in range(50)]]
    return [{"pairs": corpus, **score([pairs[i] for i in corpus])} for corpus in corpora]


def signature(metric):
    metric.corpus_score(["a"], [["a"]])
    return str(metric.get_signature())


def spoil(line, number):
    """Every fifth word is missing, and in every third line the first two of the others change places."""
    words = [word for i, word in enumerate(line.split(" ")) if (i + number) % 5 != 0]
    if number % 3 == 0 and len(words) > 1:
        words[0], words[1] = words[1], words[0]
    return " ".join(words)


def multi30k(folder):
    lines = (folder / "multi30k-en-de" / "test_2016_flickr.de").read_text(encoding="utf-8").split("\n")[:-1]
    spoilt = [spoil(line, number) for number, line in enumerate(lines)]
    digest = hashlib.sha256("".join(line + "\n" for line in spoilt).encode()).hexdigest()
    return {"lines": len(lines), "hypotheses_sha256": digest, **score(list(zip(spoilt, lines)))}


def make(out, data):
    draw = random.Random(SEED)
    pairs = [list(pair) for pair in HAND] + [list(random_pair(draw)) for _ in range(RANDOM_PAIRS)]
    golden = {"versions": {"sacrebleu": sacrebleu.__version__, "python": platform.python_version()},
              "signatures": {"bleu": signature(BLEU()), "chrf": signature(CHRF())},
              "spaces": [code for code in range(0x110000) if not chr(code).split()],
              "pairs": [describe(pair) for pair in pairs], "corpora": make_corpora(draw, pairs)}
    if data:
        golden["multi30k"] = multi30k(data)
    elif out.exists():
        golden["multi30k"] = json.loads(out.read_text())["multi30k"]
    return golden


def file_text(golden):
    """A pair, a corpus, or a whole other member on a line; everything but ASCII escaped."""
    def compact(value):
        return json.dumps(value, separators=(",", ":")).replace("\x7f", "\\u007f")

    def member(value):
        if isinstance(value, list) and isinstance(value[0], dict):
            return "[\n" + ",\n".join(compact(one) for one in value) + "]"
        return compact(value)

    return "{\n" + ",\n".join(f'"{key}":{member(value)}' for key, value in golden.items()) + "}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage=argparse.SUPPRESS)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent / "text_metrics.json")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--explain", nargs=2)
    options = parser.parse_args()
    if options.explain:
        print(json.dumps(describe(options.explain), indent=1, ensure_ascii=False))
        return
    golden = make(options.out, options.data)
    if not options.check:
        options.out.write_text(file_text(golden))
        return
    old = json.loads(options.out.read_text())
    wrong = [key for key in golden if key != "versions" and golden[key] != old.get(key)]
    if wrong:
        sys.exit("differ: " + ", ".join(wrong))
    print(f"{len(golden['pairs'])} pairs and {len(golden['corpora'])} corpora, all equal")


if __name__ == "__main__":
    main()
