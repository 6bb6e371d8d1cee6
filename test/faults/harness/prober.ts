import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../dsl/free-port.ts';
import { ask } from './ask.ts';
import { endTracked, startTracked, type Tracked } from './child-processes.ts';
import type { ServiceNode } from './service-node.ts';
import { until } from './until.ts';

const PATHS = ['/health', '/ready', '/live'];
const EVERY_MS = 200;
const SLOWEST_MS = 1_000;
/**
 * The share of probes that may take up to twice as long, and the delay that a busy machine adds to the response of an
 * idle server.
 */
const LATE = 1 / 50;
const GIVE_UP_MS = 10_000;
const SHOWN = 5;

interface Probed {
  readonly node: string;
  readonly path: string;
  readonly ms: number;
  readonly failure?: string;
}

/** A server that responds at once: its latency is that of the machine. */
const BARE = `require('node:http').createServer((request, response) => response.end()).listen(Number(process.argv[1]), '127.0.0.1')`;

/** Requests every node's health continuously, as a load balancer does. Omits nodes that a test has frozen or killed. */
export class Prober {
  readonly #nodes: () => readonly ServiceNode[];
  readonly #seen: Probed[] = [];
  readonly #running: Promise<unknown>;
  /** How often each node has been omitted: a request that began before is not judged afterwards. */
  readonly #absences = new Map<ServiceNode, number>();
  readonly #bare: Promise<{ readonly url: string; readonly process: Tracked }>;
  #slowestBare = 0;
  #stopped = false;

  constructor(nodes: () => readonly ServiceNode[]) {
    this.#nodes = nodes;
    this.#bare = startBare();
    this.#running = Promise.all([this.#run(), this.#runBare()]);
  }

  /** Stops it; returns the probes that were too slow or failed. */
  async stop(): Promise<string[]> {
    this.#stopped = true;
    await this.#running;
    const late = this.#seen.filter(({ ms, failure }) => failure !== undefined || ms > SLOWEST_MS);
    const tooLate = this.#seen.filter(
      ({ ms, failure }) => failure !== undefined || ms > 2 * (SLOWEST_MS + this.#slowestBare),
    );
    if (tooLate.length === 0 && late.length <= this.#seen.length * LATE) return [];
    const worst = late.sort((one, other) => other.ms - one.ms).slice(0, SHOWN);
    const words = worst.map(
      ({ node, path, ms, failure }) => `${node} ${path}: ${Math.round(ms)} ms${failure ? `, ${failure}` : ''}`,
    );
    return [
      `${late.length} of ${this.#seen.length} probes took longer than ${SLOWEST_MS} ms (a bare server's ${Math.round(this.#slowestBare)} ms): ${words.join('; ')}`,
    ];
  }

  async #runBare(): Promise<void> {
    const { url, process } = await this.#bare;
    while (!this.#stopped) {
      const started = performance.now();
      await ask(url, { timeoutMs: GIVE_UP_MS }).catch(() => undefined);
      this.#slowestBare = Math.max(this.#slowestBare, performance.now() - started);
      await sleep(EVERY_MS);
    }
    await endTracked(process, 'SIGKILL');
  }

  async #run(): Promise<void> {
    const waiting = new Set<string>();
    const asked: Promise<void>[] = [];
    while (!this.#stopped) {
      const present = this.#nodes();
      for (const node of this.#absences.keys())
        if (!present.includes(node)) this.#absences.set(node, this.#absences.get(node)! + 1);
      for (const node of present) {
        if (!this.#absences.has(node)) this.#absences.set(node, 0);
        for (const path of PATHS) {
          const name = `${node.name} ${path}`;
          if (waiting.has(name)) continue;
          waiting.add(name);
          asked.push(this.#probe(node, path).finally(() => waiting.delete(name)));
        }
      }
      await sleep(EVERY_MS);
    }
    await Promise.all(asked);
  }

  async #probe(node: ServiceNode, path: string): Promise<void> {
    const started = performance.now();
    const absences = this.#absences.get(node);
    const failure = await ask(node.url + path, { timeoutMs: GIVE_UP_MS }).then(
      () => undefined,
      (error: Error) => error.message,
    );
    const ms = performance.now() - started;
    // It was stopped or frozen on purpose during the request.
    if (!this.#nodes().includes(node) || this.#absences.get(node) !== absences) return;
    this.#seen.push({ node: node.name, path, ms, ...(failure === undefined ? {} : { failure }) });
  }
}

async function startBare(): Promise<{ url: string; process: Tracked }> {
  const port = await freePort();
  const bare = startTracked(process.execPath, ['-e', BARE, String(port)]);
  const url = `http://127.0.0.1:${port}/`;
  await until('the bare server answers', 20_000, async () => (await ask(url)).status === 200);
  return { url, process: bare };
}
