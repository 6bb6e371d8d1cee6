import { describe, expect, it } from 'vitest';
import { enrollmentTokens } from '../../../projections/enrollment/enrollment-tokens.ts';
import { recorded, rowsAfter } from '../../dsl/given.ts';
import { DEVICE, inDays, USER } from '../../commands/devices/histories.ts';

const tokenId = '77777777-7777-4777-8777-777777777777';
const issued = recorded(
  {
    type: 'EnrollmentTokenIssued',
    data: { tokenId, tokenDigest: 'd'.repeat(64), expiresAt: inDays(5), userId: USER, batchId: null },
  },
  1,
);
const used = recorded({ type: 'EnrollmentTokenUsed', data: { tokenId, deviceId: DEVICE } }, 2);

describe('the enrollment tokens', () => {
  it('are pending until a device uses them', () => {
    expect(rowsAfter(enrollmentTokens, [issued])).toMatchObject([
      { expires_at: inDays(5), user_id: USER, batch_id: null, used_at: null, device_id: null, revoked_at: null },
    ]);
    expect(rowsAfter(enrollmentTokens, [issued, used])).toMatchObject([
      { used_at: '2026-06-01T12:00:02.000Z', device_id: DEVICE },
    ]);
  });

  it('are pending again if nobody heard of the enrollment', () => {
    const returned = recorded({ type: 'EnrollmentTokenReturned', data: { tokenId, deviceId: DEVICE } }, 3);
    expect(rowsAfter(enrollmentTokens, [issued, used, returned])).toMatchObject([{ used_at: null, device_id: DEVICE }]);
  });

  it('record who revoked them, and when', () => {
    const revoked = recorded({ type: 'EnrollmentTokenRevoked', data: { tokenId } }, 2);
    expect(rowsAfter(enrollmentTokens, [issued, revoked])).toMatchObject([
      { used_at: null, revoked_at: '2026-06-01T12:00:02.000Z', revoked_by: revoked.metadata.actor.id },
    ]);
  });

  it('are kept without the secret that enrolls', () => {
    expect(JSON.stringify(rowsAfter(enrollmentTokens, [issued, used]))).not.toContain('ddd');
  });
});
