import { createHash } from 'node:crypto';
import type { Observation } from '../../../../src/contexts/telemetry/domain/observation.ts';
import { hashOf } from '../../../dsl/observations.ts';

/** Numbers of one seed (mulberry32), so that a failure can be repeated. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  one<T>(of: readonly T[]): T {
    return of[this.below(of.length)]!;
  }

  uuid(): string {
    const hex = createHash('sha256').update(String(this.next())).digest('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  }
}

export interface Reporter {
  readonly userId: string;
  readonly deviceId: string;
}
export interface Sent extends Reporter {
  readonly observation: Observation;
}

const HOUR = 3_600_000;
const HOSTS = ['a.example', 'www.b.example', 'login.b.example', 'c.example', 'd.example'];

/**
 * A moment that is likely to be near midnight in some zone, near the start of a quarter of an hour, weeks old, or ahead
 * of the server's clock.
 */
export function someMoment(dice: Dice, now: number): string {
  const day = Math.floor(now / (24 * HOUR)) * 24 * HOUR - dice.below(60) * 24 * HOUR;
  const base = dice.one([
    day,
    day + dice.below(96) * (HOUR / 4),
    day + dice.one([18.25, 18, 22, 23, 3.5, 4]) * HOUR,
    now - dice.below(48) * HOUR,
    now + dice.below(23) * HOUR,
  ]);
  return new Date(base + dice.one([-1, 0, 1, dice.below(HOUR)])).toISOString();
}

function contentOf(dice: Dice): Observation {
  const domain = dice.one(HOSTS);
  const common = { eventId: dice.uuid(), occurredAt: '', domain, url: `https://${domain}/` };
  const decided = {
    action: dice.one(['allow', 'warn', 'block'] as const),
    userDecision: 'none' as const,
    policyId: null,
  };
  const kinds: (() => Observation)[] = [
    () => ({
      kind: 'navigation',
      ...common,
      title: null,
      referrerDomain: null,
      technologies: [],
      isNewSite: dice.next() < 0.3,
    }),
    () => ({
      kind: 'credential_attempt',
      ...common,
      username: dice.one(['kim', 'root', null]),
      passwordHash: dice.next() < 0.1 ? null : hashOf(dice.one(['one', 'two', 'three'])),
      isBreached: dice.next() < 0.3,
      ...decided,
    }),
    () => ({
      kind: 'auth_flow',
      ...common,
      provider: dice.one(['okta', 'none', null]),
      method: dice.one(['password', 'oidc'] as const),
      relyingParty: null,
      mfaObserved: dice.next() < 0.5,
      outcome: dice.one(['success', 'failure'] as const),
    }),
    () => ({ kind: 'policy_decision', ...common, signals: [], ...decided }),
    () => ({
      kind: 'extension_event',
      ...common,
      extensionId: 'aaaa',
      change: 'updated',
      name: null,
      version: '2',
      permissions: null,
    }),
  ];
  return dice.one(kinds)();
}

/** What browsers send, in order. Some of it again: by the same device, on another day, or by another device. */
export function someReports(dice: Dice, reporters: readonly Reporter[], count: number, now: number): Sent[] {
  const sent: Sent[] = [];
  for (let n = 0; n < count; n += 1) {
    const again = sent.length > 0 && dice.next() < 0.15 ? dice.one(sent) : undefined;
    const reporter = again && dice.next() < 0.6 ? again : dice.one(reporters);
    const occurredAt = again && dice.next() < 0.5 ? again.observation.occurredAt : someMoment(dice, now);
    const observation = { ...(again?.observation ?? contentOf(dice)), occurredAt } as Observation;
    sent.push({ userId: reporter.userId, deviceId: reporter.deviceId, observation });
  }
  return sent;
}
