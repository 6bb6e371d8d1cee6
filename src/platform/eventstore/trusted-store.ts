import type { TenantId } from '../kernel/ids.ts';
import type { LogTrust } from './log-trust.ts';
import type { Append, EventStore, AppendResult } from './port.ts';

/**
 * An event store that writes only while the log can be trusted. Reads are always allowed. While the log is trusted, an
 * append costs nothing extra.
 */
export function whileTrusted(store: EventStore, trust: LogTrust): EventStore {
  const guarded =
    <Arguments extends unknown[], Result>(write: (...given: Arguments) => Promise<Result>) =>
    (...given: Arguments): Promise<Result> =>
      trust.holds ? write(...given) : trust.assured().then(() => write(...given));
  return {
    name: store.name,
    gapless: store.gapless,
    ...(store.logAddress ? { logAddress: store.logAddress } : {}),
    append: guarded(async (append: Append): Promise<AppendResult> => {
      const result = await store.append(append);
      // Streams only grow, and a caller expects only what it has read or written.
      if (result.kind === 'wrongRevision' && result.actual < append.expectedRevision)
        trust.suspect('a stream ends before an event of it that was read');
      return result;
    }),
    setRetention: guarded((stream: string, maxAgeDays: number) => store.setRetention(stream, maxAgeDays)),
    trimExpired: guarded((most: number) => store.trimExpired(most)),
    forgetTelemetryOf: guarded((tenantId: TenantId, personId: string) => store.forgetTelemetryOf(tenantId, personId)),
    sweepClaims: guarded(() => store.sweepClaims()),
    readStream: (stream, options) => store.readStream(stream, options),
    readStreams: (asked) => store.readStreams(asked),
    readStreamTail: (stream, limit) => store.readStreamTail(stream, limit),
    readAll: (after, limit, filter) => store.readAll(after, limit, filter),
    head: () => store.head(),
    eventAt: (position) => store.eventAt(position),
    idAt: (position) => store.idAt(position),
    onGrowth: (wake) => store.onGrowth(wake),
    onInterruption: (heard) => store.onInterruption(heard),
    claimHolder: (claim) => store.claimHolder(claim),
    claimHolders: (claims) => store.claimHolders(claims),
    claimsHeldBy: (stream) => store.claimsHeldBy(stream),
    ping: () => store.ping(),
    close: () => store.close(),
  };
}

/**
 * Reads of the log, for what follows it without looking at `trust` itself. A page that was read while the log came into
 * doubt may be of another log: it is read again once the log is trusted. Throws `LogNotTrusted` until then. `isRestore`: a
 * command brings the tables to a log that does not match, which is read as it is.
 */
export function trustedReads(
  store: EventStore,
  trust: LogTrust,
  { isRestore = false } = {},
): Pick<EventStore, 'readAll' | 'head'> {
  return {
    head: () => store.head(),
    readAll: async (after, limit, filter) => {
      for (;;) {
        if (!isRestore) await trust.assured();
        const { epoch } = trust;
        const page = await store.readAll(after, limit, filter);
        if (trust.epoch === epoch) return page;
      }
    },
  };
}
