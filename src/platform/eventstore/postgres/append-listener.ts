import createSubscriber from 'pg-listen';
import { asLogin, type DatabaseConfig } from '../../database/logins.ts';
import type { AppendNotification, StoredEvent } from '../port.ts';

type Wake = (hint?: AppendNotification) => void;

/**
 * Wakes followers of the log: at once with events that this process appended, and by LISTEN for appends of other
 * processes. Both are hints; followers also poll.
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
      // The check of the connection needs a timeout too, or the listener would never leave a silent server.
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
    // pg-listen reconnects by itself. Until then followers poll.
    subscriber.events.on('error', () => undefined);
    subscriber
      .connect()
      .then(() => subscriber.listenTo('castellan_feed'))
      .catch(() => undefined); // closed, or not reachable yet: no difference
    return subscriber;
  }

  async close(): Promise<void> {
    this.#wakes.clear();
    await this.#subscriber?.close();
  }
}
