import type { AdaptiveRun } from 'mastery-reports-client';
import { auditSections } from './audit.ts';
import type { Section, Spoken } from './document.ts';
import { probabilityOf, statesSection, teacherSections, type Finding } from './findings.ts';
import { stopText } from './attempt.ts';
import { scoreSection } from './score.ts';
import { ofListed, type Listed, type Speaker } from './speaker.ts';
import { countsOf, type Rule } from './states.ts';

/** Returns an adaptive run in its three layers. Its token gives access to the run, so no layer shows it. */
export function speakRun(speaker: Speaker, run: AdaptiveRun): Spoken {
  const { texts, time } = speaker;
  const who = speaker.learner ?? texts.thisLearner;
  const isRunning = run.status === 'in_progress';
  const findings = run.kcClassifications.map((row, at): Finding => {
    const name = speaker.nameOf(row.caseCompetencyGuid) ?? texts.component(String(at + 1));
    return {
      id: row.caseCompetencyGuid,
      name,
      state: row.classification,
      items: row.evidenceItemRefs,
      ...probabilityOf(speaker, name, row.posteriorProbability, ruleOf(row)),
    };
  });
  const starts: Readonly<Record<Listed<AdaptiveRun['status']>, string>> = {
    in_progress: texts.underWay(who),
    finalizing: texts.saving(who),
    completed: texts.diagnosis(who),
  };
  const counts = countsOf(speaker, findings);
  const { waitingFor, stopReason } = run;
  const states = findings.map(({ state }) => state);
  return {
    verdict: {
      tone: isRunning
        ? 'open'
        : states.includes('gap')
          ? 'bad'
          : states.length > 0 && states.every((state) => state === 'mastered')
            ? 'good'
            : 'open',
      text: texts.sentence(ofListed(starts, run.status, who), counts === '' ? texts.noRows : counts),
    },
    facts: [
      ...(run.scaleReportability === 'anchor_unavailable' ? [texts.provisional] : []),
      ...(stopReason === null ? [] : [stopText(speaker, stopReason)]),
      ...(waitingFor === undefined
        ? []
        : [texts.waiting(waitingFor.since === undefined ? undefined : time(waitingFor.since))]),
      ...(run.runMode === 'owner_conformance' ? [texts.trial] : []),
    ],
    teacher: teacherSections(speaker, findings, { isRunning }),
    sure: [
      runScore(speaker, run),
      ...(findings.length === 0 ? [] : [statesSection(speaker, findings, [texts.probabilityMeans])]),
      { heading: texts.limits, blocks: [{ kind: 'text', text: texts.stateMayChange }] },
    ],
    audit: auditSections(speaker, { ...run, continuationToken: '…' }),
  };
}

function ruleOf({
  cutScore,
  confidenceThreshold,
}: Partial<AdaptiveRun['kcClassifications'][number]>): Rule | undefined {
  // An answer of an earlier version of the service lacks them.
  return cutScore === undefined || confidenceThreshold === undefined
    ? undefined
    : { cutScore, confidence: confidenceThreshold };
}

function runScore(speaker: Speaker, { scale, scaleReportability }: AdaptiveRun): Section {
  const { texts, number } = speaker;
  if (scale === null) {
    const { pending, anchor, unknown } = texts.noScore;
    const words: Readonly<Record<Listed<AdaptiveRun['scaleReportability']>, string>> = {
      pending,
      anchor_unavailable: anchor,
      reportable: unknown,
    };
    const text = ofListed(words, scaleReportability, unknown);
    return { heading: texts.score, blocks: [{ kind: 'text', text }] };
  }
  return scoreSection(speaker, {
    value: scale.scaleScore,
    error: scale.standardError,
    figure: texts.onScale(number(scale.scaleScore)),
    ends: speaker.scaleOf(scale.scaleId),
    limitations: scale.limitations,
  });
}
