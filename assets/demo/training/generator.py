"""What the sentence kinds share: seeded choices, people, noun phrases, marks, and the held-out split."""
import random
import re
import zlib

import words as w

SUBJECT = {"f": "she", "m": "he"}
OBJECT = {"f": "her", "m": "him"}
POSSESSIVE = {"f": "her", "m": "his"}
REFLEXIVE = {"f": "herself", "m": "himself"}

# A co-reference sentence marks its antecedent (A), distractor (D), pronoun (P) and cue word (C) with one of these
# in front and MARK_END behind, so that the evaluation finds them.
MARKS = {"A": "\x01", "D": "\x02", "P": "\x03", "C": "\x04"}
MARK_END = "\x05"
MARK_NAMES = {character: name for name, character in MARKS.items()}

# Pairs that are shown to people, and so must not have been seen in training.
ALWAYS_HELD_OUT = {("cat", "mat"), ("animal", "street"), ("trophy", "suitcase"), ("Mary", "John")}


def mark(kind, text):
    return MARKS[kind] + text + MARK_END


def unmarked(text):
    return re.sub("[\x01-\x05]", "", text)


def is_held_out(a, b):
    """Whether the two nouns never meet in a co-reference sentence of the training text: one pair in 16."""
    if (a, b) in ALWAYS_HELD_OUT or (b, a) in ALWAYS_HELD_OUT:
        return True
    return zlib.crc32(" ".join(sorted((a, b))).encode()) % 16 == 0


def with_article(text):
    """a cat, an owl; by the sound: an hour, a unit."""
    vowel = re.match("(?!eu)[aeiou](?!ni(?!n|m)|s[eu]|ne )|hour|hon[eo]|heir", unmarked(text), re.IGNORECASE)
    return ("an " if vowel else "a ") + text


def capitalized(text):
    first = next(i for i, c in enumerate(text) if c.isalpha())
    return text[:first] + text[first].upper() + text[first + 1:]


PLURALS = dict(w.IRREGULAR_PLURALS) | {"analysis": "analyses", "crisis": "crises", "life": "lives", "wife": "wives",
                                       "species": "species", "series": "series", "half": "halves"}


def plural(noun):
    if noun in PLURALS:
        return PLURALS[noun]
    if re.search("(s|sh|ch|x)$", noun):
        return noun + "es"
    if re.search("[^aeiou]y$", noun):
        return noun[:-1] + "ies"
    return noun + "s"


def third_person(verb):
    """run -> runs"""
    if verb == "have":
        return "has"
    if re.search("(s|sh|ch|x|z|o)$", verb):
        return verb + "es"
    if re.search("[^aeiou]y$", verb):
        return verb[:-1] + "ies"
    return verb + "s"


def ing_form(verb):
    """run -> running"""
    if verb == "lie":
        return "lying"
    if re.search("[^e]e$", verb):
        return verb[:-1] + "ing"
    if re.fullmatch("[^aeiou]*[aeiou][^aeiouwxy]", verb) or verb == "forget":
        return verb + verb[-1] + "ing"
    return verb + "ing"


def hobby(name):
    """The past-tense phrase that is true of this name throughout the corpus."""
    return w.HOBBIES[zlib.crc32(name.encode()) % len(w.HOBBIES)]


class Person:
    """key: the noun or name alone; text: as it stands in a sentence; gender: "f" or "m"."""

    def __init__(self, key, text, gender):
        self.key = key
        self.text = text
        self.gender = gender
        self.subject = SUBJECT[gender]
        self.object = OBJECT[gender]
        self.possessive = POSSESSIVE[gender]
        self.reflexive = REFLEXIVE[gender]
        self.is_named = key[0].isupper()

    def marked(self, kind):
        return self.text.replace(self.key, mark(kind, self.key))


def key_of(entry):
    """The noun by which the held-out split knows an entry of a word list, a person or a word."""
    if isinstance(entry, Person):
        return entry.key
    return entry[0] if isinstance(entry, tuple) else entry


class Generator:
    """Makes phrases from one seeded stream of random numbers.

    held_out: noun pairs of co-reference sentences are those that the training text never has (else: never these).
    """

    def __init__(self, seed, held_out=False):
        self.random = random.Random(seed)
        self.held_out = held_out

    def pick(self, entries):
        return entries[int(self.random.random() * len(entries))]

    def chance(self, probability):
        return self.random.random() < probability

    def swapped(self, a, b):
        """The two in either order."""
        return (a, b) if self.chance(.5) else (b, a)

    def pair(self, first, second):
        """What the two functions return, different and on this generator's side of the held-out split."""
        while True:
            a, b = first(), second()
            if key_of(a) != key_of(b) and is_held_out(key_of(a), key_of(b)) == self.held_out:
                return a, b

    # People.

    def gender(self):
        return self.pick("fm")

    def name(self, gender=None):
        return self.pick(w.FEMALE_NAMES if (gender or self.gender()) == "f" else w.MALE_NAMES)

    def made_up_name(self):
        syllables = ("ba be bo da de do fa fi ga go ka ki ko la le lo ma mi mo na ni no pa pe ra ri ro sa se ta ti to "
                     "va vi vo za zu tha shi bri cor dra gli mon ter vel win yor").split()
        return "".join(self.pick(syllables) for _ in range(self.pick((2, 2, 3)))).capitalize()

    def person(self, name_share=.7, gender=None):
        gender = gender or self.gender()
        if self.chance(name_share):
            name = self.name(gender)
            return Person(name, name, gender)
        role = self.pick(w.FEMALE_ROLES if gender == "f" else w.MALE_ROLES)
        quality = self.pick(w.PERSON_QUALITIES) + " " if self.chance(.2) else ""
        return Person(role, f"the {quality}{role}", gender)

    def two_people(self, mixed=.8, name_share=.75):
        """mixed: the least share of pairs of a woman and a man."""
        while True:
            a, b = self.pair(lambda: self.person(name_share), lambda: self.person(name_share))
            if a.gender != b.gender or self.chance(1 - mixed):
                return a, b

    # Noun phrases.

    def adjectives(self, probability=.5):
        """None, one or two adjectives and a space."""
        if not self.chance(probability):
            return ""
        if self.chance(.25):
            return self.pick(w.SIZES if self.chance(.6) else w.QUALITIES) + " " + self.pick(w.COLORS) + " "
        x = self.random.random()
        if x < .45:
            return self.pick(w.QUALITIES) + " "
        if x < .70:
            return self.pick(w.MORE_QUALITIES) + " "
        return self.pick(w.SIZES if x < .85 else w.COLORS) + " "

    def noun(self):
        x = self.random.random()
        if x < .3:
            return self.pick(w.ANIMALS).noun
        if x < .6:
            return self.pick(w.OBJECTS).noun
        return self.pick(w.BULKY_THINGS if x < .7 else w.THINGS)

    def noun_phrase(self, adjective_share=.45):
        phrase = self.adjectives(adjective_share) + self.noun()
        return "the " + phrase if self.chance(.6) else with_article(phrase)

    def the(self, noun, adjective_share=.2):
        return "the " + self.adjectives(adjective_share) + noun

    def scene(self, adjective_share=.5):
        """A landscape or a building: "the verdant forest"."""
        adjective = self.pick(w.LANDSCAPE_ADJECTIVES) + " " if self.chance(adjective_share) else ""
        return "the " + adjective + self.pick(w.SCENES)

    # Small words.

    def full_stop(self):
        return self.pick((".", ".", ".", ".", "!"))

    def because(self):
        return self.pick(("because", "because", "because", "since", "as"))

    def adverb(self):
        return self.pick(w.ADVERBS if self.chance(.6) else w.MORE_ADVERBS)

    def thing_verb(self):
        return self.pick(w.THING_VERBS if self.chance(.5) else w.MORE_THING_VERBS)

    def time(self):
        return self.pick(w.TIMES)
