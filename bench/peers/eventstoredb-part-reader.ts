import { EventStoreDbEventStore } from '../../src/platform/eventstore/eventstoredb/eventstoredb-event-store.ts';
import { perSecond } from '../measure.ts';
import { peerConfig, servePeer } from './peer.ts';

/** As a rebuild reads. */
const PAGE = 2_000;

const store = new EventStoreDbEventStore(peerConfig()['url'] as string, { timeoutMs: 60_000 });

/** Reads `count` events after a position. Returns how many it read a second. */
servePeer(({ after, count }) =>
  perSecond(count!, async () => {
    let seen = 0;
    for (let at = BigInt(after!); seen < count!;) {
      const page = await store.readAll(at, Math.min(PAGE, count! - seen));
      if (page.position === at) throw new Error(`the log has no event after ${at}`);
      seen += page.events.length;
      at = page.position;
    }
  }),
);
