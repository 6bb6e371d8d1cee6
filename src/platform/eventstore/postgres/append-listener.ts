import createSubscriber from 'pg-listen';
import { asLogin, type DatabaseConfig } from '../../database/logins.ts';
import type { AppendNotification, StoredEvent } from '../port.ts';

type Wake = (hint?: AppendNotification) => void;

/**
 * Wakes whoever follows the feed: at once with the events that this process appended itself, and by LISTEN for what others
 * appended. Both are hints; a reader that hears nothing polls.
 */
export class AppendListener {
  readonly #config: DatabaseConfig;
  readonly #wakes = new Set<Wake>();
  #subscriber: ReturnType<typeof createSubscriber.default> | undefined;

  constructor(config: DatabaseConfig) {
    this.#config = config;
  }

  wakeWith(appended: () => readonly StoredEvent[]): void {
    if (this.#wakes.size === 0) return;
    const events = appended();
    for (const wake of this.#wakes) wake({ events });
  }

  subscribe(wake: Wake): () => void {
    this.#wakes.add(wake);
    this.#subscriber ??= this.#listen();
    return () => this.#wakes.delete(wake);
  }

  #listen() {
    const subscriber = createSubscriber.default(
      // Its own look at the connection has a deadline too, or a silent server would never be left for another connection.
      {
        ...asLogin(this.#config, 'store'),
        application_name: 'castellan/feed',
        keepAlive: true,
        query_timeout: 5_000,
        connectionTimeoutMillis: 5_000,
      },
      { retryInterval: 250, retryTimeout: Number.POSITIVE_INFINITY, paranoidChecking: 10_000 },
    );
    subscriber.notifications.on('castellan_feed', (head: number) => {
      for (const wake of this.#wakes) wake({ head: BigInt(head) });
    });
    // pg-listen reconnects by itself; until then the poll of the followers carries on.
    subscriber.events.on('error', () => undefined);
    subscriber
      .connect()
      .then(() => subscriber.listenTo('castellan_feed'))
      .catch(() => undefined); // closed, or not reachable yet: the same
    return subscriber;
  }

  async close(): Promise<void> {
    this.#wakes.clear();
    await this.#subscriber?.close();
  }
}
