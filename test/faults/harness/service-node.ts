import { ask } from './ask.ts';
import { endTracked, signal, startTracked, type Tracked } from './child-processes.ts';
import { freePort } from '../../dsl/free-port.ts';
import { Hopeless, until } from './until.ts';

export type Role = 'all' | 'api' | 'projector' | 'worker';

interface NodeOptions {
  readonly role: Role;
  readonly env: Readonly<Record<string, string>>;
  readonly dataDir: string;
}

/** A start beside the processes of other tests takes its time; one that fails ends at once. */
const STARTED_MS = 60_000;

/** One process of the service. It can be killed, frozen and started again on the same ports. */
export class ServiceNode {
  readonly role: Role;
  readonly url: string;
  readonly tlsUrl: string;
  readonly name: string;
  readonly #env: NodeJS.ProcessEnv;
  #process: Tracked | undefined;

  private constructor(name: string, port: number, tlsPort: number, { role, env, dataDir }: NodeOptions) {
    this.name = name;
    this.role = role;
    this.url = `http://127.0.0.1:${port}`;
    this.tlsUrl = `https://127.0.0.1:${tlsPort}`;
    this.#env = {
      ...process.env,
      NODE_ENV: 'production',
      VITEST: '',
      LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'warn',
      RATE_LIMIT_RPS: '1000000',
      ENROLL_RATE_LIMIT_RPS: '1000000',
      ...env,
      DATA_DIR: dataDir,
      PORT: String(port),
      TLS_PORT: String(tlsPort),
    };
  }

  /** Not started yet. */
  static async reserve(name: string, options: NodeOptions): Promise<ServiceNode> {
    return new ServiceNode(name, await freePort(), await freePort(), options);
  }

  start(): void {
    this.#process = startTracked(process.execPath, ['scripts/run.mjs', 'src/main.ts', '--role', this.role], {
      env: this.#env,
    });
  }

  /** Waits until it responds at all, with any status. */
  async answers(withinMs = STARTED_MS): Promise<void> {
    await until(
      () => `${this.name} answers: ${this.output()}`,
      withinMs,
      async () => {
        this.#expectRunning();
        return (await ask(`${this.url}/health`, { timeoutMs: 3_000 })).status > 0;
      },
    );
  }

  /** Waits until it is ready. */
  async ready(withinMs = STARTED_MS): Promise<void> {
    let last = '';
    await until(
      () => `${this.name} is ready: ${last} ${this.output()}`,
      withinMs,
      async () => {
        this.#expectRunning();
        const { status, text } = await ask(`${this.url}/ready`, { timeoutMs: 3_000 });
        last = text;
        return status === 200;
      },
    );
  }

  #expectRunning(): void {
    if (this.exit !== undefined) throw new Hopeless(`${this.name} ended (${this.exit}): ${this.output()}`);
  }

  /** How it ended, or undefined while it runs. */
  get exit(): string | undefined {
    return this.#process ? this.#process.exit() : 'not started';
  }

  get pid(): number {
    return this.#process!.pid;
  }

  output(): string {
    return this.#process?.output() ?? '';
  }

  async kill(): Promise<void> {
    signal(this.pid, 'SIGKILL');
    await this.#process!.ended;
  }

  freeze(): void {
    signal(this.pid, 'SIGSTOP');
  }

  thaw(): void {
    signal(this.pid, 'SIGCONT');
  }

  async stop(): Promise<void> {
    if (this.#process) await endTracked(this.#process, 'SIGTERM', 5_000);
  }
}
