import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { z } from 'zod';
import { defineEvents, type DomainEvent, type RecordedEvent } from '../../../src/platform/kernel/event.ts';
import { asTenantId, INSTALLATION, type TenantId } from '../../../src/platform/kernel/ids.ts';
import {
  at,
  bigint,
  defineReadModel,
  id,
  integer,
  json,
  nullable,
  text,
  timestamp,
  type AnyReadModel,
} from '../../../src/platform/kernel/read-model.ts';

/** An example domain: entries with an owner and amounts that can be moved between them. */
export const ledgerEvents = defineEvents('ledger', {
  EntryOpened: { version: 1, schema: z.object({ entry: z.string(), owner: z.uuid(), amount: z.int() }), audit: false },
  EntryChanged: {
    version: 1,
    schema: z.object({ entry: z.string(), amount: z.int(), note: z.string().nullable() }),
    audit: false,
  },
  EntryGiven: { version: 1, schema: z.object({ entry: z.string(), owner: z.uuid() }), audit: false },
  AmountMoved: { version: 1, schema: z.object({ from: z.string(), to: z.string(), amount: z.int() }), audit: false },
  EntryClosed: { version: 1, schema: z.object({ entry: z.string() }), audit: false },
  OwnerForgotten: { version: 1, schema: z.object({ owner: z.uuid() }), audit: false },
});

export const TENANTS = ['aaaaaaaa-0000-4000-8000-000000000001', 'aaaaaaaa-0000-4000-8000-000000000002'].map(asTenantId);
const OWNERS = ['bbbbbbbb-0000-4000-8000-000000000001', 'bbbbbbbb-0000-4000-8000-000000000002'];
const NAMES = ['a', 'b', 'c', 'd'];

const columns = {
  entry: text,
  owner: nullable(id),
  amount: bigint,
  trail: json<string[]>(),
  note: nullable(text),
  changed_at: timestamp,
};
type Entry = {
  entry: string;
  owner: string | null;
  amount: number;
  trail: string[];
  note: string | null;
  changed_at: string;
};

/** Order matters in it (the trail), rows come and go, one event may touch two rows. */
export const entries = defineReadModel({
  name: 'entries',
  version: 1,
  lane: 'main',
  columns,
  key: ['entry'],
  indexes: [['owner']],
  families: [ledgerEvents],
  on: {
    EntryOpened: (event) => ({
      key: { entry: event.data.entry },
      fold: (row): Entry =>
        row ?? {
          entry: event.data.entry,
          owner: event.data.owner,
          amount: event.data.amount,
          trail: ['opened'],
          note: null,
          changed_at: at(event),
        },
    }),
    EntryChanged: (event) =>
      changed(event, event.data.entry, (row) => ({
        ...row,
        amount: row.amount * 3 + event.data.amount,
        note: event.data.note,
      })),
    EntryGiven: (event) => changed(event, event.data.entry, (row) => ({ ...row, owner: event.data.owner })),
    AmountMoved: (event) => [
      changed(event, event.data.from, (row) => ({ ...row, amount: row.amount - event.data.amount })),
      changed(event, event.data.to, (row) => ({ ...row, amount: row.amount + event.data.amount })),
    ],
    EntryClosed: (event) => ({ key: { entry: event.data.entry }, fold: () => undefined }),
    OwnerForgotten: (event) => ({ purge: { owner: event.data.owner } }),
  },
});

const changed = (event: RecordedEvent, entry: string, fold: (row: Entry) => Entry) => ({
  key: { entry },
  fold: (row: Entry | undefined) =>
    row && { ...fold(row), trail: [...row.trail, event.type].slice(-8), changed_at: at(event) },
});

/** How much each tenant moved: rows of the installation, touched by events of all tenants. */
export const volumes = defineReadModel({
  name: 'volumes',
  version: 1,
  lane: 'main',
  scope: 'installation',
  columns: { tenant: id, moved: bigint, events: integer },
  key: ['tenant'],
  families: [ledgerEvents],
  on: {
    AmountMoved: (event) => ({
      key: { tenant: event.tenantId },
      fold: (row) => ({
        tenant: event.tenantId,
        moved: (row?.moved ?? 0) + event.data.amount,
        events: (row?.events ?? 0) + 1,
      }),
    }),
  },
});

/** One event of a history: its tenant and its content. */
export interface Happening {
  readonly tenantId: TenantId;
  readonly event: DomainEvent;
}

const owner = fc.constantFrom(...OWNERS);
const entry = fc.constantFrom(...NAMES);
const amount = fc.integer({ min: -9, max: 9 });
const typed = (type: string, data: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record(data).map((values) => ({ type, data: values }));

export const happening: fc.Arbitrary<Happening> = fc.record({
  tenantId: fc.constantFrom(...TENANTS),
  event: fc.oneof(
    { weight: 4, arbitrary: typed('EntryOpened', { entry, owner, amount }) },
    {
      weight: 4,
      arbitrary: typed('EntryChanged', { entry, amount, note: fc.option(fc.constantFrom('x', 'ß', '"\\')) }),
    },
    { weight: 2, arbitrary: typed('EntryGiven', { entry, owner }) },
    { weight: 3, arbitrary: typed('AmountMoved', { from: entry, to: entry, amount }) },
    { weight: 2, arbitrary: typed('EntryClosed', { entry }) },
    { weight: 1, arbitrary: typed('OwnerForgotten', { owner }) },
  ),
});
export const history = (most: number) => fc.array(happening, { minLength: 1, maxLength: most });

/** An event at a position, as a reader gets it. */
export const placed = ({ tenantId, event }: Happening, position: number): RecordedEvent => ({
  ...event,
  tenantId,
  id: randomUUID(),
  stream: `ledger-${tenantId}.all`,
  revision: BigInt(position - 1),
  position: BigInt(position),
  recordedAt: Date.UTC(2026, 0, 1) + position,
  metadata: { actor: { kind: 'system', id: 'test' }, correlationId: 'c', causationId: 'c', commandId: 'c' },
  stored: { version: 1, data: event.data },
});

type Row = Record<string, unknown>;

/** The reference implementation of a read model: folds one event after the other into a map. */
export function pureFold(model: AnyReadModel, events: readonly RecordedEvent[]): Row[] {
  const rows = new Map<string, Row>();
  for (const event of events) {
    const tenant = model.scope === 'installation' ? INSTALLATION : event.tenantId;
    const answer = model.on[event.type]?.(event) as Row | Row[] | undefined;
    for (const step of answer === undefined ? [] : [answer].flat()) {
      const purge = step['purge'] as Row | undefined;
      if (purge) {
        for (const [name, row] of rows) {
          if (row['tenant_id'] === tenant && Object.entries(purge).every(([column, value]) => row[column] === value))
            rows.delete(name);
        }
        continue;
      }
      const name = JSON.stringify([tenant, ...(model.key as string[]).map((column) => (step['key'] as Row)[column])]);
      const next = (step['fold'] as (row: Row | undefined) => Row | undefined)(rows.get(name));
      if (next) rows.set(name, { ...next, tenant_id: tenant });
      else rows.delete(name);
    }
  }
  return sorted([...rows.values()]);
}

export const sorted = (rows: readonly Row[]): Row[] =>
  rows
    .map((row) => Object.fromEntries(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1))))
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
