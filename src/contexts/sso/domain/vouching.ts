import { z } from 'zod';
import { defineAggregate } from '../../../platform/kernel/aggregate.ts';
import { uuid } from '../../../platform/kernel/ids.ts';
import { ssoEvents, type SsoConfig } from './events.ts';

/** Who vouched for the holder of a session: the configuration, and which of its times. */
export const vouchedBySchema = z.object({ configId: uuid(), epoch: z.int() });
export type VouchedBy = z.output<typeof vouchedBySchema>;

/** A configuration as far as sessions depend on it. */
export interface Vouching {
  readonly isEnabled: boolean;
  /** Whom it trusts: issuer or entity id. */
  readonly provider: string;
  /** One more whenever what it vouched for before counts no more. */
  readonly epoch: number;
}
export type Vouchings = ReadonlyMap<string, Vouching>;

/** Switched off, or pointed at another provider, a configuration begins anew: switched on again it does not revive what was. */
export function vouchingAfterChange(
  was: Vouching | undefined,
  { isEnabled, provider }: Omit<Vouching, 'epoch'>,
): Vouching {
  const begins = was !== undefined && ((was.isEnabled && !isEnabled) || was.provider !== provider);
  return { isEnabled, provider, epoch: (was?.epoch ?? 0) + (begins ? 1 : 0) };
}

/** Whether what a configuration vouched for then still counts. */
export function stillVouches(vouchings: Vouchings, { configId, epoch }: VouchedBy): boolean {
  const now = vouchings.get(configId);
  return now !== undefined && now.isEnabled && now.epoch === epoch;
}

const providerOf = (config: SsoConfig): string => (config.protocol === 'oidc' ? config.issuerUrl : config.idpEntityId);

/** Of a tenant: over the stream of its configurations (`ssoConfigsStream`). */
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
