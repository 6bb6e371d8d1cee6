import { v5 } from 'uuid';

/** RFC 9562 §5.5 namespaces of ids that are a function of what they name, so that a rebuild gives the same ones. */
const CREDENTIALS = '6f2c1d7e-9c0b-4f55-8d43-0f6f1c1f7a01';
const REUSES = '6f2c1d7e-9c0b-4f55-8d43-0f6f1c1f7a02';

export const credentialId = (tenantId: string, userId: string, domain: string, username: string): string =>
  v5(`${tenantId}|${userId}|${domain}|${username}`, CREDENTIALS);

/** One password of one person. Says nothing about either: the digest that goes in is keyed. */
export const reuseId = (tenantId: string, userId: string, passwordHash: string): string =>
  v5(`${tenantId}|${userId}|${passwordHash}`, REUSES);
