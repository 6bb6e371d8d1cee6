import { setTimeout as sleep } from 'node:timers/promises';
import { ask } from './ask.ts';
import type { ServiceNode } from './service-node.ts';

const PATHS = ['/health', '/ready', '/live'];
const EVERY_MS = 200;
/** The promise is one second; the rest is for a busy machine, on which the prober itself is late. */
const SLOWEST_MS = 1_000;
const BUSY_MACHINE_MS = 1_000;
const GIVE_UP_MS = 10_000;

interface Probed {
  readonly node: string;
  readonly path: string;
  readonly ms: number;
  readonly failure?: string;
}

/** Asks every node for its health all the time, as a load balancer does. A node that a test has frozen or killed is left out. */
export class Prober {
  readonly #nodes: () => readonly ServiceNode[];
  readonly #seen: Probed[] = [];
  readonly #running: Promise<unknown>;
  #stopped = false;

  constructor(nodes: () => readonly ServiceNode[]) {
    this.#nodes = nodes;
    this.#running = this.#run();
  }

  /** Ends it; the answer names what was slower than a probe may be, or failed. */
  async stop(): Promise<string[]> {
    this.#stopped = true;
    await this.#running;
    const slow = this.#seen.filter(({ ms, failure }) => failure !== undefined || ms > SLOWEST_MS + BUSY_MACHINE_MS);
    const late = this.#seen.filter(({ ms }) => ms > SLOWEST_MS);
    const words = slow.map(({ node, path, ms, failure }) => `${node} ${path}: ${Math.round(ms)} ms${failure ? `, ${failure}` : ''}`);
    // One in twenty may be late on a machine that does other things besides.
    if (late.length > this.#seen.length / 20) words.push(`${late.length} of ${this.#seen.length} probes took longer than ${SLOWEST_MS} ms`);
    return words.length > 12 ? [...words.slice(0, 11), ...words.slice(-1)] : words;
  }

  async #run(): Promise<void> {
    const waiting = new Set<string>();
    const asked: Promise<void>[] = [];
    while (!this.#stopped) {
      for (const node of this.#nodes()) {
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
    const failure = await ask(node.url + path, { timeoutMs: GIVE_UP_MS }).then(
      () => undefined,
      (error: Error) => error.message,
    );
    const ms = performance.now() - started;
    // It was stopped on purpose while the question was under way.
    if (failure !== undefined && !this.#nodes().includes(node)) return;
    this.#seen.push({ node: node.name, path, ms, ...(failure === undefined ? {} : { failure }) });
  }
}
