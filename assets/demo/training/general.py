"""General English: sentences in which the common words meet, so that what people type has known words."""
import words as w
from coreference import CoreferenceGenerator
from generator import capitalized, plural, with_article

QUANTIFIERS = ("many", "these", "those", "most", "most of the", "all", "two", "three", "few", "some", "several", "any",
               "enough", "no", "both", "a lot of", "lots of", "a dozen", "a hundred", "a thousand", "a million", "such",
               "much", "more", "less", "other")
SUBJECT_PRONOUNS = "I you we they he she people it".split()
DETERMINERS = "this that every each another our their his her my your some no any either neither what its".split()
# Who does something to whom, and whose it is then.
REFLEXIVES = (("I", "myself", "mine"), ("you", "yourself", "yours"), ("we", "ourselves", "ours"),
              ("they", "themselves", "theirs"), ("she", "herself", "hers"), ("he", "himself", "his"),
              ("it", "itself", "its own"))
VERDICTS = ("all you need", "everything", "not enough", "what we want", "very important", "hard to find", "good for us")
MODALS_THAT_ASK = "Do Did Can Could Will Would Should May".split()


class GeneralGenerator(CoreferenceGenerator):
    # Phrases.

    def general_noun(self):
        return self.pick(w.GENERAL_NOUNS if self.chance(.7) else w.COMMON_NOUNS)

    def general_plural(self):
        if self.chance(.5):
            return self.pick(w.COMMON_PLURALS)
        return plural(self.pick(w.COUNTED_NOUNS))

    def general_adjective(self):
        return self.pick(w.GENERAL_ADJECTIVES if self.chance(.7) else w.COMMON_ADJECTIVES)

    def general_verb(self):
        return self.pick(w.GENERAL_VERBS if self.chance(.7) else w.COMMON_VERBS)

    def general_phrase(self):
        noun = self.general_noun()
        adjective = self.general_adjective() + " " if self.chance(.35) else ""
        x = self.random.random()
        if x < .33:
            return f"the {adjective}{noun}"
        if x < .46:
            return with_article(adjective + noun)
        if x < .60:
            return f"{self.pick(DETERMINERS)} {adjective}{noun}"
        if x < .65:
            return f"the {self.pick(w.SUPERLATIVES)} {noun}"
        if x < .76:
            return f"the {noun} of the {self.general_noun()}"
        if x < .78:
            return self.pick(w.MASS_NOUNS)
        if x < .87:
            return self.pick(w.INDEFINITE_PRONOUNS)
        return f"{self.pick(QUANTIFIERS)} {adjective}{self.general_plural()}"

    def place_phrase(self):
        return f"{self.pick(w.PREPOSITIONS if self.chance(.5) else w.COMMON_PREPOSITIONS)} {self.general_phrase()}"

    # Clauses: no capital letter, no full stop.

    def clause(self):
        x = self.random.random()
        if x < .4:
            who = self.pick(SUBJECT_PRONOUNS)
        else:
            who = self.person().text if x < .6 else self.general_phrase()
        x = self.random.random()
        if x < .34:
            return f"{who} {self.general_verb().past} {self.general_phrase()}"
        adverb = self.pick(("", "", "not ", "never ", "also ", "still ", "even ", "just "))
        if x < .50:
            return f"{who} {self.pick(w.MODAL_VERBS)} {adverb}{self.general_verb().base} {self.general_phrase()}"
        if x < .55:
            say = self.pick(w.SAYING_VERBS).base
            return f"{who} {self.pick(w.MODAL_VERBS)} {adverb}{say} that {self.fact_clause()}"
        if x < .67:
            return f"{who} {self.pick(w.GENERAL_INTRANSITIVE_VERBS).past} {self.place_phrase()}"
        if x < .72:
            verb = self.pick(w.GENERAL_INTRANSITIVE_VERBS).base
            return f"{who} {self.pick(w.MODAL_VERBS)} {adverb}{verb} {self.place_phrase()}"
        if x < .80:
            wanted = self.pick(("wanted", "tried", "began", "had", "used", "seemed", "decided", "tended"))
            return f"{who} {wanted} to {self.general_verb().base} {self.general_phrase()}"
        return self.fact_clause() if x < .90 else self.contraction()

    def fact_clause(self):
        be = self.pick(("is", "was", "seems", "became", "has been", "will be", "may seem"))
        noun, x = self.general_noun(), self.random.random()
        if x < .6:
            degree = self.pick(("", "very ", "more ", "less ", "too ", "so ", "quite ", "rather "))
            return f"the {noun} {be} {degree}{self.general_adjective()}"
        if x < .75:
            return f"the {noun} {be} {self.pick(w.COMPARATIVES)} than {self.general_phrase()}"
        if x < .9:
            return f"{self.person().text} {be} {self.pick(w.PREDICATE_ADJECTIVES)}"
        return f"the {noun} {be} {self.pick(REFLEXIVES)[2]}"

    def contraction(self):
        verb, thing = self.pick(w.GENERAL_VERBS).base, self.general_phrase()
        done = self.pick(w.COMMON_PARTICIPLES)
        she, they = self.pick(("he", "she", "it")), self.pick(("I", "you", "we", "they"))
        return self.pick((
            f"{they} {self.pick(w.CONTRACTIONS)} {verb} {thing}",
            f"{she} {self.pick(('doesn', 'didn', 'won', 'can', 'couldn', 'wouldn', 'shouldn'))}'t {verb} {thing}",
            f"{self.pick(('it', 'that', 'he', 'she', 'there', 'what'))}'s {self.pick(('', 'not '))}"
            f"{self.general_adjective()}",
            f"{self.pick(('we', 'you', 'they'))}'re {self.general_adjective()}", f"I'm {self.general_adjective()}",
            f"{they}'ll {verb} {thing}", f"{they}'ve {done} {thing}", f"{they}'d {verb} {thing}",
            f"{they} {self.pick(('haven', 'hadn'))}'t {done} {thing}",
            f"{she} {self.pick(('hasn', 'hadn'))}'t {done} {thing}", f"let's {verb} {thing}",
            f"{she} {self.pick(('isn', 'wasn'))}'t {self.general_adjective()}",
            f"{self.pick(('we', 'you', 'they'))} {self.pick(('aren', 'weren'))}'t {self.general_adjective()}"))

    def common_forms(self):
        """A clause with forms of common words that the others do not have: -s, -ing, participles, adverbs."""
        x = self.random.random()
        who = self.name() if self.chance(.5) else f"the {self.general_noun()}"
        be, have = self.pick(("is", "was", "has been")), self.pick(("has", "had", "has never", "has already"))
        thing = self.general_phrase()
        if x < .22:
            return f"{who} {self.pick(w.COMMON_THIRD_PERSON)} {thing}"
        if x < .29:
            return f"{who} {self.pick(w.INTRANSITIVE_THIRD_PERSON)} {self.place_phrase()}"
        if x < .48:
            return f"{who} {be} {self.pick(w.COMMON_ING_FORMS)} {thing}"
        if x < .55:
            return f"{who} {be} {self.pick(w.INTRANSITIVE_ING_FORMS)} {self.place_phrase()}"
        if x < .70:
            return f"{who} {self.general_verb().past} {thing} {self.pick(w.COMMON_ADVERBS)}"
        if x < .80:
            return f"{who} {have} {self.pick(w.COMMON_PARTICIPLES)} {thing}"
        if x < .84:
            return f"{who} {have} {self.pick(w.INTRANSITIVE_PARTICIPLES)} {self.place_phrase()}"
        if x < .88:
            whom = self.pick(("us", "me", "them", "him", "her")) if self.chance(.5) else self.person().text
            return f"{who} said {self.pick(w.GREETINGS)} to {whom}"
        if x < .92:
            subject, oneself, _ = self.pick(REFLEXIVES)
            return f"{subject} {self.general_verb().past} {oneself}"
        if x < .96:
            return self.pick((f"either {who} or {thing} {self.general_verb().past} it",
                              f"neither {who} nor {thing} {self.general_verb().past} it",
                              f"both {who} and {thing} {self.general_verb().past} it",
                              f"whoever {self.general_verb().past} {thing} {be} {self.general_adjective()}",
                              f"nobody else has ever {self.pick(w.COMMON_PARTICIPLES)} {thing}"))
        return f"{who} {self.general_verb().past} {thing} {self.place_phrase()}"

    # Sentences.

    def general(self):
        x = self.random.random()
        if x < .18:
            return self.with_first_word()
        if x < .23:
            return self.general_question()
        if x < .36:
            sentence = self.clause()
        elif x < .58:
            sentence = self.common_forms()
        elif x < .66:
            conjunctions = w.CONJUNCTIONS if self.chance(.5) else w.COMMON_CONJUNCTIONS
            sentence = f"{self.clause()} {self.pick(conjunctions)} {self.clause()}"
        elif x < .72:
            sentence = f"{self.pick(w.CONJUNCTIONS)} {self.clause()}, {self.clause()}"
        elif x < .82:
            who = self.pick(("I", "we", "they", "he", "she"))
            sentence = f"{who} {self.pick(w.SAYING_VERBS).past} that {self.clause()}"
        elif x < .89:
            between = self.pick((", and", ", but", ", so", ", or", ", yet", f"; {self.pick(w.OPENING_ADVERBS)},"))
            sentence = f"{self.clause()}{between} {self.clause()}"
        elif x < .95:
            who, verb = self.person().text, self.general_verb().past
            which = self.pick(("that", "which", "whom"))
            those = self.pick((f"{which} {who} {verb}", f"whose {self.general_noun()} {verb} {self.general_phrase()}"))
            sentence = f"the {self.general_noun()} {those} was {self.general_adjective()}"
        else:
            thing = with_article(self.general_adjective() + " " + self.general_noun())
            sentence = f"there {self.pick(('is', 'was', 'will be'))} {thing} {self.place_phrase()}"
        return capitalized(sentence) + "."

    def general_question(self):
        who = self.pick(("I", "you", "we", "they")) if self.chance(.5) else f"the {self.general_plural()}"
        verb, thing = self.general_verb().base, self.general_phrase()
        ask = self.pick(("what", "who", "why", "how", "when", "where"))
        do = self.pick(("did", "does", "can", "should", "will"))
        return self.pick((
            f"{capitalized(ask)} {do} the {self.general_noun()} {verb} {thing}?",
            f"{self.pick(MODALS_THAT_ASK)} {who} {verb} {thing}?",
            f"{self.pick(('Is', 'Was'))} {self.pick(('he', 'she', 'it', thing))} {self.general_adjective()}?",
            f"{self.pick(('Are', 'Were'))} {who} {self.general_adjective()}?",
            f"Does {self.pick(('he', 'she', 'it', thing))} {verb} it?",
            f"{self.pick(('Which', 'Whose', 'What'))} {self.general_noun()} {self.general_verb().past} {thing}?",
            f"{self.pick(('Who', 'What'))} {self.general_verb().past} {thing}?"))

    def with_first_word(self):
        """A sentence that begins with a word that the others seldom or never begin with."""
        clause, thing, verb = self.clause(), self.general_phrase(), self.general_verb()
        opening = self.pick((self.pick(w.GREETINGS), self.pick(w.OPENING_ADVERBS), "of course", "for example",
                             "in fact", "at first", "to my surprise", "as always", "in the end"))
        return self.pick((
            f"{capitalized(opening)}, {clause}.",
            f"{self.pick(('And', 'But', 'So', 'Or', 'Then', 'Now', 'Here', 'There', 'Maybe', 'Perhaps'))} {clause}.",
            f"{self.pick(('Today', 'Yesterday', 'Tomorrow', 'Often', 'Always', 'Also', 'Never'))} {clause}.",
            f"{capitalized(self.pick(w.COMMON_PREPOSITIONS))} {thing}, {clause}.",
            f"Of all the {self.general_plural()}, {thing} was the {self.pick(w.SUPERLATIVES)} {self.general_noun()}.",
            f"Let {self.pick(('us', 'me', 'him', 'her', 'them', thing))} {verb.base} {self.general_phrase()}.",
            f"Please {self.pick(('', 'do not ', 'help us to '))}{verb.base} {thing}.",
            f"{self.pick(('Not', 'Only', 'Just', 'Even'))} {thing} {verb.past} it.",
            f"{capitalized(self.pick(DETERMINERS))} {self.general_noun()} {verb.past} {thing}.",
            f"{capitalized(self.pick(QUANTIFIERS))} {self.general_plural()} {verb.past} {thing}.",
            f"{capitalized(self.pick(w.INDEFINITE_PRONOUNS))} {verb.past} {thing}.",
            f"{capitalized(self.pick(w.MASS_NOUNS))} is {self.pick(VERDICTS)}.",
            f"One {self.general_noun()} and {self.pick(('two', 'three'))} {self.general_plural()} {verb.past} it."))
