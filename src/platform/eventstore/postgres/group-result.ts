import type { Append, AppendResult, ClaimKey, StoredEvent } from '../port.ts';

/** What the database returns for a group of appends. Lists are in the order of the appends. */
export interface GroupResult {
  ok: boolean[];
  /** Revision of each stream before the append. */
  actual: number[];
  /** Position in the log before the append's first event. */
  base: number[];
  /** Epoch milliseconds. */
  at: number;
  /** The number of the claim that another stream holds, from one; null if the revision was wrong. */
  lost: (number | null)[];
  holders: string[];
}

/** The result of a group in which every append fits. */
export function allFit(appends: readonly Append[], head: number, at: number): GroupResult {
  let before = head;
  const base = appends.map(({ events }) => (before += events.length) - events.length);
  return {
    ok: appends.map(() => true),
    actual: appends.map(({ expectedRevision }) => Number(expectedRevision)),
    base,
    at,
    lost: [],
    holders: [],
  };
}

/** The result of one append of a group. `takes` are the claims of the whole group, in order. */
export function resultOf(
  { events }: Append,
  { ok, actual, base, at, lost, holders }: GroupResult,
  index: number,
  takes: readonly ClaimKey[],
): AppendResult {
  const revision = BigInt(actual[index]!);
  if (ok[index]) {
    const size = BigInt(events.length);
    return { kind: 'appended', revision: revision + size, position: BigInt(base[index]!) + size, recordedAt: at };
  }
  const which = lost[index];
  if (which === null || which === undefined) return { kind: 'wrongRevision', actual: revision };
  const { tenantId, kind, digest } = takes[which - 1]!;
  return { kind: 'claimed', claim: { tenantId, kind, digest }, holder: holders[index]! };
}

/** The events of an append as the log has them. */
export function recordedEvents(
  { tenantId, stream, events }: Append,
  { actual, base, at }: GroupResult,
  index: number,
): StoredEvent[] {
  const revision = BigInt(actual[index]!);
  const position = BigInt(base[index]!);
  return events.map((event, offset) => ({
    tenantId,
    id: event.id,
    type: event.type,
    version: event.version,
    stream,
    revision: revision + BigInt(offset + 1),
    position: position + BigInt(offset + 1),
    recordedAt: at,
    metadata: event.metadata,
    data: JSON.parse(event.data) as unknown,
  }));
}
