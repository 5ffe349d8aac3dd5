#!/usr/bin/python3
"""Writes the files of this folder, from which the tests measure the embedded model: see README.md.

    make_reference.py [MODEL_FOLDER]

The numbers come from assets/demo/check_forward.py: numpy, float64, no code of attnviz.
"""
import json
import math
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
DEMO = HERE.parents[2] / "assets" / "demo"
sys.path.insert(0, str(DEMO))

import evaluate  # noqa: E402
from check_forward import EXAMPLE, Forward  # noqa: E402
from coreference import HE_SHE, IT_THEY, held_out_items  # noqa: E402
from tokenizer import Tokenizer  # noqa: E402

SENTENCES = {"he_she": 120, "it_they": 80}


def write(name, value):
    (HERE / name).write_text(json.dumps(value, separators=(",", ":")) + "\n")


def rounded(values, digits):
    return np.round(values, digits).tolist()


def write_golden(forward, tokenizer):
    """One sentence's attention and the five greatest logits behind it."""
    ids = tokenizer.encode(EXAMPLE)
    logits, attention = forward(ids)
    top = np.argsort(logits[-1])[::-1][:5]
    write("golden.json", {
        "text": EXAMPLE, "ids": ids, "tokens": [tokenizer.tokens[i] for i in ids],
        "last_logits_top5": [[int(i), round(float(logits[-1, i]), 4)] for i in top],
        "attention": rounded(attention, 5)})


def write_held_out(forward, tokenizer):
    """Token ids of held-out text and their mean loss; the perplexity is returned."""
    rows, _ = evaluate.held_out_rows(tokenizer)
    losses = []
    for row in rows:
        logits, _ = forward(row[:-1])
        largest = logits.max(-1)
        log_sums = largest + np.log(np.exp(logits - largest[:, None]).sum(-1))
        losses.append(log_sums - logits[np.arange(len(row) - 1), row[1:]])
    loss = float(np.mean(losses))
    write("heldout.json", {"loss": round(loss, 6), "perplexity": round(math.exp(loss), 5),
                           "row_losses": rounded(np.mean(losses, axis=1), 6), "rows": rows.tolist()})
    return math.exp(loss)


def write_random_pairs(forward, tokenizer):
    """Rows of random tokens said twice, and how far each head is a previous-token or an induction head."""
    rows = evaluate.random_pairs(len(tokenizer))
    previous, induction = [], []
    for row in rows:
        _, attention = forward(row)
        queries = np.arange(1, len(row))
        previous.append(attention[:, :, queries, queries - 1])
        before = np.array(evaluate.last_occurrence(row))
        queries = np.flatnonzero(before >= 0)
        induction.append(attention[:, :, queries, before[queries] + 1])
    scores = {name: np.concatenate(weights, -1).mean(-1)
              for name, weights in (("previous", previous), ("induction", induction))}
    write("random_pairs.json", {"rows": rows.tolist(),
                                **{name: rounded(score, 5) for name, score in scores.items()}})
    return scores


def write_sentences(name, seed):
    """Clear held-out sentences, one JSON object a line; the text is ASCII, so bytes are characters."""
    missing, lines = dict(SENTENCES), []
    for item in held_out_items(seed, 10 * sum(SENTENCES.values()), HE_SHE + IT_THEY, clear=True):
        pronoun = item["text"][slice(*item["P"])].lower()
        group = "he_she" if pronoun in ("he", "she") else "it_they"
        if missing[group] > 0:
            missing[group] -= 1
            lines.append({"text": item["text"], "kind": item["kind"], "group": group, "antecedent": item["A"],
                          "distractor": item["D"], "pronoun": item["P"]})
    (HERE / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return lines


def pronoun_weights(forward, tokenizer, sentences):
    """Attention from the pronoun to the antecedent and to the distractor, each [layer, head, sentence]."""
    out = {"antecedent": [], "distractor": []}
    for sentence in sentences:
        spans = tokenizer.spans(sentence["text"])
        _, attention = forward([i for i, _, _ in spans])
        query = evaluate.tokens_of(spans, sentence["pronoun"])[-1]
        for kind, weights in out.items():
            weights.append(attention[:, :, query, evaluate.tokens_of(spans, sentence[kind])].sum(-1))
    return np.stack(out["antecedent"], -1), np.stack(out["distractor"], -1)


def best_head(antecedent, distractor):
    wins = (antecedent > distractor).mean(-1)
    return np.unravel_index(np.where(antecedent.mean(-1) < evaluate.LEAST_ATTENTION, -1, wins).argmax(), wins.shape)


def figures_of_pronouns(forward, tokenizer, choose, score):
    layer, head = best_head(*pronoun_weights(forward, tokenizer, choose))
    antecedent, distractor = (weights[layer, head] for weights in pronoun_weights(forward, tokenizer, score))
    groups = np.array([sentence["group"] for sentence in score])
    shares = {}
    for group in ("all", "he_she", "it_they"):
        chosen = np.ones(len(score), bool) if group == "all" else groups == group
        shares[group] = {"sentences": int(chosen.sum()),
                         "wins": int((antecedent > distractor)[chosen].sum()),
                         "antecedent": round(float(antecedent[chosen].mean()), 4),
                         "distractor": round(float(distractor[chosen].mean()), 4)}
    return {"layer": int(layer), "head": int(head), **shares}


def named_head(scores):
    layer, head = np.unravel_index(scores.argmax(), scores.shape)
    return {"layer": int(layer), "head": int(head), "score": round(float(scores[layer, head]), 4)}


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else DEMO / "model"
    forward, tokenizer = Forward(folder), Tokenizer(folder / "tokenizer.json")
    write_golden(forward, tokenizer)
    perplexity = write_held_out(forward, tokenizer)
    scores = write_random_pairs(forward, tokenizer)
    choose = write_sentences("pronouns_choose.jsonl", evaluate.CHOOSE_SEED)
    score = write_sentences("pronouns_score.jsonl", evaluate.SCORE_SEED)
    figures = {"perplexity": round(perplexity, 4), **{name: named_head(value) for name, value in scores.items()},
               "pronoun": figures_of_pronouns(forward, tokenizer, choose, score)}
    (HERE / "figures.json").write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
