import { z } from 'zod';
import { defineAggregate } from '../../../platform/kernel/aggregate.ts';
import { uuid } from '../../../platform/kernel/ids.ts';
import { ssoEvents, type OidcConfig, type SsoConfig } from './events.ts';

/** What a session depends on: the SSO configuration that vouched for its holder, and the configuration's epoch. */
export const vouchedBySchema = z.object({ configId: uuid(), epoch: z.int() });
export type VouchedBy = z.output<typeof vouchedBySchema>;

/** The part of a configuration that sessions and sign-ins depend on. */
export interface Vouching {
  readonly isEnabled: boolean;
  /** The trusted provider: issuer or entity id. */
  readonly provider: string;
  /** Everything else that decides who is signed in, as one text. */
  readonly terms: string;
  /** Increases whenever earlier sessions of this configuration become invalid. */
  readonly epoch: number;
  /** Increases whenever sign-ins that are under way become invalid: with every change of the above. */
  readonly version: number;
}
export type Vouchings = ReadonlyMap<string, Vouching>;

/**
 * A configuration that is disabled, or that changes its provider, starts a new epoch. Enabling it again does not revive
 * earlier sessions.
 */
export function vouchingAfterChange(
  was: Vouching | undefined,
  { isEnabled, provider, terms }: Omit<Vouching, 'epoch' | 'version'>,
): Vouching {
  const begins = was !== undefined && ((was.isEnabled && !isEnabled) || was.provider !== provider);
  const differs = was !== undefined && (begins || was.isEnabled !== isEnabled || was.terms !== terms);
  return {
    isEnabled,
    provider,
    terms,
    epoch: (was?.epoch ?? 0) + (begins ? 1 : 0),
    version: (was?.version ?? 0) + (differs ? 1 : 0),
  };
}

/** True if a session that a configuration vouched for is still valid. */
export function stillVouches(vouchings: Vouchings, { configId, epoch }: VouchedBy): boolean {
  const now = vouchings.get(configId);
  return now !== undefined && now.isEnabled && now.epoch === epoch;
}

/** A sign-in that is under way. */
export interface SignInBasis {
  readonly vouchedBy: VouchedBy;
  /** Of the configuration that the sign-in began with; undefined if a process of the version before began it. */
  readonly version: number | undefined;
}

/** True if a sign-in may go on: nothing has changed that decides over it (decision 0200). */
export const stillCarries = (vouchings: Vouchings, { vouchedBy, version }: SignInBasis): boolean =>
  stillVouches(vouchings, vouchedBy) &&
  (version === undefined || vouchings.get(vouchedBy.configId)?.version === version);

/** Which issuer and client a sign-in belongs to, whom it may vouch for, and whom the calls trust; not how they are made. */
export const issuerTerms = ({
  clientId,
  emailDomains,
  emailsVerified,
  caCertificate,
}: Pick<OidcConfig, 'clientId' | 'emailDomains' | 'emailsVerified' | 'caCertificate'>): string =>
  JSON.stringify([clientId, emailDomains.toSorted(), emailsVerified, caCertificate]);

const termsOf = (config: SsoConfig): string =>
  config.protocol === 'oidc'
    ? issuerTerms(config)
    : JSON.stringify([config.idpCertificate, config.emailDomains.toSorted(), config.emailAttribute]);

const providerOf = (config: SsoConfig): string => (config.protocol === 'oidc' ? config.issuerUrl : config.idpEntityId);

/** For a tenant: folded from the stream of its configurations (`ssoConfigsStream`). */
export const ssoVouchings = defineAggregate<Vouchings, typeof ssoEvents>(ssoEvents, new Map(), (state, event) => {
  const vouchings = new Map(state);
  const { configId } = event.data;
  if (event.type === 'SsoConfigDeleted') vouchings.delete(configId);
  else
    vouchings.set(
      configId,
      vouchingAfterChange(state.get(configId), {
        isEnabled: event.data.isEnabled,
        provider: providerOf(event.data),
        terms: termsOf(event.data),
      }),
    );
  return vouchings;
});
