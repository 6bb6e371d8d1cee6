import { z } from 'zod';
import { uuid } from '../../../platform/kernel/ids.ts';
import type { Observation } from './observation.ts';
import { hostName, isPageOf, webHostOf, withoutSecrets } from '../../../platform/web-addresses/page-address.ts';
import {
  authMethods,
  authOutcomes,
  extensionActions,
  extensionChangeKinds,
  observationKinds,
  signals,
  userDecisions,
} from './vocabulary.ts';
import { kindsBy } from '../../../platform/kernel/kinds-by.ts';
import { ruleBetween } from '../../../platform/kernel/rule-between.ts';

/**
 * An observation as an extension reports it (choices OP-153 … OP-158). Unknown fields are dropped; too long
 * descriptions are cut, other values that are too long are refused. `data` of the kinds whose fields the choices do not define:
 *  - `policy_decision` {signals, action, userDecision, policyId?}: the kind that carries a phishing signal;
 *  - `clickfix_detected` {signatureId?, action?, userDecision?, snippet?}; `canary_cookie_triggered` {cookieId?,
 *     cookieName?};
 *  - `screenshot` {screenshotId?}; `wipe_completed` {wipeId}.
 */
const line = (most: number) => z.string().max(most);
/**
 * A text that only describes: it is cut after `most` characters (code points), so that it does not cost the event. Texts
 * that identify something are refused instead (`line`).
 */
const described = (most: number) => z.string().transform((text) => (text.length > most ? firstOf(text, most) : text));
const firstOf = (text: string, most: number): string =>
  Array.from(text.slice(0, 2 * most))
    .slice(0, most)
    .join('');
/** Null is like a missing value. */
const orElse = <T extends z.ZodType>(schema: T, usual: z.output<T>) =>
  schema.nullish().transform((value) => value ?? usual);
const optional = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? null);

const host = line(300).transform((text, context) => {
  const name = hostName(text);
  if (name === undefined) context.addIssue({ code: 'custom', message: 'must be a host name' });
  return name ?? z.NEVER;
});
/** The names of local files concern nobody. */
const NO_FILE = 'file:///';

const address = line(2_048).transform((text, context) => {
  const url = withoutSecrets(text);
  if (url === undefined) context.addIssue({ code: 'custom', message: 'must be the address of a page' });
  return url === undefined ? z.NEVER : /^file:/i.test(url) ? NO_FILE : url;
});

const common = {
  eventId: uuid(),
  occurredAt: z.iso.datetime({ offset: true }).transform((text) => new Date(text).toISOString()),
  domain: optional(host),
  url: optional(address),
};
const action = z.enum(extensionActions);
const decision = z.enum(userDecisions);
const reaction = { action: orElse(action, 'allow'), userDecision: orElse(decision, 'none') };
const permissions = z.array(described(200)).transform((list) => list.slice(0, 200));
const version = described(100);

/**
 * Technologies are stored in shared rows that no erasure reaches (`docs/decisions/0047`), so none may contain a
 * person's e-mail address.
 */
const E_MAIL = /[^\s@]@[^\s@]+\.[^\s@]/;
const technologiesToKeep = <Found extends { readonly name: string; readonly version: string | null }>(
  technologies: readonly Found[],
): Found[] =>
  technologies.slice(0, 100).filter(({ name, version: text }) => !E_MAIL.test(name) && !E_MAIL.test(text ?? ''));

const kind = <Kind extends Observation['kind'], Shape extends z.ZodRawShape>(name: Kind, shape: Shape) =>
  z.object({ ...common, kind: z.literal(name), data: z.object(shape) });
/** Schema of a kind whose data is optional. */
const bareKind = <Kind extends Observation['kind'], Shape extends z.ZodRawShape>(name: Kind, shape: Shape) =>
  z.object({ ...common, kind: z.literal(name), data: z.preprocess((data) => data ?? {}, z.object(shape)) });

const kinds = [
  bareKind('navigation', {
    title: optional(described(512)),
    referrerDomain: optional(host),
    technologies: orElse(
      z.array(z.object({ name: described(100), version: optional(version) })).transform(technologiesToKeep),
      [],
    ),
    isNewSite: orElse(z.boolean(), false),
  }),
  kind('credential_attempt', {
    username: line(320).nullable(),
    passwordHash: z
      .string()
      .regex(/^[0-9a-f]{64}$/i, 'must be 64 hex digits')
      .transform((hex) => hex.toLowerCase()),
    isBreached: z.boolean(),
    ...reaction,
    policyId: optional(uuid()),
  }),
  kind('auth_flow', {
    provider: optional(described(100)),
    method: z.enum(authMethods),
    // Lists show it as a host, so only the host of an address is kept. Some providers use other names.
    relyingParty: optional(described(300)).transform((party) =>
      party === null ? null : (webHostOf(party.trim()) ?? party),
    ),
    mfaObserved: z.boolean(),
    outcome: z.enum(authOutcomes),
  }),
  kind('extension_inventory', {
    extensions: z
      .array(
        z.object({
          extensionId: line(128).min(1),
          name: orElse(described(200), ''),
          version: orElse(version, ''),
          publisher: optional(described(200)),
          permissions: orElse(permissions, []),
          isEnabled: orElse(z.boolean(), true),
        }),
      )
      .max(500),
  }),
  kind('extension_event', {
    extensionId: line(128).min(1),
    change: z.enum(extensionChangeKinds),
    name: optional(described(200)),
    version: optional(version),
    permissions: optional(permissions),
  }),
  kind('policy_decision', {
    signals: orElse(z.array(z.enum(signals)).max(signals.length), []),
    action,
    userDecision: orElse(decision, 'none'),
    policyId: optional(uuid()),
  }),
  bareKind('clickfix_detected', { ...reaction, signatureId: optional(uuid()), snippet: optional(described(2_000)) }),
  bareKind('canary_cookie_triggered', { cookieId: optional(uuid()), cookieName: optional(described(200)) }),
  bareKind('screenshot', { screenshotId: optional(uuid()) }),
  kind('wipe_completed', { wipeId: uuid() }),
] as const;

export const reportedObservation = kindsBy('kind', kinds, {
  error: `must be one of ${observationKinds.join(', ')}`,
});

/** A login needs a site: without one it says nothing. */
const placed = reportedObservation.check(
  ruleBetween(['domain', 'url', 'kind'], ({ kind: name, domain, url }) =>
    name !== 'credential_attempt' || domain !== null || (url !== null && webHostOf(url) !== undefined)
      ? undefined
      : 'is required',
  ),
);

/** Parses an observation; returns the error if it is invalid. Performance matters: a batch has up to 500. */
export function readReported(item: unknown): Observation | z.ZodError {
  const checked = placed.safeParse(item);
  // Reporting the input in errors costs as much as the check, so only refused items are parsed again.
  if (!checked.success) return placed.safeParse(item, { reportInput: true }).error!;
  const { kind: name, eventId, occurredAt, url, data } = checked.data;
  const domain = checked.data.domain ?? (url === null ? null : (webHostOf(url) ?? null));
  if (url !== NO_FILE && (domain === null || url === null || isPageOf(url, domain)))
    return { kind: name, eventId, occurredAt, domain, url, ...data } as Observation;
  return {
    kind: name,
    eventId,
    occurredAt,
    domain,
    url: url === NO_FILE && domain === null ? url : null,
    ...withoutTitle(data),
  } as Observation;
}

/**
 * Lists show an address as a link of its host, under the page's title. The address and title of another host are
 * therefore dropped. The event itself is kept: a form may be embedded in another site's page.
 */
const withoutTitle = (data: object): object => ('title' in data ? { ...data, title: null } : data);
