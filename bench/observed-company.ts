import { randomUUID } from 'node:crypto';
import { createEmployee } from '../commands/employees/create-employee.ts';
import type { Observation } from '../src/domain/telemetry/observation.ts';
import { deviceDayStream } from '../src/domain/telemetry/device-day.ts';
import { system } from '../src/kernel/actor.ts';
import { orThrow } from '../src/kernel/failure.ts';
import type { BenchApp } from './app.ts';
import { concurrently } from './measure.ts';

const PEOPLE = 200;
const HOSTS = 2_000;
/** On how many hosts a browser is between two reports. */
const HOSTS_A_REPORT = 25;
const DAYS = 30;
const DAY_MS = 86_400_000;
export const BATCH = 500;

/** Random, and the same in every run (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const TECHNOLOGIES = ['nginx', 'React', 'WordPress', 'Cloudflare', 'jQuery', 'PHP', 'Vue', 'Envoy'];

interface Person {
  readonly userId: string;
  readonly deviceId: string;
}

/**
 * A company of two hundred people on two thousand hosts, a few of them visited by everybody and most by few. The longer it is
 * watched the more is seen, of the same company: what grows with what was reported, and with nothing else, shows.
 */
export class ObservedCompany {
  readonly #app: BenchApp;
  readonly people: Person[] = [];
  readonly #next = random(7);
  readonly #revisions = new Map<string, bigint>();
  #batches = 0;

  constructor(app: BenchApp) {
    this.#app = app;
  }

  async hire(): Promise<void> {
    const { services, tenantId } = this.#app;
    for (let n = 0; n < PEOPLE; n += 1) this.people.push({ userId: randomUUID(), deviceId: randomUUID() });
    await concurrently(8, PEOPLE, async (n) => {
      const { userId } = this.people[n]!;
      const input = { userId, email: `person${n}@bench.example`, displayName: `Person ${n}`, department: null, jobTitle: null, externalId: null, source: 'manual' as const, isActive: true };
      orThrow(await services.executor.execute(createEmployee, input, { tenantId, actor: system('bench') }));
    });
  }

  /** Has the company watched for so many more observations, in batches as the intake appends them; answers the last position. */
  async report(observations: number, until: number): Promise<{ reported: number; position: bigint }> {
    let [reported, position] = [0, 0n];
    await concurrently(8, observations / BATCH, async () => {
      if (performance.now() > until) return;
      const at = await this.#appendBatch();
      reported += BATCH;
      if (at > position) position = at;
    });
    return { reported, position };
  }

  async #appendBatch(): Promise<bigint> {
    const { services, tenantId } = this.#app;
    const turn = this.#batches++;
    const { userId, deviceId } = this.people[turn % PEOPLE]!;
    const day = new Date(Date.now() - (Math.floor(turn / PEOPLE) % DAYS) * DAY_MS - DAY_MS).toISOString().slice(0, 10);
    const stream = deviceDayStream(tenantId, deviceId, day);
    const revision = this.#revisions.get(stream) ?? -1n;
    this.#revisions.set(stream, revision + 1n);
    const data = { deviceId, userId, deviceSequence: null, extensionMode: 'warn', policyVersion: null, observations: this.#observations(day) };
    const metadata = { actor: { kind: 'device' as const, id: deviceId }, correlationId: randomUUID(), causationId: randomUUID(), commandId: randomUUID() };
    const event = await services.codec.encode(randomUUID(), tenantId, { type: 'TelemetryRecorded', data }, metadata);
    const verdict = await services.store.append({ tenantId, stream, expectedRevision: revision, events: [event], take: [], release: [] });
    if (verdict.kind !== 'appended') throw new Error(`a batch was answered ${verdict.kind}`);
    return verdict.position;
  }

  #observations(day: string): Observation[] {
    const hosts = Array.from({ length: HOSTS_A_REPORT }, () => Math.floor(HOSTS * this.#next() ** 3));
    return Array.from({ length: BATCH }, () => this.#observation(day, hosts[Math.floor(HOSTS_A_REPORT * this.#next())]!));
  }

  #observation(day: string, host: number): Observation {
    // One host in four is a subdomain of its neighbour's site.
    const domain = host % 4 === 3 ? `app.site${host - 1}.example` : `site${host}.example`;
    const seconds = Math.floor(this.#next() * 86_400);
    const common = { eventId: randomUUID(), occurredAt: `${day}T${new Date(seconds * 1_000).toISOString().slice(11)}`, domain, url: `https://${domain}/${Math.floor(this.#next() * 50)}` };
    const what = this.#next();
    const action = this.#next() < 0.1 ? ('warn' as const) : ('allow' as const);
    if (what < 0.05) return { kind: 'policy_decision', ...common, signals: [], action, userDecision: 'none', policyId: null };
    if (what < 0.1) return { kind: 'auth_flow', ...common, provider: 'Okta', method: 'oidc', relyingParty: `app${Math.floor(this.#next() * 20)}.example`, mfaObserved: host % 3 === 0, outcome: 'success' };
    if (what < 0.15) {
      const passwordHash = `${host % 5}`.repeat(64);
      return { kind: 'credential_attempt', ...common, username: 'me', passwordHash, isBreached: host % 50 === 0, action, userDecision: 'none', policyId: null };
    }
    const technologies = this.#next() < 0.3 ? [host, host + 3].map((n) => ({ name: TECHNOLOGIES[n % TECHNOLOGIES.length]!, version: '1' })) : [];
    return { kind: 'navigation', ...common, title: `Page of ${domain}`, referrerDomain: null, technologies, isNewSite: this.#next() < 0.05 };
  }
}
