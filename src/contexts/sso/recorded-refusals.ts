import { LRUCache } from 'lru-cache';
import { Counter } from 'prom-client';
import type { CommandPorts } from '../../../commands/ports.ts';
import { refuseSsoLogout } from '../../../commands/sso/refuse-sso-logout.ts';
import { refuseSsoSignIn } from '../../../commands/sso/refuse-sso-sign-in.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import type { Actor } from '../../platform/kernel/actor.ts';
import { orThrow } from '../../platform/kernel/failure.ts';
import { INSTALLATION, type TenantId } from '../../platform/kernel/ids.ts';
import { registry } from '../../platform/observability/metrics.ts';
import type { SsoProtocol } from './domain/events.ts';
import type { SsoRefusal } from './domain/refusals.ts';

const refusals = new Counter({
  name: 'castellan_sso_refusals_total',
  help: 'Refused messages of identity providers, real or forged, also those that the audit log leaves out',
  labelNames: ['kind', 'protocol'],
  registers: [registry],
});

/** Entries of each kind about one provider in an hour, by what anybody can send. Those about messages of nobody's count together. */
export const MAX_RECORDED = 300;
const PERIOD_MS = 60 * 60_000;
/** Of providers that exist, each with up to three kinds. A forgotten one begins anew. */
const MAX_COUNTS = 30_000;

/** Reasons that only a proved identity gets: a stranger cannot cause such an entry. */
const PROVED: ReadonlySet<SsoRefusal> = new Set([
  'account_not_found',
  'account_disabled',
  'email_missing',
  'email_not_verified',
]);

/** Where a refused message belongs. */
export interface RefusedAttempt {
  /** Undefined if no verified data identifies the owner of the sign-in: then it is the installation's. */
  readonly tenantId: TenantId | undefined;
  readonly protocol: SsoProtocol;
  readonly configId: string | null;
  readonly actor: Actor;
}

interface RefusedIdentity {
  readonly reason: SsoRefusal;
  readonly detail: string | null;
  /** Known only after a provider has proved the identity: from its response, or with a code that was issued then. */
  readonly subjectId: string | null;
  /** The id of the entry, if several requests may record the same. Otherwise a fresh one. */
  readonly attemptId?: string | null;
}

/** What is counted apart, so that messages of one kind do not use up the entries of another one. */
type Counted = 'logout' | 'sign_in' | 'changed_configuration';

/**
 * Records refused sign-ins and logouts in the audit log of the tenant or organization concerned, or else of the
 * installation. Anybody can send a message that is refused, so only so many of them an hour are recorded (OP-604).
 * A refused sign-in of a known person is always recorded.
 *
 * Throws `FailureError` if the entry cannot be written: what nobody could read later must not be concluded.
 */
export class RecordedSsoRefusals {
  readonly #executor: Pick<Executor<CommandPorts>, 'execute'>;
  /** Entries in the present hour, by owner, provider and kind. */
  readonly #recorded = new LRUCache<string, { readonly since: number; entries: number }>({ max: MAX_COUNTS });
  readonly #now: () => number;

  constructor(executor: Pick<Executor<CommandPorts>, 'execute'>, now: () => number = Date.now) {
    this.#executor = executor;
    this.#now = now;
  }

  async signIn(attempt: RefusedAttempt, { reason, detail, subjectId, attemptId }: RefusedIdentity): Promise<void> {
    const { tenantId = INSTALLATION, protocol, configId, actor } = attempt;
    refusals.inc({ kind: 'sign_in', protocol });
    const isProved = subjectId !== null || PROVED.has(reason);
    // A start without a configuration is not recorded: the configuration was changed since the start.
    const counted = reason === 'sso_not_configured' ? 'changed_configuration' : 'sign_in';
    if (!isProved && !this.#mayRecord(attempt, counted)) return;
    const refused = { protocol, reason, detail, configId, subjectId };
    const execution = { tenantId, actor, ...(attemptId ? { commandId: attemptId } : {}) };
    orThrow(await this.#executor.execute(refuseSsoSignIn, refused, execution));
  }

  async logout(attempt: RefusedAttempt, detail: string | null): Promise<void> {
    const { tenantId = INSTALLATION, protocol, configId, actor } = attempt;
    refusals.inc({ kind: 'logout', protocol });
    if (!this.#mayRecord(attempt, 'logout')) return;
    orThrow(await this.#executor.execute(refuseSsoLogout, { protocol, detail, configId }, { tenantId, actor }));
  }

  #mayRecord({ tenantId = INSTALLATION, configId }: RefusedAttempt, counted: Counted): boolean {
    const key = `${tenantId}/${configId ?? ''}/${counted}`;
    const known = this.#recorded.get(key);
    const hour = known && this.#now() - known.since < PERIOD_MS ? known : { since: this.#now(), entries: 0 };
    if (hour.entries >= MAX_RECORDED) return false;
    hour.entries += 1;
    this.#recorded.set(key, hour);
    return true;
  }
}
