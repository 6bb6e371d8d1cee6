import type { Append, ClaimKey } from '../port.ts';

/**
 * The four JSON parameters of `append_events`. Written by hand because event data is JSON text already:
 * parsing it only to print it again would cost more than the append.
 */
export function encodeGroup(group: readonly Append[]): [string, string, string | null, string | null] {
  const attempts: string[] = [];
  const arrivals: string[] = [];
  const takes: string[] = [];
  const releases: string[] = [];
  group.forEach((append, index) => {
    const n = index + 1;
    const stream = JSON.stringify(append.stream);
    attempts.push(`{"stream":${stream},"expected":${append.expectedRevision},"size":${append.events.length}}`);
    append.events.forEach((event, at) => {
      arrivals.push(
        `{"n":${n},"i":${at + 1},"tenant":"${append.tenantId}","stream":${stream},"id":"${event.id}",` +
          `"type":${JSON.stringify(event.type)},"version":${event.version},` +
          `"metadata":${JSON.stringify(event.metadata)},"data":${event.data}}`,
      );
    });
    for (const claim of append.take) takes.push(encodeClaim(n, stream, claim));
    for (const claim of append.release) releases.push(encodeClaim(n, stream, claim));
  });
  const list = (items: string[]) => `[${items.join(',')}]`;
  return [list(attempts), list(arrivals), takes.length ? list(takes) : null, releases.length ? list(releases) : null];
}

const encodeClaim = (n: number, stream: string, { tenantId, kind, digest }: ClaimKey) =>
  `{"n":${n},"tenant":"${tenantId}","kind":${JSON.stringify(kind)},"digest":"${digest}","stream":${stream}}`;
