import { v5 } from 'uuid';

/** UUIDv5 namespaces (RFC 9562 §5.5). The ids are deterministic, so that a rebuild yields the same ones. */
const CREDENTIALS = '6f2c1d7e-9c0b-4f55-8d43-0f6f1c1f7a01';
const REUSES = '6f2c1d7e-9c0b-4f55-8d43-0f6f1c1f7a02';

export const credentialId = (tenantId: string, userId: string, domain: string, username: string): string =>
  v5(`${tenantId}|${userId}|${domain}|${username}`, CREDENTIALS);

/** Identifies one password of one person. The id reveals neither: the input is a keyed digest. */
export const reuseId = (tenantId: string, userId: string, passwordHash: string): string =>
  v5(`${tenantId}|${userId}|${passwordHash}`, REUSES);
