import { z } from 'zod';
import { uuid } from '../../../platform/kernel/ids.ts';
import {
  authMethods,
  authOutcomes,
  extensionActions,
  extensionChangeKinds,
  signals,
  userDecisions,
} from './vocabulary.ts';

/**
 * One observation of a browser, as the log stores it: flat, so that personal fields can be sealed one by one. Current
 * limits are checked on input (`reported-observation.ts`). This schema has only types, so that stricter limits never
 * make history unreadable.
 */
const common = {
  eventId: uuid(),
  /** Time of the device's clock, in UTC. */
  occurredAt: z.iso.datetime(),
  /** A host name in ASCII. */
  domain: z.string().nullable(),
  url: z.string().nullable(),
};
const text = z.string().nullable();
const reaction = { action: z.enum(extensionActions), userDecision: z.enum(userDecisions) };

const installedExtension = z.object({
  extensionId: z.string(),
  name: z.string(),
  version: z.string(),
  publisher: text,
  permissions: z.array(z.string()),
  isEnabled: z.boolean(),
});
export type InstalledExtension = z.output<typeof installedExtension>;

export const observationSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('navigation'),
    ...common,
    title: text,
    referrerDomain: text,
    technologies: z.array(z.object({ name: z.string(), version: text })),
    isNewSite: z.boolean(),
  }),
  z.object({
    kind: z.literal('credential_attempt'),
    ...common,
    username: text,
    /** HMAC-SHA256 with the tenant's salt, computed by the extension. It reveals only whether passwords are equal. */
    passwordHash: text,
    isBreached: z.boolean(),
    ...reaction,
    policyId: uuid().nullable(),
  }),
  z.object({
    kind: z.literal('auth_flow'),
    ...common,
    provider: text,
    method: z.enum(authMethods),
    relyingParty: text,
    mfaObserved: z.boolean(),
    outcome: z.enum(authOutcomes),
  }),
  z.object({ kind: z.literal('extension_inventory'), ...common, extensions: z.array(installedExtension) }),
  z.object({
    kind: z.literal('extension_event'),
    ...common,
    extensionId: z.string(),
    change: z.enum(extensionChangeKinds),
    name: text,
    version: text,
    permissions: z.array(z.string()).nullable(),
  }),
  z.object({
    kind: z.literal('policy_decision'),
    ...common,
    signals: z.array(z.enum(signals)),
    ...reaction,
    policyId: uuid().nullable(),
  }),
  z.object({
    kind: z.literal('clickfix_detected'),
    ...common,
    ...reaction,
    signatureId: uuid().nullable(),
    snippet: text,
  }),
  z.object({ kind: z.literal('canary_cookie_triggered'), ...common, cookieId: uuid().nullable(), cookieName: text }),
  z.object({ kind: z.literal('screenshot'), ...common, screenshotId: uuid().nullable() }),
  z.object({ kind: z.literal('wipe_completed'), ...common, wipeId: uuid().nullable() }),
]);
export type Observation = z.output<typeof observationSchema>;
export type ObservationOf<Kind extends Observation['kind']> = Extract<Observation, { kind: Kind }>;

/**
 * Fields that reveal which pages a person visited, what they read and their accounts. Sealed under that person's key.
 */
export const personalFields = ['url', 'title', 'username', 'passwordHash', 'snippet'] as const;
