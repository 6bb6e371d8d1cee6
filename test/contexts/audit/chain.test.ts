import { createHmac, randomBytes } from 'node:crypto';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { auditLog, type AuditLogRow } from '../../../projections/audit/audit-log.ts';
import { ChainKey } from '../../../src/contexts/audit/domain/chain-key.ts';
import { GENESIS } from '../../../src/contexts/audit/domain/entry.ts';
import { canonicalJson } from '../../../src/platform/kernel/canonical-json.ts';
import { defineEvents, type RecordedEvent } from '../../../src/platform/kernel/event.ts';
import { asTenantId } from '../../../src/platform/kernel/ids.ts';
import { historiesOf, rowsAfter, TENANT } from '../../dsl/given.ts';

const KEY = randomBytes(32);
const OTHER = asTenantId('99999999-9999-4999-8999-999999999999');
const doorEvents = defineEvents('door', {
  DoorOpened: {
    version: 1,
    schema: z.object({ doorId: z.string(), guest: z.string().nullable() }),
    audit: 'door.opened',
  },
  KeyCut: {
    version: 1,
    schema: z.object({ keyId: z.string() }),
    about: { resource: 'key', id: 'keyId' },
    audit: 'key.cut',
  },
  DoorSeen: { version: 1, schema: z.object({ doorId: z.string() }), audit: false },
});
const { recorded } = historiesOf([doorEvents]);
const model = auditLog(KEY, [doorEvents]);

const opened = (n: number, over: Partial<RecordedEvent> = {}) =>
  recorded({ type: 'DoorOpened', data: { guest: 'Ann', doorId: `d${n}` } }, n, {
    stream: `door-${TENANT}.d${n}`,
    ...over,
  });
const entriesAfter = (events: readonly RecordedEvent[], batchSize?: number) =>
  (rowsAfter(model, events, batchSize) as unknown as AuditLogRow[]).filter(({ position }) => position > 0);

/** OP-248, implemented independently of the production code. */
function hashByTheBook(row: AuditLogRow): string {
  const entry = {
    id: row.event_id,
    sequence: row.sequence,
    timestamp: row.recorded_at,
    actorId: row.actor_id,
    actorType: row.actor_type,
    action: row.action,
    resourceType: row.resource_type,
    resourceId: row.resource_id,
    details: JSON.parse(row.details!) as unknown,
    event: JSON.parse(row.event!) as unknown,
    ipAddress: row.ip_address,
    userAgent: row.user_agent,
    previousHash: row.previous_hash,
  };
  return createHmac('sha256', KEY)
    .update(row.previous_hash! + canonicalize(entry)!)
    .digest('hex');
}

const json = fc.jsonValue({ stringUnit: 'binary' });

describe('canonical JSON', () => {
  it('follows RFC 8785 to the byte, for any JSON value', () => {
    fc.assert(
      fc.property(json, (value) => {
        const parsed = JSON.parse(JSON.stringify(value)) as unknown;
        expect(canonicalJson(parsed)).toBe(canonicalize(parsed));
      }),
      { numRuns: 2_000 },
    );
  });

  it('orders members by UTF-16 units, whatever their order before', () => {
    const names = ['\ufb33', '\u{1f600}', '10', '9', 'a', 'A', '', '\n', '€', '__proto__'];
    fc.assert(
      fc.property(fc.shuffledSubarray(names), (chosen) => {
        const object = JSON.parse(`{${chosen.map((name) => `${JSON.stringify(name)}:1`).join(',')}}`) as unknown;
        expect(canonicalJson(object)).toBe(canonicalize(object));
      }),
    );
  });

  it('omits values that JSON cannot express, as JSON.stringify does', () => {
    const odd = { b: undefined, a: [undefined, Number.NaN], d: new Date(0), n: -0 };
    expect(canonicalJson(odd)).toBe('{"a":[null,null],"d":"1970-01-01T00:00:00.000Z","n":0}');
  });
});

describe('the chain key', () => {
  it('is HMAC-SHA256, for texts of any length and alphabet', () => {
    const key = new ChainKey(KEY);
    const text = fc.string({ unit: 'grapheme', maxLength: 3_000 });
    fc.assert(
      fc.property(text, text, (before, rest) => {
        expect(key.mac(before, rest)).toBe(
          createHmac('sha256', KEY)
            .update(before + rest)
            .digest('hex'),
        );
      }),
    );
    const long = '€'.repeat(400_000);
    for (const rest of [long, 'short'])
      expect(key.mac('x', rest)).toBe(createHmac('sha256', KEY).update(`x${rest}`).digest('hex'));
  });

  it('rejects a key that the short form of the definition does not cover', () => {
    expect(() => new ChainKey(randomBytes(65))).toThrow('longer than a block');
  });
});

describe('the audit chain', () => {
  it('has one entry for each event except telemetry, numbered from 1, each hash covering the previous one', () => {
    const seen = recorded({ type: 'DoorSeen', data: { doorId: 'd' } }, 2);
    const rows = entriesAfter([opened(1), seen, opened(3), opened(4)]);
    expect(rows.map(({ position, sequence }) => [position, sequence])).toEqual([
      [1, 1],
      [3, 2],
      [4, 3],
    ]);
    expect(rows.map((row) => row.previous_hash)).toEqual([GENESIS.hash, rows[0]!.hash, rows[1]!.hash]);
    for (const row of rows) expect(row.hash).toBe(hashByTheBook(row));
  });

  it('names actor, resource and origin', () => {
    const metadata = {
      ...opened(1).metadata,
      actor: { kind: 'admin' as const, id: 'a1', ip: '192.0.2.7', userAgent: 'Browser "1"\n' },
    };
    const [door, key] = entriesAfter([
      opened(1, { metadata }),
      recorded({ type: 'KeyCut', data: { keyId: 'k7' } }, 2, { stream: `door-${TENANT}.d1` }),
    ]);
    expect(door).toMatchObject({
      action: 'door.opened',
      resource_type: 'door',
      resource_id: 'd1',
      actor_type: 'admin',
      actor_id: 'a1',
      ip_address: '192.0.2.7',
      user_agent: 'Browser "1"\n',
    });
    expect(key).toMatchObject({
      action: 'key.cut',
      resource_type: 'key',
      resource_id: 'k7',
      ip_address: null,
      user_agent: null,
    });
    expect([door!, key!].map(hashByTheBook)).toEqual([door!.hash, key!.hash]);
  });

  it('holds the data as stored, sealed and in its own version, whatever a reader sees', () => {
    const data = { guest: '[sealed]', doorId: 'd1', $sealed: { person: 'p', value: 'AAAA' } };
    const open = entriesAfter([opened(1, { stored: { version: 1, data } })]);
    const erased = entriesAfter([
      { ...opened(1, { stored: { version: 1, data } }), data: { guest: '[erased]', doorId: 'd1' } } as RecordedEvent,
    ]);
    expect(open[0]!.details).toBe('{"$sealed":{"person":"p","value":"AAAA"},"doorId":"d1","guest":"[sealed]"}');
    expect(erased).toEqual(open);
  });

  it('covers every meaningful part of the envelope', () => {
    const hash = (over: Partial<RecordedEvent>) => entriesAfter([opened(1, over)])[0]!.hash;
    const { metadata } = opened(1);
    const changes: Partial<RecordedEvent>[] = [
      { id: '00000000-0000-4000-8000-000000000099' },
      { stream: `door-${OTHER}.d1` },
      { stream: `gate-${TENANT}.d1` },
      { revision: 7n },
      { recordedAt: 1 },
      { stored: { version: 2, data: opened(1).data } },
      { metadata: { ...metadata, correlationId: 'x' } },
      { metadata: { ...metadata, causationId: 'x' } },
      { metadata: { ...metadata, commandId: 'x' } },
      { metadata: { ...metadata, actor: { ...metadata.actor, kind: 'system' } } },
    ];
    const hashes = [{}, ...changes].map(hash);
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  it('is one chain per tenant, the same in batches of any size', () => {
    const events = Array.from({ length: 12 }, (_, n) => opened(n + 1, n % 3 === 0 ? { tenantId: OTHER } : {}));
    const whole = rowsAfter(model, events);
    const by = (rows: Record<string, unknown>[]) =>
      new Map(rows.map((row) => [`${String(row['tenant_id'])}/${String(row['position'])}`, row]));
    for (const size of [1, 2, 5]) expect(by(rowsAfter(model, events, size))).toEqual(by(whole));
    const theirs = whole.filter((row) => row['tenant_id'] === OTHER);
    expect(theirs.map((row) => row['sequence']).sort()).toEqual([1, 2, 3, 4, 4]);
  });

  it('repeats number and hash of the last entry in its head row', () => {
    const rows = rowsAfter(model, [opened(1), opened(2)]) as unknown as AuditLogRow[];
    const [head, last] = [rows.find(({ position }) => position === 0)!, rows.find(({ position }) => position === 2)!];
    expect([head.sequence, head.hash]).toEqual([2, last.hash]);
  });
});
