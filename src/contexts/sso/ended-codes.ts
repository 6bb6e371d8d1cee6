import { derivedId } from '../../platform/execution/derived-id.ts';
import type { Actor } from '../../platform/kernel/actor.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { ENDED, tokenDigest, type OneTimeTokens, type TokenPurpose } from '../identity/one-time-tokens.ts';
import type { SsoProtocol } from './domain/events.ts';
import type { RecordedSsoRefusals } from './recorded-refusals.ts';

/** A code that has not become a session yet. */
export const CODES: readonly TokenPurpose[] = ['sso-handoff', 'org-handoff'];

/** A code that a logout has ended, as `ENDED_CODE` reads it. */
export interface EndedCode {
  readonly subject_id: string;
  readonly config_id: string;
  readonly digest: string;
  /** The code waited for its page. The request that uses a code, or has one without a page, records itself what becomes of it. */
  readonly waited: boolean;
}

/**
 * Ends rows of `one_time_tokens` called `code`: nobody can use them from now on. They stay until their entries are written, so that
 * a logout that comes again finds them.
 */
export const END_CODE = `
  tries_left = 0,
  payload = code.payload || jsonb_build_object('${ENDED}', coalesce(code.payload->'${ENDED}', to_jsonb(
    code.tries_left > 0 and code.expires_at > now()
    and (code.purpose = 'org-handoff' or code.payload->>'challenge' <> ''))))`;
export const ENDED_CODE = `
  code.subject_id, code.payload->'vouchedBy'->>'configId' as config_id, encode(code.digest, 'hex') as digest,
  (code.payload->>'${ENDED}')::boolean as waited`;

export interface EndedSignIns {
  readonly tenantId: TenantId;
  readonly protocol: SsoProtocol;
  readonly actor: Actor;
}

export interface EndedCodesDependencies {
  readonly ssoRefusals: RecordedSsoRefusals;
  readonly oneTimeTokens: OneTimeTokens;
}

/** Everybody who records that a logout ended the code writes the same entry: there is one. */
export const attemptOfCode = (code: string): string => attemptOf(tokenDigest(code));

const attemptOf = (digest: string): string => derivedId('sign-in of code', digest);

/** Nobody else would record these sign-ins: their code is unknown from now on. Throws `FailureError`, for the logout to come again. */
export async function recordEndedCodes(
  { ssoRefusals, oneTimeTokens }: EndedCodesDependencies,
  { tenantId, protocol, actor }: EndedSignIns,
  codes: readonly EndedCode[],
): Promise<void> {
  if (codes.length === 0) return;
  for (const { subject_id: subjectId, config_id: configId, digest } of codes.filter(({ waited }) => waited))
    await ssoRefusals.signIn(
      { tenantId, protocol, configId, actor },
      { reason: 'invalid_assertion', detail: 'logged_out', subjectId, attemptId: attemptOf(digest) },
    );
  await oneTimeTokens.deleteEnded(
    tenantId,
    CODES,
    codes.map(({ digest }) => digest),
  );
}
