import { describe, expect, it } from 'vitest';
import { MAX_RECORDED, RecordedSsoRefusals, type RefusedAttempt } from '../../../src/contexts/sso/recorded-refusals.ts';
import type { SsoRefusal } from '../../../src/contexts/sso/domain/refusals.ts';
import { system } from '../../../src/platform/kernel/actor.ts';
import { FailureError, temporarilyUnavailable } from '../../../src/platform/kernel/failure.ts';
import { asTenantId, INSTALLATION } from '../../../src/platform/kernel/ids.ts';

const ACME = asTenantId('11111111-1111-4111-8111-111111111111');
const attemptAt = (configId: string | null): RefusedAttempt => ({
  tenantId: configId === null ? undefined : ACME,
  configId,
  protocol: 'oidc',
  actor: system('test'),
});

function recording(now?: () => number) {
  const entries: { tenantId: string; reason?: string }[] = [];
  const refusals = new RecordedSsoRefusals(
    {
      execute: (async (_command: unknown, { reason }: { reason?: string }, { tenantId }: { tenantId: string }) =>
        void entries.push({ tenantId, ...(reason === undefined ? {} : { reason }) })) as never,
    },
    now,
  );
  const refuse = async (times: number, attempt: RefusedAttempt, reason: SsoRefusal) => {
    for (let n = 0; n < times; n += 1)
      await refusals.signIn(attempt, { reason, detail: `detail ${n}`, subjectId: null });
  };
  return { entries, refusals, refuse };
}

describe('refused messages of identity providers', () => {
  it('that anybody can send are recorded so many times an hour for each provider', async () => {
    const { entries, refuse } = recording();
    await refuse(MAX_RECORDED - 1, attemptAt('one'), 'invalid_state');
    await refuse(3, attemptAt('one'), 'token_exchange_failed');
    expect(entries.length).toBe(MAX_RECORDED);
    await refuse(1, attemptAt('two'), 'invalid_state');
    expect(entries.length).toBe(MAX_RECORDED + 1);
  });

  it('count apart: logouts, sign-ins that a changed configuration ended, and all other sign-ins', async () => {
    const { entries, refusals, refuse } = recording();
    for (let n = 0; n < MAX_RECORDED + 5; n += 1) await refusals.logout(attemptAt('one'), 'signature');
    expect(entries.length).toBe(MAX_RECORDED);
    await refuse(MAX_RECORDED + 5, attemptAt('one'), 'token_exchange_failed');
    expect(entries.length).toBe(2 * MAX_RECORDED);
    await refuse(MAX_RECORDED + 5, attemptAt('one'), 'sso_not_configured');
    expect(entries.length).toBe(3 * MAX_RECORDED);
  });

  it('are all recorded if they are about a known person', async () => {
    const { entries, refusals, refuse } = recording();
    for (let n = 0; n < MAX_RECORDED; n += 1) await refusals.logout(attemptAt('one'), 'signature');
    await refuse(MAX_RECORDED, attemptAt('one'), 'invalid_state');
    const before = entries.length;
    const stolen = { reason: 'invalid_state', detail: 'code of another page', subjectId: 'x' } as const;
    await refusals.signIn(attemptAt('one'), stolen);
    expect(entries.length).toBe(before + 1);
    await refusals.signIn(attemptAt('one'), { ...stolen, subjectId: null });
    expect(entries.length).toBe(before + 1);
  });

  it('whose entry cannot be written fail', async () => {
    const refusals = new RecordedSsoRefusals({ execute: (async () => temporarilyUnavailable()) as never });
    const refused = { reason: 'invalid_state', detail: null, subjectId: null } as const;
    await expect(refusals.signIn(attemptAt('one'), refused)).rejects.toThrow(FailureError);
    await expect(refusals.logout(attemptAt('one'), 'signature')).rejects.toThrow(FailureError);
  });

  it('are recorded again an hour later', async () => {
    let now = 0;
    const { entries, refuse } = recording(() => now);
    await refuse(MAX_RECORDED + 1, attemptAt('one'), 'invalid_state');
    now = 59 * 60_000;
    await refuse(1, attemptAt('one'), 'invalid_state');
    expect(entries.length).toBe(MAX_RECORDED);
    now = 61 * 60_000;
    await refuse(2, attemptAt('one'), 'invalid_state');
    expect(entries.length).toBe(MAX_RECORDED + 2);
  });

  it("that are nobody's are the installation's, and count together", async () => {
    const { entries, refuse } = recording();
    await refuse(MAX_RECORDED + 5, attemptAt(null), 'invalid_state');
    expect(entries).toEqual(Array(MAX_RECORDED).fill({ tenantId: INSTALLATION, reason: 'invalid_state' }));
  });

  it('are all recorded if a provider proved whom they are about', async () => {
    const { entries, refuse } = recording();
    await refuse(MAX_RECORDED + 5, attemptAt('one'), 'account_not_found');
    expect(entries.length).toBe(MAX_RECORDED + 5);
    await refuse(1, attemptAt('one'), 'invalid_assertion');
    expect(entries.length).toBe(MAX_RECORDED + 6);
  });
});
