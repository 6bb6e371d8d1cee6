import { mkdtempSync, rmSync } from 'node:fs';
import { Redis } from 'ioredis';
import { freePort } from '../../dsl/free-port.ts';
import { endTracked, signal, startTracked, type Tracked } from './child-processes.ts';
import { until } from './until.ts';

/** A redis-server on a port that stays reserved, whether it runs or not. It stores nothing on disk. */
export class RedisServer {
  readonly port: number;
  readonly #folder = mkdtempSync('/tmp/castellan-redis-');
  #server: Tracked | undefined;

  private constructor(port: number) {
    this.port = port;
  }

  /** Not started yet. */
  static async reserve(): Promise<RedisServer> {
    return new RedisServer(await freePort());
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const settings = { port: this.port, bind: '127.0.0.1', save: '', appendonly: 'no', dir: this.#folder };
    this.#server = startTracked(
      'redis-server',
      Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]),
    );
    await until('Redis answers', 10_000, () => this.ask((client) => client.ping()));
  }

  async stop(): Promise<void> {
    if (this.#server) await endTracked(this.#server, 'SIGKILL');
    this.#server = undefined;
  }

  freeze(): void {
    signal(this.#server!.pid, 'SIGSTOP');
  }

  thaw(): void {
    signal(this.#server!.pid, 'SIGCONT');
  }

  /** Makes it run and respond, whatever state a failed test has left. */
  async revive(): Promise<void> {
    if (this.#server) this.thaw();
    if (await this.ask((client) => client.ping()).catch(() => false)) return;
    await this.stop();
    await this.start();
  }

  /** Deletes all data. */
  async empty(): Promise<void> {
    await this.ask((client) => client.flushall());
  }

  async ask<T>(question: (client: Redis) => Promise<T>): Promise<T> {
    const client = new Redis(this.url, {
      lazyConnect: true,
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
      connectTimeout: 2_000,
      commandTimeout: 2_000,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return await question(client);
    } finally {
      client.disconnect();
    }
  }

  async destroy(): Promise<void> {
    await this.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
