import { returnEnrollmentToken } from '../../../commands/enrollment/return-enrollment-token.ts';
import type { CommandPorts } from '../../../commands/ports.ts';
import { Restitution } from '../../platform/database/restitution.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import type { Actor } from '../../platform/kernel/actor.ts';
import { orThrow } from '../../platform/kernel/failure.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';

/** Any outage that somebody who enrolls waits for. */
const RETURN_MS = 120_000;

export interface LostEnrollment {
  readonly tenantId: TenantId;
  readonly tokenId: string;
  /** The device that the lost response named. */
  readonly deviceId: string;
  readonly actor: Actor;
}

/** Enrollments that got 503: their tokens count again, also if the enrollment happened (decision 0208). */
export class ReturnedTokens {
  readonly #executor: Executor<CommandPorts>;
  readonly #restitution = new Restitution();

  /** The executor is not that of a request, whose time is over. */
  constructor(executor: Executor<CommandPorts>) {
    this.#executor = executor;
  }

  /** As soon as the database is there. Resolves after the first attempt, and never rejects. */
  async add({ tenantId, tokenId, deviceId, actor }: LostEnrollment): Promise<void> {
    await this.#restitution.whenBack(keyOf(tenantId, tokenId), RETURN_MS, async () =>
      orThrow(await this.#executor.execute(returnEnrollmentToken, { deviceId, tokenId }, { tenantId, actor })),
    );
  }

  /** For a request that comes again before the token is returned: returns it first. Throws if that still fails. */
  first(tenantId: TenantId, tokenId: string): Promise<void> {
    return this.#restitution.first(keyOf(tenantId, tokenId));
  }

  /** For a process that ends: resolves when all tokens are returned, or after this time. */
  settled(withinMs: number): Promise<void> {
    return this.#restitution.settled(withinMs);
  }
}

const keyOf = (tenantId: TenantId, tokenId: string): string => `${tenantId} ${tokenId}`;
