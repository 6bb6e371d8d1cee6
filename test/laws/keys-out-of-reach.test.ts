import { KeyObject } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { boundedServices, RequestDeadline } from '../../src/app/http/request-deadline.ts';
import { startApp, type TestApp } from '../dsl/app.ts';

type Found = readonly string[];

/**
 * Everything that JavaScript code can read of an object: own and inherited properties, getters, and the contents of
 * collections.
 */
function* readable(value: object): Generator<readonly [string, unknown]> {
  if (value instanceof Map)
    for (const [key, held] of value) yield* [['key', key] as const, [String(key), held] as const];
  if (value instanceof Set) for (const held of value) yield ['member', held];
  for (let at: object | null = value; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const name of Reflect.ownKeys(at)) {
      // Classes and their prototypes hold code.
      if (name === 'constructor') continue;
      try {
        yield [String(name), Reflect.get(at, name, value)];
      } catch {
        // A getter that throws here reveals nothing.
      }
    }
  }
}

/** Paths at which secret keys can be read: their bytes, a text of them, or a key object. */
function keysReachableFrom(root: object, keys: readonly Buffer[]): Found {
  const texts = keys.flatMap((key) =>
    (['hex', 'base64', 'base64url'] as const).map((encoding) => key.toString(encoding)),
  );
  const tells = (value: unknown): boolean =>
    typeof value === 'string'
      ? texts.some((text) => value.includes(text))
      : value instanceof KeyObject
        ? value.type !== 'public'
        : ArrayBuffer.isView(value) &&
          keys.some((key) => Buffer.from(value.buffer, value.byteOffset, value.byteLength).includes(key));
  const found: string[] = [];
  const seen = new Set<unknown>();
  const queue: (readonly [string, unknown])[] = [['', root]];
  for (const [path, value] of queue) {
    if (seen.has(value)) continue;
    seen.add(value);
    if (tells(value)) found.push(path);
    if (value === null || typeof value !== 'object' || ArrayBuffer.isView(value)) continue;
    for (const [name, held] of readable(value)) queue.push([`${path}.${name}`, held]);
  }
  return found;
}

describe('a request', () => {
  let app: TestApp;
  let keys: Buffer[];
  beforeAll(async () => {
    app = await startApp();
    keys = [app.application.config.masterKey, app.application.config.auditKey];
  });
  afterAll(() => app.close());

  it('cannot read a key from anything that its handler receives', () => {
    const received = boundedServices(app.services)(new RequestDeadline(10_000));
    expect(keysReachableFrom(received, keys)).toEqual([]);
  });

  it('would be detected with a key: the search finds those of the composition root', () => {
    const found = keysReachableFrom({ deep: new Map([['application', { config: app.application.config }]]) }, keys);
    expect(found.map((path) => path.split('.').at(-1))).toEqual(expect.arrayContaining(['masterKey', 'auditKey']));
  });
});
