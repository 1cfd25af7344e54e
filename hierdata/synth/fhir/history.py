"""What happens to a synthetic patient in some years: check-ups, chronic illness, acute illness."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any, NamedTuple, TypeAlias

from hierdata.synth.fhir import codes
from hierdata.synth.fhir.chart import Chart, Resource, concept, quantity
from hierdata.synth.fhir.codes import LOINC, SNOMED, Illness, StandardCode
from hierdata.synth.fhir.people import Person
from hierdata.synth.vocabulary import Draws

TODAY = date(2024, 12, 31)
"""The day of the export; all histories end here."""
Visit: TypeAlias = tuple[Resource, datetime]
"""An encounter and its beginning."""
_CHECK_UP = StandardCode("162673000", "General examination")
_FOLLOW_UP = StandardCode("390906007", "Follow-up")
_BIRTH_CONTROL = StandardCode("169762003", "Contraceptive visit")
_TYPES = {
    "AMB": StandardCode("185347001", "Visit for a problem"),
    "EMER": StandardCode("50849002", "Visit of the emergency room"),
    "IMP": StandardCode("32485007", "Stay in hospital"),
}
_MINUTES = {"AMB": 30, "EMER": 120, "IMP": 4_320}

_VITALS = (
    (StandardCode("8867-4", "Heart rate"), 60, 100, 0, "/min"),
    (StandardCode("9279-1", "Breaths"), 12, 16, 0, "/min"),
)
_PRESSURES = (
    (StandardCode("8480-6", "Systolic"), 100, 150),
    (StandardCode("8462-4", "Diastolic"), 65, 95),
)
_METABOLIC = (
    (StandardCode("2339-0", "Glucose"), 65, 130, 1, "mg/dL"),
    (StandardCode("6299-2", "Urea nitrogen"), 7, 20, 1, "mg/dL"),
    (StandardCode("38483-4", "Creatinine"), 0.5, 3, 1, "mg/dL"),
    (StandardCode("49765-1", "Calcium"), 8.6, 10.2, 1, "mg/dL"),
    (StandardCode("2947-0", "Sodium"), 136, 144, 1, "mmol/L"),
    (StandardCode("6298-4", "Potassium"), 3.7, 5.2, 1, "mmol/L"),
    (StandardCode("2069-3", "Chloride"), 101, 111, 1, "mmol/L"),
    (StandardCode("20565-8", "Carbon dioxide"), 20, 29, 1, "mmol/L"),
)
_LIPIDS = (
    (StandardCode("2093-3", "Cholesterol"), 150, 240, 1, "mg/dL"),
    (StandardCode("2571-8", "Triglycerides"), 90, 200, 1, "mg/dL"),
    (StandardCode("18262-6", "LDL"), 60, 160, 1, "mg/dL"),
    (StandardCode("2085-9", "HDL"), 30, 80, 1, "mg/dL"),
)
_BLOOD = (
    (StandardCode("6690-2", "White cells"), 3.5, 10.5, 1, "10*3/uL"),
    (StandardCode("789-8", "Red cells"), 3.9, 5.7, 1, "10*6/uL"),
    (StandardCode("718-7", "Haemoglobin"), 11, 17, 1, "g/dL"),
    (StandardCode("4544-3", "Haematocrit"), 33, 50, 1, "%"),
    (StandardCode("787-2", "Volume of red cells"), 80, 95, 1, "fL"),
    (StandardCode("785-6", "Haemoglobin of a cell"), 27, 33, 1, "pg"),
    (StandardCode("786-4", "Concentration in cells"), 33, 36, 1, "g/dL"),
    (StandardCode("777-3", "Platelets"), 150, 450, 0, "10*3/uL"),
)
_PANELS = (
    (StandardCode("51990-0", "Metabolic panel"), _METABOLIC, 0.74),
    (StandardCode("57698-3", "Lipid panel"), _LIPIDS, 0.58),
    (StandardCode("58410-2", "Blood count"), _BLOOD, 0.47),
)
"""Panels at a check-up of an adult, with their values and chances."""
_SUGAR = StandardCode("4548-4", "HbA1c")
_SMOKING = StandardCode("72166-2", "Smoking")
_SMOKERS = (
    StandardCode("266919005", "Never smoked"),
    StandardCode("8517006", "Used to smoke"),
    StandardCode("449868002", "Smokes daily"),
)

_OF_A_CHILD = (
    (0, "08 10 20 49 119 133"),
    (1, "03 21 83 10 20 133"),
    (5, "03 21 10 20"),
    (11, "114 115 62 62"),
)


class Clinic(NamedTuple):
    """Where patients go: institutions and doctors, of whom each patient has one of each."""

    organizations: list[Resource]
    practitioners: list[Resource]


class History:
    """Draws the last years of one patient into a chart."""

    def __init__(self, draws: Draws, person: Person, chart: Chart, clinic: Clinic, years: int) -> None:
        self._draws, self._person, self._chart, self._clinic = draws, person, chart, clinic
        self._staff = self._pick_staff()
        self._end = (person.dead or TODAY).toordinal()
        self._start = max(person.birth.toordinal(), self._end - years * 365)
        self._height = draws.whole(150, 178) + (0 if person.female else 12)
        self._mass = 18 + 22 * draws.share() * draws.share()
        self._smoking = draws.index((0.7, 0.9))

    def draw(self) -> None:
        """Add everything that happens, oldest first by kind of event."""
        draws, age = self._draws, self._age(self._end)
        checks = self._check_days()
        visits = [self._check_up(day) for day in checks]
        if not visits:
            visits = [self._check_up(self._end)]
        for illness in codes.CHRONIC:
            if self._can_have(illness, age) and draws.chance(illness.often):
                self._live_with(illness, visits)
        for illness in codes.SOCIAL:
            if self._can_have(illness, age) and draws.chance(illness.often):
                self._note_finding(illness, visits)
        for illness in codes.ACUTE:
            self._fall_ill(illness)
        if self._person.female and 18 <= age <= 48 and draws.chance(0.6):
            self._prevent()
        if draws.chance(0.145):
            self._allergies(visits[0])

    def _age(self, day: int) -> int:
        return (day - self._person.birth.toordinal()) // 365

    def _can_have(self, illness: Illness, age: int) -> bool:
        sexes = ("", "f" if self._person.female else "m")
        return illness.first <= age <= illness.last and illness.sex in sexes

    def _pick_staff(self) -> tuple[Resource, Resource]:
        return self._draws.pick(self._clinic.organizations), self._draws.pick(self._clinic.practitioners)

    def _moment(self, day: int) -> datetime:
        first = datetime.fromordinal(day)
        return first + timedelta(hours=self._draws.whole(7, 18), minutes=self._draws.whole(0, 59))

    def _check_days(self) -> list[int]:
        """A check-up every year, for infants four, for adults below 40 about every second year."""
        draws, days, day = self._draws, [], self._start + self._draws.whole(0, 180)
        while day <= self._end:
            days.append(day)
            age = self._age(day)
            gap = 91 if age < 1 else 182 if age < 3 else 330 if age < 20 or age >= 35 else 500
            day += gap + draws.whole(0, 40)
        return days

    def _meet(self, setting: str, type_: StandardCode, day: int) -> Visit:
        when = self._moment(day)
        staff = self._staff
        if setting != "AMB" or self._draws.chance(0.1):
            staff = self._pick_staff()
        minutes = _MINUTES[setting] * (1 + self._draws.whole(0, 3)) // 2
        return self._chart.add_encounter(setting, type_, when, minutes, staff), when

    def _bill(self, visit: Visit, about: Resource | None = None) -> None:
        self._chart.add_claim(*visit, round(80 + 400 * self._draws.share(), 2), about, drug=False)

    def _order(self, name: str, visit: Visit, reason: Resource | None, active: bool = False) -> None:
        order = self._chart.add_medication(codes.MEDICINES[name], *visit, active, reason)
        self._chart.add_claim(*visit, round(5 + 60 * self._draws.share(), 2), order, drug=True)

    def _measure(self, visit: Visit, measure: tuple[Any, ...], category: str) -> Resource:
        code, low, high, digits, unit = measure
        number = low + (high - low) * (self._draws.share() + self._draws.share()) / 2
        value = {"valueQuantity": quantity(round(number, digits) if digits else int(number), unit)}
        return self._chart.add_observation(category, code, *visit, value)

    def _check_up(self, day: int) -> Visit:
        draws, age = self._draws, self._age(day)
        visit = self._meet("AMB", _CHECK_UP, day)
        self._vital_signs(visit, age)
        if age >= 18:
            for panel, values, chance in _PANELS:
                if draws.chance(chance):
                    results = [self._measure(visit, measure, "laboratory") for measure in values]
                    self._chart.add_report(panel, *visit, results)
        for code, chance in codes.AT_CHECK_UP:
            if age >= 12 and draws.chance(chance):
                self._chart.add_procedure(codes.PROCEDURES[code], *visit, None)
        if age >= 45 and draws.chance(0.05):
            other = "71651007" if self._person.female else "104435004"
            self._chart.add_procedure(codes.PROCEDURES[other], *visit, None)
        self._vaccinate(visit, age)
        self._bill(visit)
        return visit

    def _vital_signs(self, visit: Visit, age: int) -> None:
        draws, chart = self._draws, self._chart
        height = self._height * min(1.0, (50 + 7 * age) / 175) if age < 18 else float(self._height)
        weight = self._mass * (height / 100) * (height / 100) * (0.95 + draws.share() / 10)
        sizes = (
            (StandardCode("8302-2", "Height"), height, "cm"),
            (StandardCode("29463-7", "Weight"), weight, "kg"),
            (StandardCode("39156-5", "Body mass index"), self._mass, "kg/m2"),
        )  # fmt: skip
        for code, number, unit in sizes:
            value = {"valueQuantity": quantity(round(number, 1), unit)}
            chart.add_observation("vital-signs", code, *visit, value)
        pressure = [
            {"code": concept(LOINC, code), "valueQuantity": quantity(draws.whole(low, high), "mm[Hg]")}
            for code, low, high in _PRESSURES
        ]
        chart.add_observation(
            "vital-signs", StandardCode("85354-9", "Blood pressure"), *visit, {"component": pressure}
        )
        for measure in _VITALS:
            self._measure(visit, measure, "vital-signs")
        pain = {"valueQuantity": quantity(draws.whole(0, 5), "{score}")}
        chart.add_observation("vital-signs", StandardCode("72514-3", "Pain"), *visit, pain)
        if age >= 12:
            smoker = {"valueCodeableConcept": concept(SNOMED, _SMOKERS[self._smoking])}
            chart.add_observation("social-history", _SMOKING, *visit, smoker)

    def _vaccinate(self, visit: Visit, age: int) -> None:
        draws, wanted = self._draws, []
        if draws.chance(0.82):
            wanted.append("140")
        if age >= 18 and draws.chance(0.09):
            wanted.append("113")
        if visit[1].year >= 2021 and age >= 12 and draws.chance(0.25):
            wanted.append("208")
        if age >= 50 and draws.chance(0.08):
            wanted.append("121")
        if age >= 65 and draws.chance(0.1):
            wanted.append(draws.pick(("33", "133")))
        for due_age, names in _OF_A_CHILD:
            if age == due_age:
                wanted.extend(name for name in names.split() if draws.chance(0.75))
        for name in wanted:
            self._chart.add_immunization(codes.VACCINES[name], *visit)

    def _live_with(self, illness: Illness, visits: list[Visit]) -> None:
        """A chronic illness: found at a check-up, then seen again, with medicines renewed."""
        draws = self._draws
        visit = draws.pick(visits)
        condition = self._chart.add_condition(illness.code, *visit, None)
        for name in illness.medicines:
            if draws.chance(0.6):
                self._order(name, visit, condition, active=True)
        if illness.plan:
            self._plan(illness, visit, condition)
        if illness.medicines:
            self._follow_up(illness, visit[1], condition)
        for name in illness.procedures:
            if draws.chance(0.3):
                self._chart.add_procedure(codes.PROCEDURES[name], *visit, condition)

    def _follow_up(self, illness: Illness, begin: datetime, condition: Resource) -> None:
        draws, day = self._draws, begin.toordinal() + self._draws.whole(30, 400)
        while day <= self._end:
            again = self._meet("AMB", _FOLLOW_UP, day)
            if draws.chance(0.40):
                self._order(draws.pick(illness.medicines), again, condition)
            if illness.procedures and draws.chance(0.6):
                name = draws.pick(illness.procedures)
                self._chart.add_procedure(codes.PROCEDURES[name], *again, condition)
            elif draws.chance(0.35):
                self._chart.add_procedure(codes.PROCEDURES["430193006"], *again, None)
            if illness.code.code == "44054006":
                self._measure(again, (_SUGAR, 5.5, 9, 1, "%"), "laboratory")
            self._bill(again, condition)
            day += draws.whole(30, 360)

    def _note_finding(self, illness: Illness, visits: list[Visit]) -> None:
        encounter, when = self._draws.pick(visits)
        end = when + timedelta(days=self._draws.whole(200, 900))
        over = end.toordinal() <= self._end
        self._chart.add_condition(illness.code, encounter, when, end if over else None)

    def _fall_ill(self, illness: Illness) -> None:
        """An acute illness as often as the years of the patient at its ages say."""
        draws, day = self._draws, self._start
        while day < self._end:
            here, day = day, day + 365
            if not (self._can_have(illness, self._age(here)) and draws.chance(illness.often)):
                continue
            begin = min(self._end, here + draws.whole(0, 364))
            visit = self._meet(illness.setting, _TYPES[illness.setting], begin)
            cured = visit[1] + timedelta(days=draws.whole(7, 60))
            over = cured.toordinal() <= self._end
            condition = self._chart.add_condition(illness.code, *visit, cured if over else None)
            for name in illness.medicines:
                if draws.chance(0.6):
                    self._order(name, visit, condition)
            for name in illness.procedures:
                if draws.chance(0.8):
                    self._chart.add_procedure(codes.PROCEDURES[name], *visit, condition)
            if illness.plan:
                self._plan(illness, visit, condition)
            if draws.chance(0.4):
                temperature = (StandardCode("8310-5", "Temperature"), 36.5, 39.5, 1, "Cel")
                self._measure(visit, temperature, "vital-signs")
            self._bill(visit, condition)

    def _plan(self, illness: Illness, visit: Visit, condition: Resource) -> None:
        activities = [self._draws.pick(tuple(codes.ACTIVITIES.values())) for _ in range(2)]
        self._chart.add_plan(codes.PLANS[illness.plan], activities, *visit, condition)

    def _prevent(self) -> None:
        """Contraception: one medicine, renewed about once a year."""
        draws, name = self._draws, self._draws.pick(codes.CONTRACEPTIVES)
        day = self._start + draws.whole(0, 3_000)
        while day <= self._end:
            if self._age(day) >= 18:
                visit = self._meet("AMB", _BIRTH_CONTROL, day)
                self._order(name, visit, None)
                self._bill(visit)
            day += draws.whole(330, 700)

    def _allergies(self, visit: Visit) -> None:
        draws = self._draws
        reactions = tuple(codes.REACTIONS.values())
        for code, allergen in codes.ALLERGIES.items():
            if draws.chance(0.27):
                food = code in ("91935009", "425525006", "91934008", "417532002", "300913006")
                self._chart.add_allergy(allergen, draws.pick(reactions), visit[1], food)
