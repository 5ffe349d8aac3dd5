#!/usr/bin/python3
"""Measures a model folder: held-out loss, what each head does, pronouns, next words, samples, attention rows.

    evaluate.py MODEL_FOLDER > evaluation.txt

Held-out text, random tokens and held-out sentences are generated from seeds; nothing else is read. A head is chosen
on sentences of one seed and scored on those of another.
"""
import argparse
import itertools
import math
import pathlib

import numpy as np
import torch
import torch.nn.functional as F

from coreference import HE_SHE, IT_THEY, KINDS, held_out_items
from corpus import documents
from model import load_folder
from tokenizer import BOS_ID, Tokenizer

HELD_OUT_SEED, HELD_OUT_WORDS = 777, 1e5
HELD_OUT_ROWS, HELD_OUT_LENGTH = 64, 128
RANDOM_SEED, RANDOM_ROWS, RANDOM_LENGTH = 7, 16, 40
CHOOSE_SEED, SCORE_SEED, KINDS_SEED = 99, 1234, 97
N_SENTENCES = 200
LEAST_ATTENTION = .1  # a head that looks at the antecedent less than this, on average, is not chosen

GROUPS = {"he, she, it, they": HE_SHE + IT_THEY, "he, she": HE_SHE, "it, they": IT_THEY}
PROMPTS = (
    "The cat sat on the mat because it was", "The cat sat on the mat because it was such a tired",
    "When Mary and John went to the store, John gave a drink to", "Harry Potter is a wizard. Harry",
    "The trophy did not fit in the suitcase because it was too big. The",
    "The trophy did not fit in the suitcase because it was too small. The",
    "The animal didn't cross the street because it was too tired. The", "Anna gave Tom a book because he",
    "The keys near the cabinet", "The girl looked at", "red green blue one red green blue",
    "A fluffy blue creature roamed the verdant", "The capital of France is",
    "Anna is a baker. Tom is a pilot. She", "The dog")
SAMPLES = ("The cat sat on", "Once upon a time,", "Mary and John", "Harry Potter is", "The animal didn't cross",
           "Anna gave Tom a book because")
ROWS = (("The cat sat on the mat because it was tired", ("it", "tired")),
        ("The animal didn't cross the street because it was too tired", ("it", "tired")),
        ("The trophy did not fit in the suitcase because it was too big. The", ("The",)),
        ("The trophy did not fit in the suitcase because it was too small. The", ("The",)),
        ("The queen saw the dog. It barked", ("It",)),
        ("Anna gave Tom a book because he needed it", ("he",)),
        ("When Mary and John went to the store, John gave a drink to", ("to",)),
        ("Harry Potter is a wizard. Everyone knows Harry", ("Harry",)))


class Measured:
    """A model and its tokenizer."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.model = load_folder(folder)
        self.tokenizer = Tokenizer(self.folder / "tokenizer.json")
        self.n_heads = self.model.config.n_heads

    @torch.no_grad()
    def attention(self, ids):
        """[layer, row, head, query, key] of ids [row, token]"""
        patterns = []
        self.model(torch.as_tensor(ids), patterns)
        return torch.stack(patterns)

    @torch.no_grad()
    def next_log_probabilities(self, text):
        """Of the token behind the text, [vocabulary]."""
        return self.model(torch.tensor([self.tokenizer.encode(text)]))[0, -1].log_softmax(-1)

    def head_name(self, index):
        return "L{}H{}".format(*divmod(int(index), self.n_heads))


def held_out_documents():
    return list(documents(HELD_OUT_WORDS, HELD_OUT_SEED))


def held_out_rows(tokenizer):
    """(ids [rows, 1 + length]: the BOS and the next tokens of the held-out text; bytes of the text per token)"""
    ids, n_bytes, needed = [], 0, HELD_OUT_ROWS * HELD_OUT_LENGTH
    for text in held_out_documents():
        ids += tokenizer.encode(text, bos=False)
        n_bytes += len(text) + 1
        if len(ids) >= needed:
            break
    rows = np.full((HELD_OUT_ROWS, 1 + HELD_OUT_LENGTH), BOS_ID)
    rows[:, 1:] = np.reshape(ids[:needed], (HELD_OUT_ROWS, HELD_OUT_LENGTH))
    return rows, n_bytes / len(ids)


@torch.no_grad()
def held_out_loss(measured):
    """(mean cross entropy a token in natural logarithms, bits a byte)"""
    rows, bytes_per_token = held_out_rows(measured.tokenizer)
    rows = torch.from_numpy(rows)
    logits = measured.model(rows[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten()).item()
    return loss, loss / math.log(2) / bytes_per_token


def random_pairs(vocabulary):
    """Rows of the BOS and twice the same random tokens, [rows, 1 + 2 * length]."""
    half = np.random.default_rng(RANDOM_SEED).integers(1, vocabulary, (RANDOM_ROWS, RANDOM_LENGTH))
    return np.concatenate([np.full((RANDOM_ROWS, 1), BOS_ID), half, half], 1)


def last_occurrence(ids):
    """Of each token of a row the position of the same token nearest before it, or -1."""
    seen, out = {}, []
    for position, i in enumerate(ids):
        out.append(seen.get(i, -1))
        seen[i] = position
    return out


def mean_at_offset(attention, offset):
    """Mean weight of [layer, row, head, query, key] on the key `offset` before the query, [layer, head]."""
    return torch.diagonal(attention, -offset, -2, -1)[..., 0 if offset else 1:].mean((1, 3))


def random_token_scores(measured):
    """({score: [layer, head]}, mean loss of the second copies)"""
    rows = random_pairs(len(measured.tokenizer))
    attention = measured.attention(rows)
    before = np.array([last_occurrence(row) for row in rows])
    row, query = np.nonzero(before >= 0)
    key = before[row, query]
    scores = {"previous": mean_at_offset(attention, 1),
              "induction": attention[:, row, :, query, key + 1].mean(0),
              "duplicate": attention[:, row, :, query, key].mean(0),
              "current": mean_at_offset(attention, 0), "first": attention[..., 1:, 0].mean((1, 3))}
    with torch.no_grad():
        logits = measured.model(torch.from_numpy(rows[:, :-1]))
    loss = F.cross_entropy(logits.transpose(1, 2), torch.from_numpy(rows[:, 1:]), reduction="none")
    return scores, loss[:, RANDOM_LENGTH + 1:].mean().item()


def text_scores(measured, n=200):
    """The same of single held-out documents, {score: [layer, head]}."""
    totals, n_counted = {}, 0
    for text in itertools.islice(held_out_documents(), n):
        ids = measured.tokenizer.encode(text)[:128]
        if len(ids) < 6:
            continue
        attention = measured.attention([ids])
        scores = {"previous, text": mean_at_offset(attention, 1), "current, text": mean_at_offset(attention, 0),
                  "first, text": attention[..., 1:, 0].mean((1, 3))}
        totals = {name: score + totals.get(name, 0) for name, score in scores.items()}
        n_counted += 1
    return {name: total / n_counted for name, total in totals.items()}


def tokens_of(spans, begin_end):
    """Indices of the tokens that share a byte with [begin, end)."""
    begin, end = begin_end
    return [i for i, (_, b, e) in enumerate(spans) if b < end and e > begin and e > b]


def pronoun_attention(measured, items, place="pronoun"):
    """(attention to the antecedent, to the distractor), each [layer * head, item].

    From the last token of the pronoun, of the cue word, or of "The" that begins a next sentence; a word of several
    tokens gets the sum of their weights.
    """
    out = [], []
    for item in items:
        text = item["text"].rstrip(".!") + (". The" if place == "next" else "")
        spans = measured.tokenizer.spans(text)
        attention = measured.attention([[i for i, _, _ in spans]])[:, 0].flatten(0, 1)
        query = len(spans) - 1 if place == "next" else tokens_of(spans, item[{"pronoun": "P", "cue": "C"}[place]])[-1]
        for kind, weights in zip("AD", out):
            weights.append(attention[:, query, tokens_of(spans, item[kind])].sum(-1))
    return torch.stack(out[0], -1), torch.stack(out[1], -1)


def win_share(antecedent, distractor):
    return (antecedent > distractor).float().mean(-1)


def best_head(antecedent, distractor):
    """The head that most often looks more at the antecedent, of those that look at it at all."""
    unused = antecedent.mean(-1) < LEAST_ATTENTION
    return int((win_share(antecedent, distractor) - unused.float()).argmax())


def describe(antecedent, distractor, head):
    return (f"antecedent before distractor in {win_share(antecedent, distractor)[head]:.3f}, mean attention "
            f"{antecedent[head].mean():.2f} and {distractor[head].mean():.2f}")


def print_table(measured, title, scores):
    print(title)
    for layer, row in enumerate(scores.reshape(-1, measured.n_heads).tolist()):
        print(f"  L{layer}  " + " ".join(f"{value:.2f}" for value in row))


def print_pronouns(measured):
    print(f"\nPronouns: heads chosen on {N_SENTENCES} clear held-out sentences (seed {CHOOSE_SEED}) and scored on "
          f"{N_SENTENCES} others (seed {SCORE_SEED})")
    scored = {}
    for name, kinds in GROUPS.items():
        items = held_out_items(SCORE_SEED, N_SENTENCES, kinds, clear=True)
        scored[name] = pronoun_attention(measured, items)
    for name, kinds in GROUPS.items():
        chosen_on = pronoun_attention(measured, held_out_items(CHOOSE_SEED, N_SENTENCES, kinds, clear=True))
        head = best_head(*chosen_on)
        print(f"  chosen for {name}: {measured.head_name(head)}")
        for other in (GROUPS if name == next(iter(GROUPS)) else (name,)):
            print(f"    {other:18} {describe(*scored[other], head)}")
    for name, (antecedent, distractor) in scored.items():
        print_table(measured, f"share of wins, {name}", win_share(antecedent, distractor))
        print_table(measured, f"attention to the antecedent, {name}", antecedent.mean(-1))
    print(f"By kind (best head of 100 sentences, seed {KINDS_SEED}; not chosen on others):")
    for kind in KINDS:
        weights = pronoun_attention(measured, held_out_items(KINDS_SEED, 100, [kind]))
        head = best_head(*weights)
        print(f"  {kind:8} {measured.head_name(head)} {describe(*weights, head)}")
    for kind in ("place", "cross", "fit", "chase"):
        items = held_out_items(KINDS_SEED, 100, [kind])
        for place, name in (("cue", "from the cue word"), ("next", "from The of a next sentence")):
            weights = pronoun_attention(measured, items, place)
            head = best_head(*weights)
            print(f"  {kind:8} {name}: {measured.head_name(head)} {describe(*weights, head)}")
    for kind in ("place", "cross", "fit"):
        print(f"  {kind:8} next sentence names the antecedent: {named_share(measured, kind):.2f}")


def named_share(measured, kind):
    """How often "The" of a next sentence is more likely followed by the antecedent than by the distractor."""
    wins = []
    for item in held_out_items(KINDS_SEED - 1, 100, [kind]):
        log_probabilities = measured.next_log_probabilities(item["text"].rstrip(".!") + ". The")
        first_ids = [measured.tokenizer.encode(item["text"][slice(*item[k])], bos=False)[0] for k in "AD"]
        wins.append(float(log_probabilities[first_ids[0]] > log_probabilities[first_ids[1]]))
    return np.mean(wins)


def sample(measured, prompt, seed, n_tokens=40, temperature=.7):
    random, ids = torch.Generator().manual_seed(seed), measured.tokenizer.encode(prompt)
    with torch.no_grad():
        for _ in range(n_tokens):
            logits = measured.model(torch.tensor([ids]))[0, -1] / temperature
            ids.append(torch.multinomial(logits.softmax(-1), 1, generator=random).item())
    return measured.tokenizer.decode(ids).strip()


def print_next_words(measured):
    print("\nNext words")
    for prompt in PROMPTS:
        top = measured.next_log_probabilities(prompt).exp().topk(5)
        words = [f"{measured.tokenizer.decode([i])!r} {p:.2f}" for p, i in zip(*map(torch.Tensor.tolist, top))]
        print(f"  {prompt!r} -> " + ", ".join(words))
    print("\nSamples (temperature 0.7)")
    for seed, prompt in enumerate(SAMPLES):
        print("  " + sample(measured, prompt, seed))


def print_rows(measured):
    print("\nAttention rows: the four keys with the greatest weights")
    for text, words in ROWS:
        ids = measured.tokenizer.encode(text)
        labels = [measured.tokenizer.decode([i]).strip() or "<bos>" for i in ids]
        attention = measured.attention([ids])[:, 0].flatten(0, 1)
        for word in words:
            query = max(i for i, label in enumerate(labels) if label == word)
            print(f"{text!r} from {word!r}")
            for head, row in enumerate(attention[:, query]):
                top = row.topk(min(4, query + 1))
                keys = [f"{labels[k]}[{k}] {weight:.2f}" for weight, k in zip(*map(torch.Tensor.tolist, top))]
                print(f"    {measured.head_name(head)} " + " ".join(keys))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--brief", action="store_true", help="no tables, samples and attention rows")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    measured = Measured(arguments.folder)
    print(measured.model.config)
    print(f"model.safetensors {(arguments.folder / 'model.safetensors').stat().st_size} bytes, "
          f"{sum(p.numel() for p in measured.model.parameters())} parameters")
    loss, bits = held_out_loss(measured)
    print(f"held-out loss {loss:.3f}, perplexity {math.exp(loss):.2f} a token, {bits:.3f} bits a byte")
    scores, repeat_loss = random_token_scores(measured)
    scores.update(text_scores(measured))
    print(f"loss on the second copy of random tokens {repeat_loss:.3f}")
    for name, score in scores.items():
        print(f"  best {name:15} {measured.head_name(score.argmax())} {score.max():.2f}")
    print_pronouns(measured)
    if not arguments.brief:
        print("\nHeads on random tokens and on text")
        for name, score in scores.items():
            print_table(measured, name, score)
        print_next_words(measured)
        print_rows(measured)


if __name__ == "__main__":
    main()
