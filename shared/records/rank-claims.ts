const NUMBER = String.raw`(?:\d+(?:[.,]\d+)?|(?:[a-z]+ty[- ])?(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|[a-z]+teen)|[a-z]+ty)`;
const PERCENT = `${NUMBER}\\s*(?:%|per ?cent|pct)`;
/** A share of a group: nine in ten, 80 percent, most. */
const SHARE = `(?:${PERCENT}|${NUMBER}\\s+(?:in|of|out of)\\s+(?:every\\s+)?${NUMBER}|most|half|two[- ]thirds|three[- ]quarters)`;
const FELLOWS = '(?:peers|classmates|age[- ]?mates|schoolmates)';
const PEOPLE = `(?:${FELLOWS}|(?:students?|pupils?|learners?|children|kids|candidates?|test[- ]takers?|examinees?|people|others|participants)\\b|(?:population|nation|country|state|district|school|class|cohort|(?:age|norm|reference|grade) group)\\b)`;
/** Up to four words between a share and its group. */
const OF = String.raw`\s+(?:of\s+)?(?:[\w’'-]+\s+){0,3}?`;

/** The forms of a claim of a learner's place among others. A percentage of another thing is no such claim. */
const CLAIMS = [
  String.raw`\b(?:percentiles?|per ?cent[- ]?ranks?|rank(?:s|ed|ings?)?|(?:quan|quar|quin|ter|cen|sex)tiles?|terciles?|deciles?|vigintiles?|stanines?|pc?tiles?)\b`,
  String.raw`%[- ]?t?iles?\b`,
  String.raw`\bPR[\s:=]*\d{1,2}\b`,
  String.raw`\b(?:NCEs?|normal[- ]curve[- ]equivalents?)\b`,
  String.raw`\bnorm(?:s|ed|ative)?[- ]?referenc\w*`,
  String.raw`\b(?:national|state|local|age|grade|published)\s+norms?\b|\bnorm(?:ing|ative)?\s+(?:groups?|samples?|populations?|tables?)\b`,
  `\\b(?:top|bottom|upper|lower|highest|lowest|best|worst)\\s+(?:${PERCENT}|tenth|fifth|quarter|third|half)(?!\\s+of\\s+(?:the|this|its|all)\\s+(?:[\\w-]+\\s+)?(?:scale|range|scores?|items?|blueprint|bank|pool|test|standards?|content)\\b)`,
  `\\b(?:better|higher|superior|above|ahead|outperform\\w*|outscor\\w*|outrank\\w*|exceed\\w*|surpass\\w*|beats?)\\b(?:\\s+(?:than|of|to|over))?\\s+(?:${SHARE})${OF}${PEOPLE}`,
  `\\b${SHARE}${OF}${FELLOWS}\\b`,
];
const CLAIM = new RegExp(CLAIMS.join('|'), 'giu');

/** A denial ("is not a percentile") is a proper limitation; "not only a percentile" is not. */
const DENIAL =
  /(?:\b(?:not|no|never|neither|nor|cannot|without)\b|n['’]t\b)(?!\s+(?:only|just|merely|simply|solely))/iu;
const CLAUSE = /[.;:!?]|\b(?:but|however|although|though)\b/iu;

/** Returns whether a text claims a percentile, a rank or another place of a learner among others, which no calibration may [MA-102]. */
export function claimsRank(text: string): boolean {
  const plain = text
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll('_', ' ');
  return [...plain.matchAll(CLAIM)].some(
    ({ index }) => !DENIAL.test(plain.slice(0, index).split(CLAUSE).at(-1) ?? ''),
  );
}
