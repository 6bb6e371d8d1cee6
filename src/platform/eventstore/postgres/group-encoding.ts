import {
  digestArray,
  int2Array,
  int4Array,
  int8Array,
  jsonArray,
  textArray,
  uuidArray,
} from '../../database/binary-arrays.ts';
import type { Append, ClaimKey } from '../port.ts';

/**
 * Encodes a group as the parameters of `append_events` (`migrations/base/03_appends.sql`). Parameters for claims are
 * left out if there are none.
 */
export function encodeGroup(group: readonly Append[]): Buffer[] {
  const events = group.flatMap((append) => append.events);
  return [
    uuidArray(group.map(({ tenantId }) => tenantId)),
    textArray(group.map(({ stream }) => stream)),
    int8Array(group.map(({ expectedRevision }) => expectedRevision)),
    int4Array(group.map((append) => append.events.length)),
    int4Array(group.flatMap((append, index) => append.events.map(() => index + 1))),
    int4Array(group.flatMap((append) => append.events.map((_, at) => at + 1))),
    uuidArray(events.map(({ id }) => id)),
    textArray(events.map(({ type }) => type)),
    int2Array(events.map(({ version }) => version)),
    jsonArray(events.map(({ metadata }) => JSON.stringify(metadata))),
    jsonArray(events.map(({ data }) => data)),
    ...(group.some(claimsSomething)
      ? [...encodeClaims(claimsOfGroup(group, 'claim')), ...encodeClaims(claimsOfGroup(group, 'release'))]
      : []),
  ];
}

/** Encodes a group as the parameters of `append_fitting` (`migrations/base/03_appends.sql`). */
export function encodeFitting(group: readonly Append[]): Buffer[] {
  const known = group.filter(({ expectedRevision }) => expectedRevision >= 0n);
  const rows = group.flatMap((append) =>
    append.events.map((event, at) => ({ append, event, revision: append.expectedRevision + BigInt(at + 1) })),
  );
  return [
    textArray(known.map(({ stream }) => stream)),
    int8Array(known.map(({ expectedRevision }) => expectedRevision)),
    uuidArray(rows.map(({ append }) => append.tenantId)),
    textArray(rows.map(({ append }) => append.stream)),
    int8Array(rows.map(({ revision }) => revision)),
    uuidArray(rows.map(({ event }) => event.id)),
    textArray(rows.map(({ event }) => event.type)),
    int2Array(rows.map(({ event }) => event.version)),
    jsonArray(rows.map(({ event }) => JSON.stringify(event.metadata))),
    jsonArray(rows.map(({ event }) => event.data)),
    ...(group.some(claimsSomething) ? [...encodeOwned(group, 'release'), ...encodeOwned(group, 'claim')] : []),
  ];
}

function encodeOwned(group: readonly Append[], which: 'claim' | 'release'): Buffer[] {
  const owned = group.flatMap((append) => append[which].map((claim) => ({ claim, stream: append.stream })));
  return [
    uuidArray(owned.map(({ claim }) => claim.tenantId)),
    textArray(owned.map(({ claim }) => claim.kind)),
    digestArray(owned.map(({ claim }) => claim.digest)),
    textArray(owned.map(({ stream }) => stream)),
  ];
}

const claimsSomething = ({ claim, release }: Append): boolean => claim.length + release.length > 0;

/** The claims of a group, in the order in which `append_events` numbers them. */
export const claimsOfGroup = (
  group: readonly Append[],
  which: 'claim' | 'release',
): (ClaimKey & { readonly of: number })[] =>
  group.flatMap((append, index) => append[which].map((claim) => ({ of: index + 1, ...claim })));

const encodeClaims = (claims: readonly (ClaimKey & { readonly of: number })[]): Buffer[] => [
  int4Array(claims.map(({ of }) => of)),
  uuidArray(claims.map(({ tenantId }) => tenantId)),
  textArray(claims.map(({ kind }) => kind)),
  digestArray(claims.map(({ digest }) => digest)),
];
