import { randomUUID } from 'node:crypto';
import { createEmployee } from '../commands/employees/create-employee.ts';
import { deviceStream } from '../src/contexts/devices/domain/device.ts';
import type { Observation } from '../src/contexts/telemetry/domain/observation.ts';
import { deviceDayStream } from '../src/contexts/telemetry/domain/device-day.ts';
import { system } from '../src/platform/kernel/actor.ts';
import type { DomainEvent } from '../src/platform/kernel/event.ts';
import { orThrow } from '../src/platform/kernel/failure.ts';
import type { BenchApp } from './app.ts';
import { concurrently } from './measure.ts';

const PEOPLE = 200;
const HOSTS = 2_000;
const EXTENSIONS = 500;
/** Per browser. */
const INSTALLED = 12;
/** Hosts that a browser visits between two reports. */
const HOSTS_A_REPORT = 25;
const DAYS = 10;
const DAY_MS = 86_400_000;
/** One per person and day: however much is reported, it is from the same people, days and browsers. */
const REPORTS = PEOPLE * DAYS;
/** On one of this many hosts people use the one password that they use elsewhere too, or a breached one. */
const CARELESS = 200;

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
 * A company of two hundred people on two thousand hosts, a few of them visited by all and most by few. They report once
 * a day for ten days; a busier company reports more from the same people and hosts, so that only growth with the number
 * of reports shows.
 */
export class ObservedCompany {
  readonly #app: BenchApp;
  readonly people: Person[] = [];
  readonly #next = random(7);
  readonly #visited = new Set<string>();

  constructor(app: BenchApp) {
    this.#app = app;
  }

  async hire(): Promise<void> {
    const { services, tenantId } = this.#app;
    for (let n = 0; n < PEOPLE; n += 1) this.people.push({ userId: randomUUID(), deviceId: randomUUID() });
    await concurrently(8, PEOPLE, async (n) => {
      const { userId } = this.people[n]!;
      const input = {
        userId,
        email: `person${n}@bench.example`,
        displayName: `Person ${n}`,
        department: null,
        jobTitle: null,
        externalId: null,
        source: 'manual' as const,
        isActive: true,
      };
      orThrow(await services.executor.execute(createEmployee, input, { tenantId, actor: system('bench') }));
      await this.#enroll(this.people[n]!, n);
    });
  }

  async #enroll({ userId, deviceId }: Person, n: number): Promise<void> {
    const data = {
      deviceId,
      userId,
      deviceFingerprint: deviceId,
      besideDeviceId: null,
      isConfirmed: true,
      wipeId: null,
      browserType: 'chrome' as const,
      browserVersion: null,
      osType: null,
      osVersion: null,
      extensionVersion: null,
      hostname: null,
      agentVersion: null,
    };
    await this.#append(deviceStream(this.#app.tenantId, deviceId), -1n, { type: 'DeviceEnrolled', data }, deviceId);
    const day = new Date(Date.now() - (DAYS + 1) * DAY_MS).toISOString().slice(0, 10);
    await this.#record(deviceDayStream(this.#app.tenantId, deviceId, day), -1n, { userId, deviceId }, [
      inventory(day, n),
    ]);
  }

  /**
   * Makes the company report this many observations in total, as the intake appends them; returns the last position.
   */
  async report(observations: number, until: number): Promise<{ reported: number; position: bigint }> {
    let [reported, position] = [0, 0n];
    const each = observations / REPORTS;
    await concurrently(8, REPORTS, async (turn) => {
      if (performance.now() > until) return;
      const at = await this.#report(turn, each);
      reported += each;
      if (at > position) position = at;
    });
    return { reported, position };
  }

  async #report(turn: number, size: number): Promise<bigint> {
    const n = turn % PEOPLE;
    const { userId, deviceId } = this.people[n]!;
    const day = new Date(Date.now() - (Math.floor(turn / PEOPLE) + 1) * DAY_MS).toISOString().slice(0, 10);
    return this.#record(
      deviceDayStream(this.#app.tenantId, deviceId, day),
      -1n,
      { userId, deviceId },
      this.#observations(day, n, size),
    );
  }

  #record(
    stream: string,
    revision: bigint,
    { userId, deviceId }: Person,
    observations: readonly Observation[],
  ): Promise<bigint> {
    const data = { deviceId, userId, deviceSequence: null, extensionMode: 'warn', policyVersion: null, observations };
    return this.#append(stream, revision, { type: 'TelemetryRecorded', data }, deviceId);
  }

  async #append(stream: string, revision: bigint, event: DomainEvent, deviceId: string): Promise<bigint> {
    const { services, tenantId } = this.#app;
    const metadata = {
      actor: { kind: 'device' as const, id: deviceId },
      correlationId: randomUUID(),
      causationId: randomUUID(),
      commandId: randomUUID(),
    };
    const encoded = await services.codec.encode(randomUUID(), tenantId, event, metadata);
    const verdict = await services.store.append({
      tenantId,
      stream,
      expectedRevision: revision,
      events: [encoded],
      claim: [],
      release: [],
    });
    if (verdict.kind !== 'appended') throw new Error(`the append of a batch returned ${verdict.kind}`);
    return verdict.position;
  }

  #observations(day: string, person: number, size: number): Observation[] {
    const hosts = Array.from({ length: HOSTS_A_REPORT }, () => Math.floor(HOSTS * this.#next() ** 3));
    const seen = Array.from({ length: size - 1 }, () =>
      this.#observation(day, person, hosts[Math.floor(HOSTS_A_REPORT * this.#next())]!),
    );
    return [inventory(day, person), ...seen];
  }

  #observation(day: string, person: number, host: number): Observation {
    // One host in four is a subdomain of its neighbour's site.
    const domain = host % 4 === 3 ? `app.site${host - 1}.example` : `site${host}.example`;
    const seconds = Math.floor(this.#next() * 86_400);
    const common = {
      eventId: randomUUID(),
      occurredAt: `${day}T${new Date(seconds * 1_000).toISOString().slice(11)}`,
      domain,
      url: `https://${domain}/${Math.floor(this.#next() * 50)}`,
    };
    const what = this.#next();
    const action = this.#next() < 0.1 ? ('warn' as const) : ('allow' as const);
    if (what < 0.01)
      return {
        kind: 'extension_event',
        ...common,
        domain: null,
        url: null,
        extensionId: `extension-${installed(person)[host % INSTALLED]!}`,
        change: 'updated',
        name: null,
        version: '2',
        permissions: null,
      };
    if (what < 0.05)
      return { kind: 'policy_decision', ...common, signals: [], action, userDecision: 'none', policyId: null };
    if (what < 0.1)
      return {
        kind: 'auth_flow',
        ...common,
        provider: 'Okta',
        method: 'oidc',
        relyingParty: `app${Math.floor(this.#next() * 20)}.example`,
        mfaObserved: host % 3 === 0,
        outcome: 'success',
      };
    if (what < 0.15) {
      const passwordHash = (host % CARELESS === 1 ? 'c' : `${host}`).padStart(64, '0');
      return {
        kind: 'credential_attempt',
        ...common,
        username: 'me',
        passwordHash,
        isBreached: host % CARELESS === 0,
        action,
        userDecision: 'none',
        policyId: null,
      };
    }
    const isNewSite = !this.#visited.has(`${person} ${host}`);
    this.#visited.add(`${person} ${host}`);
    const technologies =
      this.#next() < 0.3
        ? [host, host + 3].map((n) => ({ name: TECHNOLOGIES[n % TECHNOLOGIES.length]!, version: '1' }))
        : [];
    return { kind: 'navigation', ...common, title: `Page of ${domain}`, referrerDomain: null, technologies, isNewSite };
  }
}

/** A few extensions that all people have, and some of the others. */
const installed = (person: number): number[] =>
  Array.from({ length: INSTALLED }, (_, at) => (at < 4 ? at : 4 + ((person * 8 + at) % (EXTENSIONS - 4))));

function inventory(day: string, person: number): Observation {
  const extensions = installed(person).map((one) => ({
    extensionId: `extension-${one}`,
    name: `Extension ${one}`,
    version: `1.${one % 3}`,
    publisher: 'Somebody',
    permissions: one % 7 === 0 ? ['cookies', '<all_urls>'] : ['storage'],
    isEnabled: true,
  }));
  return {
    kind: 'extension_inventory',
    eventId: randomUUID(),
    occurredAt: `${day}T00:00:00.000Z`,
    domain: null,
    url: null,
    extensions,
  };
}
