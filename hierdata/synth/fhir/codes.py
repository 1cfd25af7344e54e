"""What happens to synthetic patients: conditions, medicines, procedures and vaccines, with how often.

Only code numbers of SNOMED CT, LOINC, RxNorm and CVX are named; the short texts beside them are our own,
not the terminologies'. How often something happens is chosen so that a patient has as many resources of each
type as in Synthea's output (``write.MEANS``), with a long tail of rare codes; it is no epidemiology.
"""

from __future__ import annotations

from typing import NamedTuple

SNOMED = "http://snomed.info/sct"
LOINC = "http://loinc.org"
RXNORM = "http://www.nlm.nih.gov/research/umls/rxnorm"
CVX = "http://hl7.org/fhir/sid/cvx"


class StandardCode(NamedTuple):
    """A code with our own short text."""

    code: str
    text: str


class Illness(NamedTuple):
    """A condition and what follows from it.

    ``often`` is a share of people of the ages ``first`` to ``last`` for a chronic illness or a social
    finding, and a number a year for an acute one. ``sex`` is f, m or empty for both.
    """

    code: StandardCode
    often: float
    first: int = 0
    last: int = 110
    sex: str = ""
    medicines: tuple[str, ...] = ()
    procedures: tuple[str, ...] = ()
    plan: str = ""
    setting: str = "AMB"


def _illness(line: str) -> Illness:
    """Return an illness from a line: code|text|often|ages|sex|medicines|procedures|plan|setting."""
    code, text, often, ages, *rest = line.split("|")
    first, _, last = ages.partition("-")
    sex, medicines, procedures, plan, setting = (*rest, "", "", "", "", "")[:5]
    return Illness(
        StandardCode(code, text), float(often), int(first), int(last), sex,
        tuple(medicines.split()), tuple(procedures.split()), plan, setting or "AMB",
    )  # fmt: skip


def _illnesses(lines: str) -> tuple[Illness, ...]:
    return tuple(_illness(line) for line in lines.strip().splitlines())


def _codes(lines: str) -> dict[str, StandardCode]:
    fields = (line.split("|") for line in lines.strip().splitlines())
    return {code: StandardCode(code, text) for code, text in fields}


CHRONIC = _illnesses("""
59621000|High blood pressure|0.38|30-110||314076 310798 308136||443402002
55822004|High blood lipids|0.30|35-110||312961 259255||443402002
15777000|Prediabetes|0.30|25-110||||443402002
162864005|Obesity, body mass index from 30|0.36|18-110||||443402002
271737000|Anaemia|0.14|18-110||310325
44054006|Diabetes, type 2|0.12|35-110||860975 106892||698360004
127013003|Kidney disease by diabetes|0.03|45-110||||
368581000119106|Nerve disease by diabetes|0.03|45-110|||
422034002|Eye disease by diabetes|0.02|45-110|||
237602007|Metabolic syndrome|0.08|30-110
302870006|High triglycerides|0.07|30-110
80394007|High blood sugar|0.06|30-110
53741008|Coronary heart disease|0.06|50-110||312961 309362 705129|29303009 415070008
49436004|Atrial fibrillation|0.03|55-110||855332 197604|29303009 180325003
88805009|Chronic heart failure|0.03|55-110||313988 866412|40701008
399211009|Earlier heart attack|0.02|55-110||309362
230690007|Stroke|0.02|55-110||309362||
195967001|Asthma|0.06|5-110||895994 745679|23426006|699728000
233678006|Asthma of childhood|0.05|2-18||895994 745679|23426006|699728000
13645005|Chronic obstructive lung disease|0.03|50-110||895994|23426006|53950000
87433001|Emphysema|0.01|55-110|||15081005
40055000|Chronic sinusitis|0.16|10-110||||53950000
446096008|Hay fever all year|0.04|3-110||1014678
367498001|Hay fever|0.06|3-110||997488
24079001|Atopic eczema|0.05|1-60||106258
64859006|Osteoporosis|0.08|60-110|f|904419
239873007|Arthrosis of the knee|0.08|45-110||849574|74016001|408869004
239872002|Arthrosis of the hip|0.05|45-110||849574||408869004
201834006|Arthrosis of the hand|0.05|45-110||849574
69896004|Rheumatoid arthritis|0.01|30-110||105585
90560007|Gout|0.02|40-110|m|197319
82423001|Chronic pain|0.09|25-110||856987|91251008|408869004
278860009|Chronic low back pain|0.10|25-110||849574|91251008|408869004
95417003|Fibromyalgia|0.01|25-80|f
124171000119105|Chronic migraine|0.05|15-70||313782
370143000|Major depression|0.05|15-110||310384|171207006
47505003|Stress disorder after trauma|0.02|18-80
80583007|Severe anxiety|0.04|15-80||312941
192127007|Attention deficit of childhood|0.05|6-20
26929004|Alzheimer's disease|0.04|70-110||997223
84757009|Epilepsy|0.01|1-110
7200002|Alcoholism|0.02|20-80
5602001|Opioid abuse|0.01|18-70||856987|56876005
449868002|Smokes daily|0.09|16-90
431855005|Kidney disease, stage 1|0.05|40-110
431856006|Kidney disease, stage 2|0.04|45-110
433144002|Kidney disease, stage 3|0.02|50-110|||265764009
235595009|Reflux disease|0.08|25-110||198051
40930008|Underactive thyroid|0.05|30-110|f
78275009|Sleep apnoea|0.05|35-110
193570009|Cataract|0.06|65-110
23986001|Glaucoma|0.02|55-110
9014002|Psoriasis|0.02|15-110||106258
34000006|Crohn's disease|0.004|15-110||312615|73761001
64766004|Ulcerative colitis|0.004|15-110||312615|73761001
49049000|Parkinson's disease|0.006|60-110
24700007|Multiple sclerosis|0.003|25-80
200936003|Lupus|0.002|20-80|f|312615
86406008|HIV infection|0.004|18-80
50711007|Hepatitis C|0.006|30-80
68496003|Polyp of the colon|0.07|50-110|||73761001
93761005|Cancer of the colon|0.006|55-110|||43075005 367336001|
254837009|Cancer of the breast|0.02|45-110|f||122548005 392021009 367336001
126906006|Tumour of the prostate|0.03|55-110|m
254637007|Cancer of the lung|0.005|55-110|||367336001 108290001
60573004|Narrowed aortic valve|0.01|65-110|||34068001
48724000|Leaking mitral valve|0.01|60-110|||40701008
46635009|Diabetes, type 1|0.004|5-80||106892||698360004
190905008|Cystic fibrosis|0.0008|0-40
73430006|Sleep apnoea, unspecified|0.01|35-110
37320007|Loss of teeth|0.05|50-110
""")

ACUTE = _illnesses("""
444814009|Viral sinusitis|0.1|0-110
195662009|Viral sore throat|0.065|0-110||313782
10509002|Acute bronchitis|0.055|0-110||313782|399208008|53950000
65363002|Ear infection|0.11|0-8||308192
43878008|Sore throat by streptococci|0.015|3-30||834061|117015009
75498004|Bacterial sinusitis|0.01|3-110||562251
36971009|Sinusitis|0.005|3-110||562251
66383009|Gingivitis|0.075|5-110|||234713009 241046008
18718003|Disease of the gums|0.03|18-110|||225362009
80967001|Dental caries|0.02|5-110|||34043003
301011002|Urinary infection by E. coli|0.015|16-110|f|||869761000000107
38822007|Cystitis|0.01|16-110|f|
45816000|Infection of the kidney|0.002|16-110||199885|||EMER
233604007|Pneumonia|0.006|40-110||199885|399208008||IMP
840539006|COVID-19|0.025|1-110|||261352009|53950000
6142004|Influenza|0.01|1-110||313782||53950000
386661006|Fever|0.015|0-110||313782
49727002|Cough|0.015|0-110
84229001|Tiredness|0.01|10-110
25064002|Headache|0.01|10-110
422587007|Nausea|0.005|5-110
72892002|Pregnancy|0.045|18-42|f|1192012|252160004 169230002 225158009 274804006|134435003
19169002|Miscarriage|0.005|18-42|f|
398254007|Preeclampsia|0.0015|18-42|f||||IMP
62106007|Concussion|0.006|3-110||||47387005|EMER
44465007|Sprain of the ankle|0.0125|8-70||310965|274474001|408869004|EMER
70704007|Sprain of the wrist|0.005|8-70||310965|||EMER
39848009|Whiplash injury|0.004|16-80||310965|||EMER
58150001|Fracture of the clavicle|0.0025|5-110||1049221|1225002 274474001|385691007|EMER
65966004|Fracture of the forearm|0.003|5-110||1049221|1225002 274474001|385691007|EMER
16114001|Fracture of the ankle|0.0025|5-110||1049221|19490002 274474001|385691007|EMER
263102004|Fracture of the wrist|0.002|5-110||1049221|60027007 274474001|385691007|EMER
33737001|Fracture of a rib|0.0015|10-110||1049221|399208008|385691007|EMER
359817006|Fracture of the hip|0.002|65-110||1049221|274474001|385691007|IMP
283371005|Cut of the forearm|0.003|2-80|||288086009|225358003|EMER
284549007|Cut of the hand|0.003|2-80|||288086009|225358003|EMER
284551006|Cut of the foot|0.003|2-80|||288086009|225358003|EMER
283385000|Cut of the thigh|0.002|2-80|||288086009|225358003|EMER
370247008|Cut of the face|0.003|2-80|||288086009|225358003|EMER
403190006|Burn, first degree|0.0025|0-90||106258|||EMER
403191005|Burn, second degree|0.001|0-90||106258|||EMER
74400008|Appendicitis|0.0015|5-60|||80146002||IMP
235919008|Gallstones|0.002|30-90|||45595009||IMP
22298006|Heart attack|0.0015|50-110||309362|29303009 415070008||IMP
410429000|Cardiac arrest|0.0003|50-110|||||EMER
128613002|Seizure|0.001|1-110|||||EMER
55680006|Drug overdose|0.001|15-70|||||EMER
40275004|Contact dermatitis|0.01|1-80||106258
279039007|Low back pain|0.015|18-90||849574||408869004
13200003|Ulcer of the stomach|0.0015|30-90||198051|
""")

SOCIAL = _illnesses("""
160903007|Full-time work|0.34|18-66
160904001|Part-time work|0.14|18-70
73595000|Stress|0.22|18-80
423315002|Few social contacts|0.10|18-110
422650009|Social isolation|0.04|18-110
73438004|Without work|0.05|18-66
706893006|Violence by the partner|0.03|18-80
424393004|Violence around|0.05|18-80
314529007|Medicines to be reviewed|0.35|20-110
""")

MEDICINES = _codes("""
314076|Lisinopril 10 mg
310798|Hydrochlorothiazide 25 mg
308136|Amlodipine 2.5 mg
312961|Simvastatin 20 mg
259255|Atorvastatin 80 mg
310325|Iron sulfate 325 mg
860975|Metformin 500 mg, slow
106892|Insulin 70/30
309362|Clopidogrel 75 mg
705129|Nitroglycerin spray
855332|Warfarin 5 mg
197604|Digoxin 0.125 mg
313988|Furosemide 40 mg
866412|Metoprolol 100 mg, slow
895994|Fluticasone inhaler
745679|Albuterol inhaler
1014678|Cetirizine 10 mg
997488|Fexofenadine 30 mg
106258|Hydrocortisone cream
904419|Alendronate 10 mg
849574|Naproxen 220 mg
105585|Methotrexate 2.5 mg
197319|Allopurinol 100 mg
856987|Hydrocodone with paracetamol
313782|Paracetamol 325 mg
310384|Fluoxetine 20 mg
312941|Sertraline 50 mg
997223|Donepezil 10 mg
198051|Omeprazole 20 mg
312615|Prednisone 20 mg
308192|Amoxicillin 500 mg
834061|Penicillin V 250 mg
562251|Amoxicillin with clavulanate
199885|Levofloxacin 500 mg
1192012|Prenatal vitamins
310965|Ibuprofen 200 mg
1049221|Oxycodone with paracetamol
757594|Norethindrone pill
749762|Levonorgestrel pill
807283|Levonorgestrel device
""")
CONTRACEPTIVES = ("757594", "749762", "807283")

PROCEDURES = _codes("""
430193006|Medicines compared
710824005|Assessment of needs
171207006|Screening for depression
428211000124100|Screening for substances
76601001|Injection into a muscle
5880005|Physical examination
29303009|Electrocardiogram
40701008|Echocardiography
415070008|Coronary intervention
180325003|Cardioversion
23426006|Spirometry
15081005|Lung rehabilitation
74016001|X-ray of the knee
91251008|Physical therapy
265764009|Dialysis
73761001|Colonoscopy
43075005|Part of the colon removed
367336001|Chemotherapy
108290001|Radiotherapy
122548005|Biopsy of the breast
392021009|Lump of the breast removed
34068001|Heart valve replaced
399208008|X-ray of the chest
117015009|Throat culture
234713009|Fluoride treatment
241046008|X-ray of the teeth
225362009|Dental care
34043003|Dental consultation
261352009|Face mask
252160004|Pregnancy test
169230002|Ultrasound of the pregnancy
225158009|Fetal heart sounds
274804006|Height of the uterus
274474001|Immobilization
1225002|X-ray of the arm
19490002|X-ray of the ankle
60027007|X-ray of the wrist
288086009|Wound sutured
80146002|Appendix removed
45595009|Gallbladder removed
56876005|Drug rehabilitation
71651007|Mammography
104435004|Test for hidden blood
""")
AT_CHECK_UP = (("430193006", 0.55), ("710824005", 0.55), ("171207006", 0.35), ("428211000124100", 0.3))
"""Procedures at a check-up of an adult, with their chances."""

PLANS = _codes("""
443402002|Education about a healthy life
698360004|Diabetes management
699728000|Asthma management
53950000|Breathing therapy
408869004|Care of the joints
134435003|Care in pregnancy
385691007|Care of a fracture
225358003|Care of a wound
869761000000107|Care of a urinary infection
47387005|Rehabilitation after a head injury
""")
ACTIVITIES = _codes("""
229065009|Exercise
226234005|Healthy diet
160670007|Diet for diabetes
183301007|Physical training
""")

ALLERGIES = _codes("""
418689008|Grass pollen
419263009|Tree pollen
232347008|Animal hair
419474003|Mould
232350006|House dust mite
91935009|Peanuts
300916003|Latex
425525006|Milk
91934008|Nuts
417532002|Fish
300913006|Shellfish
424213003|Bee venom
91936005|Penicillin
""")
REACTIONS = _codes("""
271807003|Rash
267036007|Short breath
76067001|Sneezing
162397003|Sore throat
""")

VACCINES = _codes("""
140|Influenza
113|Tetanus and diphtheria
115|Tetanus, diphtheria, pertussis
121|Shingles
33|Pneumococci 23
133|Pneumococci 13
08|Hepatitis B, young
20|Diphtheria, tetanus, pertussis, child
10|Polio
49|Haemophilus
119|Rotavirus
03|Measles, mumps, rubella
21|Chickenpox
83|Hepatitis A, child
114|Meningococci
62|Papilloma viruses
208|COVID-19
""")
