import type { Logger } from 'pino';
import { z } from 'zod';
import type { EventStore } from '../eventstore/port.ts';
import type { GivenUpSecrets, SecretDisposal } from '../execution/secret-disposal.ts';
import { derivedId } from '../execution/derived-id.ts';
import { declareJob, defineJob, type AnyJob } from '../jobs/job.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { asTenantId, uuid } from '../kernel/ids.ts';
import type { Vault } from './vault.ts';

/** Longer than an append may take, so that the job sees its outcome. */
const DELAY_MS = 60_000;

const data = z.object({
  tenantId: uuid(),
  stream: z.string(),
  /** Decimal digits, or -1. */
  expectedRevision: z.string(),
  commandId: z.string(),
  secrets: z.array(uuid()),
});

export const destroySecretsJob = declareJob({
  name: 'destroy-secrets',
  data,
  attempts: 12,
  backoff: { firstMs: 5_000, longestMs: 3_600_000 },
});

type Forgetting = Pick<Vault, 'forget'>;

/**
 * Destroys secrets right after the append. Before the append it enqueues a job that does the same a minute later, in
 * case the process dies or never learns whether it appended. Destroying a secret is idempotent.
 */
export const vaultDisposal = (vault: Forgetting, jobs: () => Pick<Jobs, 'enqueue'>, log: Logger): SecretDisposal => ({
  async plan({ tenantId, stream, expectedRevision, commandId, secrets }) {
    const planned = {
      tenantId,
      stream,
      expectedRevision: String(expectedRevision),
      commandId,
      secrets: [...secrets],
    };
    const id = derivedId(commandId, planned.expectedRevision, ...secrets);
    await jobs()
      .enqueue(destroySecretsJob, planned, { id, delayMs: DELAY_MS, tenantId })
      .catch((error: Error) =>
        log.warn({ tenantId, reason: error.message }, 'could not enqueue the destroy-secrets job'),
      );
  },
  async carryOut({ tenantId, secrets }) {
    for (const secret of secrets)
      await vault
        .forget(tenantId, secret)
        .catch((error: Error) =>
          log.warn(
            { tenantId, secret, reason: error.message },
            'could not destroy a secret; the destroy-secrets job retries',
          ),
        );
  },
});

/** Whether the events that give the secrets up are in the log. The command may have lost a race and decided again. */
const isAppended = async (
  store: Pick<EventStore, 'readStream'>,
  { stream, expectedRevision, commandId }: Pick<GivenUpSecrets, 'stream' | 'expectedRevision' | 'commandId'>,
): Promise<boolean> => {
  const [next] = await store.readStream(stream, { from: expectedRevision + 1n, limit: 1 });
  return next?.metadata.commandId === commandId;
};

/** Destroys the secrets that a planned append gave up. Without the append the secrets are still in use and stay. */
export const destroySecrets = (store: Pick<EventStore, 'readStream'>, vault: Forgetting): AnyJob =>
  defineJob({
    ...destroySecretsJob,
    handle: async ({ tenantId, expectedRevision, secrets, ...append }) => {
      if (!(await isAppended(store, { ...append, expectedRevision: BigInt(expectedRevision) }))) return;
      for (const secret of secrets) await vault.forget(asTenantId(tenantId), secret);
    },
  });
