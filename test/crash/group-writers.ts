import { expect } from 'vitest';
import { administrator, LICENSED, setUpInstallation, type Administrator } from './administrator.ts';
import { startService, type ServiceProcess } from './service-process.ts';

const PATIENTLY = { timeout: 60_000, interval: 50 };
const CLIENTS = 8;

interface Traffic {
  /** The statuses that clients saw; 0 for a refused connection. */
  readonly seen: number[];
  /** Names of groups whose creation was acknowledged. */
  readonly acknowledged: string[];
  stop(): Promise<void>;
}

/** A service process on an event store, and clients that create groups without a pause. */
export class GroupWriters {
  readonly service: ServiceProcess;
  readonly #admin: Administrator;
  #written = 0;

  private constructor(service: ServiceProcess, admin: Administrator) {
    this.service = service;
    this.#admin = admin;
  }

  static async start(dataDir: string, eventStoreUrl: string): Promise<GroupWriters> {
    const service = await startService(dataDir, { ...LICENSED, EVENTSTORE_URL: eventStoreUrl });
    return new GroupWriters(service, await administrator(service, await setUpInstallation(service)));
  }

  traffic(): Traffic {
    const seen: number[] = [];
    const acknowledged: string[] = [];
    let goesOn = true;
    const create = async (): Promise<number> => {
      const name = `Group ${(this.#written += 1)}`;
      const { status } = await this.#admin.ask('POST', '/api/v1/admin/groups', { name });
      // 202: written, but not readable yet.
      if (status === 201 || status === 202) acknowledged.push(name);
      return status;
    };
    const client = async () => {
      // A process that ended refuses connections.
      while (goesOn) seen.push(await create().catch(() => 0));
    };
    const clients = Array.from({ length: CLIENTS }, client);
    return {
      seen,
      acknowledged,
      async stop() {
        goesOn = false;
        await Promise.all(clients);
      },
    };
  }

  /** Waits until clients have seen a status more often than there are clients, after the first `from` responses. */
  async untilSeen({ seen }: Traffic, status: number, from = 0): Promise<void> {
    await expect
      .poll(() => seen.slice(from).filter((each) => each === status).length, PATIENTLY)
      .toBeGreaterThan(CLIENTS);
  }

  /** Clients see 201 before an outage, 503 in it and 201 after it. Returns the acknowledged groups. */
  async expectOutage(begin: () => Promise<void> | void, end: () => Promise<void> | void): Promise<string[]> {
    const traffic = this.traffic();
    await this.untilSeen(traffic, 201);
    await begin();
    await this.untilSeen(traffic, 503, traffic.seen.length);
    const ready = await fetch(`${this.service.url}/ready`);
    expect({ status: ready.status, body: await ready.json() }).toEqual({
      status: 503,
      body: { status: 'unhealthy', ready: false, lagging: expect.any(Array) },
    });
    await end();
    await this.untilSeen(traffic, 201, traffic.seen.length);
    await traffic.stop();
    this.expectOrdinary(traffic);
    return traffic.acknowledged;
  }

  /** The process runs, and every response was a success or 503. */
  expectOrdinary({ seen }: Traffic): void {
    expect(this.service.lastWords).toBeUndefined();
    expect(seen.filter((status) => ![201, 202, 503].includes(status))).toEqual([]);
  }

  /** The names of all groups: the list has no pages. */
  async listed(): Promise<string[]> {
    const { body } = await this.#admin.ask('GET', '/api/v1/admin/groups');
    return (body['groups'] as { readonly name: string }[]).map(({ name }) => name);
  }
}
