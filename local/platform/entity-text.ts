import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { strongEntityTag } from '#shared/kernel/entity-tag.ts';

/** Returns the bytes that an owner answers for an entity, which immutable ones are named by. */
export function entityText(entity: object): string {
  return JSON.stringify(entity);
}

/** Returns SHA-256 of those bytes, as owners write it of what they name. */
export function entityDigest(entity: object): string {
  return sha256Hex(entityText(entity));
}

/** Returns the same for an entity whose last member is at hand as text: a long one that many entities share is rendered once. */
export function digestWith(head: object, member: string, text: string): string {
  return sha256Hex(`${entityText(head).slice(0, -1)},${JSON.stringify(member)}:${text}}`);
}

interface Rendered {
  readonly text: string;
  /** A strong validator made of the bytes: it changes exactly when they do. */
  readonly etag: string;
}

/** Entities are replaced, never changed in place: each is rendered once, and forgotten with it. */
const rendered = new WeakMap<object, Rendered>();

export function renderEntity(entity: object): Rendered {
  const known = rendered.get(entity);
  if (known !== undefined) return known;
  const text = entityText(entity);
  const made = { text, etag: strongEntityTag(sha256Hex(text).slice(0, 32)) };
  rendered.set(entity, made);
  return made;
}
