import type { Texts } from './en.ts';
import { counting } from './plural.ts';

const count = counting('de');
const onTimes = ([first, last = first]: readonly string[]): string =>
  first === undefined
    ? 'Bei'
    : first === last
      ? `Am ${first} bei`
      : `Zwischen ${first} und ${String(last)} bei`;
const thisLearner = 'Diese Person';
const inSentence = (who: string): string => (who === thisLearner ? 'diese Person' : who);

/** Every text of the element, in German. A member that is missing does not compile. */
export const de: Texts = {
  thisLearner,
  learner: (n) => `Person ${n}`,
  standard: (n) => `Standard ${n}`,
  component: (n) => `Teilfähigkeit ${n}`,
  subject: (n) => `Lernziel ${n}`,
  unlistedGap: (n) => `Weitere Lücke ${n}`,
  form: (n) => `Form ${n}`,
  thisForm: 'Diese Form',
  measure: (n) => `Kennzahl ${n}`,
  items: (n) => count(n, 'Aufgabe', 'Aufgaben'),
  unnamedItems: (n) => count(n, 'hier nicht benannte Aufgabe', 'hier nicht benannte Aufgaben'),
  partOf: (name) => `Teil von: ${name}`,
  after: (names) => `Zuerst: ${names}`,

  mastered: 'beherrscht',
  gap: 'Lücke',
  gapOfDecision: 'Lücke laut Entscheidung',
  notSettled: 'offen',
  tooLittle: 'zu wenig Belege',
  unknownValue: 'dieser Seite nicht bekannt',
  noRow: 'nicht im Bericht',
  counts: {
    gap: (n) => count(n, 'Lücke', 'Lücken'),
    mastered: (n) => count(n, 'beherrscht', 'beherrscht'),
    notSettled: (n) => count(n, 'offen', 'offen'),
    unknownState: (n) => count(n, 'in unbekanntem Zustand', 'in unbekanntem Zustand'),
  },

  gatePass: (who) => `${who} hat bestanden`,
  gateFail: (who) => `${who} hat noch nicht bestanden`,
  gateOpen: (who) => `Ob ${inSentence(who)} bestanden hat, ist nicht entschieden`,
  gateUnknown: (who) => `Diese Seite kennt die Entscheidung über ${inSentence(who)} nicht`,
  diagnosis: (who) => who,
  underWay: (who) => `${who} ist noch im Test`,
  saving: (who) => `${who} ist fertig, und das Ergebnis wird gespeichert`,
  noRows: 'es wurde kein Standard und keine Teilfähigkeit gemeldet',
  rowsLeftOut: 'Standards und Teilfähigkeiten sind in dieser Ansicht weggelassen',
  sentence: (start, rest) => `${start}: ${rest}.`,
  gateFigures: (achieved, required, unit) => `${achieved} erreicht, ${required} nötig${unit}.`,
  gateWithoutFigure: (required) => `Keine gültige Messung; ${required} nötig.`,
  unitOfCriteria: ' (die Einheit dieser Zahl nennt der Bericht nicht)',
  unitOfScore: { points: ' (Punkte)', percent: ' (Prozent)', scale: ' (auf der Lernskala)' },
  gateMisses: {
    measurement:
      'Es gibt keine gültige Messung. Ein neuer Versuch oder eine berichtigte Auswertung kann eine liefern.',
    coverage:
      'Der Beleg fehlt, dass der Test seinen Bauplan abdeckt. Ihn muss liefern, wem der Test gehört; die lernende Person kann daran nichts ändern.',
    other:
      'Kriterien, Abdeckungsbeleg oder eine gültige Messung fehlen; welches davon, sagt der Bericht nicht. Es weiß, wem der Test gehört.',
  },
  lastScored: (day) => `Letzte Aufgabe ausgewertet am ${day}.`,
  dayNotGiven: 'Der Tag des Tests ist in dieser Ansicht nicht angegeben.',

  teachNext: 'Was als Nächstes dran ist',
  inOrder: 'In der Reihenfolge, in der eines auf dem anderen aufbaut:',
  asListed: 'Eine Reihenfolge ist hier nicht bekannt; wie im Bericht aufgeführt:',
  noGap: 'Es wurde keine Lücke gefunden.',
  nothingMeasured:
    'Es wurde kein Standard und keine Teilfähigkeit gemeldet; über Lücken ist also nichts bekannt.',
  noGapYet: 'Es ist keine Lücke bekannt. Was offen ist, kann sich noch als eine erweisen.',
  shownBy: (items) => `Entschieden durch die Antworten auf: ${items}`,
  shownByOmitted: 'Die Aufgaben dazu sind in dieser Ansicht weggelassen.',
  gateGapWithoutRow:
    'Die Entscheidung über den Test führt es als Lücke auf; mehr sagt der Bericht nicht dazu.',
  gateGapAgainstRow: (state) =>
    `Die Entscheidung über den Test führt es als Lücke auf; in der eigenen Zeile steht: ${state}.`,
  open: 'Noch offen',
  howToSettle: {
    notSettled:
      'Kein Versagen: Die bisherigen Antworten entscheiden es nicht. Weitere ausgewertete Aufgaben dazu können es.',
    tooLittle: 'Zu wenig Belege. Es braucht weitere ausgewertete Aufgaben dazu.',
    unknownState: 'Diese Seite ist älter als der Zustand. Der Teil für die Prüfung zeigt ihn, wie er kam.',
    running: 'Der Test ist nicht vorbei: Weitere Aufgaben darin können es entscheiden.',
  },
  alreadyMastered: 'Beherrscht',
  showAll: (n) => `Alle ${count(n, 'Zeile', 'Zeilen')} zeigen`,

  howSure: 'Wie sicher ist das?',
  score: 'Punktwert',
  states: 'Standards und Teilfähigkeiten',
  limits: 'Grenzen',
  scored: (value) => `Punktwert: ${value}.`,
  points: (value, maximum) => (maximum === undefined ? `${value} Punkte` : `${value} von ${maximum} Punkten`),
  onScale: (value) => `${value} auf der Lernskala`,
  withoutUnit: (value) => `${value}, in einer Einheit, die diese Seite nicht kennt`,
  range: (low, high, error) =>
    `Die Fähigkeit liegt am ehesten zwischen ${low} und ${high} (± ${error}, ein Standardfehler). Werte, deren Bereiche sich überschneiden, sind nicht unterschieden.`,
  noError: 'Der Bericht nennt für diesen Wert keinen Standardfehler.',
  axisEnds: (low, high) => `Die Achse reicht von ${low} bis ${high}, den Enden der Skala.`,
  axisWithoutEnds: (low, high) =>
    `Die Skala nennt keine Enden; diese Achse reicht von ${low} bis ${high}, die eines anderen Werts vielleicht nicht.`,
  axisPart: (low, high) => `Das Bild zeigt den Teil der Skala von ${low} bis ${high}.`,
  noScore: {
    pending: 'Noch kein Wert: Es gibt dafür zu wenig Belege.',
    anchor: 'Kein Wert: Der Anker der Skala lässt sich nicht prüfen, also sind auch die Zustände vorläufig.',
    unknown: 'Es kann kein Wert gemeldet werden.',
  },
  axisLabel: (what, figure, low, high) => `${what}: ${figure}, auf einer Achse von ${low} bis ${high}`,
  probability: (value) => `Wahrscheinlichkeit der Beherrschung ${value}`,
  estimate: (value, margin) => `Schätzung ${value} ± ${margin}`,
  margins: {
    standardError: 'Standardfehler',
    halfWidth: 'halbes Intervall',
    policyMargin: 'Spielraum der Regel',
    unknown: 'ein Maß der Unsicherheit, das diese Seite nicht kennt',
  },
  threshold: (value) => `Schwelle ${value}`,
  rule: (mastered, gap) => `beherrscht ab ${mastered}, ${gap}, dazwischen: offen`,
  gapUpTo: (value) => `Lücke bis ${value}`,
  gapBelow: (value) => `Lücke unter ${value}`,
  ruleStart: (rule) => `Die Regel: ${rule}, und erst, wenn eine Aufgabe es gemessen hat.`,
  rulesDiffer: 'Die Regeln unterscheiden sich; jede steht bei ihrer Zeile.',
  rowRule: (rule) => `Regel: ${rule}`,
  ruleOfPolicy: (hasMargin) =>
    `Jeder Balken zeigt die Schätzung (dunkler Strich)${hasMargin ? ', ihren Spielraum (blau), wo seine Bedeutung bekannt ist,' : ''} und die Schwelle der Regel des Tests (gepunkteter Strich). Die Regel entscheidet den Zustand; aus diesen Zahlen allein folgt er nicht.`,
  probabilityMeans:
    'Eine Wahrscheinlichkeit sagt, wie sicher der Test ist, und nicht, wie viel davon gekonnt wird.',
  stateMayChange: 'Ein Zustand nahe der Grenze zu einem anderen kann sich mit wenigen Antworten ändern.',
  leftOut: 'In dieser Ansicht weggelassen: ',
  omitted: {
    mastery: 'die Standards und Teilfähigkeiten',
    itemEvidence: 'die Aufgaben hinter jedem Zustand',
    readiness: 'die Bereitschaft für andere Tests, die ein eigener Bericht ist',
  },
  omittedUnknown: 'ein Teil, den diese Seite nicht kennt',
  incomplete: (n) =>
    `${count(n, 'Zusatz fehlt', 'Zusätze fehlen')}, weil eine Quelle nicht geantwortet hat. Der Rest ist vollständig.`,
  stopped: {
    complete: 'Der Test endete, weil jede Teilfähigkeit, um die es ging, entschieden war.',
    precise:
      'Der Test endete, weil seine Ergebnisse im Mittel genau genug waren; einzelne können noch offen sein.',
    longest: 'Der Test endete bei seiner größten Zahl von Aufgaben, oder es gab keine passende mehr.',
    time: 'Der Test endete, weil die Zeit um war. Über das nicht rechtzeitig Beantwortete sagt er nichts.',
    unknown: 'Warum der Test endete, kennt diese Seite nicht.',
  },
  administered: (n) => `${count(n, 'Aufgabe wurde', 'Aufgaben wurden')} gestellt.`,
  crosswalk: 'Es gibt eine Zuordnung zu einer fremden Skala. Das ist kein Wert ihres Anbieters.',
  provisional: 'Vorläufig: Der Anker der Skala lässt sich im Moment nicht prüfen.',
  waiting: (since) =>
    `Der Test wartet auf ein anderes System${since === undefined ? '' : `, seit ${since}`}.`,
  trial: 'Eine Probe mit erfundenen Antworten, kein Test einer lernenden Person.',

  history: (who) => `${who}: Tests im Lauf der Zeit`,
  noReports: (who) => `Über ${inSentence(who)} gibt es noch keinen Bericht.`,
  reportsFound: (n) => `${count(n, 'Bericht', 'Berichte')} auf dieser Seite.`,
  rose: (from, to, by, least) =>
    `Vom ${from} bis zum ${to} stieg der Wert um ${by}: mehr, als der Zufall erklärt (bis ${least}).`,
  fell: (from, to, by, least) =>
    `Vom ${from} bis zum ${to} fiel der Wert um ${by}: mehr, als der Zufall erklärt (bis ${least}).`,
  noChange: (from, to, by, least) =>
    `Vom ${from} bis zum ${to}: keine Veränderung, die sich vom Zufall unterscheiden ließe. Die Werte liegen ${by} auseinander; der Zufall erklärt bis ${least}.`,
  oneDay: (day) => `Alle Werte sind vom ${day}. Eine Veränderung braucht Tests an verschiedenen Tagen.`,
  oneScore: 'Es gibt einen Wert mit Tag. Für eine Veränderung braucht es zwei.',
  noScores:
    'Kein Bericht auf dieser Seite hat einen Wert mit Standardfehler; über eine Veränderung lässt sich nichts sagen.',
  noDays: 'Die Tage der Tests sind hier nicht angegeben; ihre Werte werden nicht über die Zeit verglichen.',
  changeRule:
    'Eine Veränderung heißt nur so, wenn sie größer ist als das Doppelte der gemeinsamen Fehler beider Werte. Werte anderer Skalen werden nicht verglichen.',
  otherCalibrations: 'Die Werte stammen aus verschiedenen Kalibrierungen der Skala.',
  notComparable: (from, to) =>
    `Die Werte vom ${from} und vom ${to} stammen aus verschiedenen Kalibrierungen oder haben keinen Fehler: Ihr Unterschied heißt nicht Veränderung.`,
  scalePanel: (n, of) => (of === 1 ? 'Werte im Lauf der Zeit' : `Werte im Lauf der Zeit, Skala ${n}`),
  timelineLabel: (n, low, high) =>
    `${count(n, 'Wert', 'Werte')} mit einem Band von einem Standardfehler nach beiden Seiten, von ${low} bis ${high}, über die Zeit`,
  allTests: 'Alle Tests',
  columns: {
    day: 'Tag',
    test: 'Test',
    result: 'Ergebnis',
    learner: 'Person',
    measure: 'Kennzahl',
    value: 'Wert',
    form: 'Form',
    learners: 'Personen',
    member: 'Element',
  },
  notGiven: 'nicht angegeben',
  testKinds: {
    gate: 'Test mit Bestehensgrenze',
    diagnostic: 'Adaptiver Test',
    formative: 'Lernbegleitender Test',
    unknown: 'Andere Art von Test',
  },
  passed: 'bestanden',
  failed: 'nicht bestanden',
  undecided: 'nicht entschieden',
  withheld: {
    unsettled: (n) =>
      `${count(n, 'ausgewerteter Test ist', 'ausgewertete Tests sind')} noch nicht zu zeigen: Fakten stehen noch nicht fest.`,
    stale: (n) =>
      `${count(n, 'ausgewerteter Test ist', 'ausgewertete Tests sind')} nicht zu zeigen: Eine Quelle ist veraltet.`,
    unreleased: (n) =>
      `${count(n, 'ausgewerteter Test ist', 'ausgewertete Tests sind')} nicht zu zeigen: Berichte dieser Art von Test sind nicht freigegeben.`,
    unverified: (n) =>
      `${count(n, 'ausgewerteter Test ist', 'ausgewertete Tests sind')} nicht zu zeigen: Fakten fehlen oder widersprechen sich.`,
    unknown: (n) => `${count(n, 'ausgewerteter Test ist', 'ausgewertete Tests sind')} nicht zu zeigen.`,
  },
  moreReports: 'Es gibt weitere Berichte, die nicht auf dieser Seite stehen.',

  cohortOf: (n) => `${count(n, 'Person', 'Personen')} in dieser Gruppe`,
  figuresOf: (day) =>
    `Stand ${day}, aus dem Auswertungssystem. Die Zahlen sind gerundet; im Teil für die Prüfung stehen sie wie veröffentlicht.`,
  thisSchool: 'Diese Schule',
  grade: (n) => `Jahrgangsstufe ${n}`,
  grades: {
    IT: 'Säuglinge und Kleinkinder',
    PR: 'Vorschule',
    PK: 'Vorkindergarten',
    TK: 'Übergangskindergarten',
    KG: 'Kindergarten',
    PS: 'nach der Sekundarstufe',
    ABE: 'Grundbildung für Erwachsene',
    ASE: 'Sekundarbildung für Erwachsene',
    AdultESL: 'Englisch als Zweitsprache für Erwachsene',
    UG: 'ohne Jahrgangsstufe',
    Other: 'eine andere Stufe',
  },
  unknownGrade: 'eine Stufe, die diese Seite nicht kennt',
  suppressionUnknown:
    'Es ist nicht bekannt, ob die Werte dieser Gruppe gezeigt werden dürfen; deshalb fehlen sie.',
  suppressed:
    'Die Zahlen dieser Gruppe werden zurückgehalten, damit sich nichts über einzelne Personen schließen lässt. Es gibt keinen Wert; das ist nicht der Wert 0.',
  noFigures: 'Es wurde keine Zahl veröffentlicht.',
  figures: 'Zahlen',
  measures: {
    mean_percent_correct: 'Mittlerer Anteil richtiger Antworten',
    share_proficient: 'Anteil der Personen, die es können',
    mastery_rate: 'Anteil beherrscht',
    pass_rate: 'Anteil bestanden',
  },
  unknownUnit: (value) => `${value}, in einer Einheit, die diese Seite nicht kennt`,
  cohortCaution: 'Eine Zahl über eine Gruppe sagt nichts über eine einzelne Person darin.',

  equivalent: 'Die Formen messen gleich: Es ist egal, welche jemand bearbeitet',
  alikeButDifferent:
    'Die Studie fand die Ergebnisse der Formen gleich, aber die Formen umfassen oder verlangen nicht dasselbe',
  notEquivalent: 'Die Formen messen nicht gleich: Ergebnisse nicht über sie hinweg vergleichen',
  undecidedForms: 'Ob die Formen gleich messen, ist nicht entschieden: Die Studie hat zu wenig Belege',
  unknownForms: 'Diese Seite kennt die Entscheidung über die Formen nicht',
  formsNext: {
    equivalent: 'Ergebnisse dieser Formen lassen sich vergleichen.',
    notEquivalent: 'Allen, die verglichen werden, dieselbe Form geben, oder die Formen überarbeiten lassen.',
    open: 'Die Formen als verschieden behandeln, bis eine Studie mit mehr Belegen entschieden hat.',
    unequal:
      'Ergebnisse dieser Formen nicht vergleichen, bevor geklärt ist, was sie umfassen und verlangen sollen.',
    unknown:
      'Fragen, was das Auswertungssystem entschieden hat. Bis dahin Ergebnisse dieser Formen nicht vergleichen.',
  },
  comparedForms: 'Verglichene Formen',
  resultOfStudy: (value, low, high) =>
    `Ergebnis der Studie: ${value}, Konfidenzintervall von ${low} bis ${high}.`,
  tolerance: (value) =>
    `Die größte Differenz, die als gleich gilt, ist ${value}, in der Einheit des Verfahrens.`,
  sameCoverage: 'Die Formen decken den Bauplan gleich ab.',
  otherCoverage: 'Die Formen decken den Bauplan nicht gleich ab.',
  sameDepth: 'Die Formen verlangen dieselbe Tiefe des Wissens.',
  otherDepth: 'Die Formen verlangen nicht dieselbe Tiefe des Wissens.',
  study: 'Die Studie',

  classTitle: (n) => `Eine Klasse mit ${count(n, 'Person', 'Personen')}`,
  classShared: (n, name) => `${count(n, 'Person hat', 'Personen haben')} dieselbe Lücke: ${name}`,
  classNoGap: 'Es ist keine Lücke bekannt, die zwei Personen teilen',
  classNoGapAmong: (n) =>
    `Eine gemeinsame Lücke ist nicht bekannt: ${count(n, 'Bericht', 'Berichte')} der Klasse lassen sich vergleichen`,
  classLoading: (waiting, all) =>
    `${waiting} von ${count(all, 'Bericht', 'Berichten')} ${waiting === 1 ? 'wird' : 'werden'} noch geladen`,
  sharedGaps: 'Wer eine Lücke teilt',
  needThis: (n, names) => `${count(n, 'Person', 'Personen')}: ${names}`,
  grid: 'Personen und Teilfähigkeiten',
  gridCaption: 'Eine Zeile je Person, eine Spalte je Standard oder Teilfähigkeit',
  columnsLeftOut: (n) =>
    `${count(n, 'weitere Spalte hat', 'weitere Spalten haben')} nicht mehr Lücken als diese und ${n === 1 ? 'ist' : 'sind'} nicht gezeichnet; in der Datei ${n === 1 ? 'steht sie' : 'stehen sie'}.`,
  notLoaded: (n, names) =>
    `${count(n, 'Bericht ließ', 'Berichte ließen')} sich nicht laden; nichts sagt diese Seite über: ${names}.`,
  withoutReport: (n, names) => `${count(n, 'Person', 'Personen')} ohne Bericht: ${names}.`,
  loadMissing: 'Die fehlenden noch einmal laden',
  csv: 'Als CSV speichern',
  csvName: 'klasse.csv',
  cellWaiting: '…',
  cellFailed: 'nicht geladen',
  cellNone: 'kein Bericht',

  auditors: 'Für die Prüfung',
  members: 'Elemente der Antwort',
  countOf: (n) => `(${count(n, 'Eintrag', 'Einträge')}, hier nicht gezeigt)`,
  absent: '(nicht in der Antwort)',
  dataNote: (kind, times) =>
    `${
      kind === 'run'
        ? 'Der adaptive Testdienst hat dies aus den Bewertungen berechnet, die das Testsystem hat, und behält keine Kopie.'
        : `${onTimes(times)} den Systemen gelesen, denen die Daten gehören. Der Berichtsdienst behält keine Kopie der Ergebnisse, der Antworten oder der Namen.`
    } Die Namen kommen von der Seite, die diesen Bericht zeigt. Der Bericht sendet nichts irgendwohin.`,
  dataNoteTitle: 'Was geschieht mit den Daten?',

  loading: 'Wird geladen …',
  nothing: 'Hier gibt es noch nichts zu zeigen.',
  tryAgain: 'Noch einmal versuchen',
  failure: {
    signIn: ['Sie sind nicht angemeldet', 'Melden Sie sich neu an und versuchen Sie es dann noch einmal.'],
    forbidden: ['Das dürfen Sie nicht sehen', 'Fragen Sie die Person, die den Zugang vergibt.'],
    absent: ['Hier ist nichts für Sie', 'Es gibt es nicht, oder Sie haben keinen Zugang dazu.'],
    changed: [
      'Die Fakten haben sich beim Lesen geändert',
      'Versuchen Sie es noch einmal: Das nächste Lesen zeigt den neuen Stand.',
    ],
    incomplete: [
      'Die Fakten sind nicht vollständig',
      'Ein Fakt fehlt, oder Fakten widersprechen sich. Ein Bericht, der falsch sein kann, wird nicht gezeigt. Versuchen Sie es später; wenn es so bleibt, sagen Sie es dem Betreiber dieser Seite.',
    ],
    unavailable: [
      'Gerade nicht verfügbar',
      'Ein System, dem ein Teil der Fakten gehört, antwortet nicht. Versuchen Sie es bald noch einmal.',
    ],
    busy: ['Zu viele Anfragen', 'Warten Sie einen Moment und versuchen Sie es noch einmal.'],
    page: [
      'Diese Seite hat etwas Falsches angefragt',
      'Sagen Sie es dem Betreiber dieser Seite; ein neuer Versuch hilft nicht.',
    ],
    service: [
      'Im Dienst ist etwas schiefgegangen',
      'Versuchen Sie es noch einmal. Wenn es so bleibt, sagen Sie es dem Betreiber dieser Seite.',
    ],
    network: ['Es kam keine Antwort', 'Prüfen Sie die Verbindung und versuchen Sie es noch einmal.'],
  },
};
