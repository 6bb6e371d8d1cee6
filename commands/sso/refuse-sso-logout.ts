import type { SsoProtocol } from '../../src/contexts/sso/domain/events.ts';
import { ssoSignIn, ssoSignInStream } from '../../src/contexts/sso/domain/refusals.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface RefuseSsoLogout {
  readonly protocol: SsoProtocol;
  readonly detail: string | null;
  readonly configId: string | null;
}

/** For the audit log: a logout message of an identity provider, real or forged, was refused. */
export const refuseSsoLogout = defineCommand({
  name: 'RefuseSsoLogout',
  aggregate: ssoSignIn,
  stream: (_input: RefuseSsoLogout, { tenantId, id }) => ssoSignInStream(tenantId, id),
  begins: true,
  decide: ({ refused }, input) => accept(refused ? [] : [{ type: 'SsoLogoutRefused', data: input }]),
});
