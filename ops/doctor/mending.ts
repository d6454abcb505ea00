import type { Result } from '#shared/kernel/result.ts';
import type { Check as CheckOf } from '#shared/stage-checks/finding.ts';
import type { Check, Subject } from './finding.ts';

/** Mends one kind of finding. @param about what the finding concerns */
type Mend = (subject: Subject, about: string) => Promise<Result<string, string>>;

/** Adds to the findings of a check what `--fix` does about them, by their codes. The watcher, which has no such permission, knows none of it. */
export function mending(check: CheckOf, mends: Readonly<Record<string, Mend>>): Check {
  return async (subject) =>
    (await check(subject)).map((finding) => {
      const { code = '', about = '' } = finding;
      const mend = mends[code];
      return mend === undefined ? finding : { ...finding, mend: () => mend(subject, about) };
    });
}
