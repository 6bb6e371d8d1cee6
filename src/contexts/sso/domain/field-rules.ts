import { ruleBetween } from '../../../platform/kernel/rule-between.ts';
import { certifies } from './saml-material.ts';

/** Rules between the fields of one configuration, for `.check(…)` of a body that has all of them. */

interface Trust {
  readonly emailsVerified?: boolean | undefined;
  readonly emailDomains?: readonly string[] | undefined;
}
export const UNBOUND_TRUST = 'needs emailDomains';
/** Nobody can vouch for e-mails of any domain: the provider would name the address of every administrator. */
export const isUnbound = ({ emailsVerified = false, emailDomains = [] }: Trust): boolean =>
  emailsVerified && emailDomains.length === 0;
export const boundTrust = ruleBetween<Trust>(['emailsVerified', 'emailDomains'], (given) =>
  isUnbound(given) ? UNBOUND_TRUST : undefined,
);

interface KeyMaterial {
  readonly spSigningKey?: string | null | undefined;
  readonly spCertificate?: string | null | undefined;
  readonly signRequests?: boolean | undefined;
}
export const KEY_NEEDED = 'needs spSigningKey';
export const signingNeedsKey = ruleBetween<KeyMaterial>(
  ['signRequests', 'spSigningKey'],
  ({ signRequests = false, spSigningKey = null }) => (signRequests && spSigningKey === null ? KEY_NEEDED : undefined),
);

export const FOREIGN_KEY = 'belongs to another key';
export const matchingPair = ruleBetween<KeyMaterial>(
  ['spCertificate', 'spSigningKey'],
  ({ spCertificate = null, spSigningKey = null }) =>
    spCertificate === null || spSigningKey === null || certifies(spCertificate, spSigningKey) ? undefined : FOREIGN_KEY,
);
