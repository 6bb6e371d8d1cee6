import { describe, expect, it } from 'vitest';
import { enrollmentTokens } from '../../../projections/enrollment/enrollment-tokens.ts';
import { recorded, rowsAfter } from '../../dsl/given.ts';
import { DEVICE, inDays } from '../../commands/devices/histories.ts';

const tokenId = '77777777-7777-4777-8777-777777777777';
const issued = recorded({ type: 'EnrollmentTokenIssued', data: { tokenId, tokenDigest: 'd'.repeat(64), expiresAt: inDays(5) } }, 1);
const used = recorded({ type: 'EnrollmentTokenUsed', data: { tokenId, deviceId: DEVICE } }, 2);

describe('the enrollment tokens', () => {
  it('wait for a device until one has used them', () => {
    expect(rowsAfter(enrollmentTokens, [issued])).toMatchObject([{ expires_at: inDays(5), used_at: null, device_id: null }]);
    expect(rowsAfter(enrollmentTokens, [issued, used])).toMatchObject([{ used_at: '2026-06-01T12:00:02.000Z', device_id: DEVICE }]);
  });

  it('are kept without anything that lets somebody enroll', () => {
    expect(JSON.stringify(rowsAfter(enrollmentTokens, [issued, used]))).not.toContain('ddd');
  });
});
