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
    aaron abigail adam adele adrian adriana agnes agnieszka ahmed ahmet aidan aileen aisha akira alain alan
    alba albert alberto alejandro alessandro alessia alex alexander alexandra alfonso alfred alfredo ali
    alice alicia alina alison allison alma alvaro amanda amelia amelie amir amit amy ana ananya anders andre
    andrea andreas andreia andres andrew angela anil anita anja anjali anke ann anna anne anneke annette
    annie anouk ansel antje antoine anton antonia antonio anu arianna arjun arnaud arno arnold arthur arvid
    asa ashley astrid aurelie aurora axel ayse balazs barbara bastian beata beatrice beatriz belen ben
    benedikt benjamin benoit bernadette bernard bernd bert berta bettina bianca bilal birgit bjarne bjorn
    blanca bogdan bram brian brigitte britta bruna bruno bryan burak caio camilla camille candela carina
    carla carlos carlotta carmela carmen carol carole carolina caroline carsten catherine cecile cecilia
    celia celine cesar chantal charles charlotte chen chiara chloe chris christa christel christiaan
    christian christina christine christophe christopher ciara cindy claire clara clarisse claudia clemens
    clement colin concetta connor corinna corinne cornelia cornelis craig cristian cristiano cristina
    cynthia daan damien daniel daniela danuta dario david debora deborah deepa deepak delphine denis denise
    dennis derek detlef diana diego dieter dimitris dina diogo dirk dmitri dmitry dolores domenico dominik
    donald doris dorothea dorothy duarte dylan edith edmund edoardo eduard eduardo edward edwin eileen elena
    eleni elif eline elisa elisabeth elise elizabeth elke ella ellen elodie eloise elsa elvira emanuele emil
    emilia emilie emilio emily emma emre enrico enrique enzo eric erich erik erika ernst erwin esteban
    estelle esther ettore eugenia eugenio eva evelyn ewa fabian fabio fabrice fatih fatima fatma federica
    federico felix femke ferdinand fernando filippo fiona flavia flavio florian floris francesca francesco
    francisco franco francois frank franziska frederic frieda friedrich fritz gabor gabriel gabriela
    gabriele gabriella gaston gavin gemma georg george georgina georgios gerald gerard gerardo gerhard
    gerrit gertrud giacomo gianluca gilbert gilles gina ginevra giorgia giorgio giorgos giovanni gisela
    gisele giulia giuseppe gloria gonzalo gordon grace graham gregor gregory greta grzegorz guido guillaume
    guillermo gundula gunter gunther gustaf gustav guus hadrien hakan halina hanna hannah hannes hans harald
    harriet harry hartmut hasan hassan hedwig heidi heike heiko heiner heinz helen helena helene helga
    helmut hendrik henri henriette henrik henry herbert hermann hilde hildegard hiroshi holger horst hubert
    hugo huseyin ian ibrahim iker ilaria ilona ilse imanol ines inga ingeborg ingrid inmaculada irene irina
    irma isaac isabel isabella isabelle isidro istvan ivan ivana jaap jack jacob jacques jadwiga jaime jakob
    james jan jana jane janine jaroslav jasmin jason jasper javier jean jeanne jeffrey jelle jennifer jens
    jeremy jerome jerzy jessica jesus jin jing jiri joachim joan joana joanna joao joel joelle johan johann
    johanna johannes john jolanda jonas jonathan joost jorge joris jose josef josefina josep joseph
    josephine joshua jozef juan juana judith juergen julia julian julie juliette jun jurgen justyna jutta
    jyoti kamal karen karin karina karl karsten katalin katarzyna kate katharina kathrin katja kavita keith
    kemal kenji kenneth kerstin kevin khadija kjell klaas klara klaus koen kristin krzysztof kurt kyle
    ladislav laetitia lakshmi lara larissa lars laszlo laura laurent layla lea leandro lei leila leire lena
    leo leon leonardo leonie leonor leopold liam lieke liesbeth lilian liliana linh linnea lionel lisa
    loredana lorena lorenzo lorraine lothar lotte louis louise luca lucas lucia luciano lucie lucy ludmila
    ludwig luigi luis luisa lukas lutz lydia maarten maartje madeleine maelle magda magdalena maike maja
    malgorzata malte manfred manish manon manuel manuela marc marcel marcelo marco marcos marek margaret
    margarida margarita margot marguerite maria mariam marianne marie mario marion marit mariusz mark
    marketa markus marlene marlies marta martha martin martina martine mary mateo mathieu mathilde matilde
    matteo matthew matthias matti mattia maurice mauricio maurizio max maximilian maya meera megan mehmet
    mei melanie melissa mercedes mia micaela michael michaela michel michele miguel mihai mikael mikel milan
    ming minh mireille miriam mirjam mirko miroslav mohamed mohammad mohammed monica monika moritz mustafa
    nadia nancy natalia natalie natasha nathalie neha nelson nerea nguyen nico nicolas nicole nigel nikos
    nils nina nisha noah noelia nora norbert norma nuno nuria odette odile olaf ole oleg olga oliver olivia
    olivier omar ornella oscar osvaldo ottmar otto pablo pamela paolo pascal pasquale patricia patrick
    patrizia paul paula pauline paulo pavel pawel pedro penelope peter petra philipp philippe pierre pieter
    pilar piotr pippa pooja prakash priya qiang quentin rachel rafael rahul raimund rainer raj rajesh rakesh
    ralf raphael raquel raul ravi rebecca regina reinhard remy renata renate renato rene ricardo richard
    rita ritu robert roberto rodrigo roger roland rolf romain ronald rosa rosalia rosario ruben rudolf
    rupert ruth ryan sabine sabrina sakura salma salvatore samir samuel sandeep sander sandra sanjay sanne
    sara sarah scott sean sebastian serena sergei sergey sergio severin shirley siegfried sigrid silke
    silvia simon simona simone sinan sjoerd sofia sofie solange sonia sonja sophie soren stanislaw stefan
    stefania stefanie stefano stella stephan stephen steve steven stuart sunil sunita suresh susan susana
    susanne sven svenja svetlana sylvie tamara tanja tariq tatiana tatjana teresa thea theo theodor theresa
    therese thibault thierry thomas thorsten tiago tilman tim timo tobias tom tomas tomasz torsten trudy
    ulla ulrich ursula ute uwe vaclav valentin valentina valerie vanessa vasco vera veronica veronika
    veronique vicente victor victoria vijay vikram viktor vincent viola vito vittoria vladimir volker walter
    wei wendy werner wiebke wietske wilfried wilhelm willem willi william wilma winfried wojciech wolfgang
    wolfram wouter xavier xin yan yannick yasmin yolanda yuki yuri yusuf yves yvette yvonne zainab zeynep
    zoe zofia zoltan zsuzsa γιαννης γιωργος δημητρης ελενη κωστας μαρια νικος πετρος σοφια александр алексеи
    андреи анна дмитрии елена иван мария михаил наталья ольга павел светлана сергеи татьяна
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
    return "national" if _is_national(text) else None


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


def _is_national(text: str) -> bool:
    """Return whether a text has the form of a national number, and its check digits if there are any."""
    bare = re.sub(r"[ .-]", "", text).upper()
    return any(re.fullmatch(form, text) and check(bare) for form, check in _NATIONAL)


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
    digits = (_by_weights(*range(first, 1, -1))(text) * 10 % 11 % 10 for first in (10, 11))
    return text[9:] == "".join(map(str, digits))


def _is_swedish(text: str) -> bool:
    digits = text.replace("+", "")[-10:]
    products = (int(digit) * (2 - position % 2) for position, digit in enumerate(digits))
    return sum(product // 10 + product % 10 for product in products) % 10 == 0


def _is_swiss(text: str) -> bool:
    return -_by_weights(1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3)(text) % 10 == int(text[12])


_NATIONAL: tuple[tuple[str, Callable[[str], bool]], ...] = (
    (r"(?!000|666|9)[0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}", bool),  # United States
    (r"[1278] ?[0-9]{2} ?[0-9]{2} ?(?:[0-9]{2}|2[AB]) ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}", _is_french),
    (r"(?:[0-9]{8}|[XYZ][0-9]{7})[ -]?[A-Z]", _is_spanish),
    (r"(?i:[a-z]{6}[0-9lmnp-v]{2}[abcdehlmprst][0-9lmnp-v]{2}[a-z][0-9lmnp-v]{3}[a-z])", bool),  # Italy
    (r"[0-9]{4}\.?[0-9]{2}\.?[0-9]{3}", _is_dutch),
    (r"[1-35-9][0-9]{2} ?[0-9]{3} ?[0-9]{3}", _is_portuguese),
    (r"[1-9][0-9] ?[0-9]{3} ?[0-9]{3} ?[0-9]{3}", _is_german),
    (r"[0-9]{3} ?[0-9]{3} ?[0-9]{4}", _is_british),  # National Health Service
    (r"[A-CEGHJ-PR-TW-Z]{2} ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D]", bool),  # national insurance
    (r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}", _is_brazilian),
    (r"(?:19|20)?[0-9]{6}[-+][0-9]{4}", _is_swedish),
    (r"756\.?[0-9]{4}\.?[0-9]{4}\.?[0-9]{2}", _is_swiss),
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
        and not text[:1].islower()  # a capital, or of a script that has none
        and (len(text) > 2 or text > "\u3000")
    ):
        return "given" if known else "word"
    return ""
