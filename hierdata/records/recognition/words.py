"""Words in names of fields, in many languages: persons and their names, direct identifiers, keys, things.

Words are folded as ``words_of`` folds names: lower case, without accents. A compound written as one word is
split where all its parts are known (``Kundennummer``, ``patientname``).
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Literal, TypeAlias

Sense: TypeAlias = Literal[
    "subject", "other", "thing", "name", "part", "contact", "number", "key", "modifier", "filler", "attribute"
]
"""What a word says: ``subject`` and ``other`` are persons, ``part`` is a name that only persons have,
``number`` a number that one authority gives to each person, ``modifier`` makes a fact of what it is with."""


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(words.split())


_SENSES: dict[Sense, str] = {
    # Whom a record may be about.
    "subject": """
        applicant attendee bene beneficiary candidate citizen claimant client consumer customer cust defendant
        donor emp employee enrollee mbr subj guest individual inmate insured learner member participant
        passenger pat patient person persona player policyholder prisoner proband pt pupil registrant
        resident respondent stud student subscriber suspect tenant trainee traveler traveller user victim
        visitor volunteer voter worker
        probandin studienteilnehmer studienteilnehmerin versuchsperson
        angestellte antragsteller antragstellerin arbeitnehmer befragte befragter benutzer besucher
        bewerber
        bewerberin bewohner buerger gast kd klient klientin kunde kundin mieter mitarbeiter mitarbeiterin
        mitglied nutzer patientin proband probandin schueler schuelerin spieler studentin studierende
        studierender teilnehmende teilnehmer teilnehmerin versicherte versicherter waehler
        adherent assure beneficiaire candidat citoyen demandeur eleve employe etudiant etudiante habitant
        locataire membre participante patiente personne repondant salarie usager utilisateur
        alumna alumno asegurado beneficiario candidato ciudadano cliente empleada empleado encuestado
        estudiante inquilino miembro paciente socio solicitante trabajador usuario
        alunna alunno assicurato cittadino dipendente intervistato lavoratore membro partecipante paziente
        richiedente studente studentessa utente
        aanvrager bewoner burger deelnemer gebruiker huurder kandidaat klant leerling lid medewerker
        persoon
        verzekerde werknemer
        aluna aluno cidadao empregado estudante funcionario pessoa segurado trabalhador utilizador
        asiakas hallgato vevoe klijent klijentka klientka musteri muesteri pacient pacientka pacjent
        pacjentka potilas
        pracownik pracownica uczen kursant zakaznik zamestnanec zaposleni beteg tanulo vasarlo elev
        ansatt anstalld anstaelld
        medarbetare kund borger kunden tyontekija tyoentekijae oppilas calisan ogrenci oegrenci angajat
        pacientul
        пациент клиент сотрудник ученик студент πελατης ασθενης υπαλληλος المريض العميل
        患者 顧客 客户 病人 환자
        accountholder borrower cardholder debtor depositor heir holder investor mortgagor plaintiff
        beschuldigte beschuldigter lantagare laantagare
        shareholder inhaber karteninhaber klaeger kontoinhaber kreditnehmer schuldner debiteur emprunteur
        titulaire deudor prestatario titular debitore intestatario titolare rekeninghouder devedor
    """,
    # Persons beside the subject; also those of whom that is unknown.
    "other": """
        addressee advisor adviser agent approver assignee attending attorney author biller billing billto
        boss brother buyer caregiver carer child clerk clinician coach colleague consignee consultant
        contact
        counselor counsellor coworker dependant dependent nok bezugsperson begleitperson betreuungsperson
        vertrauensperson
        coworker creator daughter dentist director doctor driver editor emergency
        father friend gp guardian household husband informant inspector instructor interviewer judge kin
        aunt cousin creditor godfather godmother grandfather grandmother grantor guarantor lender nephew niece
        payer stepfather stepmother trustee uncle
        lawyer lecturer legalguardian manager md mentor mgr mother neighbour neighbor nextofkin notary
        nurse
        observer officer operator owner parent partner performer pharmacist phys physician practitioner
        prescriber
        prof professor provider receiver recipient recorder referee referrer relative reporter requester
        requestor reviewer salesperson salesrep seller sender shipper shipto shipping delivery sibling
        sister son spouse staff superior supervisor surgeon teacher technician therapist tutor wife
        witness
        absender angehoerige angehoeriger ansprechpartner anwalt arzt aerztin autor bearbeiter behandler
        betreuer bruder chef dozent ehegatte ehepartner einweiser eltern elternteil empfaenger fahrer
        gutachter hausarzt klassenlehrer klassenlehrerin kontakt kontaktperson lehrer lehrerin leiter
        mutter
        notfallkontakt pfleger pruefer rechnung richter sachbearbeiter schwester therapeut trainer vater
        buerge cousine enkel glaeubiger onkel tante
        verfasser vormund vorgesetzte vorgesetzter zeuge
        creancier garant oncle
        auteur chauffeur conjoint destinataire directeur enfant enseignant epouse epoux expediteur
        facturation formateur frere infirmier infirmiere livraison medecin mere pere proche professeur
        responsable soeur superieur tuteur
        acreedor avalista tia tio
        autora conyuge contacto destinatario docente enfermera enfermero envio esposa esposo facturacion
        familiar gerente hermana hermano hija hijo jefe madre maestra maestro medica medico padre pareja
        profesor profesora remitente
        capo coniuge contatto familiare figlia figlio fratello genitore infermiera infermiere insegnante
        marito mittente moglie professore responsabile sorella supervisore tutore
        spedizione fatturazione verzending facturatie entrega cobranca fatura haushalt menage hogar
        afzender arts zorgverlener broer contactpersoon echtgenoot familielid huisarts leidinggevende
        leraar
        moeder ontvanger ouder vader verpleegkundige voogd zus
        chefe conjuge contato enfermeira enfermeiro filha filho irma irmao mae medicos pai professora
        remetente responsavel
        lead teamlead teamleader foreman counterparty payee signatory cosigner landlord hausmeister makler
        dozentin lekarz lekarka nauczyciel kierownik opiekun rodzic matka ojciec doktor doktorka ucitel
        lakare laekare
        laege lege handlaggare handlaeggare sagsbehandler saksbehandler larare laerare chefen laakari
        laeaekaeri opettaja ogretmen oegretmen hekim
        mudur muedur orvos
        tanar kezelo medic profesorul lekar врач доктор учитель руководитель менеджер мать отец γιατρος
        ιατρος
        δασκαλος الطبيب 担当医 医師 医生
    """,
    "thing": """
        activity airline airport app application article artist asset bank book branch brand browser
        building
        business campaign campus car carrier category channel charity clinic club college color colour
        column
        community company component course cuisine currency dataset db depot dept device disease dish
        document
        domain drug event exam faculty feature field file film firm food form function gene genre group
        hobby host hospital hotel ingredient institute institution item lab laboratory lesson library
        location
        manufacturer market medicine menu merchant model module movie network office org organisation
        organization package page park place plan planet practice product profile program programme
        project
        promotion property publication publisher quarter question questionnaire queue recipe restaurant
        role
        room route sample schema school section sensor server service shop song space species sport stage
        stop store study substance supermarket supplier system table tag task team template test topic
        track
        tool trial unit university vaccine variable vehicle vendor venue version vessel village warehouse
        abteilung artikel aufgabe bezirk dienst fach fakultaet filiale firma gebaeude gemeinde geraet
        gruppe
        haus kategorie klinik krankenhaus krankheit kurs land lieferant lieferung marke medikament modell
        ort
        produkt projekt raum schul schule sprache stadt standort station system universitaet unternehmen
        verein
        veranstaltung waehrung wirkstoff
        batiment categorie commune cours departement ecole entreprise fournisseur gare groupe hopital
        langue
        lieu magasin maladie marque matiere medicament organisme pays produit projet salle societe
        universite ville
        articulo asignatura ciudad colegio curso departamento empresa enfermedad escuela grupo idioma
        marca
        materia medicamento municipio organizacion pais producto proveedor proyecto tienda universidad
        articolo azienda citta comune corso dipartimento ditta farmaco fornitore gruppo lingua malattia
        negozio ospedale paese prodotto progetto reparto scuola universita
        afdeling bedrijf cursus gemeente groep leverancier medicijn merk stad taal vak winkel ziekenhuis
        ziekte
        cidade disciplina doenca escola fornecedor loja produto projeto universidade
    """,
    "name": """
        name naam nom nombre nome namen nam nm namn navn nimi jmeno nazwa nev adi isim ime nume имя
        ονομα اسم الاسم
        名前
    """,
    "part": """
        alias familyname firstname firstnames fname forename fullname givenname initials lastname
        legalname
        ln lname maidenname middlename mname mononym nickname preferredname surname username login loginname
        screenname displayname nick nicknames gamertag userhandle
        benutzername familienname geburtsname kuenstlername maedchenname nachname rufname spitzname zweitname
        vorname vornamen zuname
        nomdefamille nomfamille nomnaissance patronyme prenom prenoms pseudo pseudonyme surnom nomutilisateur
        apellido apellidos apodo
        cognome nominativo soprannome nomeutente
        achternaam bijnaam geboortenaam gebruikersnaam roepnaam tussenvoegsel voorletters voornaam voornamen
        apelido apelidos sobrenome
        fn surnm imie imiona nazwisko prijmeni krestni fornamn foernamn efternamn mellannamn fornavn efternavn
        etternavn
        mellomnavn etunimi sukunimi soyad soyadi adsoyad vezeteknev keresztnev csaladnev prenume prezime
        familiya
        imya otchestvo xingming фамилия отчество фио επωνυμο επιθετο 姓 名 姓名 氏名
    """,
    "contact": """
        account acct addr address avatar biometric cell cellphone cellular creditcard email emailaddress
        face
        facebook fax fingerprint gps handle homepage house iban imei instagram ip ipaddress linkedin mac
        ext
        mail
        mobile passwd password phone photo picture plate portrait signature skype street streetname tel
        telecom telephone twitter url website whatsapp zoom
        anumber bnumber callee caller callingnumber callednumber dialednumber
        adresse anschrift autokennzeichen foto festnetz handy hausnr hausnummer kennzeichen konto kontonr
        kontonummer mobil mobilnr mobilnummer postanschrift strasse telefon unterschrift wohnadresse
        compte courriel coordonnees immatriculation mel portable rue telephone voie
        domicile fono telef telf tfno tlf tlm
        calle correo correoelectronico cuenta direccion domicilio firma movil telefono
        cellulare conto indirizzo pec targa
        adres emailadres gsm huisnummer kenteken mobiel rekening rekeningnummer straat telefoon
        conta endereco morada rua telefone telemovel
    """,
    "number": """
        enrolid ktnr kunnr ptid respid respno subjectno usubjid vpn vpnr
        codicefiscale cpf curp insurancenumber insuranceid policynumber policyno dni driverlicense
        driverslicense hic icn ihi insuranceno licence license medicaid
        medicare mrn nationalid nhs nhsno nhsnumber nie nif nin nino nir nisn nric npi passport passportno
        socialsecurity sin ssn taxid taxpayer tin uniqueid
        ahv ausweis ausweisnummer fuehrerschein krankenversichertennummer kvnr matrikel matrikelnummer
        matrnr
        personalausweis personalnr personalnummer personenkennziffer reisepass rentenversicherungsnummer
        rvnr sozialversicherung sozialversicherungsnummer steuerid steueridnr steuernummer sv svnr
        svnummer versichertennr versichertennummer versicherungsnummer
        insee matricule nss numsecu passeport permis secu securitesociale
        cedula historiaclinica legajo matricula nhc nuss pasaporte seguridadsocial
        cartellaclinica matricola passaporto patente tesserasanitaria
        bsn burgerservicenummer verzekeringsnummer paspoort rijbewijs sofinummer
        carteira cnh passaporte rg utentesns
        pesel personnummer personnr fodselsnummer cpr cprnr henkilotunnus hetu kimlik tckn tckimlik cnp
        taj oib jmbg
        aadhaar aadhar rodnecislo lanr upn
        iccid imsi meid mpan mprn msisdn meternumber meterserial lanekort laanekort
    """,
    "key": """
        id ids identifier ident key no nr num number code ref reference pid uid uuid guid rowid sid oid pk
        cid serial index token pseudonym hash rec record
        kennung kennziffer kennzahl nummer schluessel
        cle identifiant numero
        clave codigo identificador
        chiave codice identificativo
        sleutel
        chave
    """,
    "modifier": """
        age allowed amount available average balance bonus category change class consent count created
        date
        days default delta domain enabled flag has income is kind lang language last level limit mean
        median
        method mode of opt optin opted percent preference preferred quantity rate rating reason relation
        relationship satisfaction score share since state status sum time total type use valid verified
        verification version years anzahl datum typ zeit beziehung verwandtschaft nombredehijos tipo fecha
        data lien soort aantal parentesco quantidade
    """,
    "filler": """
        base cabecera familia
        a al an and by d da das de del dell della der des di die do door dos du e el en for from in info
        its
        information l la le of par per por por primary rel secondary son the to used und van von work home
        full first family given last middle maiden birth legal local personal private main current alt
        alternate complet complete completo completa vollstaendiger voller nachnamen volledige propio
        privat dienstlich geschaeftlich traitant tratante curante assistente behandelnd
    """,
}

PARTS_OF_NAMES = word_set(
    """
    first last given family middle maiden full birth legal display preferred complet completo completa
    voller volledige propio pila prefix suffix title salutation initials nick sur fore naissance famille
    """
)
"""Beside ``name``: it is a person's. Alone below a name (FHIR, vCard, XML) too."""
PARTS_ALONE = word_set("first last middle maiden given family surname forename")
"""Alone in a record: parts of names, if the values are capitalized words."""
DEEDS = word_set(
    """
    created modified updated changed edited entered requested reported approved assigned prepared
    admitted discharged examined interviewed collected administered dispensed diagnosed seen attended
    registered uploaded completed transcribed
    reviewed signed written submitted ordered prescribed referred treated performed recorded sent
    received sold taken authored verified erstellt geaendert bearbeitet erfasst cree creado creato
    criado aangemaakt modifie modificado modificato issued opened closed handled owned logged resolved
    booked
    """
)
"""With ``by`` or ``to``: the person who did it, or whom it is for."""
DEED_ENDS = word_set(
    """
    by to von par por da door
    """
)

SENSE_OF: dict[str, Sense] = {}
for _sense, _words in _SENSES.items():
    for _word in _words.split():
        SENSE_OF.setdefault(_word, _sense)

_TOKEN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W0-9_A-Za-z]+")
"""A word in Latin letters, digits, or letters of another script."""
_UNMARKED = str.maketrans("łøıđŁØİĐ", "loidLOID")
_LINKS = ("", "s", "n", "en", "e", "es", "er")
"""What German and Dutch put between the parts of a compound."""
_LEAST = 3
_SHORT = frozenset({"id", "nr", "no", "ip"})


def fold(text: str) -> str:
    """Return a text without accents; umlauts are written out.

    >>> fold("Schüler"), fold("Prénom"), fold("Straße"), fold("Endereço")
    ('Schueler', 'Prenom', 'Strasse', 'Endereco')
    """
    if text.isascii():
        return text
    for letter, written in (("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("ß", "ss")):
        text = text.replace(letter, written).replace(letter.upper(), written.capitalize())
    parts = unicodedata.normalize("NFKD", text.replace("æ", "ae").translate(_UNMARKED))
    return "".join(part for part in parts if not unicodedata.combining(part))


def words_of(name: str) -> list[str]:
    """Return the words of a name, folded, in lower case.

    >>> words_of("patientId"), words_of("date_of_birth"), words_of("{urn:x}PLZ"), words_of("Größe")
    (['patient', 'id'], ['date', 'of', 'birth'], ['plz'], ['groesse'])
    """
    return [word.lower() for word in _TOKEN.findall(fold(name.rpartition("}")[2]))]


def singular(word: str, known: frozenset[str] | dict[str, Sense]) -> str:
    """Return a word as it is known, without the ending of a plural; itself if it is not known."""
    if word in known:
        return word
    for ending in ("s", "es", "n", "en", "innen"):
        if word.endswith(ending) and word.removesuffix(ending) in known and len(word) > len(ending) + 2:
            return word.removesuffix(ending)
    return word


@lru_cache(maxsize=4096)
def split_compound(word: str, others: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """Return the parts of a compound of known words, or the word alone; ``others`` are known too.

    >>> split_compound("kundennummer"), split_compound("patientname"), split_compound("filament")
    (('kunden', 'nummer'), ('patient', 'name'), ('filament',))
    """
    return _split(word, others) or (word,)


def _split(word: str, others: frozenset[str]) -> tuple[str, ...]:
    if singular(word, SENSE_OF) in SENSE_OF or word in others:
        return (word,)
    for end in range(len(word) - 2, _LEAST - 1, -1):
        first, rest = word[:end], word[end:]
        if len(rest) < _LEAST and rest not in _SHORT:
            continue
        for link in _LINKS:
            stem = first.removesuffix(link) if link else first
            if len(stem) >= _LEAST and (stem in SENSE_OF or stem in others) and first.endswith(link):
                below = _split(rest, others)
                if below:
                    return (stem, *below)
    return ()
