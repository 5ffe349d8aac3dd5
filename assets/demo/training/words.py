"""The word lists of words/*.txt, by name.

A file is made of sections: "[name]  # what a line holds", then words divided by white space, or one entry a
line where a section's entries are sentences or have fields ("noun | plural | habits", a list divided by commas).
"""
import pathlib
from typing import NamedTuple

FOLDER = pathlib.Path(__file__).parent / "words"


class Job(NamedTuple):
    noun: str  # "baker"
    verb: str  # "baked"
    object: str  # "fresh bread"


class Role(NamedTuple):
    noun: str
    gender: str  # "f" or "m"
    habits: tuple  # past-tense phrases true of this role only


class Animal(NamedTuple):
    noun: str
    plural: str
    habits: tuple


class Place(NamedTuple):
    noun: str
    preposition: str
    reasons: tuple  # adjectives for which a being chose it


class Crossing(NamedTuple):
    noun: str
    reasons: tuple  # adjectives for which nobody crossed it


class Chase(NamedTuple):
    verb: str
    subject_reasons: tuple
    object_reasons: tuple


class Object(NamedTuple):
    noun: str
    events: tuple  # past-tense phrases
    adjectives: tuple


class State(NamedTuple):
    adjective: str
    actions: tuple


class Cause(NamedTuple):
    verb: str
    referent: str  # "s": "because" gives a reason of the subject; "o": of the object
    reasons: tuple


class Verb(NamedTuple):
    base: str
    past: str


def read_sections():
    """{section: lines without the comments}, of every file of the folder."""
    sections = {}
    for path in sorted(FOLDER.glob("*.txt")):
        for line in path.read_text().splitlines():
            if line.startswith("["):
                name = line[1:line.index("]")]
                if name in sections:
                    raise ValueError(f"{path}: section {name} is there twice")
                sections[name] = []
            elif line.strip():
                sections[name].append(line.strip())
    return sections


SECTIONS = read_sections()


def words(section):
    return " ".join(SECTIONS[section]).split()


def lines(section):
    return list(SECTIONS[section])


def pairs(section, kind=tuple):
    """Entries "first:second"."""
    split = [word.split(":") for word in words(section)]
    return [kind(pair) if kind is tuple else kind(*pair) for pair in split]


def rows(section, kind):
    """Entries with fields; a field of type tuple is a list divided by commas."""
    out = []
    for line in SECTIONS[section]:
        cells = [cell.strip() for cell in line.split("|")]
        types = kind.__annotations__.values()
        out.append(kind(*(tuple(c.split(", ")) if t is tuple else c for c, t in zip(cells, types, strict=True))))
    return out


FEMALE_NAMES = words("female_names")
MALE_NAMES = words("male_names")
LAST_NAMES = words("last_names")
FEMALE_ROLES = words("female_roles")
MALE_ROLES = words("male_roles")
PEOPLE_PLURAL = words("people_plural")
PERSON_ADJECTIVES = words("person_adjectives")
PERSON_QUALITIES = words("person_qualities")
JOBS = rows("jobs", Job)
ROLES = rows("roles", Role)
STATES = rows("states", State)
CAUSES = rows("causes", Cause)
HOBBIES = lines("hobbies")
GIVER_REASONS = lines("giver_reasons")
RECEIVER_REASONS = lines("receiver_reasons")

ANIMALS = rows("animals", Animal)
ANIMAL_ADJECTIVES = words("animal_adjectives")
PLACES = rows("places", Place)
CROSSINGS = rows("crossings", Crossing)
CHASES = rows("chases", Chase)

BULKY_THINGS = words("bulky_things")
CONTAINERS = words("containers")
OBJECTS = rows("objects", Object)
HOLDERS = words("holders")
SCENES = words("scenes")
PUBLIC_PLACES = words("public_places")
GIFTS = words("gifts")
FOODS = words("foods")
PLURAL_THINGS = words("plural_things")
THINGS = words("things")

COLORS = words("colors")
SIZES = words("sizes")
QUALITIES = words("qualities")
MORE_QUALITIES = words("more_qualities")
LANDSCAPE_ADJECTIVES = words("landscape_adjectives")
ADVERBS = words("adverbs")
MORE_ADVERBS = words("more_adverbs")

PERSON_VERBS = pairs("person_verbs", Verb)
THING_VERBS = pairs("thing_verbs", Verb)
MORE_THING_VERBS = pairs("more_thing_verbs", Verb)
INTRANSITIVE_VERBS = pairs("intransitive_verbs", Verb)
MOTION_VERBS = pairs("motion_verbs", Verb)

CAPITALS = pairs("capitals")
OPPOSITES = pairs("opposites")
IRREGULAR_PLURALS = pairs("irregular_plurals")
NUMBERS = words("numbers")
DAYS = words("days")
MONTHS = words("months")
LETTERS = words("letters")
TIMES = lines("times")
SAYINGS = lines("sayings")

GENERAL_NOUNS = words("general_nouns")
COUNTED_NOUNS = [noun for noun in GENERAL_NOUNS if noun not in words("uncounted_nouns")]
MASS_NOUNS = words("mass_nouns")
SAYING_VERBS = pairs("saying_verbs", Verb)
GENERAL_VERBS = pairs("general_verbs", Verb)
GENERAL_INTRANSITIVE_VERBS = pairs("general_intransitive_verbs", Verb)
GENERAL_ADJECTIVES = words("general_adjectives")
INDEFINITE_PRONOUNS = words("indefinite_pronouns")
MODAL_VERBS = words("modal_verbs")
PREPOSITIONS = words("prepositions")
CONJUNCTIONS = words("conjunctions")

COMMON_NOUNS = words("common_nouns")
COMMON_PLURALS = words("common_plurals")
COMMON_VERBS = pairs("common_verbs", Verb)
COMMON_THIRD_PERSON = words("common_third_person")
COMMON_ING_FORMS = words("common_ing_forms")
COMMON_PARTICIPLES = words("common_participles")
INTRANSITIVE_THIRD_PERSON = words("intransitive_third_person")
INTRANSITIVE_ING_FORMS = words("intransitive_ing_forms")
INTRANSITIVE_PARTICIPLES = words("intransitive_participles")
COMMON_ADJECTIVES = words("common_adjectives")
COMPARATIVES = words("comparatives")
SUPERLATIVES = words("superlatives")
PREDICATE_ADJECTIVES = words("predicate_adjectives")
OPENING_ADVERBS = words("opening_adverbs")
COMMON_ADVERBS = words("common_adverbs")
COMMON_FUNCTION_WORDS = words("common_function_words")
COMMON_PREPOSITIONS = words("common_prepositions")
COMMON_CONJUNCTIONS = words("common_conjunctions")
CONTRACTIONS = words("contractions")
FIRST_WORDS = words("first_words")
GREETINGS = words("greetings")

# Names and roles are she or he by these.
FEMALE_WORDS = set(FEMALE_NAMES + FEMALE_ROLES + [r.noun for r in ROLES if r.gender == "f"])
MALE_WORDS = set(MALE_NAMES + MALE_ROLES + [r.noun for r in ROLES if r.gender == "m"])
PLURAL_WORDS = set(PEOPLE_PLURAL + [animal.plural for animal in ANIMALS])
