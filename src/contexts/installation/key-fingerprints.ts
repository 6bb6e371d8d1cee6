import { auditKeyFingerprint } from '../audit/audit-key.ts';
import type { KeyFingerprints } from './domain/identity.ts';
import { keyFingerprint, type Keyrings } from '../../platform/vault/keyrings.ts';

/** Fingerprints of the keys that this process uses. */
export const keyFingerprints = ({ current }: Keyrings, auditKey: Buffer): KeyFingerprints => ({
  audit: auditKeyFingerprint(auditKey),
  account: keyFingerprint(current.key('account')),
  claim: keyFingerprint(current.key('claim')),
  credentialSalt: keyFingerprint(current.key('credential-salt')),
});
