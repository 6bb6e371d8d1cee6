import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import { defineEvents } from '../../../platform/kernel/event.ts';
import { uuid, type TenantId } from '../../../platform/kernel/ids.ts';

/** The secret with which a tenant's agents enroll by themselves. Only its digest is recorded. */
export const agentSecretEvents = defineEvents('agentSecret', {
  AgentSecretIssued: {
    version: 1,
    schema: z.object({
      secretId: uuid(),
      /** SHA-256, lower-case hex. */
      secretDigest: z.string(),
      issuedAt: z.iso.datetime(),
      /** The previous secret stays valid until then, so that a fleet can switch over; null: there is none. */
      previousValidUntil: z.iso.datetime().nullable(),
    }),
    audit: 'agent_secret.issued',
  },
  AgentSecretRemoved: { version: 1, schema: z.object({ secretId: uuid() }), audit: 'agent_secret.removed' },
});

export interface AgentSecret {
  readonly secretId: string;
  readonly secretDigest: string;
  /** ISO 8601. Null: valid until another is issued or it is removed. */
  readonly validUntil: string | null;
}

export interface AgentSecretsState {
  /** Newest first, at most two. */
  readonly secrets: readonly AgentSecret[];
}

export const agentSecrets = defineAggregate<AgentSecretsState, typeof agentSecretEvents>(
  agentSecretEvents,
  { secrets: [] },
  ({ secrets }, event) => {
    switch (event.type) {
      case 'AgentSecretIssued': {
        const { secretId, secretDigest, previousValidUntil } = event.data;
        const previous = secrets
          .filter(({ validUntil }) => validUntil === null)
          .map((secret) => ({ ...secret, validUntil: previousValidUntil }));
        return { secrets: [{ secretId, secretDigest, validUntil: null }, ...previous] };
      }
      case 'AgentSecretRemoved':
        return { secrets: secrets.filter(({ secretId }) => secretId !== event.data.secretId) };
    }
  },
);

/** Each tenant has one such stream. */
export const agentSecretStream = (tenantId: TenantId): string => streamName('agentSecret', tenantId, tenantId);

/** 32 random octets, base64url: shown once, never stored. So much entropy needs no slow hash. */
export const newAgentSecret = (octetsOf: (size: number) => Buffer = randomBytes): string =>
  octetsOf(32).toString('base64url');

const sha256 = (secret: string): Buffer => createHash('sha256').update(secret).digest();
export const digestOfAgentSecret = (secret: string): string => sha256(secret).toString('hex');

export const validAgentSecrets = ({ secrets }: AgentSecretsState, now: number): readonly AgentSecret[] =>
  secrets.filter(({ validUntil }) => validUntil === null || Date.parse(validUntil) > now);

/** Placeholder for a missing secret: no input has this digest. */
const NOTHING = '0'.repeat(64);

/** Whether the tenant's secret was presented. Takes the same time with and without a secret, and for any input. */
export function isAgentSecret(state: AgentSecretsState, presented: string, now: number): boolean {
  const digest = sha256(presented);
  const [first = NOTHING, second = NOTHING] = validAgentSecrets(state, now).map(({ secretDigest }) => secretDigest);
  const matches = [first, second].map((known) => timingSafeEqual(digest, Buffer.from(known, 'hex')));
  return matches.includes(true);
}
