"""Sentences with a pronoun that has an antecedent and a distractor, both marked.

Every kind returns a list of sentences; the first carries the marks of generator.py, the others follow it. In
kinds whose next words depend on the antecedent itself ("it purred", "she wore her crown") a model gains by looking
at it from the pronoun.
"""
import words as w
from generator import (MARK_END, MARK_NAMES, SUBJECT, Generator, Person, capitalized, hobby, mark,
                       with_article)

BIG = "big large wide tall long heavy huge".split()
SMALL = "small little narrow full short tiny shallow".split()


class CoreferenceGenerator(Generator):
    def maybe(self, probability, sentences):
        """One of the sentences, or none."""
        return [self.pick(sentences)] if self.chance(probability) else []

    # Animals and things.

    def place(self):
        """The cat sat on the mat because it was tired."""
        animal, place = self.pair(lambda: self.pick(w.ANIMALS), lambda: self.pick(w.PLACES))
        noun, spot = animal.noun, place.noun
        verb = self.pick("sat slept lay rested stayed waited stood jumped hid relaxed".split())
        habit, feeling = self.pick(animal.habits), self.pick(w.ANIMAL_ADJECTIVES)
        pronoun, because = mark("P", "it"), self.because()
        about_animal = True
        x = self.random.random()
        if x < .50:
            if self.chance(.35):  # what comes next depends on the animal, so that "it" looks for it
                end = f" {because} {pronoun} {mark('C', habit)}"
            elif self.chance(.75):
                degree = self.pick(("", "", "", "so ", "very ", "too "))
                end = f" {because} {pronoun} was {degree}{mark('C', feeling)}"
            else:
                feeling = self.pick([f for f in w.ANIMAL_ADJECTIVES if f[0] not in "aeiou"])
                end = f" {because} {pronoun} was {self.pick(('a', 'a very', 'such a'))} {mark('C', feeling)} {noun}"
            follow = (f"The {noun} {habit}.", f"Soon the {noun} fell asleep.", f"The {noun} closed its eyes.",
                      f"The poor {noun} needed help.", f"It was such {with_article(feeling)} {noun}.")
        elif x < .64:
            end = f" {self.pick(('and', 'and', 'but', 'when'))} {pronoun} {mark('C', habit)}"
            follow = (f"The {noun} was {feeling}.",)
        elif x < .84:
            end = f". {capitalized(pronoun)} {mark('C', habit)}"
            follow = (f"The {noun} was {feeling}.",)
        elif x < .90:
            end = f". {capitalized(pronoun)} was {mark('C', feeling)}"
            follow = (f"The {noun} {habit}.",)
        else:
            about_animal = False
            reason = mark("C", self.pick(place.reasons))
            end = f" {because} {pronoun} was {self.pick(('', '', 'so ', 'very '))}{reason}"
            follow = (f"The {spot} was near the {self.pick(w.HOLDERS)}.", f"Everyone loved that {spot}.",
                      f"The {spot} was {self.pick(w.COLORS)}.")
        being = self.the(mark("A" if about_animal else "D", noun))
        where = f"{place.preposition} {self.the(mark('D' if about_animal else 'A', spot))}"
        lead = f"{where}, {being} {verb}" if self.chance(.12) else f"{being} {verb} {where}"
        return [capitalized(lead) + end + self.full_stop()] + self.maybe(.6, follow)

    def cross(self):
        """The animal didn't cross the street because it was too tired."""
        animal, crossing = self.pair(lambda: self.pick(w.ANIMALS), lambda: self.pick(w.CROSSINGS))
        noun, way = animal.noun, crossing.noun
        did_not = self.pick(("didn't cross", "did not cross", "couldn't cross", "could not cross",
                             "refused to cross", "never crossed"))
        if self.chance(.6):
            antecedent, distractor, cue = "A", "D", self.pick(w.ANIMAL_ADJECTIVES)
            follow = (f"The {noun} stayed at home.", f"The {noun} {self.pick(animal.habits)}.",
                      f"The {noun} needed some rest.", f"It was such {with_article(cue)} {noun}.")
        else:
            antecedent, distractor, cue = "D", "A", self.pick(crossing.reasons)
            follow = (f"The {way} was dangerous.", f"The {way} was closed that day.", f"Nobody liked that {way}.")
        reason = f"was {self.pick(('too', 'too', 'so', 'very'))} {mark('C', cue)}"
        if antecedent == "A" and self.chance(.3):
            reason = mark("C", self.pick(animal.habits))
        sentence = (f"{self.the(mark(antecedent, noun))} {did_not} {self.the(mark(distractor, way))} "
                    f"{self.because()} {mark('P', 'it')} {reason}")
        return [capitalized(sentence) + self.full_stop()] + self.maybe(.65, follow)

    def fit(self):
        """The trophy did not fit in the suitcase because it was too big."""
        thing, container = self.pair(lambda: self.pick(w.BULKY_THINGS), lambda: self.pick(w.CONTAINERS))
        did_not = self.pick(("did not fit in", "didn't fit in", "does not fit in", "doesn't fit into",
                             "would not fit in", "could not fit into"))
        be = "is" if did_not.startswith("does") else "was"
        if self.chance(.5):
            antecedent, distractor, cue = "A", "D", self.pick(BIG)
            follow = (f"The {thing} was left at home.", f"The {thing} stayed outside.",
                      f"The {thing} needed more room.")
        else:
            antecedent, distractor, cue = "D", "A", self.pick(SMALL)
            follow = (f"The {container} was useless.", f"A bigger {container} was needed.",
                      f"The {container} was replaced.")
        sentence = (f"{self.the(mark(antecedent, thing), .15)} {did_not} {self.the(mark(distractor, container), .15)} "
                    f"{self.because()} {mark('P', 'it')} {be} too {mark('C', cue)}")
        return [capitalized(sentence) + self.full_stop()] + self.maybe(.65, follow)

    def chase(self):
        """The dog chased the cat because it was hungry."""
        agent, patient = self.pair(lambda: self.pick(w.ANIMALS), lambda: self.pick(w.ANIMALS))
        event = self.pick(w.CHASES)
        if self.chance(.7):
            antecedent, distractor, reason, referent = "A", "D", self.pick(event.subject_reasons), agent
        else:
            antecedent, distractor, reason, referent = "D", "A", self.pick(event.object_reasons), patient
        if self.chance(.25):
            reason = self.pick(referent.habits)
        sentence = (f"{self.the(mark(antecedent, agent.noun))} {event.verb} "
                    f"{self.the(mark(distractor, patient.noun))} "
                    f"{self.because()} {mark('P', 'it')} {mark('C', reason)}")
        return [capitalized(sentence) + self.full_stop()] + self.maybe(
            .6, (f"The {referent.noun} {self.pick(referent.habits)}.",))

    def object(self):
        """The clock was on the shelf. It ticked loudly."""
        thing, holder = self.pair(lambda: self.pick(w.OBJECTS), lambda: self.pick(w.HOLDERS))
        the_thing = self.the(mark("A", thing.noun))
        a_thing = with_article(mark("A", thing.noun))
        the_holder = self.the(mark("D", holder), .15)
        event, adjective = mark("C", self.pick(thing.events)), mark("C", self.pick(thing.adjectives))
        it, who = mark("P", "it"), self.person().text
        near = self.pick(("on", "near", "under", "behind", "next to"))
        sentence = self.pick((
            f"{who} put {the_thing} {near} {the_holder}, but {it} {event}",
            f"{who} left {the_thing} {near} {the_holder} and {it} {event}",
            f"{the_thing} was {near} {the_holder}. {capitalized(it)} {event}",
            f"{the_thing} {near} {the_holder} was old. {capitalized(it)} {event}",
            f"there was {a_thing} {near} {the_holder}. {capitalized(it)} {event}",
            f"{near} {the_holder} stood {a_thing}. {capitalized(it)} {event}",
            f"{who} did not use {the_thing} {near} {the_holder} because {it} was {adjective}",
            f"{who} saw {the_thing} {near} {the_holder}. {capitalized(it)} was {adjective}",
            f"{who} looked at {the_holder} and found {a_thing}. {capitalized(it)} was {adjective}",
            f"{the_thing} fell from {the_holder} when {it} {event}",
            f"near {the_holder}, {who} bought {a_thing}, but {it} {event}",
            f"{who} opened {the_holder} and took out {the_thing}, because {it} was {adjective}",
            f"{who} walked to {the_holder} and picked up {the_thing}. {capitalized(it)} was {adjective}"))
        return [capitalized(sentence) + self.full_stop()] + self.maybe(
            .45, (f"The {thing.noun} was {self.pick(thing.adjectives)}.",
                  f"Nobody touched the {thing.noun} again.", f"The {thing.noun} was gone."))

    def number(self):
        """The children saw the dog because they were curious."""
        many, one = self.pair(
            lambda: self.pick(w.PEOPLE_PLURAL) if self.chance(.5) else self.pick(w.ANIMALS).plural,
            lambda: self.pick(w.ANIMALS).noun)
        verb = self.pick("saw heard watched followed chased liked feared found helped passed".split())
        is_plural = self.chance(.6)
        antecedent = many if is_plural else one
        pronoun = mark("P", "they" if is_plural else "it")
        does = ("were " if is_plural else "was ") + mark("C", self.pick(w.ANIMAL_ADJECTIVES))
        habits = [a.habits for a in w.ANIMALS if antecedent in (a.noun, a.plural)]
        if habits and self.chance(.5):
            habit = self.pick(habits[0])
            does = mark("C", habit.replace("its ", "their ") if is_plural else habit)
        x, y = (mark("A" if noun == antecedent else "D", noun) for noun in self.swapped(many, one))
        lead = f"{self.the(x)} {verb} {self.the(y)}"
        sentence = self.pick((f"{lead} {self.because()} {pronoun} {does}",
                              f"{lead}. {capitalized(pronoun)} {does}",
                              f"{lead}, and {pronoun} {self.pick(('ran', 'moved', 'turned'))} away"))
        return [capitalized(sentence) + self.full_stop()] + self.maybe(
            .5, (f"The {antecedent} {self.pick(w.INTRANSITIVE_VERBS).past} {self.adverb()}.",))

    def kinds(self):
        """The queen saw the dog. It barked. (he, she, it or they selects one of two nouns)"""
        is_animal = self.chance(.5)
        role, thing = self.pair(lambda: self.pick(w.ROLES), lambda: self.pick(w.ANIMALS if is_animal else w.OBJECTS))
        if self.chance(.4):
            person, other = mark("A", role.noun), mark("D", thing.noun)
            pronoun, habits = SUBJECT[role.gender], role.habits
        else:
            person, other = mark("D", role.noun), mark("A", thing.noun)
            pronoun, habits = "it", thing.habits if is_animal else thing.events
            if is_animal and self.chance(.4):
                other, pronoun = mark("A", thing.plural), "they"
                habits = [habit.replace("its ", "their ") for habit in habits]
        verb = self.pick("saw found watched liked bought heard followed helped".split())
        x, y = self.the(person, .15), self.the(other, .15)
        if is_animal and self.chance(.4):
            x, y = y, x
        pronoun = mark("P", pronoun)
        link = self.pick((f". {capitalized(pronoun)}", f". {capitalized(pronoun)}", f" when {pronoun}",
                          f" and {pronoun}", f" because {pronoun}"))
        return [capitalized(f"{x} {verb} {y}{link} {mark('C', self.pick(habits))}") + self.full_stop()]

    # People.

    def cause(self):
        """Mary thanked John because he had helped."""
        a, b = self.two_people()
        event = self.pick(w.CAUSES)
        referent_is_subject = event.referent == "s"
        reason = self.pick(event.reasons)
        if a.gender != b.gender and self.chance(.4):
            # The pronoun's gender decides, whatever the verb suggests.
            referent_is_subject = self.chance(.5)
            if referent_is_subject != (event.referent == "s"):
                reason = self.pick(("was sad", "was happy", "was tired", "was worried", "wanted to talk",
                                    "had a question"))
        referent, other = (a, b) if referent_is_subject else (b, a)
        if referent.is_named and a.gender != b.gender and self.chance(.35):
            reason = hobby(referent.key)
        sentence = (f"{a.marked('A' if referent is a else 'D')} {event.verb} {b.marked('A' if referent is b else 'D')} "
                    f"{self.because()} {mark('P', referent.subject)} {mark('C', reason)}")
        who = capitalized(referent.subject)
        follow = (f"{capitalized(referent.text)} smiled.", f"Then {referent.text} went home.",
                  f"{who} told {other.text} the truth.", f'"Thank you," said {referent.text}.',
                  f'{who} said, "I am {referent.key}."' if referent.is_named else f"The {referent.key} left.",
                  f"In the end {referent.text} was {self.pick(w.PERSON_ADJECTIVES)}.")
        return [capitalized(sentence) + self.full_stop()] + self.maybe(.55, follow)

    def give(self):
        """Anna gave Tom a book because he needed it."""
        giver, receiver = self.two_people(mixed=1)
        gift = self.pick(w.GIFTS)
        referent, reasons = self.pick(((giver, w.GIVER_REASONS), (receiver, w.RECEIVER_REASONS)))
        reason = hobby(referent.key) if referent.is_named and self.chance(.5) else self.pick(reasons)
        x = giver.marked("A" if referent is giver else "D")
        y = receiver.marked("A" if referent is receiver else "D")
        verb = self.pick("gave gave gave handed offered lent brought showed sent".split())
        lead = f"{x} {verb} {y} {with_article(gift)}" if self.chance(.7) else f"{x} {verb} {with_article(gift)} to {y}"
        pronoun = mark("P", referent.subject)
        link = self.pick((f" {self.because()} {pronoun}", f" {self.because()} {pronoun}",
                          f". {capitalized(pronoun)}", f" when {pronoun}"))
        follow = (f"{capitalized(receiver.text)} thanked {giver.object}.", f"The {gift} was new.",
                  f'"Thank you," said {receiver.text}.', f"{capitalized(receiver.subject)} liked the {gift}.",
                  f"Now {receiver.text} has {with_article(gift)}.")
        return [capitalized(f"{lead}{link} {mark('C', reason)}") + self.full_stop()] + self.maybe(.5, follow)

    def jobs(self):
        """Anna is a baker and Tom is a pilot. She baked fresh bread."""
        a, b = self.two_people(mixed=1, name_share=1)
        job, other_job = self.random.sample(w.JOBS, 2)
        intro = [f"{person.marked(kind)} {self.pick(('is', 'was'))} {with_article(noun)}"
                 for person, kind, noun in ((a, "A", job.noun), (b, "D", other_job.noun))]
        self.random.shuffle(intro)
        action = f"{mark('C', job.verb)} {job.object}"
        if self.chance(.3):
            action = mark("C", hobby(a.key))
        out = [self.pick((". ", " and ")).join(intro) + f". {capitalized(mark('P', a.subject))} {action}."]
        if self.chance(.6):
            out.append(f"{capitalized(b.subject)} {other_job.verb} {other_job.object}.")
        if self.chance(.4):
            out.append(f"{self.pick((a, b)).text} was {self.pick(w.PERSON_ADJECTIVES)}.")
        return out

    def meet(self):
        """Mary met John at the store. She gave him a drink."""
        a, b = self.two_people(mixed=1)
        x, y = self.swapped(a, b)
        first, second = (person.marked("A" if person is a else "D") for person in (x, y))
        verb = self.pick(("met", "saw", "visited", "called", "found", "helped", "walked with", "talked to"))
        where = f"{self.pick(('at', 'in', 'near'))} the {self.pick(w.PUBLIC_PLACES)}"
        gift, him, her = self.pick(w.GIFTS), b.object, a.possessive
        acts = [f"gave {him} a {gift}", f"told {him} a story", f"smiled at {him}", f"asked {him} a question",
                f"showed {him} {her} {gift}", f"lost {her} {gift}", f"wanted to help {him}", f"looked at {him}",
                f"was {self.pick(w.PERSON_ADJECTIVES)}"]
        if a.is_named:
            acts += [f'said, "My name is {a.key}."', f"said, '{a.key} is my name'", f"was called {a.key}"]
            acts += [hobby(a.key)] * 5
        act = self.pick(acts)
        sentence = f"{capitalized(first)} {verb} {second} {where}. {capitalized(mark('P', a.subject))} {act}"
        thanks = f'"Thank you, {a.key}," said {b.text}.' if a.is_named else f'"Thank you," said {b.text}.'
        follow = (f"{capitalized(b.text)} thanked {a.object}.", f"{capitalized(b.subject)} liked the {gift}.", thanks,
                  f"Then {a.text} left and {b.text} stayed.",
                  f"{capitalized(b.text)} was {self.pick(w.PERSON_ADJECTIVES)}, but {a.text} was "
                  f"{self.pick(w.PERSON_ADJECTIVES)}.")
        return [sentence + ("" if sentence.endswith('."') else self.full_stop())] + self.maybe(.7, follow)

    def woman_and_man(self, pool):
        """A female and a male entry of the pool in either order; an entry's gender is its second field."""
        a, b = self.pair(lambda: self.pick([x for x in pool if x[1] == "f"]),
                         lambda: self.pick([x for x in pool if x[1] == "m"]))
        return self.swapped(a, b)

    def roles(self):
        """The queen met the king. She wore her crown."""
        a, b = self.woman_and_man(w.ROLES)
        x, y = self.swapped(self.the(mark("A", a.noun), .15), self.the(mark("D", b.noun), .15))
        pronoun, does = mark("P", SUBJECT[a.gender]), mark("C", self.pick(a.habits))
        together = self.pick(("were friends", f"went to the {self.pick(w.PUBLIC_PLACES)}",
                              f"lived in the {self.pick(w.SCENES)}", "had a busy day"))
        lead = self.pick((
            f"{x} and {y} {together}",
            f"{x} {self.pick(('met', 'saw', 'watched', 'helped', 'visited', 'knew'))} {y}",
            f"{x} {self.pick(w.PERSON_VERBS).past} {y} {self.pick(('in', 'near'))} the {self.pick(w.SCENES)}",
            f"{x} was with {y}"))
        out = [capitalized(lead) + self.linked(pronoun, does)]
        if self.chance(.6):
            out.append(f"{capitalized(SUBJECT[b.gender])} {self.pick(b.habits)}.")
        if self.chance(.3):
            out.append(f"The {self.pick((a, b)).noun} was {self.pick(w.PERSON_ADJECTIVES)}.")
        return out

    def linked(self, pronoun, does):
        """How a main clause goes on with what the pronoun's referent did."""
        new_sentence = f". {capitalized(pronoun)} {does}"
        return self.pick((new_sentence, new_sentence, f" because {pronoun} {does}", f" when {pronoun} {does}",
                          f" and {pronoun} {does}", f", but {pronoun} {does}")) + "."

    def hobbies(self):
        """Anna and Tom went to the park. She painted a picture. (what each name always does)"""
        a, b = self.two_people(mixed=1, name_share=1)
        while hobby(a.key) == hobby(b.key):
            a, b = self.two_people(mixed=1, name_share=1)
        x, y = self.swapped(mark("A", a.key), mark("D", b.key))
        place = f"{self.pick(('in', 'near', 'at'))} the {self.pick(w.PUBLIC_PLACES + w.SCENES)}"
        together = self.pick((f"went to the {self.pick(w.PUBLIC_PLACES)}", "were friends", f"met {place}",
                              "had a free day", f"stayed {place}"))
        verb = self.pick(("met", "saw", "watched", "helped", "visited", "called", "waited for"))
        lead = self.pick((f"{x} and {y} {together}", f"{x} {verb} {y}", f"{x} {verb} {y} {place}",
                          f"{x} {self.pick(w.PERSON_VERBS).past} {y}"))
        out = [lead + self.linked(mark("P", a.subject), mark("C", hobby(a.key)))]
        if self.chance(.6):
            out.append(f"{capitalized(b.subject)} {hobby(b.key)}.")
        if self.chance(.3):
            out.append(f"{self.pick((a, b)).key} was {self.pick(w.PERSON_ADJECTIVES)}.")
        return out

    def states(self):
        """The hungry girl met the tired man. She ate a sandwich."""
        names = self.chance(.4)
        women, men = (w.FEMALE_NAMES, w.MALE_NAMES) if names else (w.FEMALE_ROLES, w.MALE_ROLES)
        a, b = self.woman_and_man([(noun, "f") for noun in women] + [(noun, "m") for noun in men])
        a, b = Person(a[0], a[0], a[1]), Person(b[0], b[0], b[1])
        state, other_state = self.random.sample(w.STATES, 2)
        A, D = mark("A", a.key), mark("D", b.key)
        does, other_does = mark("C", self.pick(state.actions)), self.pick(other_state.actions)
        has_jobs = names and self.chance(.5)
        if has_jobs:
            job, other_job = self.random.sample(w.JOBS, 2)
            x, y = f"the {job.noun} {A}", f"the {other_job.noun} {D}"
            does, other_does = f"{mark('C', job.verb)} {job.object}", f"{other_job.verb} {other_job.object}"
        elif names:
            x, y = f"{A} was {state.adjective}", f"{D} was {other_state.adjective}"
        else:
            x, y = f"the {state.adjective} {A}", f"the {other_state.adjective} {D}"
        x, y = self.swapped(x, y)
        if names and not has_jobs:
            lead = f"{x} {self.pick(('and', 'but'))} {y}"
        elif self.chance(.5):
            lead = f"{x} and {y} {self.pick(('went to', 'were in', 'came from', 'met at'))} " \
                   f"the {self.pick(w.PUBLIC_PLACES)}"
        else:
            lead = f"{x} {self.pick(('met', 'saw', 'called', 'visited', 'talked to'))} {y}"
        out = [f"{capitalized(lead)}. {capitalized(mark('P', a.subject))} {does}."]
        if self.chance(.6):
            out.append(f"{capitalized(b.subject)} {other_does}.")
        if names and self.chance(.3):
            out.append(f'"{self.pick(("My name is", "I am", "It is me,"))} {a.key}," {a.subject} said.')
        return out


# Name of a kind -> the method that makes it.
KINDS = {kind: getattr(CoreferenceGenerator, kind) for kind in
         "roles states kinds place cross fit chase object cause jobs meet number hobbies give".split()}

# Kinds in which the pronoun's gender, number or animacy alone can tell antecedent from distractor.
HE_SHE = ["roles", "states", "jobs", "meet", "cause", "hobbies", "give"]
IT_THEY = ["kinds", "object", "number"]


def sort_of(noun):
    """What a pronoun can tell a noun by: "f", "m", "plural" or "thing"."""
    for sort, members in (("f", w.FEMALE_WORDS), ("m", w.MALE_WORDS), ("plural", w.PLURAL_WORDS)):
        if noun in members:
            return sort
    return "thing"


def is_clear(item):
    """Whether the pronoun alone tells antecedent from distractor (things have no gender, holders no habits)."""
    last_words = [item["text"][slice(*item[kind])].split()[-1] for kind in "AD"]
    return item["kind"] == "object" or sort_of(last_words[0]) != sort_of(last_words[1])


def marked_item(kind, sentence):
    """{"kind", "text" without marks, and per mark its [begin, end) in characters of the text}."""
    item, text, opened = {"kind": kind}, "", []
    for character in sentence:
        if character in MARK_NAMES:
            opened.append((MARK_NAMES[character], len(text)))
        elif character == MARK_END:
            name, begin = opened.pop()
            item.setdefault(name, (begin, len(text)))
        else:
            text += character
    return {**item, "text": text}


def held_out_items(seed, n, kinds=None, clear=False):
    """n held-out sentences, all kinds equally often in turn; clear: only those that is_clear() accepts."""
    generator, kinds = CoreferenceGenerator(seed, held_out=True), kinds or list(KINDS)
    items, drawn = [], 0
    while len(items) < n:
        kind = kinds[drawn % len(kinds)]
        drawn += 1
        item = marked_item(kind, KINDS[kind](generator)[0])
        if not clear or is_clear(item):
            items.append(item)
    return items
