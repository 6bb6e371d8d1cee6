import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readModels } from '../../projections/index.ts';
import type { AnyReadModel } from '../../src/kernel/read-model.ts';

const FILE = new URL('read-model-fingerprints.json', import.meta.url);
const UPDATE = process.env['UPDATE_FINGERPRINTS'] === '1';

interface Fingerprint {
  readonly version: number;
  readonly hash: string;
}

/** What decides the content of a table: columns, key, whose rows they are, and the folds as they are written. */
function fingerprint({ columns, key, scope, on }: AnyReadModel): string {
  const shape = Object.entries(columns as Record<string, { sql: string; nullable: boolean }>).map(
    ([name, { sql, nullable }]) => [name, sql, nullable],
  );
  const handlers = Object.entries(on as Record<string, unknown>).map(([type, handler]) => [
    type,
    withoutNotes(String(handler)),
  ]);
  return createHash('sha256')
    .update(JSON.stringify([shape.sort(), key, scope ?? 'tenant', handlers.sort()]))
    .digest('hex')
    .slice(0, 32);
}

/** Comments, and line breaks between the words, mean nothing. */
const withoutNotes = (source: string) =>
  source
    .replaceAll(/\/\*[^]*?\*\//g, '')
    .replaceAll(/^\s*\/\/.*$/gm, '')
    .replaceAll(/\s+/g, ' ');

const present = (): Record<string, Fingerprint> =>
  Object.fromEntries(
    [...readModels]
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map((model) => [model.name, { version: model.version, hash: fingerprint(model) }]),
  );

/** The newest version of each model that was ever released, and what it looked like. */
const released: Record<string, Fingerprint> = existsSync(FILE)
  ? (JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, Fingerprint>)
  : {};

const whatIsWrong = (name: string, now: Fingerprint, then: Fingerprint | undefined): string | undefined => {
  if (!then)
    return `${name} is new: run UPDATE_FINGERPRINTS=1 npx vitest run test/laws/read-model-fingerprints.test.ts`;
  if (now.version < then.version)
    return `${name} went back from version ${then.version} to ${now.version}: versions only rise`;
  if (now.version > then.version)
    return `${name} has a new version: run UPDATE_FINGERPRINTS=1 npx vitest run test/laws/read-model-fingerprints.test.ts`;
  if (now.hash === then.hash) return undefined;
  return (
    `${name} was changed but is still version ${now.version}: tables that were filled before would keep the old content. ` +
    `Give it version ${now.version + 1}, then run UPDATE_FINGERPRINTS=1 npx vitest run test/laws/read-model-fingerprints.test.ts`
  );
};

describe('a read model that changed has a higher version', () => {
  it('for every model that the projector maintains', () => {
    const now = present();
    if (UPDATE) writeFileSync(FILE, `${JSON.stringify(now, null, 2)}\n`);
    const known = UPDATE ? now : released;
    expect(
      Object.entries(now).flatMap(([name, fingerprinted]) => whatIsWrong(name, fingerprinted, known[name]) ?? []),
    ).toEqual([]);
  });

  it('and the law sees a change of a column, of the key and of a fold, but not of a comment', () => {
    const model = readModels.find(({ name }) => name === 'alerts')!;
    const before = fingerprint(model);
    const { title, ...fewer } = model.columns as Record<string, unknown>;
    expect(title).toBeDefined();
    expect(fingerprint({ ...model, columns: fewer } as AnyReadModel)).not.toBe(before);
    expect(fingerprint({ ...model, key: ['title'] })).not.toBe(before);
    expect(fingerprint({ ...model, on: { ...model.on, AlertAssigned: () => [] } })).not.toBe(before);
    const same = [
      eval('(event) => {\n // why\n return event; }'),
      eval('(event) => { /* other */ return event; }'),
    ] as never[];
    expect(fingerprint({ ...model, on: { AlertAssigned: same[0]! } })).toBe(
      fingerprint({ ...model, on: { AlertAssigned: same[1]! } }),
    );
    expect(whatIsWrong('alerts', { version: 1, hash: 'new' }, { version: 1, hash: 'old' })).toContain(
      'Give it version 2',
    );
    expect(whatIsWrong('alerts', { version: 1, hash: 'old' }, { version: 1, hash: 'old' })).toBeUndefined();
  });
});
