import { afterAll, beforeAll, describe } from 'vitest';
import type { EventStore } from '../../src/platform/eventstore/port.ts';
import { describeAppending } from './event-store/appending.ts';
import { describeClaimRaces } from './event-store/claim-races.ts';
import { describeClaims } from './event-store/claims.ts';
import { describeAllStream } from './event-store/all-stream.ts';
import { describeReading } from './event-store/reading.ts';
import { describeTailing } from './event-store/tailing.ts';

export interface OpenedEventStore {
  readonly store: EventStore;
  /** Another store on the same data, as in another process. The suite closes it. */
  readonly reopen?: () => Promise<EventStore>;
  close(): Promise<void>;
}

/** The subject of the cases: opened once, so every case uses its own streams and tenants. */
export interface Subject {
  readonly store: EventStore;
  /** Undefined if the adapter under test cannot be opened twice. */
  readonly reopen: (() => Promise<EventStore>) | undefined;
}

/** The contract of every event store. One suite for all adapters; their differences are tested separately. */
export function describeEventStoreContract(name: string, open: () => Promise<OpenedEventStore>): void {
  describe(`event store contract: ${name}`, { timeout: 30_000 }, () => {
    let opened: OpenedEventStore | undefined;
    const others: EventStore[] = [];
    const subject: Subject = {
      get store() {
        return opened!.store;
      },
      get reopen() {
        const { reopen } = opened!;
        if (!reopen) return undefined;
        return async () => {
          const other = await reopen();
          others.push(other);
          return other;
        };
      },
    };

    beforeAll(async () => {
      opened = await open();
    }, 120_000);
    afterAll(async () => {
      await Promise.all(others.map((other) => other.close()));
      await opened?.close();
    });

    describeAppending(subject);
    describeReading(subject);
    describeAllStream(subject);
    describeTailing(subject);
    describeClaims(subject);
    describeClaimRaces(subject);
  });
}
