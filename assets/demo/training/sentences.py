"""Plain sentences and little texts: agreement, repetition, quotations, lists, facts, tales."""
import words as w
from coreference import KINDS as COREFERENCE_KINDS
from general import GeneralGenerator
from generator import POSSESSIVE, SUBJECT, capitalized, ing_form, third_person, with_article

COUNTED_NOUNS = (("key", "keys"), ("picture", "pictures"), ("book", "books"), ("letter", "letters"), ("box", "boxes"),
                 ("car", "cars"), ("friend", "friends"), ("door", "doors"), ("story", "stories"))
CLOTHES = "coat hat shoes gloves scarf shirt".split()
RELATIVES = "sister brother mother father friend dog cat".split()
WEATHER = "cold hot dark sunny rainy windy foggy snowy late early".split()
EXCLAMATIONS = "Hello Help Wait Look Stop Come Goodbye".split()
POLITE = ("do not", "don't", "please")


class SentenceGenerator(GeneralGenerator):
    def coreference(self):
        return " ".join(COREFERENCE_KINDS[self.pick(list(COREFERENCE_KINDS))](self))

    # Everyday sentences.

    def giving(self):
        """When Mary and John went to the store, John gave a drink to Mary."""
        a, b = self.pair(self.name, self.name)
        place, gift = self.pick(w.PUBLIC_PLACES), self.pick(w.GIFTS)
        subject, other = self.swapped(a, b)
        lead = self.pick((f"When {a} and {b} went to the {place},", f"After {a} and {b} arrived at the {place},",
                          f"While {a} and {b} were working at the {place},",
                          f"Then, {a} and {b} went to the {place}. After that,",
                          f"{a} and {b} had a long day at the {place}. In the evening,",
                          f"Yesterday {a} and {b} met at the {place}, and"))
        a_gift = with_article(gift)
        act = self.pick((f"gave {a_gift} to {other}", f"handed {a_gift} to {other}", f"showed {a_gift} to {other}",
                         f"wanted to give {a_gift} to {other}", f"said goodbye to {other}",
                         f"decided to call {other}", f"bought {a_gift} for {other}", f"passed {a_gift} to {other}"))
        return f"{lead} {subject} {act}." + (f" {other} thanked {subject}." if self.chance(.4) else "")

    def action(self):
        """A fluffy blue creature roamed the verdant forest."""
        if self.chance(.35):
            tail = f" {self.time()}"
        else:
            tail = " " + self.adverb() if self.chance(.2) else ""
        who = self.person().text if self.chance(.7) else self.the(self.pick(w.ANIMALS).noun, .4)
        x = self.random.random()
        if x < .28:
            sentence = f"{who} {self.thing_verb().past} {self.noun_phrase(.6)}{tail}"
        elif x < .43:
            where = f"{self.pick(('in', 'near', 'at'))} {self.scene(.4)}"
            sentence = f"{who} {self.pick(w.PERSON_VERBS).past} {self.person().text} {where}{tail}"
        elif x < .61:
            being = with_article(self.described_animal())
            if self.chance(.5):
                sentence = f"{being} {self.pick(w.MOTION_VERBS).past} {self.scene(.7)}"
            else:
                through = self.pick(("in", "through", "across", "near", "around"))
                sentence = f"{being} {self.pick(w.INTRANSITIVE_VERBS).past} {through} {self.scene(.7)}"
        elif x < .70:
            thing = with_article(self.adjectives(.6) + self.noun())
            where = f"{self.pick(('on', 'in', 'under', 'near', 'behind'))} the {self.pick(w.HOLDERS)}"
            sentence = f"there {self.pick(('is', 'was'))} {thing} {where}"
        elif x < .80:
            where = f"{self.pick(('in', 'near', 'to'))} {self.scene()}"
            sentence = f"{who} {self.pick(w.INTRANSITIVE_VERBS).past} {self.adverb()} {where}"
        elif x < .90:
            thing = f"{self.pick(('my', 'your', 'his', 'her', 'our', 'their'))} {self.adjectives(.5)}{self.noun()}"
            degree = self.pick(("very ", "really ", "", "quite "))
            sentence = f"{thing} {self.pick(('is', 'was', 'looks', 'seems'))} {degree}{self.pick(w.QUALITIES)}"
        else:
            sentence = f"{self.time()}, {who} {self.thing_verb().past} {self.noun_phrase()}"
        return capitalized(sentence) + self.full_stop()

    def described_animal(self):
        """fluffy blue creature"""
        adjective = self.pick(w.QUALITIES if self.chance(.6) else w.MORE_QUALITIES if self.chance(.5) else w.SIZES)
        color = self.pick(w.COLORS) + " " if self.chance(.5) else ""
        return f"{adjective} {color}{self.pick(w.ANIMALS).noun}"

    def agreement(self):
        """The keys near the cabinet are old."""
        singular, many = self.pick(w.ANIMALS)[:2] if self.chance(.5) else self.pick(COUNTED_NOUNS)
        is_plural = self.chance(.5)
        noun, verb = many if is_plural else singular, self.pick(w.INTRANSITIVE_VERBS).base
        near = self.pick(w.PLURAL_THINGS) if self.chance(.5) else self.pick(w.HOLDERS)
        between = self.pick((f"{self.pick(('near', 'behind', 'next to', 'by'))} the {near}",
                             f"that {self.name()} {self.pick(w.PERSON_VERBS).past}",
                             f"{self.pick(('in', 'from'))} the {self.pick(w.SCENES)}"))
        be = self.pick((("are", "is"), ("were", "was"), ("have been", "has been")))[0 if is_plural else 1]
        this, that = ("these", "that") if is_plural else ("this", "those")
        others = singular if is_plural else many
        are_not = "is not" if is_plural else "are not"
        they_do = "they do" if is_plural else "it does"
        often = self.pick(("every day", "in the evening", "often", "alone"))
        return capitalized(self.pick((
            f"the {noun} {between} {be} {self.pick(w.QUALITIES)}",
            f"the {noun} {between} {verb if is_plural else third_person(verb)} {often}",
            f"{this} {noun} {be} {self.pick(w.QUALITIES)}, but {that} {others} {are_not}",
            f"the {noun} {be} {self.pick(w.QUALITIES)} and {they_do} not {verb}"))) + "."

    def reflexive(self):
        """The girl looked at herself in the mirror."""
        a, gift = self.person(), self.pick(w.GIFTS)
        who, she, her, herself = a.text, a.subject, a.possessive, a.reflexive
        return capitalized(self.pick((
            f"{who} looked at {herself} in the mirror",
            f"{who} lost {her} {gift} in the {self.pick(w.SCENES)}",
            f"{who} put on {her} {self.pick(CLOTHES)}",
            f"{who} brought {her} {self.pick(RELATIVES)} to the {self.pick(w.PUBLIC_PLACES)}",
            f"{who} made {herself} a cup of tea",
            f"{who} hurt {herself} with a {self.pick(('knife', 'hammer', 'needle', 'saw'))}",
            f"{who} said that {she} {self.pick(('was', 'felt'))} {self.pick(w.PERSON_ADJECTIVES)}",
            f"{who} thought {she} saw {self.noun_phrase()}",
            f"when {who} came home, {she} {self.thing_verb().past} {her} {gift}",
            f"{who} forgot {her} {gift}, so {she} went back to the {self.pick(w.PUBLIC_PLACES)}"))) + self.full_stop()

    def quotation(self):
        a, b = self.random.sample(w.FEMALE_NAMES + w.MALE_NAMES, 2)
        feeling, gift = self.pick(w.PERSON_ADJECTIVES), self.pick(w.GIFTS)
        a_pronoun, b_pronoun = ("she" if name in w.FEMALE_WORDS else "he" for name in (a, b))
        thing = with_article(self.adjectives(.6) + self.noun())
        return self.pick((
            f'"I am {feeling}," said {a}. "Why are you {feeling}?" asked {b}.',
            f'"Where is my {gift}?" asked {a}. "It is on the {self.pick(w.HOLDERS)}," {b} answered.',
            f'{a} said, "I want {with_article(gift)}." But {b} said no.',
            f'"Look, {b}!" said {a}. "There is {thing}!"',
            f'"Hello, {b}," said {a}. "Hello, {a}," said {b}.',
            f'"Do you like {self.pick(w.FOODS)}?" {a} asked {b}. "Yes, I do," {b_pronoun} said.',
            f'{a} asked, "Can you {self.pick(w.INTRANSITIVE_VERBS).base}?" "No," said {b}, "I can\'t."',
            f'"My name is {a}," {a_pronoun} said. "Nice to meet you, {a}," said {b}.',
            f"{capitalized(self.pick(w.GREETINGS))}, {a}! My name is {b}.",
            f'"I\'m {feeling}," said {a}. "I don\'t know why you\'re {feeling}," said {b}.'))

    # Repetition: what induction heads learn from.

    def repeated_list(self):
        pool = self.pick((w.FOODS, w.COLORS, w.PLURAL_THINGS, w.SIZES, w.DAYS, w.MONTHS, w.PUBLIC_PLACES,
                          [animal.noun for animal in w.ANIMALS], w.PEOPLE_PLURAL))
        items, name = self.random.sample(pool, self.pick((3, 4, 5))), self.name()
        commas, listed = ", ".join(items), ", ".join(items[:-1]) + " and " + items[-1]
        return self.pick((f"{name} bought {listed}. {name} liked the {self.pick(items)} best.",
                          f"{capitalized(commas)}. {capitalized(commas)}.",
                          f"First list: {commas}. Second list: {commas}.",
                          f"We saw {listed}. Then we saw {listed} again.",
                          f"{name} wrote: {commas}. Then {name} read: {commas}.", f"{capitalized(listed)} are here."))

    def repeated_words(self):
        pool = (w.QUALITIES + w.COLORS + w.FOODS + w.PLURAL_THINGS + w.GIFTS + w.PUBLIC_PLACES + w.NUMBERS +
                w.FEMALE_NAMES + w.MALE_NAMES + [verb.base for verb in w.INTRANSITIVE_VERBS])
        string = [self.pick(pool) if self.chance(.85) else self.made_up_name()
                  for _ in range(self.random.randint(3, 14))]
        return " ".join(string * self.pick((2, 2, 3)))

    def full_name(self):
        """Harry Potter is a wizard. Everyone knows Harry Potter."""
        gender = self.gender()
        first = self.name(gender) if self.chance(.7) else self.made_up_name()
        last = self.pick(w.LAST_NAMES) if self.chance(.7) else self.made_up_name()
        job = self.pick(w.JOBS).noun if self.chance(.8) else self.pick(("wizard", "witch", "hero"))
        name, she, her = f"{first} {last}", capitalized(SUBJECT[gender]), capitalized(POSSESSIVE[gender])
        intro = f"{name} {self.pick(('is', 'was'))} {with_article(job)}."
        facts = [f"{name} lives in {self.pick(w.CAPITALS)[1]}.", f"{name} was born in {self.pick(w.MONTHS)}.",
                 f"Everyone knows {name}.",
                 f"{her} friend is called {self.pick(w.MALE_NAMES + w.FEMALE_NAMES)} {self.pick(w.LAST_NAMES)}.",
                 f"{she} likes {self.pick(w.FOODS)}.",
                 f"Yesterday {name} {self.thing_verb().past} {self.noun_phrase()}.",
                 f"The {job} {name} is {self.pick(w.PERSON_ADJECTIVES)}.", f"Have you met {name}?",
                 f"{she} has {with_article(self.adjectives(.9) + self.noun())}."]
        return " ".join([intro] + self.random.sample(facts, self.random.randint(1, 5)))

    # Facts and questions.

    def counting(self):
        kind, start, n = self.random.randrange(4), self.random.randrange(12), self.random.randint(4, 8)
        series = (w.NUMBERS, w.DAYS * 3, w.MONTHS * 2, w.LETTERS)[kind][start:start + n]
        return self.pick((" ".join(series), ", ".join(series) + ".",
                          " ".join(str(i) for i in range(start, start + n))))

    def fact(self):
        (country, capital), (country2, capital2) = self.random.sample(w.CAPITALS, 2)
        (word, opposite), (word2, opposite2) = self.random.sample(w.OPPOSITES, 2)
        (one, many), (one2, many2) = self.random.sample(w.IRREGULAR_PLURALS, 2)
        x, y = self.random.randint(1, 9), self.random.randint(1, 9)
        return self.pick((
            f"{capital} is the capital of {country}.",
            f"{capital} is in {country} and {capital2} is in {country2}.",
            f"The capital of {country} is {capital}. The capital of {country2} is {capital2}.",
            f"The opposite of {word} is {opposite}. The opposite of {word2} is {opposite2}.",
            f"{word} : {opposite}, {word2} : {opposite2}",
            f"One {one}, two {many}. One {one2}, two {many2}.",
            f"{capitalized(w.NUMBERS[x - 1])} plus {w.NUMBERS[y - 1]} is {w.NUMBERS[x + y - 1]}.",
            f"{self.name('f')} lives in {capital}, the capital of {country}.",
            f"I speak the language of {country} because I live in {capital}."))

    def question(self):
        verb, thing = self.thing_verb(), self.noun_phrase()
        idle, idle2 = self.pick(w.INTRANSITIVE_VERBS).base, self.pick(w.INTRANSITIVE_VERBS).base
        return capitalized(self.pick((
            f"where is {thing}? It is {self.pick(('in', 'on', 'near'))} the {self.pick(w.HOLDERS)}",
            f"what color is the {self.noun()}? It is {self.pick(w.COLORS)}",
            f"who {verb.past} {thing}? {self.name()} did",
            f"why did {self.person().text} {idle}? Nobody knows",
            f"can you {verb.base} {thing}? Yes, I can",
            f"is {thing} {self.pick(w.QUALITIES)}? No, it is {self.pick(w.QUALITIES)}",
            f"how many {self.pick(w.PLURAL_THINGS)} do you have? I have {self.pick(w.NUMBERS[1:])}",
            f"{self.pick(POLITE)} {verb.base} {thing}",
            f"I {self.pick(('want', 'like', 'need', 'hope', 'have'))} to {idle} {self.adverb()}",
            f"if it {self.pick(('rains', 'snows'))}, we will {idle} at home",
            f"we are {ing_form(idle)} {self.pick(('in', 'near'))} the {self.pick(w.SCENES)}",
            f"{self.name()} is {ing_form(idle)} while {self.name()} is {ing_form(idle2)}"))) + "."

    # Tales.

    def tale(self):
        """Three to six sentences about one cast."""
        hero, other = self.person(), self.two_people(mixed=0)[0]
        animal, thing, scene = self.pick(w.ANIMALS), self.pick(w.OBJECTS), self.pick(w.SCENES)
        name = hero.key if hero.is_named else "the " + hero.key
        pet = self.made_up_name() if self.chance(.3) else self.name()
        she, her, pronoun = capitalized(hero.subject), hero.possessive, hero.subject
        opening = self.pick((
            f"Once upon a time, {hero.text} lived near {with_article(self.adjectives(.7) + scene)}.",
            f"{capitalized(hero.text)} had {with_article(self.adjectives(.7) + animal.noun)} called {pet}.",
            f"One day, {hero.text} found {with_article(self.adjectives(.7) + thing.noun)} in the {scene}.",
            f"{capitalized(hero.text)} was {self.pick(w.PERSON_ADJECTIVES)}."))
        own = with_article(self.adjectives(.6) + animal.noun)
        rest = [f"{she} had {own} and {with_article(self.adjectives(.6) + thing.noun)}.",
                f"The {animal.noun} {self.pick(animal.habits)}.",
                f"Every day {pronoun} walked to the {scene}.",
                f"{she} loved {her} {animal.noun}.",
                f"The {thing.noun} {self.pick(thing.events)}, so {pronoun} was {self.pick(w.PERSON_ADJECTIVES)}.",
                f"{capitalized(name)} smiled because {pronoun} was {self.pick(w.PERSON_ADJECTIVES)}.",
                f"Then {pronoun} gave the {thing.noun} to {other.text}.",
                f"{capitalized(other.text)} thanked {hero.object}.",
                f"It was {self.pick(WEATHER)} in the {scene}.",
                f'"{self.pick(EXCLAMATIONS)}!" said {name}.',
                f"The {animal.noun} was {self.pick(w.ANIMAL_ADJECTIVES)}, and {pronoun} fed it.",
                f"{she} took {her} {thing.noun} home.",
                f"At last {name} went home."]
        kept = sorted(self.random.sample(range(len(rest)), self.random.randint(2, 5)))
        return " ".join([opening] + [rest[i] for i in kept])
