import { markup, table, type Markup } from '#tools/page/markup.ts';
import { htmlPage } from '#psychometrics/pages/page.ts';
import { POOR, type Calibration } from '../calibrate.ts';
import { verdictOf, type Condition } from '../conditions.ts';
import { hasNoCurve, isIndependent } from '../dependence.ts';
import { srmsr, unbiasedSrmsr, worstPair } from '../item-fit.ts';
import { SLOPE_RANGE, theta } from '../model.ts';
import { at } from '../numbers.ts';
import { INTERCEPT_PRIOR, SLOPE_PRIOR } from '../penalty.ts';
import { designSection } from './design.ts';
import { figure, pValue } from './figures.ts';
import {
  abilityPicture,
  convergencePicture,
  curvesPicture,
  itemPicture,
  pairsPicture,
  prevalencePicture,
} from './pictures.ts';
import { style } from './style.ts';
import { structureSection } from './structure.ts';
import { verdictSentence } from './verdict.ts';

/** Renders the report of a fit as one HTML page: no script, no requests, readable without its pictures. All figures are over all learners. */
export function renderReport(
  calibration: Calibration,
  { title, placeholders }: { readonly title: string; readonly placeholders: readonly string[] },
): string {
  const { options, study } = calibration;
  const model = options.model === 'dina' ? 'higher-order DINA' : 'higher-order G-DINA';
  const sections: readonly (readonly [
    id: string,
    title: string,
    content: readonly (Markup | undefined)[],
  ])[] = [
    ['verdict', 'Verdict', verdict(calibration, placeholders)],
    ['summary', 'Summary', summary(calibration)],
    ['design', 'Design', designSection(calibration)],
    ['reading', 'How to read it', howToRead(calibration)],
    ['data', 'Data', data(calibration)],
    ['item-parameters', 'Items', items(calibration)],
    ['components', 'Knowledge components', components(calibration)],
    ['abilities', 'Ability', ability(calibration)],
    ['estimation', 'Estimation', estimation(calibration)],
    ['fit', 'Fit', fit(calibration)],
    ['structure', 'Structure', structureSection(calibration)],
    ['monotonicity', 'Monotonicity', monotonicity(calibration)],
    ['references', 'References', [references()]],
  ];
  return htmlPage({
    title: `${title}: ${model} calibration`,
    style,
    body: markup`<header><h1>${title}</h1><p>${model} calibration, ${study.responses.learners} learners, ${study.items.length} items, ${study.kcs.length} knowledge components</p>
<nav aria-label="Sections"><ul>${sections.map(([id, name]) => markup`<li><a href="#${id}">${name}</a></li>`)}</ul></nav></header>
<main>
${sections.map(
  ([id, name, content]) => markup`<section id="${id}" aria-labelledby="${id}-h"><h2 id="${id}-h">${name}</h2>
${content.filter((part) => part !== undefined)}</section>`,
)}
</main>`,
  });
}

function verdict(calibration: Calibration, placeholders: readonly string[]): (Markup | undefined)[] {
  const found = verdictOf(calibration.conditions);
  return [
    markup`<p><strong>${verdictSentence(found)}</strong></p>`,
    found.conditions.length === 0
      ? undefined
      : markup`<ul class="warnings">${found.conditions.map(conditionLine)}</ul>`,
    placeholders.length === 0
      ? undefined
      : markup`<p>Until its ${placeholders.length} placeholder values are replaced, it is for local use only. Supply the real values of these members of <code>calibration.json</code> with <code>--meta FILE</code>: ${distinctMembers(placeholders)}.</p>`,
  ];
}

/** Renders a condition with its code, by which docs/calibrate.md lists it, and all subjects if the sentence names only some. */
function conditionLine({ code, subjects, sentence }: Condition): Markup {
  const hidden = subjects.filter((subject) => !sentence.includes(`"${subject}"`));
  const all =
    hidden.length === 0
      ? undefined
      : markup`<details><summary>All of them</summary><p>${subjects.join(', ')}</p></details>`;
  return markup`<li>${sentence} <code>${code}</code>${all}</li>`;
}

function summary(calibration: Calibration): Markup[] {
  const { criteria, em, abilities, limitedInformation: m2, pairs } = calibration;
  const accuracies = abilities.kcs.map(({ accuracy }) => accuracy);
  const cards: readonly (readonly [string, string])[] = [
    ['log-likelihood', figure(criteria.logLikelihood, 2)],
    ['parameters', String(criteria.parameters)],
    ['AIC', figure(criteria.aic, 1)],
    ['BIC', figure(criteria.bic, 1)],
    ['RMSEA₂', typeof m2 === 'string' ? '–' : figure(m2.rmsea)],
    ['SRMSR', figure(srmsr(pairs))],
    ['reliability of θ', figure(abilities.theta.reliability)],
    ['reliability ceiling', figure(calibration.reliabilityCeiling)],
    ['accuracy of KCs', `${figure(Math.min(...accuracies), 2)} – ${figure(Math.max(...accuracies), 2)}`],
    ['converged', em.converged ? `yes, ${em.iterations} E-steps` : `no, ${em.iterations} E-steps`],
  ];
  return [
    markup`<dl class="cards">${cards.map(([name, value]) => markup`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`,
  ];
}

/** Returns placeholders by member, without their indices. */
function distinctMembers(placeholders: readonly string[]): string {
  const members = placeholders.map((pointer) =>
    pointer.replace(/^\/(document|parameters)\//, '').replace(/\/\d+\//, '[].'),
  );
  return [...new Set(members)].join(', ');
}

function howToRead({ options, design }: Calibration): Markup[] {
  const together = isIndependent(design.dependence)
    ? 'Given θ, the KCs are independent.'
    : 'Given θ, KCs of different blocks are independent. In a block of prerequisites, a curve is that of learners who have the prerequisites of the KC; in a block with an ability of its own, it is a curve over that ability. KCs of a block with one weight per pattern have no curves (Structure, below).';
  return [
    markup`<p>Each learner has an ability θ and has or lacks each knowledge component (KC). θ is normally distributed. The probability of having a KC rises with θ: P = 1 / (1 + exp(−slope · (θ − location))). ${together} An answer depends only on the KCs that the item needs (the Q-matrix).</p>`,
    options.model === 'dina'
      ? markup`<p>A DINA item has two parameters: <b>guess</b>, P(correct) for learners who lack at least one of its KCs, and <b>slip</b>, P(incorrect) for learners who have all of them. Both are small for a good item; 1 − slip − guess is the item’s discrimination.</p>`
      : markup`<p>A G-DINA item has one P(correct) for each pattern of its KCs; it never falls when a KC is added. <b>Guess</b> is P(correct) for learners with none of the KCs, 1 − <b>slip</b> for learners with all of them. Their difference is the item’s discrimination.</p>`,
    markup`<ul>
<li><b>Standard errors</b> come from the observed information (cross-products of the learners’ scores, all parameters together). A dash means that the parameter is on its bound, or that the data cannot tell it apart from others.</li>
<li><b>RMSEA₂</b> and <b>SRMSR</b> show how well the model fits pairs of items: below about 0.05 the fit is close, above ${POOR} it is poor. Chance adds to SRMSR, about 1 / √learners: the verdict uses SRMSR without this sampling error. A close fit is not a sound study: most errors in a study leave both small. RMSEA₂ needs complete answers. Do not judge by the p value of M₂ alone: with many learners, every model is rejected.</li>
<li><b>S-X²</b> tests the fit of one item, over groups of equal total score. With many items, expect one in twenty below p = 0.05.</li>
<li><b>Residual correlations</b>: two items with a large positive z share something that is not in the model, such as a common stem or a KC that is missing in the Q-matrix. With a large negative z, the model assumes that they share too much.</li>
<li><b>Accuracy</b> of a KC is the expected share of learners classified correctly at 0.5 when they answer all items. <b>Consistency</b> is the expected share that a second test would classify the same way.</li>
</ul>`,
  ];
}

function data({ study, items: fits }: Calibration): Markup[] {
  const { responses } = study;
  return [
    table(
      'Answers',
      ['figure', 'number'],
      [
        ['learners', String(responses.learners)],
        ['distinct rows of answers', String(responses.counts.length)],
        ['learners left out because they answered no item', String(study.silent)],
        ['answers', String(responses.learners * study.items.length - study.missing)],
        ['missing answers', String(study.missing)],
      ],
    ),
    table(
      'Items: knowledge components and answers',
      ['item', { text: 'knowledge components' }, 'answers', 'missing', 'correct', 'expected'],
      study.items.map((item, j) => [
        item,
        (study.kcsOf[j] ?? []).map((k) => study.kcs[k] ?? '').join(', '),
        String(study.answered[j] ?? 0),
        String(responses.learners - (study.answered[j] ?? 0)),
        figure(fits[j]?.proportion),
        figure(fits[j]?.expectedProportion),
      ]),
    ),
  ];
}

function items(calibration: Calibration): (Markup | undefined)[] {
  const { study, parameters, errors, options } = calibration;
  return [
    itemPicture(calibration),
    table(
      'Item parameters and standard errors',
      ['item', 'guess', 'SE', 'slip', 'SE', '1 − slip − guess'],
      study.items.map((item, j) => {
        const own = [...(parameters.tables[j] ?? [])];
        const se = errors.tables[j] ?? [];
        const guess = own[0] ?? 0;
        const success = own.at(-1) ?? 0;
        return [
          item,
          figure(guess),
          figure(se[0]),
          figure(1 - success),
          figure(se.at(-1)),
          figure(success - guess),
        ];
      }),
    ),
    options.model === 'dina' ? undefined : patterns(calibration),
  ];
}

/** Renders every probability of a G-DINA fit. */
function patterns({ study, parameters, errors }: Calibration): Markup {
  return markup`<details><summary>P(correct) for every pattern</summary>${table(
    'P(correct) by the KCs that a learner has',
    ['item', { text: 'has' }, 'P(correct)', 'SE'],
    study.items.flatMap((item, j) =>
      [...(parameters.tables[j] ?? [])].map((value, pattern) => [
        item,
        (study.kcsOf[j] ?? [])
          .flatMap((k, bit) => ((pattern >>> bit) & 1 ? [study.kcs[k] ?? ''] : []))
          .join(' + ') || 'none',
        figure(value),
        figure(errors.tables[j]?.[pattern]),
      ]),
    ),
  )}</details>`;
}

function components(calibration: Calibration): Markup[] {
  const { study, design, parameters, errors, abilities } = calibration;
  const ofCurve = (values: Float64Array, k: number): string =>
    figure(hasNoCurve(design.dependence, k) ? undefined : at(values, k), 2);
  return [
    curvesPicture(calibration),
    prevalencePicture(calibration),
    table(
      'Curves, accuracy and items of each knowledge component',
      [
        'KC',
        'slope',
        'SE',
        'location',
        'SE',
        'prevalence',
        'accuracy',
        'consistency',
        'reliability',
        'items',
        'alone',
      ],
      study.kcs.map((kc, k) => [
        kc,
        ofCurve(parameters.slopes, k),
        marked(errors.slopes[k], errors.slopesFromPrior[k]),
        ofCurve(parameters.locations, k),
        marked(errors.locations[k], errors.locationsFromPrior[k]),
        figure(abilities.kcs[k]?.prevalence),
        figure(abilities.kcs[k]?.accuracy),
        figure(abilities.kcs[k]?.consistency),
        figure(abilities.kcs[k]?.reliability),
        String(study.kcsOf.filter((own) => own.includes(k)).length),
        String(study.kcsOf.filter((own) => own.length === 1 && own[0] === k).length),
      ]),
    ),
    markup`<p>“Items” counts the items that need the KC, “alone” those that need no other. † After a standard error: more than half of the information is the prior’s, so the error describes the prior rather than the data. Whole patterns of KCs: accuracy ${figure(abilities.patternAccuracy)}, consistency ${figure(abilities.patternConsistency)}.</p>`,
  ];
}

/** Returns a standard error, with a sign if it is mostly the prior's. */
function marked(error: number | undefined, isFromPrior: boolean | undefined): string {
  return `${figure(error, 2)}${isFromPrior === true ? '†' : ''}`;
}

function ability(calibration: Calibration): Markup[] {
  const { theta: figures } = calibration.abilities;
  return [
    abilityPicture(calibration),
    table(
      'Posterior means of θ (EAP)',
      ['figure', 'value'],
      [
        ['mean', figure(figures.meanEap)],
        ['standard deviation', figure(figures.sdEap)],
        ['posterior standard deviation (root mean square)', figure(figures.meanPsd)],
        ['reliability', figure(figures.reliability)],
        ['reliability if every KC were known', figure(figures.reliabilityCeiling)],
      ],
    ),
    markup`<details><summary>Learners by EAP</summary>${table(
      'Learners by EAP; the first and last rows include all values beyond',
      ['EAP', 'learners'],
      figures.histogram.map(({ from, to, learners }) => [
        `${figure(from, 2)} to ${figure(to, 2)}`,
        String(learners),
      ]),
    )}</details>`,
  ];
}

/** Returns how much log-likelihood a restriction costs. */
function priceText(price: number | undefined): string {
  return price === undefined ? 'none: not restricted' : `at least ${figure(price, 2)} of log-likelihood`;
}

function estimation(calibration: Calibration): Markup[] {
  const { em, options, errors, starts, shortRuns, prices, penaltyValue, criteria } = calibration;
  const rows: [string, string][] = [
    ['method', 'marginal maximum likelihood, EM with quasi-Newton steps'],
    [
      'grid of θ',
      `${theta.nodes} nodes from ${theta.min} to ${theta.max}, normal (${theta.mean}, ${theta.sd})`,
    ],
    [
      'priors of the curves',
      options.penalty === 'none'
        ? 'none'
        : `slope normal (${SLOPE_PRIOR.mean}, ${SLOPE_PRIOR.sd}), intercept normal (${INTERCEPT_PRIOR.mean}, ${INTERCEPT_PRIOR.sd}); log density ${figure(penaltyValue, 2)}`,
    ],
    [
      'bounds',
      `probabilities ${options.bound} to ${1 - options.bound}, slopes ${SLOPE_RANGE.min} to ${SLOPE_RANGE.max}`,
    ],
    ['log-likelihood', figure(criteria.logLikelihood, 4)],
    ['E-steps', String(em.iterations)],
    ['converged', em.converged ? `yes: within ${options.tolerance} standard errors of the maximum` : 'no'],
    ['length of the score, in standard errors', em.scoreLength.toExponential(1)],
    [
      'starts',
      starts.length === 1
        ? 'one, fixed'
        : `${shortRuns.length === 0 ? '' : `${shortRuns.length} short runs, of which the best `}${starts.length} to the end (seed ${options.seed}); objectives ${figure(Math.min(...starts), 3)} to ${figure(Math.max(...starts), 3)}`,
    ],
    ['price of the priors', priceText(prices.penalty)],
    ['price of monotonicity', priceText(prices.monotonicity)],
    [
      'standard errors',
      `cross-product of the learners’ scores; rank ${errors.rank} of ${errors.free} free parameters`,
    ],
  ];
  return [
    convergencePicture(calibration),
    table('How it was fitted', ['property', { text: 'value' }], rows),
    markup`<details><summary>Every accepted step</summary>${table(
      'Steps',
      ['E-step', 'objective', 'log-likelihood', { text: 'kind' }],
      em.history.map((step) => [
        String(step.iteration),
        figure(step.objective, 6),
        figure(step.logLikelihood, 6),
        step.extrapolated ? 'extrapolated' : 'EM',
      ]),
    )}</details>`,
  ];
}

/** How many pairs are listed. */
const LISTED_PAIRS = 15;

function fit(calibration: Calibration): (Markup | undefined)[] {
  const { study, criteria, limitedInformation: m2, pairs, items: fits, againstDina } = calibration;
  const worst = worstPair(pairs, (pair) => pair.zCorrelation);
  const worstOdds = worstPair(pairs, (pair) => pair.zLogOdds);
  const nameOf = (item: number): string => study.items[item] ?? '';
  const rows: [string, string][] = [
    ['log-likelihood', figure(criteria.logLikelihood, 3)],
    ['parameters', String(criteria.parameters)],
    ['AIC', figure(criteria.aic, 1)],
    ['BIC', figure(criteria.bic, 1)],
    [
      'M₂',
      typeof m2 === 'string'
        ? m2
        : `${figure(m2.statistic, 1)} on ${m2.df} degrees of freedom, p ${pValue(m2.p)}`,
    ],
    [
      'RMSEA₂',
      typeof m2 === 'string'
        ? '–'
        : `${figure(m2.rmsea)} (90 % interval ${figure(m2.rmseaLow)} to ${figure(m2.rmseaHigh)})`,
    ],
    ['SRMSR', figure(srmsr(pairs))],
    ['SRMSR without sampling error', figure(unbiasedSrmsr(pairs))],
    [
      'largest residual correlation',
      worst === undefined
        ? '–'
        : `z ${figure(worst.z, 2)} (${nameOf(worst.pair.first)}, ${nameOf(worst.pair.second)}), corrected p ${pValue(worst.p)}`,
    ],
    [
      'largest residual log odds ratio',
      worstOdds === undefined
        ? '–'
        : `z ${figure(worstOdds.z, 2)} (${nameOf(worstOdds.pair.first)}, ${nameOf(worstOdds.pair.second)}), corrected p ${pValue(worstOdds.p)}`,
    ],
  ];
  return [
    table('Model fit', ['figure', { text: 'value' }], rows),
    againstDina === undefined
      ? undefined
      : table(
          'Against DINA on the same data',
          ['model', 'log-likelihood', 'parameters', 'AIC', 'BIC'],
          [
            [
              'G-DINA',
              figure(criteria.logLikelihood, 3),
              String(criteria.parameters),
              figure(criteria.aic, 1),
              figure(criteria.bic, 1),
            ],
            [
              'DINA',
              figure(againstDina.dina.logLikelihood, 3),
              String(againstDina.dina.parameters),
              figure(againstDina.dina.aic, 1),
              figure(againstDina.dina.bic, 1),
            ],
          ],
        ),
    againstDina === undefined
      ? undefined
      : markup`<p>Likelihood ratio ${figure(againstDina.test.statistic, 1)} on ${againstDina.test.df} degrees of freedom, p ${pValue(againstDina.test.p)}. This test and the tests per item are conservative where probabilities are on bounds or are kept equal by monotonicity.</p>`,
    table(
      'Item fit',
      [
        'item',
        'correct',
        'expected',
        'S-X²',
        'df',
        'p',
        'RMSEA',
        ...(againstDina === undefined ? [] : ['DINA: LR', 'df', 'p']),
      ],
      study.items.map((item, j) => {
        const own = fits[j];
        const reduced = againstDina?.items[j];
        return [
          item,
          figure(own?.proportion),
          figure(own?.expectedProportion),
          figure(own?.sx2?.statistic, 2),
          own?.sx2 === undefined ? '–' : String(own.sx2.df),
          pValue(own?.sx2?.p),
          figure(own?.sx2?.rmsea),
          ...(againstDina === undefined
            ? []
            : [
                figure(reduced?.statistic, 2),
                reduced === undefined ? '–' : String(reduced.df),
                pValue(reduced?.p),
              ]),
        ];
      }),
    ),
    pairsPicture(calibration) ??
      markup`<p>No chart of the pairs: ${pairs.length === 0 ? 'no pair of items varies' : 'there are too many items'}.</p>`,
    table(
      `Pairs with the largest residual correlations (${Math.min(LISTED_PAIRS, pairs.length)} of ${pairs.length})`,
      ['pair', 'learners', 'correlation', 'expected', 'z', 'z of log odds'],
      pairs
        .toSorted((a, b) => Math.abs(b.zCorrelation) - Math.abs(a.zCorrelation))
        .slice(0, LISTED_PAIRS)
        .map((pair) => [
          `${nameOf(pair.first)}, ${nameOf(pair.second)}`,
          String(pair.learners),
          figure(pair.correlation),
          figure(pair.expectedCorrelation),
          figure(pair.zCorrelation, 2),
          figure(pair.zLogOdds, 2),
        ]),
    ),
  ];
}

function monotonicity({ study, monotonicity: checks, options }: Calibration): Markup[] {
  return [
    markup`<p>An additional KC never lowers P(correct): the engine requires this. ${
      options.model === 'dina'
        ? 'For DINA this means guess ≤ 1 − slip. An item for which both are equal does not discriminate.'
        : 'A table that would fall is replaced by the nearest one that does not (isotonic regression on the lattice of patterns). “Largest fall” is that of the unconstrained proportions between patterns with at least five expected learners. A large value is evidence against the item’s row of the Q-matrix.'
    }</p>`,
    table(
      'Monotonicity of each item',
      [
        'item',
        'largest fall',
        'patterns kept equal',
        'patterns with fewer than 5 expected learners',
        { text: 'monotonicity' },
      ],
      study.items.map((item, j) => {
        const check = checks[j];
        const pooled = check?.pooled ?? 0;
        return [
          item,
          figure(check?.largestFall),
          String(pooled),
          String(check?.sparse ?? 0),
          pooled === 0 ? 'holds' : 'is enforced',
        ];
      }),
    ),
  ];
}

function references(): Markup {
  const list = [
    'Bock, R. D., and Aitkin, M. (1981). Marginal maximum likelihood estimation of item parameters. Psychometrika 46, 443-459.',
    'Chen, J., de la Torre, J., and Zhang, Z. (2013). Relative and absolute fit evaluation in cognitive diagnosis modeling. J. of Educational Measurement 50, 123-140.',
    'Chiu, C.-Y., Douglas, J. A., and Li, X. (2009). Cluster analysis for cognitive diagnosis: theory and applications. Psychometrika 74, 633-665.',
    'de la Torre, J. (2011). The generalized DINA model framework. Psychometrika 76, 179-199.',
    'de la Torre, J., and Douglas, J. A. (2004). Higher-order latent trait models for cognitive diagnosis. Psychometrika 69, 333-353.',
    'Gu, Y., and Xu, G. (2019). The sufficient and necessary condition for the identifiability and estimability of the DINA model. Psychometrika 84, 468-483.',
    'Johnson, M. S., and Sinharay, S. (2018). Measures of agreement to assess attribute-level classification accuracy and consistency for cognitive diagnostic assessments. J. of Educational Measurement 55, 635-664.',
    'Johnson, M. S., and Sinharay, S. (2020). The reliability of the posterior probability of skill attainment in diagnostic classification models. J. of Educational and Behavioral Statistics 45, 5-31.',
    'Liu, Y., Tian, W., and Xin, T. (2016). An application of M2 statistic to evaluate the fit of cognitive diagnostic models. J. of Educational and Behavioral Statistics 41, 3-26.',
    'Maydeu-Olivares, A., and Joe, H. (2006). Limited information goodness-of-fit testing in multidimensional contingency tables. Psychometrika 71, 713-732.',
    'Maydeu-Olivares, A., and Joe, H. (2014). Assessing approximate fit in categorical data analysis. Multivariate Behavioral Research 49, 305-328.',
    'Orlando, M., and Thissen, D. (2000). Likelihood-based item-fit indices for dichotomous item response theory models. Applied Psychological Measurement 24, 50-64.',
    'Philipp, M., Strobl, C., de la Torre, J., and Zeileis, A. (2018). On the estimation of standard errors in cognitive diagnosis models. J. of Educational and Behavioral Statistics 43, 88-115.',
    'Sorrel, M. A., de la Torre, J., Abad, F. J., and Olea, J. (2017). Two-step likelihood ratio test for item-level model comparison in cognitive diagnosis models. Methodology 13, 39-47.',
    'Varadhan, R., and Roland, C. (2008). Simple and globally convergent methods for accelerating the convergence of any EM algorithm. Scandinavian J. of Statistics 35, 335-353.',
    'Wang, W., Song, L., Chen, P., Meng, Y., and Ding, S. (2015). Attribute-level and pattern-level classification consistency and accuracy indices for cognitive diagnostic assessment. J. of Educational Measurement 52, 457-476.',
  ];
  return markup`<ol>${list.map((entry) => markup`<li>${entry}</li>`)}</ol>`;
}
