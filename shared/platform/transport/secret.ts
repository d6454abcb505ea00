/** A credential that only an explicit call reveals: printing, logging or serializing an object that contains it shows nothing. */
export interface Secret {
  reveal(): string;
  /** A placeholder. */
  toString(): string;
}

const HIDDEN = '[redacted]';

/** Wraps a text so that `JSON.stringify`, `util.inspect`, string conversion and object spread never show it [MA-007]. */
export function secret(text: string): Secret {
  return Object.freeze({
    reveal: () => text,
    toJSON: () => HIDDEN,
    toString: () => HIDDEN,
    [Symbol.for('nodejs.util.inspect.custom')]: () => HIDDEN,
  });
}
