import { attempt, BackgroundWorkBroken, logBroken } from '#functions/reports/background/invocation.ts';
import type { ScheduledHandler } from '#functions/reports/background/invocation.ts';
import { watchStage as row } from '#shared/contract/background.ts';
import { createFunctionLog, type LogPorts } from '#shared/observability/logger.ts';
import { examine, type Check, type Finding, type Subject } from '#shared/stage-checks/finding.ts';

/**
 * Runs the checks side by side, and logs every finding that is not in order, and the least days that are left by check. A defect of one check does not
 * stop the others; the invocation then ends with an error.
 * @param open called once per invocation
 */
export function createWatchFunction(
  checks: Readonly<Record<string, Check>>,
  open: () => Subject,
  runtime: LogPorts,
): ScheduledHandler {
  const openLog = createFunctionLog(row, runtime);
  return async (_event, context) => {
    const log = openLog(context);
    const startedAt = runtime.now();
    const subject = await attempt(log, () => Promise.resolve().then(open));
    const broken: string[] = [];
    const found = new Map<string, readonly Finding[]>();
    await Promise.all(
      Object.entries(checks).map(async ([check, run]) => {
        try {
          found.set(check, await examine(async () => run(subject)));
        } catch (error) {
          broken.push(check);
          logBroken(log, error, { purpose: check });
        }
      }),
    );
    const wrong = [...found].flatMap(([check, findings]) =>
      findings.filter(({ status }) => status !== 'ok').map((finding) => ({ check, ...finding })),
    );
    for (const { check, code, status, about, rings = status === 'failure' } of wrong)
      log('STAGE_FINDING', { check, finding: code, status, about, rings });
    const left = (check: string): number | undefined => {
      const days = (found.get(check) ?? []).flatMap(({ daysLeft = [] }) => daysLeft);
      return days.length === 0 ? undefined : Math.min(...days);
    };
    log('STAGE_WATCHED', {
      checks: found.size,
      findings: wrong.length,
      manifestDaysLeft: left('release'),
      credentialDaysLeft: left('credentials'),
      certificateDaysLeft: left('certificate'),
      durationMs: runtime.now() - startedAt,
    });
    if (broken.length > 0) throw new BackgroundWorkBroken();
  };
}
