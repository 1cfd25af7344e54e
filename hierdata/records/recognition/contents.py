"""What single texts show of persons, whatever their field is called: numbers, accounts, full names."""

from __future__ import annotations

import re
from collections.abc import Callable

from hierdata.records.recognition.words import fold, word_set

_ACCOUNT = re.compile(r"[A-Z]{2}[0-9]{2}(?: ?[0-9A-Z]{4}){2,7}(?: ?[0-9A-Z]{1,4})?")
_SHORTEST, _LONGEST = 7, 42

_FULL_NAME = re.compile(
    r"(?:(?:Dr|Prof|Mr|Mrs|Ms|Miss|Mx|Herr|Frau|Mme|Mlle|M|Sr|Sra|Srta|Sig|Dott|Dhr|Mevr|D|Da)\.?\s+){0,3}"
    r"(?:(?:van|von|de|di|da|del|den|der|la|le)\s+){0,3}[^\W\d_a-z][\w'\u2019.-]*"
    r"(?:,?\s+(?:(?:van|von|zu|der|den|de|da|di|del|della|do|dos|das|du|la|le|el|al|bin|ben|ter|ten|y|e)\s+){0,3}"
    r"[^\W\d_a-z][\w'\u2019.-]*){1,4}"
)
"""Two to five capitalized words, with particles and titles before and between them, or a comma."""
_GIVEN = word_set(
    """
    aaron adam adrian agnes ahmed alain alan albert alejandro alessandro alex alexander alexandra ali
    alice alicia amanda amelia amy ana andre andrea andreas andres andrew angela anita ann anna anne
    annie antonio arthur astrid barbara beatriz ben benjamin bernard bernd birgit brian bruno camille
    carla carlos carmen carol caroline catherine cecile charles charlotte chiara chloe christian
    christina christine christopher claire clara claudia clara cristina daan daniel daniela david diana
    diego dieter diogo dirk dominik donald dorothy edward elena eleni eline elisabeth elise elizabeth
    ella elsa emily emma eric erik ernst esther eva fatima felix fernando filippo florian francesca
    francesco francisco francois frank frederic fritz gabriel george georg gerard gerhard giovanni
    giulia giuseppe grace greta guido gustav hanna hannah hannes hans harry heike heinz helen helena
    helga henri henrik henry hugo ian ines inga ingrid irene isabel isabella jack jacob jacques jakob
    james jan jana jane jason javier jean jennifer jens jessica jesus joan joana joao johan johann
    johannes john jonas jonathan jorge jose josef joseph juan juana judith julia julian julie juliette
    jurgen karen karin karl kate katharina kathrin kevin klaas klaus koen lara lars laura laurent lea
    lena leo leon leonie lisa lotte louis louise luca lucas lucia lucie lucy luigi luis luisa lukas luis
    maja manfred manon manuel marc marco marcos margaret maria mariam marie mario marion mark markus
    marta martha martin martina mary mateo matteo matthew matthias max maya megan mehmet melanie mia
    michael michel miguel mohamed mohammed monica monika nadia nathalie nicolas nicole nina nora norbert
    olga oliver olivia oscar otto pablo paolo pascal patricia patrick paul paula paulo pedro peter petra
    philipp philippe pierre pieter rachel rafael ralf raquel raul rebecca renate rene ricardo richard
    rita robert roberto rosa ruben ruth ryan sabine samuel sandra sanne sara sarah sebastian sergio
    silvia simon simone sofia sophie stefan stefanie stephan stephen steven susan susanne sven sylvie
    tanja teresa theo thomas tiago tim tobias tom ulrich ursula uwe valentina vera victor victoria
    vincent walter werner willem william wolfgang xavier yves zoe
    agnes agnieszka aisha ahmet akira ali amit amir ananya anders anil anita anjali anton ansel arjun
    arvid asa
    astrid ayse balazs bilal bjorn bogdan burak chen cristian danuta deepa deepak dimitris dmitri dmitry
    elif emre
    erika eva ewa fatma fatih gabor georgios giorgos grzegorz gustaf hakan halina hasan hassan hiroshi
    huseyin
    ibrahim ilona istvan ivan ivana jadwiga jaroslav jerzy jin jing jiri joanna johannes jozef jun
    justyna jyoti
    kamal katalin katarzyna kavita kemal kenji khadija kjell krzysztof ladislav lakshmi lars laszlo
    layla leila
    lei linh linnea ludmila magdalena malgorzata manish marek mariusz marketa matti mei meera mihai
    mikael milan
    ming minh mirjam miroslav mohammad monica mustafa neha nguyen nikos nils nisha olaf ole oleg olga
    omar pavel
    pawel pedro piotr pooja prakash priya qiang rahul raj rajesh rakesh ravi renata sakura samir sandeep
    sanjay
    sergei sergey sinan sofie stanislaw sunil sunita suresh svetlana tatiana tomas tomasz ulla vaclav
    vijay vikram
    vladimir wei wojciech xin yan yasmin yuki yuri yusuf zeynep zofia zoltan zsuzsa anu ritu salma tariq
    zainab
    анна иван мария дмитрии ольга сергеи елена павел александр наталья татьяна андреи алексеи михаил
    светлана
    γιωργος μαρια ελενη νικος κωστας σοφια πετρος δημητρης γιαννης
    """
)
"""Given names that are frequent in the languages of ``words``: enough to tell lists of people from others."""
_CODED = word_set(
    """
    yes no none true false other unknown mother father parent parents child son daughter brother sister
    spouse husband wife guardian sibling friend grandparent partner self mutter vater eltern mere pere
    madre padre moeder mae pai ja nein oui non si nee nao sim
    """
)


def number_of_person(text: str) -> str | None:
    """Return ``account`` for an IBAN, ``national`` for a national number of a person, None for others.

    >>> number_of_person("DE89 3704 0044 0532 0130 00"), number_of_person("078-05-1120")
    ('account', 'national')
    >>> number_of_person("DE88370400440532013000"), number_of_person("room 17") is None
    (None, True)
    """
    if not _SHORTEST <= len(text) <= _LONGEST or not any(map(str.isdigit, text)):
        return None
    if _ACCOUNT.fullmatch(text) and _is_account(text.replace(" ", "")):
        return "account"
    return "national" if any(test(text) for test in _NATIONAL) else None


_NUMBERED = re.compile(r"https?://[^/?#\s]+(?=[/?#])\S*[/=#:][^/=#:\s]*[0-9][^/=#:\s]*/?")


def is_numbered_address(text: str) -> bool:
    """Return whether a web address ends in a part with digits, as those of single things and persons do.

    >>> [is_numbered_address(f"http://x.example/{end}") for end in ("17", "?id=A3", "verbs/sent")]
    [True, True, False]
    """
    return _NUMBERED.fullmatch(text) is not None


def _is_account(text: str) -> bool:
    """Check an IBAN (ISO 13616): the remainder by 97 of its letters as numbers is 1."""
    moved = text[4:] + text[:4]
    return len(text) <= 34 and int("".join(str(int(letter, 36)) for letter in moved)) % 97 == 1


def _test(form: str, check: Callable[[str], bool] = bool) -> Callable[[str], bool]:
    pattern = re.compile(form)

    def test(text: str) -> bool:
        return pattern.fullmatch(text) is not None and check(re.sub(r"[ .-]", "", text).upper())

    return test


def _by_weights(*weights: int) -> Callable[[str], int]:
    return lambda digits: sum(weight * int(digit) for weight, digit in zip(weights, digits, strict=False))


def _is_french(text: str) -> bool:
    number = text[:13].replace("2A", "19").replace("2B", "18")
    return number.isdigit() and int(number) % 97 == 97 - int(text[13:])


def _is_spanish(text: str) -> bool:
    digits = text[:-1].translate(str.maketrans("XYZ", "012"))
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(digits) % 23] == text[-1]


def _is_dutch(text: str) -> bool:
    total = _by_weights(9, 8, 7, 6, 5, 4, 3, 2, -1)(text)
    return total > 0 and total % 11 == 0


def _is_portuguese(text: str) -> bool:
    rest = _by_weights(9, 8, 7, 6, 5, 4, 3, 2)(text) % 11
    return int(text[8]) == (0 if rest < 2 else 11 - rest)


def _is_german(text: str) -> bool:
    product = 10
    for digit in text[:10]:
        total = (int(digit) + product) % 10 or 10
        product = 2 * total % 11
    return int(text[10]) == (11 - product) % 10


def _is_british(text: str) -> bool:
    rest = 11 - _by_weights(10, 9, 8, 7, 6, 5, 4, 3, 2)(text) % 11
    return int(text[9]) == rest % 11 and rest != 10


def _is_brazilian(text: str) -> bool:
    found = (_by_weights(*range(first, 1, -1))(text) * 10 % 11 % 10 for first in (10, 11))
    return text[9:] == "".join(map(str, found))


def _is_swedish(text: str) -> bool:
    products = (int(digit) * (2 - at % 2) for at, digit in enumerate(text.replace("+", "")[-10:]))
    return sum(one // 10 + one % 10 for one in products) % 10 == 0


def _is_swiss(text: str) -> bool:
    return -_by_weights(1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3)(text) % 10 == int(text[12])


_NATIONAL: tuple[Callable[[str], bool], ...] = (
    _test(r"(?!000|666|9)[0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}"),  # United States
    _test(r"[1278] ?[0-9]{2} ?[0-9]{2} ?(?:[0-9]{2}|2[AB]) ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}", _is_french),
    _test(r"(?:[0-9]{8}|[XYZ][0-9]{7})[ -]?[A-Z]", _is_spanish),
    _test(r"(?i:[a-z]{6}[0-9lmnp-v]{2}[abcdehlmprst][0-9lmnp-v]{2}[a-z][0-9lmnp-v]{3}[a-z])"),  # Italy
    _test(r"[0-9]{4}\.?[0-9]{2}\.?[0-9]{3}", _is_dutch),
    _test(r"[1-35-9][0-9]{2} ?[0-9]{3} ?[0-9]{3}", _is_portuguese),
    _test(r"[1-9][0-9] ?[0-9]{3} ?[0-9]{3} ?[0-9]{3}", _is_german),
    _test(r"[0-9]{3} ?[0-9]{3} ?[0-9]{4}", _is_british),  # National Health Service
    _test(r"[A-CEGHJ-PR-TW-Z]{2} ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D]"),  # national insurance
    _test(r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}", _is_brazilian),
    _test(r"(?:19|20)?[0-9]{6}[-+][0-9]{4}", _is_swedish),
    _test(r"756\.?[0-9]{4}\.?[0-9]{4}\.?[0-9]{2}", _is_swiss),
)


_TITLES = word_set(
    """
    dr dra prof professor mr mrs ms miss mx sir herr frau dott dottssa sig sigra signor signora monsieur
    madame mme mlle senor senora sr sra srta dhr mevr mevrouw doutor doutora
    """
)
"""Titles before the names of persons, without accents."""


def shape_of_name(text: str) -> str:
    """Return what a text may be of a person: ``named``, ``titled``, ``full``, ``given``, ``word``,
    ``coded``, or "".

    ``named`` has the form of a full name and a frequent given name, ``titled`` the form and a title, as
    ``Dr. Kern`` and brands have, ``full`` only the form, ``given`` is a given name alone, ``word`` another
    capitalized word, and ``coded`` a word for what persons are to others.

    >>> [shape_of_name(text) for text in ("Anna Weiß", "Prof. Kern", "Linear Algebra", "Huber", "mother")]
    ['named', 'titled', 'full', 'word', 'coded']
    """
    if "^" in text:  # HL7: components of a name, and a number before them
        text = ", ".join(part for part in text.split("^") if part and not part.isdigit())
    words = re.split(r"[ ,-]+", fold(text).strip())
    if len(words) == 1 and words[0].lower() in _CODED:
        return "coded"
    known = any(word.strip(".").lower() in _GIVEN for word in words[:4])
    titled = len(words) > 1 and words[0].strip(".").lower() in _TITLES
    if (known or titled) and text.islower():
        text = text.title()
    if len(words) > 1 and _FULL_NAME.fullmatch(text):
        return "named" if known else "titled" if titled else "full"
    if (
        len(words) == 1
        and text.isalpha()
        and _may_be_capital(text[:1])
        and (len(text) > 2 or text > "\u3000")
    ):
        return "given" if known else "word"
    return ""


def _may_be_capital(letter: str) -> bool:
    """Return whether a letter is a capital, or of a script that has none."""
    return not letter.islower()
