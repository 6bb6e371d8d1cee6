import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { CommandPorts } from '../../../commands/ports.ts';
import { refuseScimClient } from '../../../commands/scim/refuse-scim-client.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import type { Actor } from '../../platform/kernel/actor.ts';
import { orThrow } from '../../platform/kernel/failure.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { refusedSecret, type ScimClient } from './domain/clients.ts';

/** Of clients that exist. A forgotten one costs a command. */
const MAX_REASONS = 2_000;

/** A secret that is no live one of the client, as it was presented. */
export interface RefusedSecretOf {
  readonly tenantId: TenantId;
  readonly client: ScimClient;
  readonly presented: string;
}

export interface RefusedScimClient extends RefusedSecretOf {
  /** The address and the user agent of the request. */
  readonly actor: Actor;
}

interface RefusedScimClientsParts {
  readonly executor: Pick<Executor<CommandPorts>, 'execute'>;
  readonly log: Logger;
}

/**
 * Records why clients are refused (OP-599). The command decides what is recorded. This process only remembers until when
 * that is nothing, so that a flood of refusals costs no look-ups.
 */
export class RefusedScimClients {
  readonly #parts: RefusedScimClientsParts;
  /** Epoch milliseconds, by client and reason. */
  readonly #silentUntil = new LRUCache<string, number>({ max: MAX_REASONS });
  readonly #underWay = new Set<Promise<void>>();

  constructor(parts: RefusedScimClientsParts) {
    this.#parts = parts;
  }

  /** Nobody waits for it. */
  note(refused: RefusedScimClient): void {
    const work = this.#record(refused)
      .catch((error: unknown) =>
        this.#parts.log.warn({ reason: (error as Error).message }, 'the refusal of a SCIM client was not recorded'),
      )
      .finally(() => this.#underWay.delete(work));
    this.#underWay.add(work);
  }

  /** Waits for what was noted until now. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  async #record({ tenantId, client, presented, actor }: RefusedScimClient): Promise<void> {
    const { clientId } = client;
    const refused = refusedSecret(client, presented);
    const name = `${clientId}/${refused.reason}`;
    if (Date.now() < (this.#silentUntil.get(name) ?? 0)) return;
    // Refusals that come while the command runs are not recorded either.
    this.#silentUntil.set(name, Number.POSITIVE_INFINITY);
    try {
      const executed = await this.#parts.executor.execute(
        refuseScimClient,
        { clientId, ...refused },
        { tenantId, actor },
      );
      this.#silentUntil.set(name, orThrow(executed).result.silentUntil);
    } catch (error) {
      this.#silentUntil.delete(name);
      throw error;
    }
  }
}
