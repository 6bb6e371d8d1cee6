import { auditKeyFingerprint } from '../audit/audit-key.ts';
import type { KeyFingerprints } from './domain/identity.ts';
import { fingerprintOf, type Keyrings } from '../../platform/vault/keyrings.ts';

/** Names the keys that this process works with. */
export const keyFingerprints = ({ current }: Keyrings, auditKey: Buffer): KeyFingerprints => ({
  audit: auditKeyFingerprint(auditKey),
  account: fingerprintOf(current.key('account')),
  claim: fingerprintOf(current.key('claim')),
  credentialSalt: fingerprintOf(current.key('credential-salt')),
});
