import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { fixtureName } from '../../scripts/event-fixtures.ts';
import { families } from '../../src/contexts/families.ts';
import { EventCodec } from '../../src/platform/eventstore/codec.ts';
import { InvalidEventText } from '../../src/platform/eventstore/event-contract-error.ts';
import type { NewEvent, StoredEvent } from '../../src/platform/eventstore/port.ts';
import { ERASED, type EventDefinition } from '../../src/platform/kernel/event.ts';
import type { TenantId } from '../../src/platform/kernel/ids.ts';
import { MemoryPersonKeys, METADATA } from '../platform/projector/projector-application.ts';
import { TENANTS } from '../platform/projector/ledger.ts';

const FOLDER = new URL('../fixtures/events/', import.meta.url);
const definitions = families.flatMap((family) => Object.entries(family.definitions) as [string, EventDefinition][]);
const versions = definitions.flatMap(([type, definition]) =>
  Array.from({ length: definition.version }, (_, at) => [fixtureName(type, at + 1), type, at + 1, definition] as const),
);
const present = new Set(readdirSync(FOLDER));
const fixture = (name: string) => JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')) as Record<string, unknown>;
const [TENANT, OTHER] = [TENANTS[0]!, TENANTS[1]!];

const stored = (event: NewEvent, tenantId: TenantId, over: Partial<StoredEvent> = {}): StoredEvent => ({
  ...event,
  tenantId,
  stream: 'any-1',
  revision: 0n,
  position: 1n,
  recordedAt: 0,
  data: JSON.parse(event.data) as unknown,
  ...over,
});

describe('events are contracts', () => {
  it.each(versions)('%s is kept', (name) => {
    expect([name, present.has(name)], `run: node --import tsx scripts/event-fixtures.ts`).toEqual([name, true]);
  });

  it.each(versions.filter(([name]) => present.has(name)))(
    '%s is read as the current version and written again',
    async (name, type, version, definition) => {
      const codec = new EventCodec(families, new MemoryPersonKeys());
      const old = stored(
        { id: randomUUID(), type, version, data: JSON.stringify(fixture(name)), metadata: METADATA },
        TENANT,
      );
      const [read] = await codec.decode([old]);
      const written = await codec.encode(randomUUID(), TENANT, { type, data: read!.data }, METADATA);
      expect(written.version).toBe(definition.version);
      const [again] = await codec.decode([stored(written, TENANT)]);
      expect(again!.data).toEqual(read!.data);
      // Readers of the same version get the data of the fixture unchanged.
      if (version === definition.version) expect(again!.data).toEqual(fixture(name));
    },
  );

  it('have no fixture of an unknown event', () => {
    expect([...present].filter((name) => !versions.some(([known]) => known === name))).toEqual([]);
  });

  it('are rejected if unknown or against their schema, without being quoted', async () => {
    const codec = new EventCodec(families, new MemoryPersonKeys());
    await expect(codec.encode(randomUUID(), TENANT, { type: 'NoSuchEvent', data: {} }, METADATA)).rejects.toThrow(
      'unknown event type NoSuchEvent',
    );
    await expect(
      codec.encode(
        randomUUID(),
        TENANT,
        { type: 'AlertAssigned', data: { alertId: 'hunter2', assigneeId: 7 } },
        METADATA,
      ),
    ).rejects.toThrow(/^AlertAssigned: (?!.*hunter2)/);
    expect(() => new EventCodec([...families, families[0]!], new MemoryPersonKeys())).toThrow('duplicate event type');
  });
  it.each([
    ['NUL', '\u0000', true],
    ['half of a surrogate pair', '\ud800', true],
    ['NUL after a backslash', '\\\u0000', true],
    ['a whole pair', '\ud83d\ude00', false],
    ['the spelling of NUL', '\\u0000', false],
    ['a newline', '\n', false],
  ])('hold only text that a column can store, sealed or not: %s', async (_what, text, isRefused) => {
    const codec = new EventCodec(families, new MemoryPersonKeys());
    const sealed = {
      ...fixture(fixtureName('AlertRaised', 2)),
      userId: randomUUID(),
      url: `https://a.example/${text}`,
    };
    const clear = { ...fixture(fixtureName('AlertRaised', 2)), title: text };
    for (const data of [sealed, clear]) {
      const encoding = codec.encode(randomUUID(), TENANT, { type: 'AlertRaised', data }, METADATA);
      if (isRefused) await expect(encoding).rejects.toThrow(InvalidEventText);
      else await expect(encoding).resolves.toMatchObject({ type: 'AlertRaised' });
    }
  });
});

const personal = definitions.filter(([, definition]) => definition.personal);

describe.each(personal)('the personal fields of %s', (type, definition) => {
  const { subject, fields } = definition.personal!;
  const sample = fixture(fixtureName(type, definition.version));
  const written = async (keys: MemoryPersonKeys, id = randomUUID()) => {
    const codec = new EventCodec(families, keys);
    return { codec, id, event: await codec.encode(id, TENANT, { type, data: sample }, METADATA) };
  };

  it('are fields of the event, and the id of their person is a text or null', () => {
    const shape = z.toJSONSchema(definition.schema, { unrepresentable: 'any', io: 'input' }) as JsonSchema;
    for (const path of fields) {
      const [list, field = list] = path.split('[].') as [string, string?];
      const holders = path.includes('[].') ? branches(branches(shape, list), undefined, true) : [shape];
      expect([path, holders.flatMap((holder) => branches(holder, field)).length > 0]).toEqual([path, true]);
    }
    expect(branches(shape, subject).every((branch) => branch.type === 'string' || branch.type === 'null')).toBe(true);
  });

  it('never occur in the stored text, and are restored unchanged', async () => {
    const { codec, id, event } = await written(new MemoryPersonKeys());
    expect(fields.flatMap((path) => at(sample, path)).some((value) => value !== null && value !== undefined)).toBe(
      true,
    );
    const { clear } = split(event.data);
    for (const path of fields)
      for (const value of at(clear, path))
        expect([path, value]).toEqual([path, value === null || value === undefined ? value : '[sealed]']);
    const [read] = await codec.decode([stored(event, TENANT, { id })]);
    expect(read!.data).toEqual(sample);
    // The store's object is unchanged: readers share it.
    const kept = stored(event, TENANT, { id });
    await codec.decode([kept]);
    expect(kept.data).toEqual(JSON.parse(event.data));
  });

  it('are erased with their person, also if the erasure came first, without errors', async () => {
    const keys = new MemoryPersonKeys();
    const { codec, event, id } = await written(keys);
    await keys.destroy(TENANT, sample[subject] as string);
    const late = await codec.encode(randomUUID(), TENANT, { type, data: sample }, METADATA);
    expect(late.data).not.toContain('$sealed');
    for (const one of [stored(event, TENANT, { id }), stored(late, TENANT)]) {
      const [read] = await codec.decode([one]);
      for (const path of fields)
        for (const value of at(read!.data as Record<string, unknown>, path))
          expect([ERASED, null, undefined]).toContain(value);
    }
  });

  it('cannot be opened in another event or another tenant', async () => {
    const keys = new MemoryPersonKeys();
    const { codec, event } = await written(keys);
    await expect(codec.decode([stored(event, TENANT, { id: randomUUID() })])).rejects.toThrow();
    const [moved] = await codec.decode([stored(event, OTHER, { id: event.id })]);
    for (const path of fields)
      for (const value of at(moved!.data as Record<string, unknown>, path))
        expect([ERASED, null, undefined]).toContain(value);
    await keys.forSealing(OTHER, sample[subject] as string);
    await expect(codec.decode([stored(event, OTHER, { id: event.id })])).rejects.toThrow();
  });
});

interface JsonSchema {
  readonly type?: string | string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Record<string, JsonSchema>;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
}

/** The alternatives of a schema (or of its items, or of one property). */
function branches(schema: JsonSchema | readonly JsonSchema[], property?: string, items = false): JsonSchema[] {
  const all = [schema].flat() as JsonSchema[];
  const flat = all.flatMap((one): JsonSchema[] =>
    (one.anyOf ?? one.oneOf) ? branches([...(one.anyOf ?? []), ...(one.oneOf ?? [])]) : [one],
  );
  if (items) return branches(flat.flatMap((one) => (one.items ? [one.items] : [])));
  if (property === undefined) return flat;
  return branches(flat.flatMap((one) => (one.properties?.[property] ? [one.properties[property]] : [])));
}

const split = (text: string): { clear: Record<string, unknown> } => {
  const { $sealed, ...clear } = JSON.parse(text) as Record<string, unknown>;
  void $sealed;
  return { clear };
};

const at = (data: Record<string, unknown>, path: string): unknown[] => {
  const [list, field] = path.split('[].') as [string, string?];
  return field === undefined ? [data[list]] : (data[list] as Record<string, unknown>[]).map((item) => item[field]);
};
