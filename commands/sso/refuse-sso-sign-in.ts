import type { SsoProtocol } from '../../src/contexts/sso/domain/events.ts';
import { ssoSignIn, ssoSignInStream, type SsoRefusal } from '../../src/contexts/sso/domain/refusals.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface RefuseSsoSignIn {
  readonly protocol: SsoProtocol;
  readonly reason: SsoRefusal;
  readonly detail: string | null;
  readonly configId: string | null;
  readonly subjectId: string | null;
}

/** For the audit log: a sign-in through an identity provider, real or forged, was refused. */
export const refuseSsoSignIn = defineCommand({
  name: 'RefuseSsoSignIn',
  aggregate: ssoSignIn,
  stream: (_input: RefuseSsoSignIn, { tenantId, id }) => ssoSignInStream(tenantId, id),
  begins: true,
  decide: ({ refused }, input) => accept(refused ? [] : [{ type: 'SsoSignInRefused', data: input }]),
});
