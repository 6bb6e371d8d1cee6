import { z } from 'zod';

/**
 * A tenant, or an organization of tenants: whatever owns streams, rows, keys and an audit chain of its own.
 * Branded, so that no other string can stand where a tenant is asked for.
 */
export type TenantId = string & z.$brand<'TenantId'>;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Any RFC 9562 UUID, folded to lower case, so that one id has one spelling everywhere. */
export const uuid = () =>
  z
    .string()
    .transform((text) => text.toLowerCase())
    .pipe(z.string().regex(UUID, 'must be a UUID'))
    .meta({ format: 'uuid' });

export const isUuid = (text: unknown): text is string => typeof text === 'string' && UUID.test(text.toLowerCase());

/** The UUID (version 8, RFC 9562 §5.8) that the first 16 octets of a digest make. */
export function uuidOf(digest: Buffer): string {
  const octets = Buffer.from(digest.subarray(0, 16));
  octets[6] = 0x80 | (octets[6]! & 0x0f);
  octets[8] = 0x80 | (octets[8]! & 0x3f);
  return octets.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

export const asTenantId = (text: string): TenantId => {
  const folded = text.toLowerCase();
  if (!UUID.test(folded)) throw new TypeError('a tenant id is a UUID');
  return folded as TenantId;
};

/** The owner of what belongs to the installation as a whole: "set-up is complete", organization slugs, retention runs. */
export const INSTALLATION = asTenantId('00000000-0000-0000-0000-000000000000');
