import { tokensOf, type Tokens } from './tokens.ts';

/*
 * The rule of a composite alarm. Quotes are of the description of `AlarmRule` in the CloudWatch API reference, PutCompositeAlarm.
 */

/** "The alarm has just started, the metric is not available, or not enough data is available" (INSUFFICIENT_DATA). */
export type AlarmState = 'ALARM' | 'OK' | 'INSUFFICIENT_DATA';

export interface AlarmRule {
  /** The alarms that it names, by name or ARN. */
  readonly references: readonly string[];
  readonly holds: (stateOf: (reference: string) => AlarmState) => boolean;
}

type Condition = AlarmRule['holds'];

const TOKEN = /"[^"]*"|[^\s()"]+|[()]/;

/**
 * Parses a rule: functions ALARM, OK and INSUFFICIENT_DATA of an alarm, TRUE, FALSE, AND, OR, NOT and parentheses.
 * @throws for everything else
 */
export function parseAlarmRule(text: string): AlarmRule {
  const references: string[] = [];
  const tokens = tokensOf(text, TOKEN);
  const holds = either(tokens, references);
  if (tokens.peek() !== undefined) tokens.fail('expected AND, OR or the end');
  return { references, holds };
}

function either(tokens: Tokens, references: string[]): Condition {
  const parts = [both(tokens, references)];
  while (tokens.take('OR') !== undefined) parts.push(both(tokens, references));
  return (stateOf) => parts.some((part) => part(stateOf));
}

function both(tokens: Tokens, references: string[]): Condition {
  const parts = [single(tokens, references)];
  while (tokens.take('AND') !== undefined) parts.push(single(tokens, references));
  return (stateOf) => parts.every((part) => part(stateOf));
}

function single(tokens: Tokens, references: string[]): Condition {
  const token = tokens.next();
  switch (token) {
    case 'NOT': {
      const negated = single(tokens, references);
      return (stateOf) => !negated(stateOf);
    }
    case '(': {
      const inner = either(tokens, references);
      tokens.expect(')');
      return inner;
    }
    // "TRUE always evaluates to TRUE."
    case 'TRUE':
      return () => true;
    case 'FALSE':
      return () => false;
    // "ALARM("alarm-name or alarm-ARN") is TRUE if the named alarm is in ALARM state", and so on.
    case 'ALARM':
    case 'OK':
    case 'INSUFFICIENT_DATA': {
      tokens.expect('(');
      // "Alarm names specified in AlarmRule can be surrounded with double-quotes ("), but do not have to be."
      const reference = tokens.next().replaceAll('"', '');
      tokens.expect(')');
      references.push(reference);
      return (stateOf) => stateOf(reference) === token;
    }
    default:
      return tokens.fail(`the evaluator does not know ${token}`);
  }
}
