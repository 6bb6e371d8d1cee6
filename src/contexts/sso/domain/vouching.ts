import { z } from 'zod';
import { defineAggregate } from '../../../platform/kernel/aggregate.ts';
import { uuid } from '../../../platform/kernel/ids.ts';
import { ssoEvents, type SsoConfig } from './events.ts';

/** What a session depends on: the SSO configuration that vouched for its holder, and the configuration's epoch. */
export const vouchedBySchema = z.object({ configId: uuid(), epoch: z.int() });
export type VouchedBy = z.output<typeof vouchedBySchema>;

/** The part of a configuration that sessions depend on. */
export interface Vouching {
  readonly isEnabled: boolean;
  /** The trusted provider: issuer or entity id. */
  readonly provider: string;
  /** Increases whenever earlier sessions of this configuration become invalid. */
  readonly epoch: number;
}
export type Vouchings = ReadonlyMap<string, Vouching>;

/**
 * A configuration that is disabled, or that changes its provider, starts a new epoch. Enabling it again does not revive
 * earlier sessions.
 */
export function vouchingAfterChange(
  was: Vouching | undefined,
  { isEnabled, provider }: Omit<Vouching, 'epoch'>,
): Vouching {
  const begins = was !== undefined && ((was.isEnabled && !isEnabled) || was.provider !== provider);
  return { isEnabled, provider, epoch: (was?.epoch ?? 0) + (begins ? 1 : 0) };
}

/** True if a session that a configuration vouched for is still valid. */
export function stillVouches(vouchings: Vouchings, { configId, epoch }: VouchedBy): boolean {
  const now = vouchings.get(configId);
  return now !== undefined && now.isEnabled && now.epoch === epoch;
}

const providerOf = (config: SsoConfig): string => (config.protocol === 'oidc' ? config.issuerUrl : config.idpEntityId);

/** For a tenant: folded from the stream of its configurations (`ssoConfigsStream`). */
export const ssoVouchings = defineAggregate<Vouchings, typeof ssoEvents>(ssoEvents, new Map(), (state, event) => {
  const vouchings = new Map(state);
  const { configId } = event.data;
  if (event.type === 'SsoConfigDeleted') vouchings.delete(configId);
  else
    vouchings.set(
      configId,
      vouchingAfterChange(state.get(configId), { isEnabled: event.data.isEnabled, provider: providerOf(event.data) }),
    );
  return vouchings;
});
