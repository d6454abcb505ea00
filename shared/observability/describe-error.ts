/** What may be logged of a thrown value: names and code positions, never a message, in which a parser quotes its input, a client its address. */
export interface ErrorDescription {
  readonly error: string;
  readonly causes: readonly string[];
  readonly frames: readonly string[];
}

const MAX_CAUSES = 5;
const MAX_FRAMES = 20;
const FRAME = /^ {4}at (?:.+ \()?((?:file:\/\/)?[\w@./+-]+:\d+:\d+)\)?$/;

/** Returns the names of a thrown value and of its causes, and the stack's positions. Never throws, even for a malformed error. */
export function describeError(thrown: unknown): ErrorDescription {
  try {
    return describe(thrown);
  } catch {
    return { error: 'Error', causes: [], frames: [] };
  }
}

function describe(thrown: unknown): ErrorDescription {
  const causes: string[] = [];
  let cause = causeOf(thrown);
  while (cause !== undefined && causes.length < MAX_CAUSES) {
    causes.push(nameOf(cause));
    cause = causeOf(cause);
  }
  return { error: nameOf(thrown), causes, frames: thrown instanceof Error ? framesOf(thrown) : [] };
}

/** Returns only the class name, as for an SDK's `ThrottlingException`. */
export function nameOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return typeof thrown;
  const name: unknown = thrown.name;
  return typeof name === 'string' && /^\w{1,80}$/.test(name) ? name : 'Error';
}

function causeOf(thrown: unknown): unknown {
  return thrown instanceof Error ? thrown.cause : undefined;
}

/**
 * Returns the frames of a stack. The message comes first in it and may itself contain lines that look like frames, so it is cut off before lines are
 * read. If the stack does not begin with the whole message (code has replaced one of them), its lines cannot be distinguished from text.
 */
function framesOf({ message, stack = '' }: Error): readonly string[] {
  const at = stack.indexOf(message);
  const head = stack.slice(0, at);
  const rest = message === '' ? stack.replace(/^\w*/, '') : stack.slice(at + message.length);
  if (at < 0 || head.includes('\n') || !rest.startsWith('\n')) return [];
  return rest
    .split('\n')
    .flatMap((line) => FRAME.exec(line)?.[1] ?? [])
    .slice(0, MAX_FRAMES);
}
