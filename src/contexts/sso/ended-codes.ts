import type { Actor } from '../../platform/kernel/actor.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { SsoProtocol } from './domain/events.ts';
import type { RecordedSsoRefusals } from './recorded-refusals.ts';

/** A sign-in whose code waited for its page when a logout ended it. */
export interface EndedCode {
  readonly subject_id: string;
  readonly config_id: string;
}

/** A row that a logout deleted. */
export interface EndedRow extends EndedCode {
  readonly waited: boolean;
}

/**
 * The columns of an `EndedCode`, of a row of `one_time_tokens` called `code`, and whether the code waited. The request that uses a
 * code, or has one without a page, records itself what becomes of it.
 */
export const ENDED_CODE = `
  code.subject_id, code.payload->'vouchedBy'->>'configId' as config_id,
  code.tries_left > 0 and code.expires_at > now()
    and (code.purpose = 'org-handoff' or code.payload->>'challenge' <> '') as waited`;

export const waitedIn = (rows: readonly EndedRow[]): EndedCode[] => rows.filter(({ waited }) => waited);

export interface EndedSignIns {
  readonly tenantId: TenantId;
  readonly protocol: SsoProtocol;
  readonly actor: Actor;
}

/** Nobody else would record these sign-ins: their code is unknown from now on. */
export async function recordEndedCodes(
  { ssoRefusals }: { readonly ssoRefusals: RecordedSsoRefusals },
  { tenantId, protocol, actor }: EndedSignIns,
  codes: readonly EndedCode[],
): Promise<void> {
  for (const { subject_id: subjectId, config_id: configId } of codes)
    await ssoRefusals.signIn(
      { tenantId, protocol, configId, actor },
      { reason: 'invalid_assertion', detail: 'logged_out', subjectId },
    );
}
